"""Replicas that find no node, and those that quotas do not let be created."""

from __future__ import annotations

import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import CheckFinding, Snapshot
from kubespread.questions import tasks
from kubespread.questions.remedies import search
from tests.builders import Data, hard, hosts, owned_by, pod, taint
from tests.lint.test_engine import codes, web
from tests.world.clusters import deployment

CASES = Path(__file__).parents[2] / "fixtures" / "cases"
ZONE = "topology.kubernetes.io/zone"
NODES = hosts("a", "b", "c")


def with_pod(manifest: Data, **spec: Any) -> Data:
    manifest["spec"]["template"]["spec"] |= spec
    return manifest


def asking(cpu: str) -> Data:
    return {"containers": [{"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}


def quota(used: str = "", **hard_limits: str) -> Data:
    status = {"status": {"hard": hard_limits, "used": dict.fromkeys(hard_limits, used)}} if used else {}
    metadata = {"name": "q", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": metadata, "spec": {"hard": hard_limits}, **status}


def autoscaler(least: int | None, most: int) -> Data:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    bounds: Data = {"maxReplicas": most} if least is None else {"minReplicas": least, "maxReplicas": most}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": target, **bounds},
    }


def found(*objects: Data, manifest: Data, **options: Any) -> list[CheckFinding]:
    return list(kubespread.check(Snapshot.from_objects([*NODES, *objects]), manifest, **options).findings)


SAID: dict[str, tuple[Data, str]] = {
    "all of several": (
        with_pod(web(), **asking("64")),
        "none of its 3 replicas finds a node: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    "one of several": (
        with_pod(web(replicas=4), **asking("5")),
        "1 of 4 replicas finds no node: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    "some": (
        with_pod(web(replicas=9), **asking("4")),
        "3 of 9 replicas find no node: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    "the only one": (
        with_pod(web(replicas=1), nodeSelector={"disk": "ssd"}),
        "it finds no node: 0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    ),
}


@pytest.mark.parametrize("case", SAID)
def test_replicas_without_a_node_are_an_error_with_the_reason(case: str) -> None:
    manifest, said = SAID[case]
    (finding,) = found(manifest=manifest)
    assert (finding.code, finding.level, finding.text, finding.proven) == ("KS209", "error", said, True)
    report = kubespread.check(Snapshot.from_objects(NODES), manifest)
    assert report.verdict == "no"
    assert kubespread.simulate(Snapshot.from_objects(NODES), manifest).stopped == said.partition(": ")[2]


@pytest.mark.parametrize(
    ("manifest", "cluster", "said"),
    [
        ("everyday/fraud.yaml", "everyday/aws12.json.gz", "none of its 3 replicas finds a node"),
        ("judgment/13/m.json", "judgment/13/c.json", "1 of 6 replicas finds no node"),
        (None, "judgment/13/c2.json", "none of its 3 replicas finds a node"),
    ],
)
def test_a_pod_that_fits_nowhere_does_not_pass(manifest: str | None, cluster: str, said: str) -> None:
    given = [] if manifest is None else [str(CASES / manifest)]
    report = kubespread.check(kubespread.load(CASES / cluster), given)
    (error,) = (finding for finding in report.findings if finding.level == "error")
    assert (error.code, error.text.partition(":")[0], report.verdict) == ("KS209", said, "no")


def test_what_other_findings_mend_is_said_by_them_alone_unless_they_are_silenced() -> None:
    tainted = [*hosts("a", "b"), *hosts("a", "b", "c")[2:]]
    tainted[2]["spec"]["taints"] = [taint("gpu")]
    cluster = Snapshot.from_objects(tainted)
    manifest = web(hard(ZONE, match={"foo": "bar"}), replicas=6)
    assert codes(kubespread.check(cluster, manifest)) == ["KS203"]
    assert codes(kubespread.check(cluster, manifest, ignore=["KS203"])) == ["KS209"]
    assert codes(kubespread.check(cluster, manifest, select=["KS209"])) == ["KS209"]
    manifest["metadata"]["annotations"] = {"kubespread.dev/ignore": "KS203"}
    silenced = kubespread.check(cluster, manifest)
    assert (codes(silenced), silenced.ignored) == (["KS209"], 1)


def test_a_pod_of_the_cluster_is_not_in_its_own_way() -> None:
    stored = pod("web-1", "n0", **asking("5"))
    stored["metadata"]["uid"] = "1"
    assert kubespread.check(Snapshot.from_objects([*hosts("a"), stored]), "pod/web-1").findings == ()


QUOTAS: dict[str, tuple[list[Data], int, str]] = {
    "nothing runs": ([quota(pods="2")], 3, "the namespace's quotas allow 2 of 3 replicas"),
    "as many as are to run": ([quota(pods="3")], 3, ""),
}


@pytest.mark.parametrize("case", QUOTAS)
def test_what_quotas_refuse_is_not_pending(case: str) -> None:
    objects, replicas, said = QUOTAS[case]
    findings = found(*objects, manifest=web(replicas=replicas))
    assert [(each.code, each.text.partition(":")[0]) for each in findings] == ([("KS305", said)] if said else [])


def test_own_pods_that_wait_are_in_the_usage_of_quotas_already() -> None:
    deployment = web(uid="d")
    template = deployment["spec"]["template"]
    replica_set = {
        **deployment,
        "kind": "ReplicaSet",
        "metadata": {
            "name": "web-1",
            "namespace": "shop",
            "uid": "r",
            "ownerReferences": owned_by("Deployment", "web"),
        },
    }
    pods = [pod(f"web-1-{number}", "n0" if number else None, namespace="shop") for number in range(3)]
    for each in pods:
        each["metadata"] |= {
            "labels": template["metadata"]["labels"],
            "ownerReferences": owned_by("ReplicaSet", "web-1"),
        }
    cluster = Snapshot.from_objects([*NODES, deployment, replica_set, *pods, quota("3", pods="3")])
    assert codes(kubespread.check(cluster)) == []
    assert codes(kubespread.check(cluster, web(replicas=4))) == ["KS305"]


BOUNDS: dict[str, tuple[int | None, Data, str, str]] = {
    "no number, and a minimum": (
        None,
        autoscaler(4, 4),
        "KS209",
        "1 of 4 replicas finds no node: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    "fewer than the minimum": (
        1,
        autoscaler(4, 4),
        "KS209",
        "1 of 4 replicas finds no node: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    "more than the maximum": (9, autoscaler(1, 3), "", ""),
    "at the maximum": (
        None,
        autoscaler(None, 4),
        "KS304",
        "HorizontalPodAutoscaler web may ask for 4 replicas: "
        "3 of 4 replicas fit: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
    "0, at which it does nothing": (
        0,
        autoscaler(9, 9),
        "KS304",
        "HorizontalPodAutoscaler web may ask for 9 replicas: "
        "3 of 9 replicas fit: 0/3 nodes are available: 3 Insufficient cpu.",
    ),
}


@pytest.mark.parametrize("case", BOUNDS)
def test_an_autoscaled_workload_is_checked_at_its_minimum_and_at_its_maximum(case: str) -> None:
    replicas, bounds, code, said = BOUNDS[case]
    manifest = with_pod(web(), **asking("5"))
    del manifest["spec"]["replicas"]
    if replicas is not None:
        manifest["spec"]["replicas"] = replicas
    findings = found(bounds, manifest=manifest)
    assert [(each.code, each.text) for each in findings] == ([(code, said)] if code else [])


def test_the_minimum_that_is_checked_is_noted() -> None:
    manifest = web()
    del manifest["spec"]["replicas"]
    report = kubespread.check(Snapshot.from_objects([*NODES, autoscaler(4, 6)]), manifest)
    assert report.notes == ("Deployment/web is checked with 4 replicas: minReplicas of HorizontalPodAutoscaler web",)


def test_a_quota_stops_an_autoscaler_first() -> None:
    (finding,) = found(autoscaler(2, 9), quota(pods="4"), manifest=with_pod(web(), **asking("5")))
    assert finding.text == (
        "HorizontalPodAutoscaler web may ask for 9 replicas: the namespace's quotas allow only 4 of them: exceeded "
        "quota: q, requested: pods=1, used: pods=4, limited: pods=4; "
        "3 of 4 replicas fit: 0/3 nodes are available: 3 Insufficient cpu."
    )
    assert (finding.remedy.text, finding.remedy.outcome) == ("maxReplicas: 3", "3 of 3 replicas fit")
    report = kubespread.check(kubespread.load(CASES / "everyday" / "aws12.json.gz"), select=["KS304"])
    said = {each.subject: each.remedy.text for each in report.findings}
    assert said == {"shop/Deployment/api": "maxReplicas: 8", "shop/Deployment/web": "maxReplicas: 13"}


def test_an_autoscaler_whose_minimum_does_not_fit_is_told_of_the_closed_zone() -> None:
    case = CASES / "judgment" / "rules" / "hpa-noreplicas"
    report = kubespread.check(kubespread.load(case / "c.json"), str(case / "m.json"))
    (error,) = (each for each in report.findings if each.level == "error")
    assert (error.code, error.remedy.settings) == ("KS203", ("nodeTaintsPolicy[zone]=Honor",))
    assert error.remedy.outcome == "6 of 6 replicas fit: a 3 · b 3 · c 0"


def rolled(strategy: Data | None = None, replicas: int = 2) -> Data:
    manifest = web(replicas=replicas)
    del manifest["spec"]["strategy"]
    return {**manifest, "spec": {**manifest["spec"], **({} if strategy is None else {"strategy": strategy})}}


def test_a_quota_without_room_for_the_surge_stops_every_rollout() -> None:
    objects = [quota("0", pods="2")]
    (finding,) = found(*objects, manifest=rolled())
    assert (finding.code, finding.level) == ("KS406", "error")
    assert finding.text.endswith(
        'stops at 0 of 2 new pods: pods "web-new-1" is forbidden: exceeded quota: q, '
        "requested: pods=1, used: pods=2, limited: pods=2"
    )
    assert finding.remedy.text == "maxUnavailable: 1"
    assert found(*objects, manifest=rolled({"rollingUpdate": {"maxUnavailable": 1}})) == []
    assert found(quota("0", pods="3"), manifest=rolled()) == []


def test_a_quota_stops_a_rollout_that_is_too_large_to_rehearse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.questions.check.trial._MAX_REHEARSED", 5)
    (finding,) = found(quota("0", pods="2"), manifest=rolled())
    assert (finding.code, finding.text.partition("new pods: ")[2]) == (
        "KS406",
        "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2",
    )
    assert found(quota("0", pods="3"), manifest=rolled()) == []


def test_a_quota_is_raised_for_all_replicas_of_its_workloads() -> None:
    (finding,) = found(quota("1", pods="2"), manifest=rolled(replicas=3))
    assert finding.text.startswith("the namespace's quotas allow 1 of 3 replicas: exceeded quota: q, ")
    assert finding.remedy.text == "pods: 4 in ResourceQuota q would be enough"
    assert finding.remedy.outcome == "3 of 3 replicas fit"
    assert found(quota("1", pods="5"), manifest=rolled(replicas=3)) == []
    (short,) = found(quota("1", pods="4"), manifest=rolled(replicas=3))
    assert short.code == "KS406"
    (static,) = kubespread.check(None, [rolled(replicas=3), quota("1", pods="2")]).findings
    assert (static.remedy.text, static.remedy.outcome) == (finding.remedy.text, None)


def test_what_a_quota_needs_is_the_same_whoever_is_asked() -> None:
    """All that its workloads lack: two of four pods of the one, two of three of the other."""
    workloads = [*deployment("web", ("n0", "n1"), replicas=4), *deployment("api", ("n0",), replicas=3)]
    own = {**quota("3", pods="3"), "metadata": {"name": "q", "namespace": "default"}}
    snapshot = Snapshot.from_objects([*hosts("a", "b"), own, *workloads])
    change = "pods: 7 in ResourceQuota q"
    assert [row.enough for row in kubespread.pending(snapshot).not_made] == [change, change]
    for asked in "deploy/web", "deploy/api":
        advice = kubespread.explain(snapshot, asked, fix=True).advice
        assert advice is not None
        assert [each.change for each in advice.enough] == [change]
    refused = [each for each in kubespread.check(snapshot).findings if each.code == "KS305"]
    assert [each.remedy.text for each in refused] == [f"{change} would be enough"] * 2


WAYS_OUT: dict[str, tuple[Data, str, tuple[str, ...], tuple[str, ...]]] = {
    "a label that no node has": (
        with_pod(web(), nodeSelector={"disk": "ssd"}),
        "label n0 disk=ssd",
        (),
        ("label n0 disk=ssd",),
    ),
    "more than a node has": (with_pod(web(), **asking("9")), "request cpu 8 (from 9, −11%)", ("cpu=8",), ()),
    "a constraint that wants a fourth zone": (
        web(hard(ZONE, minDomains=4), replicas=4),
        "minDomains 3 on the constraint over zone",
        ("minDomains[zone]=3",),
        (),
    ),
    "both": (
        with_pod(
            web(hard("kubernetes.io/hostname", match={"foo": "bar"}), replicas=6),
            nodeSelector={"disk": "ssd"},
            **asking("9"),
        ),
        "request cpu 4 (from 9, −56%) and drop nodeSelector disk",
        ("cpu=4", "nodeSelector[disk]=null"),
        (),
    ),
}


@pytest.mark.parametrize("case", WAYS_OUT)
def test_the_least_change_that_was_tried_is_the_remedy(case: str) -> None:
    manifest, text, settings, edits = WAYS_OUT[case]
    cluster = Snapshot.from_objects(NODES)
    (finding,) = kubespread.check(cluster, manifest, select=["KS209"]).findings
    remedy = finding.remedy
    assert (remedy.text, remedy.settings, remedy.edits) == (text, settings, edits)
    replicas = manifest["spec"]["replicas"]
    assert remedy.outcome == f"{replicas} of {replicas} replicas fit"
    assert kubespread.simulate(cluster.edited(*edits), manifest, set=settings).placed == replicas


def test_what_was_tried_in_vain_is_counted() -> None:
    impossible = web(hard(ZONE), replicas=3)
    impossible["spec"]["template"]["spec"]["containers"] = asking("1")["containers"] + [
        {"name": "devices", "image": "i", "resources": {"limits": {"example.com/gpu": "1"}}}
    ]
    (finding,) = found(manifest=impossible, select=["KS209"])
    assert re.fullmatch(r"none of \d+ changes tried gets all of them placed", finding.remedy.text)
    assert (finding.remedy.settings, finding.remedy.edits, finding.remedy.outcome) == ((), (), None)


def test_not_more_is_tried_than_a_check_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.questions.remedies.search.most_trials", lambda _: 1)
    cluster, workloads = Snapshot.from_objects(NODES), [with_pod(web(name=name), **asking("9")) for name in ("a", "b")]
    first, second = kubespread.check(cluster, workloads, select=["KS209"]).findings
    assert first.remedy.text != second.remedy.text
    assert (
        second.remedy.text == "kubespread explain --fix tries what would help: too much was tried for other workloads"
    )


ASKING: dict[str, Data] = {
    "more than a node has": asking("9"),
    "a label that no node has": {"nodeSelector": {"disk": "ssd"}},
    "both": {**asking("9"), "nodeSelector": {"disk": "ssd"}},
    "what is there": asking("1"),
    "nothing that helps": {
        "containers": [{"name": "main", "image": "i", "resources": {"limits": {"example.com/gpu": "1"}}}]
    },
}


@settings(max_examples=15, deadline=None)
@given(
    kinds=st.lists(st.sampled_from([*ASKING]), min_size=2, max_size=5),
    dealt=st.lists(st.integers(0, 1), min_size=5, max_size=5),
    most=st.sampled_from([4, 8, 24, 80, 600]),
)
def test_the_remedies_do_not_depend_on_who_checks_what(kinds: list[str], dealt: list[int], most: int) -> None:
    """Two workers share the workloads in any way; the trials that all searches have together are often too few."""

    def in_processes(_: str, made: bytes, items: Sequence[int], __: int, ___: float) -> tasks.WorkerResults:
        workers = [pickle.loads(made)() for _ in range(2)]
        for number, item in enumerate(items):
            worker = workers[dealt[number]]
            yield (worker(item),), [*worker.assumed]

    cluster = Snapshot.from_objects(NODES)
    workloads = [with_pod(web(name=f"web-{number}"), **ASKING[kind]) for number, kind in enumerate(kinds)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "most_trials", lambda _: most)
        patch.setattr(tasks, "_in_processes", in_processes)
        alone, shared = (kubespread.check(cluster, workloads, select=["KS209"], jobs=jobs) for jobs in (1, 2))
    assert shared == alone
    assert [bool(finding.remedy.text) for finding in alone.findings] == [True] * len(alone.findings)
