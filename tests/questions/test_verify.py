"""Promises: what becomes of each, and what is wrong with a file of them."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

import kubespread
from docs.generators.promises_schema import schema
from kubespread import ManifestError, Snapshot
from kubespread.questions.survive import NONE_READY
from tests.builders import Data, hard, hosts, node, pod, taint
from tests.cli.support import FIXTURES, run
from tests.world.clusters import budget, deployment, stateful_set

HEAD = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Promises"}
ZONE = "topology.kubernetes.io/zone"
TODAY = datetime.date(2026, 11, 23)
WEB = "default/deploy/web"
SPREAD = {"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
AUTOSCALER: Data = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "web", "namespace": "default"},
    "spec": {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 9},
}


def of(*promises: Data) -> Data:
    return {**HEAD, "promises": [*promises]}


def cluster(*objects: Data) -> Snapshot:
    """Three nodes of 8 CPUs in three zones, of which one has no pod of web's three."""
    web = deployment("web", ("n0", "n0", "n1"), cpu="2")
    return Snapshot.from_objects([*hosts("a", "b", "c"), *web, budget("other", minAvailable=0), AUTOSCALER, *objects])


def found(snapshot: Snapshot, promise: Data) -> list[tuple[str, str, float | None]]:
    report = kubespread.verify(snapshot, of(promise), today=TODAY)
    return [(row.state, row.says, row.margin) for row in report.clauses]


FOUND: Mapping[str, tuple[Data, tuple[str, str, float | None]]] = {
    "all pods are ready again": (
        {"survives": "any zone"},
        ("held", "losing zone a leaves 3 of 3 ready while its nodes are silent, 3 promised", 0),
    ),
    "at first only the pods of the other zones are ready": (
        {"survives": "any zone", "ready": 1},
        ("held", "losing zone a leaves 1 of 3 ready at first, 1 promised", 0),
    ),
    "a share is rounded up": (
        {"survives": "any zone", "ready": "34%"},
        ("broken", "losing zone a leaves 1 of 3 ready at first, 2 promised; 2 of 3 zones keep it", -1),
    ),
    "as they are now": ({"ready": "100%"}, ("held", "3 of 3 pods ready, 3 promised", 0)),
    "more than it has": ({"ready": 4}, ("broken", "3 of 3 pods ready, 4 promised", -1)),
    "the skew of its pods": ({"spread": {"zone": 1}}, ("broken", "skew 2 (2/1/0), 1 promised", -1)),
    "over nodes": ({"spread": {"hostname": 3}}, ("held", "skew 2 (2/1/0), 3 promised", 1)),
    "the maximum of its autoscaler": (
        {"fits": "hpaMax"},
        ("held", "12 replicas fit, 9 as the most of HorizontalPodAutoscaler web promised", 3),
    ),
    "as many as it is to have": ({"fits": "replicas"}, ("held", "12 replicas fit, 3 promised", 9)),
    "more than there is room for": (
        {"fits": 13},
        ("broken", "12 replicas fit, 13 promised: 0/3 nodes are available: 3 Insufficient cpu.", -1),
    ),
    "while it is rolled out": (
        {"rollout": "80%"},
        ("held", "3 of 3 pods ready at worst while it is rolled out, 3 promised", 0),
    ),
    "a drain of each node": ({"drain": "never blocked"}, ("held", "2 nodes with its pods can be drained", None)),
}


@pytest.mark.parametrize("case", FOUND)
def test_what_becomes_of_a_promise(case: str) -> None:
    promise, expected = FOUND[case]
    assert found(cluster(), {"workload": WEB, **promise}) == [expected]


def test_a_workload_of_no_replicas_keeps_all_that_no_pods_can_keep() -> None:
    promises = {"ready": "100%", "spread": {"zone": 0}, "fits": "replicas", "rollout": 0, "drain": "never blocked"}
    zero = cluster(*deployment("zero", (), replicas=0))
    for promise in (promises, {"survives": "any zone", "ready": 0, "back": "nodes deleted"}):
        rows = found(zero, {"workload": "default/deploy/zero", **promise})
        assert {state for state, _, _ in rows} == {"held"}, rows


ROOM: Mapping[str, tuple[Data, float]] = {
    "a taint that pods may tolerate": ({"taints": [taint("gpu")]}, 100.0),
    "a taint of the node's state behind one that pods may tolerate": (
        {"taints": [taint("gpu"), taint("node.kubernetes.io/unreachable")]},
        66.7,
    ),
    "a cordon": ({"unschedulable": True}, 66.7),
    "not ready, and not tainted yet": ({"conditions": [{"type": "Ready", "status": "False"}]}, 66.7),
    "tainted, and nothing left of its memory": ({"taints": [taint("gpu")], "memory": "0"}, 66.7),
}


@pytest.mark.parametrize("case", ROOM)
def test_room_is_where_some_pod_can_use_it(case: str) -> None:
    """Of three nodes of 8 CPUs, one of which is changed; `capacity` says which amounts are tolerable."""
    change, share = ROOM[case]
    nodes = hosts("a", "b", "c")
    status = {"conditions": change.get("conditions", []), "allocatable": {**nodes[0]["status"]["allocatable"]}}
    status["allocatable"] |= {"memory": change["memory"]} if "memory" in change else {}
    kept = {key: value for key, value in change.items() if key in ("taints", "unschedulable")}
    nodes[0] = {**nodes[0], "spec": {**nodes[0].get("spec", {}), **kept}, "status": {**nodes[0]["status"], **status}}
    (row,) = found(Snapshot.from_objects(nodes), {"cluster": True, "room": {"cpu": "0%"}})
    assert row[2] == share


def test_the_spread_of_a_workload_without_constraints_counts_all_its_pods() -> None:
    """System defaults count those of its newest ReplicaSet alone."""
    web = deployment("web", ("n0", "n0", "n1"))
    older = [{**web[-1], "metadata": {**web[-1]["metadata"], "name": f"old-{n}"}} for n in range(2)]
    for each in older:
        each["metadata"] = {**each["metadata"], "labels": {"app": "web", "pod-template-hash": "old"}}
        each["spec"] = {**each["spec"], "nodeName": "n2"}
    rows = found(Snapshot.from_objects([*hosts("a", "b", "c"), *web, *older]), {"workload": WEB, "spread": {"zone": 1}})
    assert rows == [("held", "skew 1 (2/1/2), 1 promised", 0)]


@pytest.mark.parametrize(
    "promise", [{"survives": "any zone"}, {"survives": "any node", "back": "nodes deleted"}], ids=str
)
def test_pods_that_nobody_has_survive_nothing(promise: Data) -> None:
    snapshot = cluster(*deployment("big", (), cpu="99", replicas=2))
    (row,) = found(snapshot, {"workload": "default/deploy/big", **promise})
    assert row == ("unknown", NONE_READY, None)


def test_replicas_behind_scheduling_gates_do_not_fit() -> None:
    gated = deployment("web", (None,), spec={"schedulingGates": [{"name": "a"}]})
    rows = found(Snapshot.from_objects([*hosts("a"), *gated]), {"workload": WEB, "fits": 1})
    assert rows == [("broken", "waits behind scheduling gates: a; without them, 110 fit", None)]


def test_a_drain_that_a_budget_blocks() -> None:
    """Of the nodes with its pods, none of which can be drained."""
    (row,) = found(cluster(budget("web", minAvailable=3)), {"workload": WEB, "drain": "never blocked"})
    assert row == (
        "broken",
        "draining n1 (2 of 2 nodes with its pods): 1 pod cannot be evicted (web-c): Cannot evict pod as it would violate "
        "the pod's disruption budget. The disruption budget web needs 3 healthy pods and has 3 currently",
        -2,
    )


def test_a_drain_that_another_workload_blocks_is_not_its_own() -> None:
    snapshot = cluster(*deployment("api", ("n0",)), budget("api", minAvailable=1))
    (row,) = found(snapshot, {"workload": WEB, "drain": "never blocked"})
    assert row == ("held", "2 nodes with its pods can be drained", None)


def test_a_drain_that_leaves_fewer_pods_pending_and_one_that_a_quota_refuses() -> None:
    """The pod that waits takes the node of the other zone's pod, whose own replacement is over the quota."""
    apart = {
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "web"}}}
            ]
        }
    }
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "full", "namespace": "default"},
        "spec": {"hard": {"pods": "1"}},
        "status": {"hard": {"pods": "1"}, "used": {"pods": "2"}},
    }
    snapshot = Snapshot.from_objects(
        [
            *hosts("a", "a"),
            *deployment("web", ("n0", None), spec={"affinity": apart}),
            quota,
            budget("other", minAvailable=0),
        ]
    )
    over = 'pods "web-5d6-1" is forbidden: exceeded quota: full, requested: pods=1, used: pods=1, limited: pods=1'
    expected = ("broken", f"draining n0 (1 of 1 node with its pods): 1 pod not created (Deployment/web): {over}", -1)
    assert found(snapshot, {"workload": WEB, "drain": "never blocked"}) == [expected]


def test_a_stateful_set_is_back_once_the_nodes_are_deleted() -> None:
    snapshot = cluster(*stateful_set("db", ("n0", "n1")))
    promise = {"workload": "default/sts/db", "survives": "any zone"}
    held = "losing zone a leaves 2 of 2 ready once its nodes are deleted, 2 promised"
    assert found(snapshot, {**promise, "back": "nodes deleted"}) == [("held", held, 0)]
    ((state, says, margin),) = found(snapshot, {**promise, "back": "while silent"})
    assert (state, margin) == ("broken", -1)
    begin = "losing zone a leaves 1 of 2 ready while its nodes are silent, 2 promised: pods are terminating on nodes"
    assert says.startswith(begin)


def test_after_a_first_failure() -> None:
    snapshot = cluster().edited("fail zone=c")
    ((state, says, _),) = found(snapshot, {"workload": WEB, "survives": "any zone", "ready": 2})
    assert (state, says) == ("broken", "losing zone a leaves 1 of 3 ready at first, 2 promised; 1 of 2 zones keep it")


def test_room_counts_what_some_pod_can_use() -> None:
    """Also behind taints, not on cordoned nodes."""
    free, gpu, closed = (
        node("free", cpu="4"),
        node("gpu", cpu="4", taints=[taint("nvidia.com/gpu")]),
        node("closed", unschedulable=True),
    )
    for each in (free, gpu, closed):
        each["status"]["allocatable"]["memory"] = "8Gi"
    gpu["status"]["allocatable"]["nvidia.com/gpu"] = "2"
    objects = [free, gpu, closed, pod("one", "free", requests={"cpu": "2"})]
    room = {"cpu": "30%", "nvidia.com/gpu": 2, "memory": "20Gi", "example.com/fpga": 1}
    assert found(Snapshot.from_objects(objects), {"cluster": True, "room": room}) == [
        ("held", "37.5 % left (6 of 16), 30% promised", 7.5),
        ("held", "2 left, 2 promised", 0),
        ("broken", "16Gi left, 20Gi promised", -4 * 2**30),
        ("broken", "no node has any example.com/fpga", None),
    ]


def test_a_namespace_is_a_promise_of_all_its_workloads() -> None:
    labeled, *others = deployment("api", ("n2",))
    labeled["metadata"]["labels"] = {"app": "api"}
    snapshot = cluster(labeled, *others)
    report = kubespread.verify(snapshot, of({"namespace": "default", "spread": {"zone": 1}}))
    rows = [(str(row.workload), row.state) for row in report.clauses]
    assert rows == [("default/Deployment/api", "held"), ("default/Deployment/web", "broken")]
    assert report.answer[0] == "1 of 2 promises hold, 1 broken"
    chosen = kubespread.verify(snapshot, of({"namespace": "default", "selector": "app=api", "spread": {"zone": 1}}))
    assert [str(row.workload) for row in chosen.clauses] == ["default/Deployment/api"]


@pytest.mark.parametrize(
    ("until", "state", "verdict"),
    [("2026-11-22", "broken", "no"), ("2026-11-23", "accepted", "yes"), ("2027-01-31", "accepted", "yes")],
)
def test_a_broken_promise_is_accepted_until_its_day_is_over(until: str, state: str, verdict: str) -> None:
    promise = {"workload": WEB, "ready": 4, "until": until, "reason": "one more zone is ordered"}
    report = kubespread.verify(cluster(), of(promise), today=TODAY)
    assert (report.clauses[0].state, report.verdict) == (state, verdict)
    over = "" if state == "accepted" else ", which is over"
    said = f"3 of 3 pods ready, 4 promised (accepted until {until}{over}: one more zone is ordered)"
    assert report.answer[1] == f"default/Deployment/web: ready 4: {said}"


@pytest.mark.parametrize(
    ("kind", "promise"),
    [("HorizontalPodAutoscaler", {"fits": "hpaMax"}), ("PodDisruptionBudget", {"drain": "never blocked"})],
)
def test_what_the_cluster_does_not_tell_is_unknown(kind: str, promise: Data) -> None:
    snapshot = Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"))])
    report = kubespread.verify(snapshot, of({"workload": WEB, **promise}))
    assert (report.verdict, report.clauses[0].state) == ("unknown", "unknown")
    assert report.clauses[0].says.startswith(f"no {kind} objects: ")
    assert any(gap.startswith(f"no {kind} objects: ") for gap in report.gaps)


def test_manifests_are_applied_first(tmp_path: Path) -> None:
    more = next(each for each in deployment("web", (), cpu="2", replicas=9) if each["kind"] == "Deployment")
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(more))
    report = kubespread.verify(cluster(), of({"workload": WEB, "ready": 9}), filename=[str(tmp_path / "web.yaml")])
    assert [(row.state, row.says) for row in report.clauses] == [("held", "9 of 9 pods ready, 9 promised")]


def test_commands_are_about_the_cluster_with_its_edits(tmp_path: Path) -> None:
    more = next(each for each in deployment("web", (), cpu="2", replicas=9) if each["kind"] == "Deployment")
    (tmp_path / "web.yaml").write_text(yaml.safe_dump(more))
    edited = cluster().edited("cordon n2")
    for applied in ([], [str(tmp_path / "web.yaml")]):
        report = kubespread.verify(edited, of({"workload": WEB, "spread": {"zone": 0}}), filename=applied)
        assert report.clauses[0].command == "kubespread audit deploy/web --cordon n2 --key zone -n default"


FAULTS: Mapping[str, tuple[str, str]] = {
    "an unknown key": (
        "- {workload: default/deploy/web, survive: any zone}",
        '4: promises[0].survive: strict decoding error: unknown field "promises[0].survive", did you mean '
        '"promises[0].survives"?',
    ),
    "nothing promised": (
        "- workload: default/deploy/web",
        "4: promises[0]: promises nothing: expected one of survives, ready, back, spread, fits, rollout, drain",
    ),
    "of nobody": ("- ready: 2", "4: promises[0]: expected one of workload, namespace and cluster: true, found none"),
    "no domain": (
        "- {workload: default/deploy/web, survives: a zone}",
        "4: promises[0].survives: expected any zone, any node, or any KEY, found 'a zone'",
    ),
    "no day": (
        "- workload: default/deploy/web\n  ready: 1\n  until: soon",
        "6: promises[0].until: expected a day, YYYY-MM-DD, found 'soon'",
    ),
    "too large a share": (
        "- {workload: default/deploy/web, ready: 120%}",
        "4: promises[0].ready: expected a number or a share from 0% to 100%, found '120%'",
    ),
    "a word that is near": (
        "- {workload: default/deploy/web, fits: hpamax}",
        "4: promises[0].fits: expected replicas or hpaMax or a number, found 'hpamax', did you mean",
    ),
    "a promise of the cluster for a workload": (
        "- {workload: default/deploy/web, room: {cpu: 1}}",
        '4: promises[0].room: strict decoding error: unknown field "promises[0].room"',
    ),
    "back from nothing": (
        "- {workload: default/deploy/web, back: nodes deleted}",
        "4: promises[0].back: says nothing without survives",
    ),
    "a workload of a kind without replicas": (
        "- {workload: kube-system/ds/proxy, ready: 1}",
        "4: promises[0].workload: a DaemonSet has no replicas of which anything could be promised",
    ),
    "a workload that is not there": (
        "- workload: default/deploy/wep\n  ready: 1",
        '4: promises[0].workload: deployments.apps "wep" not found',
    ),
    "a label that no node has": (
        "- workload: default/deploy/web\n  survives: any zoen",
        "5: promises[0].survives: no node has the topology key 'zoen'",
    ),
    "an empty namespace": ("- {namespace: shop, ready: 1}", "4: promises[0].namespace: no workloads in namespace shop"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_is_wrong_is_named_by_line_and_field(case: str, tmp_path: Path) -> None:
    text, expected = FAULTS[case]
    path = tmp_path / "promises.yaml"
    path.write_text(f"apiVersion: kubespread.dev/v1alpha1\nkind: Promises\npromises:\n{text}\n")
    with pytest.raises(ManifestError) as caught:
        kubespread.verify(cluster(), path)
    assert f"{path}:{expected}" in str(caught.value)


VALID = [promise for promise, _ in FOUND.values()]


@pytest.mark.parametrize("promise", VALID, ids=str)
def test_the_schema_takes_what_the_program_takes(promise: Data) -> None:
    Draft202012Validator(schema()).validate(of({"workload": WEB, **promise}))


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in FAULTS
        if "that" not in case and case not in ("a workload of a kind without replicas", "an empty namespace", "no day")
    ],
)
def test_the_schema_refuses_what_the_program_refuses(case: str) -> None:
    data: Any = yaml.safe_load(FAULTS[case][0])
    assert not Draft202012Validator(schema()).is_valid(of(*data)) or case == "too large a share"


@pytest.mark.parametrize("path", sorted((FIXTURES / "promises").glob("*.yaml")), ids=lambda path: path.name)
def test_the_fixtures_are_valid(path: Path) -> None:
    Draft202012Validator(schema()).validate(json.loads(json.dumps(yaml.safe_load(path.read_text()), default=str)))


def test_it_is_said_what_is_missing() -> None:
    result = run("verify", "-S", FIXTURES / "clusters" / "shop.yaml")
    assert result.err == "error: verify needs a file of promises\n"
    assert result.code == 2


def test_the_command_ends_with_1_where_a_promise_is_broken(tmp_path: Path) -> None:
    path = tmp_path / "promises.yaml"
    path.write_text(yaml.safe_dump(of({"cluster": True, "room": {"cpu": "100%"}})))
    result = run("verify", str(path), "-S", FIXTURES / "clusters" / "shop.yaml", "-o", "table", "-q")
    assert result.code == 1
    assert result.out.splitlines()[0] == "No: 0 of 1 promise holds, 1 broken"


def test_every_clause_is_a_promise_of_its_own() -> None:
    snapshot = kubespread.load(FIXTURES / "clusters" / "shop.yaml")
    report = kubespread.verify(snapshot, FIXTURES / "promises" / "shop.yaml")
    assert report.answer[0] == "8 of 11 promises hold, 2 broken, 1 accepted"
    states = [
        f"{row.line} {row.called}: {row.clause} {row.promised}: {row.state}, {row.margin}" for row in report.clauses
    ]
    assert states == [
        "8 default/Deployment/web: ready 6, any zone: held, 0",
        "9 default/Deployment/web: back while silent, any zone: broken, -3",
        "10 default/Deployment/api: spread zone 1: held, 1",
        "10 default/Deployment/api: fits 15: held, 3",
        "10 default/Deployment/web: spread zone 1: held, 1",
        "10 default/Deployment/web: fits 15: held, 27",
        "12 default/Deployment/web: rollout 80%: accepted, -1",
        "15 default/Deployment/api: ready 2, any node: held, 0",
        "15 default/Deployment/api: drain never blocked: broken, -3",
        "16 the cluster: room cpu 20%: held, 48.8",
        f"16 the cluster: room memory 16Gi: held, {29 * 2.0**30}",
    ]


@pytest.mark.parametrize("namespace", ["batch", "kube-system", "payments", "shop"])
def test_what_survives_is_what_survive_says(namespace: str) -> None:
    """Word by word of how many domains can be lost."""
    snapshot = kubespread.load(FIXTURES / "cases" / "everyday" / "aws12.json.gz")
    promised = of({"namespace": namespace, "survives": "any zone"})
    rows = kubespread.verify(snapshot, promised).clauses
    for row in rows:
        survived = kubespread.survive(snapshot, ["zone"], workloads=[str(row.workload)])
        assert (row.state, survived.verdict) in {("held", "yes"), ("broken", "no"), ("unknown", "unknown")}
        if row.state == "broken":
            assert f"; {survived.answer[0].partition('.')[0]}" in row.says
    assert rows


def test_what_is_remarked_of_the_steps_that_are_played_is_said() -> None:
    shop = kubespread.load(FIXTURES / "clusters" / "shop.yaml")
    report = kubespread.verify(shop, FIXTURES / "promises" / "shop.yaml")
    assert "step 1: Deployment/web: among equal pods the controller's choice is arbitrary" in report.notes
