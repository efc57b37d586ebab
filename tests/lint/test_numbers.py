"""The numbers in findings, worked out another way: by ``simulate``, which places the same replicas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
import yaml

import kubespread
from kubespread import CheckFinding, Snapshot
from tests.builders import Data, hosts
from tools.replay.cases import FIXTURES as GOLDEN
from tools.replay.cases import recorded

FIXTURES = Path(__file__).parents[2] / "fixtures" / "lint"


def cluster_of(code: str) -> Snapshot:
    own = FIXTURES / code / "cluster.yaml"
    return kubespread.load(own if own.exists() else FIXTURES / "cluster.yaml")


def finding_of(code: str, manifest: str = "bad") -> CheckFinding:
    """The only finding of the rule in its failing fixture, on its cluster."""
    report = kubespread.check(cluster_of(code), [str(FIXTURES / code / f"{manifest}.yaml")], select=[code])
    (finding,) = report.findings
    return finding


def simulate(code: str, *settings: str, manifest: str = "bad") -> kubespread.SimulateReport:
    return kubespread.simulate(cluster_of(code), str(FIXTURES / code / f"{manifest}.yaml"), set=settings)


def distribution(report: kubespread.SimulateReport) -> Iterator[list[tuple[str, int]]]:
    """Per domain of the first constraint its replicas."""
    return ([(change.value, change.after)] for change in report.distribution[0])


def simulated(code: str, *settings: str, key: str = "topology.kubernetes.io/zone", manifest: str = "bad") -> str:
    """``6 of 6 replicas fit: a 3 · b 3 · c 0`` as simulate has it once the settings are made."""
    snapshot = cluster_of(code)
    report = simulate(code, *settings, manifest=manifest)
    domain_of = {node.metadata.name: node.metadata.labels.get(key, "") for node in snapshot.nodes}
    counts = dict.fromkeys(sorted(set(filter(None, domain_of.values()))), 0)
    for placement in report.placements:
        counts[domain_of[placement.node]] += 1
    listed = " · ".join(f"{domain} {count}" for domain, count in counts.items())
    return f"{report.placed} of {report.replicas} replicas fit: {listed}"


def test_ghost_pods_land_where_simulate_puts_them() -> None:
    finding = finding_of("KS101")
    assert finding.text.endswith(f"left to themselves they land {simulated('KS101').partition(': ')[2]}")
    assert finding.remedy.outcome == "6 of 6 replicas fit: a 2 · b 2 · c 2"
    assert finding.remedy.outcome == simulated("KS101", manifest="good")


def test_pods_of_no_selector_land_where_simulate_puts_them() -> None:
    finding = finding_of("KS102")
    assert finding.text.endswith(f"left to themselves they land {simulated('KS102').partition(': ')[2]}")
    assert finding.remedy.outcome == simulated("KS102", manifest="good")


def test_pods_of_an_empty_selector_land_where_simulate_puts_them() -> None:
    finding = finding_of("KS103")
    assert finding.text.endswith(f"left to themselves they land {simulated('KS103').partition(': ')[2]}")
    assert finding.remedy.outcome == simulated("KS103", manifest="good")


def test_an_empty_selector_counts_up_to_1_26() -> None:
    old = kubespread.Scheduler(kube_version="1.26")
    manifest = str(FIXTURES / "KS103" / "bad.yaml")
    assert kubespread.check(cluster_of("KS103"), [manifest], old, select=["KS1"]).findings == ()


def test_a_key_on_no_node_fits_nothing_and_the_near_one_does() -> None:
    finding = finding_of("KS201")
    assert finding.text.endswith(simulated("KS201").partition(":")[0])
    manifest = yaml.safe_load((FIXTURES / "KS201" / "bad.yaml").read_text())
    near = "failure-domain.beta.kubernetes.io/zone"
    manifest["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["topologyKey"] = near
    report = kubespread.simulate(cluster_of("KS201"), manifest)
    assert finding.remedy.outcome == "6 of 6 replicas fit: a 2 · b 2 · c 2"
    assert [dict(change) for change in distribution(report)] == [{"a": 2}, {"b": 2}, {"c": 2}]


def test_a_node_without_the_key_takes_nothing_and_counts_nowhere() -> None:
    finding = finding_of("KS202")
    assert "1 of 6 nodes that the pod could go to lacks" in finding.text
    assert "1 matching pod there counts nowhere" in finding.text
    assert all(placement.node != "c2" for placement in simulate("KS202").placements)
    explained = kubespread.explain(cluster_of("KS202"), str(FIXTURES / "KS202" / "bad.yaml"))
    assert sum(domain.matching for domain in explained.constraints[0].domains) == 0


def test_too_few_domains_hold_down_as_many_as_simulate_says() -> None:
    finding = finding_of("KS204")
    assert finding.text.endswith(simulated("KS204").partition(":")[0])
    assert finding.remedy.outcome == simulated("KS204", *finding.remedy.settings)
    assert finding.level == "error"


def test_a_single_domain_takes_all_that_simulate_places() -> None:
    assert simulated("KS205") == "6 of 6 replicas fit: a 6 · b 0 · c 0"
    assert finding_of("KS205").text.endswith("6 of 6 replicas land there")


def test_a_deadlock_stops_where_simulate_does_and_each_constraint_alone_does_not() -> None:
    finding = finding_of("KS207")
    assert f"deadlock: {simulated('KS207').partition(':')[0]}, and each constraint alone places all 10" in finding.text
    manifest = yaml.safe_load((FIXTURES / "KS207" / "bad.yaml").read_text())
    constraints = manifest["spec"]["template"]["spec"]["topologySpreadConstraints"]
    for constraint in constraints:
        manifest["spec"]["template"]["spec"]["topologySpreadConstraints"] = [constraint]
        assert kubespread.simulate(cluster_of("KS207"), manifest).placed == 10
    assert finding.remedy.outcome == simulated("KS207", *finding.remedy.settings).partition(":")[0]


def test_a_cordon_without_a_taint_is_undone() -> None:
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), *cordoned(hosts("a", "b", "c")[2:])])
    manifest = yaml.safe_load((FIXTURES / "KS203" / "bad.yaml").read_text())
    (finding,) = kubespread.check(snapshot, manifest, select=["KS203"]).findings
    assert finding.text == (
        "zone c counts as a domain with 0 matching pods, though its node is cordoned: 2 of 6 replicas fit"
    )
    assert finding.remedy.edits == ("uncordon n2",)
    after = kubespread.simulate(snapshot.edited(*finding.remedy.edits), manifest)
    assert (after.placed, finding.remedy.outcome) == (6, "6 of 6 replicas fit: a 2 · b 2 · c 2")


def cordoned(nodes: list[Data]) -> list[Data]:
    return [{**node, "spec": {"unschedulable": True}} for node in nodes]


def test_nodes_that_several_constraints_count_are_left_out_of_all_of_them() -> None:
    snapshot = cluster_of("KS203")
    manifest = yaml.safe_load((FIXTURES / "KS207" / "bad.yaml").read_text())
    report = kubespread.check(snapshot, manifest, select=["KS203"])
    settings = ("nodeTaintsPolicy[zone]=Honor", "nodeTaintsPolicy[hostname]=Honor")
    assert [finding.remedy.settings for finding in report.findings] == [settings, settings]
    assert kubespread.simulate(snapshot, manifest, set=settings).placed == 10
    assert all((finding.remedy.outcome or "").startswith("10 of 10 replicas fit") for finding in report.findings)


def test_a_closed_domain_takes_min_domains_with_it() -> None:
    """All nodes of zone c are tainted, and minDomains asks for five domains."""
    snapshot = cluster_of("KS203")
    manifest = yaml.safe_load((FIXTURES / "KS204" / "bad.yaml").read_text())
    closed, few = kubespread.check(snapshot, manifest).findings
    # What leaves zone c out knows that two domains are left, and is enough; a lower minDomains is not.
    assert closed.remedy.settings == ("nodeTaintsPolicy[zone]=Honor", "minDomains[zone]=2")
    assert kubespread.simulate(snapshot, manifest, set=closed.remedy.settings).placed == 6
    assert (closed.severity, few.severity) == ("error", "warning")


def test_a_closed_domain_holds_down_as_many_as_simulate_says() -> None:
    finding = finding_of("KS203")
    assert finding.text.endswith(simulated("KS203").partition(":")[0])
    assert finding.text.startswith("zone c counts as a domain with 0 matching pods, though both nodes are tainted")
    assert finding.remedy.outcome == simulated("KS203", *finding.remedy.settings)
    assert finding.level == "error"


@pytest.mark.parametrize("file", ["spread.jsonl.gz", "mixed.jsonl.gz"])
def test_what_a_remedy_leads_to_is_what_simulate_says_of_it(file: str) -> None:
    """On random clusters: all settings and edits that a finding names, given to simulate."""
    asked = 0
    for case, _ in islice(recorded(GOLDEN / file), 12):
        snapshot = Snapshot.from_objects([*case["nodes"], *case["pods"], *(case.get("objects") or [])])
        workload = replicated(case["pod"], 7)
        for finding in kubespread.check(snapshot, workload).findings:
            remedy = finding.remedy
            if remedy.settings or remedy.edits:
                report = kubespread.simulate(snapshot.edited(*remedy.edits), workload, set=remedy.settings)
                assert (remedy.outcome or "").startswith(f"{report.placed} of 7 replicas fit"), finding
                asked += 1
    assert asked


def replicated(pod: Data, replicas: int) -> Data:
    """A ReplicaSet of the pod's template."""
    metadata = {key: pod["metadata"][key] for key in ("labels", "annotations") if key in pod["metadata"]}
    labels = pod["metadata"].get("labels") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "asked", "namespace": pod["metadata"].get("namespace", "default")},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"asked": "yes"}},
            "template": {"metadata": {**metadata, "labels": {**labels, "asked": "yes"}}, "spec": pod["spec"]},
        },
    }


def test_a_release_without_the_policies_is_told_to_stay_away() -> None:
    case = FIXTURES.parent / "cases" / "judgment" / "rules" / "203v"
    old = kubespread.Scheduler(kube_version="1.24")
    cluster, manifest = kubespread.load(case / "c.json"), json.loads((case / "m.json").read_text())
    (finding,) = kubespread.check(cluster, manifest, old, select=["KS203"]).findings
    assert finding.remedy.text == "node affinity that requires topology.kubernetes.io/zone NotIn [c]"
    assert (finding.remedy.settings, finding.remedy.outcome) == ((), "6 of 6 replicas fit: a 3 · b 3 · c 0")
    web = next(each for each in manifest["items"] if each["kind"] == "Deployment")
    expression = {"key": "topology.kubernetes.io/zone", "operator": "NotIn", "values": ["c"]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    web["spec"]["template"]["spec"]["affinity"] = affinity
    assert kubespread.simulate(cluster, web, scheduler=old).placed == 6
    assert kubespread.check(cluster, web, old, fail_on="warning").verdict == "yes"


def test_replicas_that_run_already_are_said_to_be_placed_afresh() -> None:
    cluster = kubespread.load(FIXTURES.parent / "clusters" / "web-in-three-zones.yaml")
    lost = cluster.edited("scale deploy/web=12", "fail zone=a")
    (finding,) = kubespread.check(lost, "deploy/web", select=["KS203"]).findings
    assert (finding.text, finding.remedy.outcome, finding.remedy.settings) == (
        "zone a counts as a domain with 0 matching pods, though both nodes are tainted: placed afresh, 2 of 12 "
        "replicas fit",
        "placed afresh, 12 of 12 replicas fit: a 0 · b 6 · c 6",
        ("nodeTaintsPolicy[zone]=Honor",),
    )
    pending = kubespread.pending(lost)
    assert [len(group.pods) for group in pending.groups] == [4]


def test_constraints_over_one_key_are_set_by_their_positions() -> None:
    snapshot = cluster_of("KS203")
    manifest = yaml.safe_load((FIXTURES / "KS203" / "bad.yaml").read_text())
    spec = manifest["spec"]["template"]["spec"]
    (constraint,) = spec["topologySpreadConstraints"]
    spec["topologySpreadConstraints"] = [{**constraint, "whenUnsatisfiable": "ScheduleAnyway"}, constraint]
    (finding,) = kubespread.check(snapshot, manifest, select=["KS203"]).findings
    assert finding.remedy.settings == ("nodeTaintsPolicy[1]=Honor",)
    assert kubespread.simulate(snapshot, manifest, set=finding.remedy.settings).placed == 6
