"""The numbers of findings about a workload and other objects, worked out another way."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

import kubespread
from tests.lint.test_numbers import FIXTURES, cluster_of, finding_of, simulate, simulated

Manifest = dict[str, Any]


def workload(code: str, name: str = "bad") -> Manifest:
    """The first object of a fixture."""
    return next(iter(yaml.safe_load_all((FIXTURES / code / f"{name}.yaml").read_text())))


def test_volumes_hold_down_as_many_as_simulate_says() -> None:
    finding, web = finding_of("KS301"), workload("KS301")
    del web["spec"]["template"]["spec"]["volumes"]
    free = kubespread.simulate(cluster_of("KS301"), web)
    held, zones = simulated("KS301").split(": ")
    assert finding.message == (
        f"its volumes hold the replicas to zone a: {held}, {zones}; "
        f"without them {free.placed} of 3 replicas fit, a 1 · b 1 · c 1"
    )
    assert [(change.value, change.after) for change in free.distribution[0]] == [("a", 1), ("b", 1), ("c", 1)]


def test_claims_hold_replicas_where_simulate_puts_them() -> None:
    finding, db = finding_of("KS301", "claims"), workload("KS301", "claims")
    held = simulate("KS301", manifest="claims")
    del db["spec"]["volumeClaimTemplates"]
    free = kubespread.simulate(cluster_of("KS301"), db)
    held_zones, free_zones = (
        " · ".join(f"{change.value} {change.after}" for change in report.distribution[0]) for report in (held, free)
    )
    assert finding.severity == "warning"
    assert finding.message == (
        f"its volumes hold each replica where its claims are: {held.placed} of 3 replicas fit, {held_zones}; "
        f"without them {free.placed} of 3 replicas fit, {free_zones}"
    )
    assert (held_zones, free_zones) == ("a 3 · b 0 · c 0", "a 1 · b 1 · c 1")


def test_a_drain_hangs_where_play_leaves_it() -> None:
    finding = finding_of("KS302")
    bad, good = (drained(f"{name}.yaml") for name in ("bad", "good"))
    assert finding.message.startswith(f"a drain of a1 hangs with {bad[0]} of 2 replicas there: ")
    assert finding.message.endswith(f"lets 1 go, whose successor fits nowhere: {bad[1]}")
    assert finding.remedy.outcome == "the drain of a1 ends"
    assert good == (0, None)


def drained(manifest: str) -> tuple[int, str | None]:
    """How many pods are left on a1 after a drain, and why the first one waits that has no node."""
    steps = [{"apply": str(FIXTURES / "KS302" / manifest)}, {"drain": "a1"}]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    after = kubespread.after_steps(cluster_of("KS302"), scenario)
    waiting = kubespread.play(cluster_of("KS302"), scenario).steps[-1].happened.pending
    left = sum(pod.spec.node_name == "a1" for pod in after.pods)
    return left, waiting[0].message if waiting else None


def test_an_anti_affinity_contradicts_as_simulate_says() -> None:
    finding, web = finding_of("KS303"), workload("KS303")
    assert finding.message.endswith(f"would allow more: {simulated('KS303').partition(':')[0]}")
    del web["spec"]["template"]["spec"]["affinity"]
    free = kubespread.simulate(cluster_of("KS303"), web)
    zones = " · ".join(f"{change.value} {change.after}" for change in free.distribution[0])
    assert finding.remedy.outcome == f"{free.placed} of 6 replicas fit: {zones}"


def test_a_constraint_beside_an_anti_affinity_rejects_nothing() -> None:
    finding, web = finding_of("KS303", "twice"), workload("KS303", "twice")
    both = kubespread.simulate(cluster_of("KS303"), web)
    del web["spec"]["template"]["spec"]["topologySpreadConstraints"]
    without = kubespread.simulate(cluster_of("KS303"), web)
    assert finding.message.endswith(f"{both.placed} of 3 replicas fit with it and {without.placed} without")
    assert (both.placed, without.placed) == (3, 3)


@pytest.mark.parametrize("manifest", ["bad", "keda"])
def test_an_autoscaler_asks_for_more_than_simulate_places(manifest: str) -> None:
    finding = finding_of("KS304", manifest)
    report = simulate("KS304", "replicas=60", manifest=manifest)
    assert finding.message.endswith(f"60 replicas: {report.placed} of 60 replicas fit: {report.stopped}")


def test_a_quota_lets_as_many_be_created_as_simulate_creates() -> None:
    report = simulate("KS305")
    assert report.created == 4
    assert finding_of("KS305").message.startswith("the namespace's quotas let 4 of 12 replicas be created: ")


def test_a_limit_range_gives_requests_that_simulate_places_nowhere() -> None:
    finding, web = finding_of("KS305", "limits"), workload("KS305", "limits")
    report = simulate("KS305", manifest="limits")
    assert finding.message.endswith(f"{report.placed} of 6 replicas fit: {report.stopped}")
    free = kubespread.simulate(cluster_of("KS305"), web)
    assert finding.remedy.outcome == f"with what the template asks for {free.placed} of 6 replicas fit"


def test_replicas_beside_an_empty_zone_land_as_simulated() -> None:
    finding = finding_of("KS208")
    assert finding.message.endswith(f": {simulated('KS208')}")
    assert finding.remedy.outcome == simulated("KS208", *finding.remedy.settings) == "2 of 6 replicas fit: a 1 · b 1"


def test_replicas_that_wait_for_an_empty_zone_are_meant_to() -> None:
    web = workload("KS208")
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["minDomains"] = 3
    findings = kubespread.check(cluster_of("KS208"), web).findings
    assert [(finding.code, finding.severity) for finding in findings] == [("KS204", "info")]
    web["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["minDomains"] = 4
    findings = kubespread.check(cluster_of("KS208"), web).findings
    assert [(finding.code, finding.severity) for finding in findings] == [("KS204", "error")]


def test_a_clusters_own_file_is_found_no_more_wrong_than_the_cluster() -> None:
    """A ReplicaSet that a Deployment controls is no other workload, and its pods run once."""
    file = str(FIXTURES.parent / "clusters" / "shop.yaml")
    cluster = kubespread.load(file)
    of_file, of_cluster = kubespread.check(cluster, file), kubespread.check(cluster)
    assert sorted((found.code, found.message) for found in of_file.findings) == sorted(
        (found.code, found.message) for found in of_cluster.findings
    )


def test_workloads_with_the_same_running_pods_are_tried_together() -> None:
    """As where a ReplicaSet was saved without its owner, while its pods run in the cluster."""
    path = FIXTURES.parent / "clusters" / "shop.yaml"
    objects = yaml.safe_load(path.read_text())["items"]
    web, orphan = (
        next(each for each in objects if each["kind"] == kind and each["metadata"]["name"].startswith("web"))
        for kind in ("Deployment", "ReplicaSet")
    )
    del orphan["metadata"]["ownerReferences"]
    report = kubespread.check(kubespread.load(str(path)), [web, orphan], select=["KS402"])
    assert [found.message.partition(":")[0] for found in report.findings] == [
        "zone counts the pods of ReplicaSet/web-6f7d8c too (9 replicas)",
        "zone counts the pods of Deployment/web too (9 replicas)",
    ]
