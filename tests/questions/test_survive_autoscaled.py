"""What an autoscaler adds once a domain is lost: outside of it, and what still waits then."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.node_groups import NodeGroup
from tests.builders import Data, pod
from tests.questions.autoscaling.clusters import group, machine
from tests.questions.test_node_pools import node_pool
from tests.world.clusters import deployment

WEB = deployment("web", ("n1", "n2"), cpu="3")
TWO = [machine("n1", "a", pool="pool"), machine("n2", "b", pool="pool")]
SAFE = "once cluster-autoscaler has added nodes, any one of 2 zones can be lost"
ADDS, INSIDE = "cluster-autoscaler adds", "its nodes would be in what is lost"
FULL = "0/1 nodes are available: 1 Insufficient cpu (cluster-autoscaler:"
WAITS = "1 pod pending (Deployment/web), 1 workload degraded (Deployment/web 1 of 2 ready)"
UNKNOWN = "whether new nodes of any would take them is not known, as their instance types are not in the cluster"


class Case(NamedTuple):
    groups: list[NodeGroup] | None
    verdict: str
    joined: list[int]
    said: list[str]
    objects: list[Data] = [*TWO, *WEB]
    keys: tuple[str, ...] = ()


CASES = {
    "nodes in the other zone bring all pods back": Case(
        [group("pool", "a", "b")], "yes", [1, 1], [SAFE, f"{ADDS} 1 node"]
    ),
    "a group of the lost zone does not": Case(
        [group("pool", "a")],
        "no",
        [0, 1],
        [
            f"once cluster-autoscaler has added nodes, 1 of 2 zones can be lost. zone a: {WAITS}",
            f"losing zone a: 1 pod pending (Deployment/web): {FULL} {INSIDE})",
            f"{ADDS} up to 1 node",
        ],
    ),
    "a maximum that is the cause is named": Case(
        [group("pool", "a", "b", maximum=1)],
        "no",
        [0, 0],
        [
            f"once cluster-autoscaler has added nodes, none of 2 zones can be lost. zone a: {WAITS}",
            f"losing any zone: 1 pod pending: {FULL} it may have 1 node and has it, {INSIDE})",
            "losing any zone: 1 workload degraded, at worst Deployment/web 1 of 2 ready (losing zone a)",
            f"{ADDS} no nodes",
        ],
    ),
    "a host that is lost is replaced in its zone, like the one that it was": Case(
        [group("pool", maximum=2)],
        "yes",
        [1, 1],
        ["once cluster-autoscaler has added nodes, any one of 2 nodes can be lost", f"{ADDS} 1 node"],
        keys=("hostname",),
    ),
    "a pod that nothing makes again is lost with any number of nodes": Case(
        [group("pool", "a", "b")],
        "no",
        [0, 0],
        [
            "once cluster-autoscaler has added nodes, none of 2 zones can be lost. zone a: 1 pod lost for good (Pod/one)",
            "losing any zone: 1 pod lost for good",
            f"{ADDS} no nodes",
        ],
        [*TWO, pod("one", "n1"), pod("two", "n2")],
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_comes_back(case: Case) -> None:
    report = kubespread.survive(
        Snapshot.from_objects(case.objects),
        case.keys,
        autoscaler=None if case.groups is None else "ca",
        node_groups=case.groups,
        nodes_deleted=True,
    )
    joined = [len(loss.nodes.joined) for loss in report.losses]
    assert (report.verdict, joined, [*report.answer]) == (case.verdict, case.joined, case.said)
    assert not any("no nodes are added" in text for text in report.not_modelled)


def test_what_machines_nobody_knows_would_take_is_not_known() -> None:
    report = kubespread.survive(Snapshot.from_objects([*TWO, node_pool(), *WEB]), autoscaler="karpenter")
    assert report.verdict == "unknown"
    assert any("instance types of any" in gap for gap in report.gaps)
    (first, _) = report.losses
    assert [(trouble.kind, trouble.certain) for trouble in first.troubles] == [("pending", False)]
    waiting = "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)"
    assert f"losing any zone: 1 pod pending: {waiting} (karpenter: {UNKNOWN})" in report.answer
