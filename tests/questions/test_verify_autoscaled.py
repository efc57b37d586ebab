"""Promises that hold with the nodes of an autoscaler that is asked for."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.node_groups.groups import NodeGroup
from tests.builders import Data
from tests.questions.autoscaling.clusters import group, machine
from tests.questions.test_node_pools import node_pool
from tests.questions.test_verify import of
from tests.world.clusters import budget, deployment

TWO = [machine("n1", "a", pool="pool"), machine("n2", "b", pool="pool")]
WEB = [*TWO, *deployment("web", ("n1", "n2"), cpu="3"), budget("other", minAvailable=0)]


AGAIN = (
    "held: 2 of 2 pods ready again once its nodes are deleted and cluster-autoscaler has added others, whichever of 2 "
    "zones is lost"
)
FULL = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s); 0 of 2 zones can be lost"
DELETED = "0/1 nodes are available: 1 Insufficient cpu; 0 of 2 zones can be lost"
NONE_ADDED = "cluster-autoscaler adds no node for 1 pending pod, 1 still pending"
ADDED = "cluster-autoscaler adds 1 node for 1 pending pod, none still pending"
LOST = (
    "broken: losing zone a leaves 1 of 2 ready once its nodes are deleted and cluster-autoscaler has added others: "
    f"{DELETED}; {NONE_ADDED}"
)
SILENT = f"broken: losing zone a leaves 1 of 2 ready while its nodes are silent: {FULL}"
AT_FIRST = "broken: losing zone a leaves 1 ready at first, 2 promised; 0 of 2 zones can be lost"
DRAINED = "held: 2 nodes with its pods can be drained, each by itself"


class Case(NamedTuple):
    promise: Data
    says: str
    """With nodes in both zones."""
    without: str
    """With as many nodes as there are."""
    objects: list[Data] = WEB


CASES = {
    "what survives": Case({"survives": "any zone"}, AGAIN, LOST),
    "what comes back": Case({"survives": "any zone", "back": "nodes deleted"}, AGAIN, LOST),
    "what is back before any node is deleted is so without new ones": Case(
        {"survives": "any zone", "back": "while silent"}, SILENT, SILENT
    ),
    "what is ready at the worst moment": Case({"survives": "any zone", "ready": 2}, AT_FIRST, AT_FIRST),
    "replicas": Case(
        {"fits": 3},
        f"held: all 3 replicas find a node; {ADDED}",
        "broken: 2 of 3 replicas find a node, 1 does not: 0/2 nodes are available: 2 Insufficient cpu.; " + NONE_ADDED,
    ),
    "a rollout": Case(
        {"rollout": 2},
        "held: 2 of 2 pods ready at worst while it is rolled out, no more than promised",
        "broken: its rollout does not get done: 0/2 nodes are available: 2 Insufficient cpu.",
    ),
    "a drain, after which the node is replaced": Case({"drain": "never blocked"}, DRAINED, DRAINED),
    "a drain that a budget holds until there is room": Case(
        {"drain": "never blocked"},
        "held: 1 node with its pods can be drained, each by itself",
        "broken: draining n1 is blocked by default/web-b: Cannot evict pod as it would violate the pod's disruption "
        "budget. The disruption budget web needs 1 healthy pods and has 1 currently",
        [
            *TWO,
            *deployment("web", ("n1", "n1"), cpu="2"),
            *deployment("fat", ("n2",), cpu="3"),
            budget("web", minAvailable=1),
        ],
    ),
}


@pytest.mark.parametrize("grows", [True, False], ids=["nodes are added", "none can be"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_becomes_of_a_promise(case: Case, grows: bool) -> None:
    groups: list[NodeGroup] = [group("pool", "a", "b", maximum=None if grows else 1)]
    promise = of({"workload": "default/deploy/web", **case.promise})
    (row,) = kubespread.verify(
        Snapshot.from_objects(case.objects), promise, autoscaler="ca", node_groups=groups
    ).clauses
    assert f"{row.state}: {row.says}" == (case.says if grows else case.without)


@pytest.mark.parametrize("promise", [case.promise for case in CASES.values()], ids=CASES)
def test_machines_nobody_knows_leave_it_open(promise: Data) -> None:
    cluster = Snapshot.from_objects([*WEB, node_pool()])
    (row,) = kubespread.verify(
        cluster, of({"workload": "default/deploy/web", **promise}), autoscaler="karpenter"
    ).clauses
    is_before = promise.get("back") == "while silent" or "ready" in promise
    assert row.state == ("broken" if is_before else "unknown")
    assert "--autoscaler karpenter" in row.command


def test_an_autoscaler_without_groups_is_an_error_of_the_question() -> None:
    promise = of({"workload": "default/deploy/web", "survives": "any zone"})
    with pytest.raises(UsageError, match="--autoscaler ca needs --node-groups FILE"):
        kubespread.verify(Snapshot.from_objects(WEB), promise, autoscaler="ca")
