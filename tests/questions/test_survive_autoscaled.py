"""What an autoscaler adds once a domain is lost: outside of it, and what still waits then."""

from __future__ import annotations

from typing import NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.node_groups.groups import NodeGroup
from tests.builders import Data, pod
from tests.questions.autoscaling.clusters import group, machine
from tests.questions.test_node_pools import node_pool
from tests.world.clusters import deployment

WEB = deployment("web", ("n1", "n2"), cpu="3")
TWO = [machine("n1", "a", pool="pool"), machine("n2", "b", pool="pool")]
WHOLE = "no pod stays pending, no workload is degraded"
SAFE = f"once cluster-autoscaler has added nodes, any one of 2 zones can be lost: {WHOLE}"
ADDS, INSIDE = "cluster-autoscaler adds", "its nodes would be in what is lost"


class Case(NamedTuple):
    groups: list[NodeGroup] | None
    verdict: str
    said: list[str]
    objects: list[Data] = [*TWO, *WEB]
    keys: tuple[str, ...] = ()


CASES = {
    "nodes in the other zone bring all pods back": Case(
        [group("pool", "a", "b")], "yes", [SAFE, f"losing zone a or b: {ADDS} 1 node, none still pending"]
    ),
    "a group of the lost zone does not": Case(
        [group("pool", "a")],
        "no",
        [
            "once cluster-autoscaler has added nodes, 1 of 2 zones can be lost: losing zone a leaves 1 pod pending",
            f"losing zone a: {ADDS} no node, 1 pod still pending: {INSIDE}",
            f"losing zone b: {ADDS} 1 node (1 in a), none still pending",
        ],
    ),
    "a maximum that is the cause is named": Case(
        [group("pool", "a", "b", maximum=1)],
        "no",
        [
            "once cluster-autoscaler has added nodes, none of 2 zones can be lost: losing any zone leaves 1 pod pending",
            f"losing zone a or b: {ADDS} no node, 1 pod still pending: it may have 1 node and has it, {INSIDE}",
        ],
    ),
    "a host that is lost is replaced in its zone, like the one that it was": Case(
        [group("pool", maximum=2)],
        "yes",
        [
            "once cluster-autoscaler has added nodes, any one of 2 nodes can be lost: "
            "no pod stays pending, no workload is degraded",
            f"losing node n1 or n2: {ADDS} 1 node, none still pending",
        ],
        keys=("hostname",),
    ),
    "a pod that nothing makes again is lost with any number of nodes": Case(
        [group("pool", "a", "b")],
        "no",
        ["once cluster-autoscaler has added nodes, none of 2 zones can be lost: losing any zone takes 1 pod for good"],
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
    assert (report.verdict, [text for text in report.answer if " ready" not in text]) == (case.verdict, case.said)
    assert not any("no nodes are added" in text for text in report.not_modelled)


def test_what_machines_nobody_knows_would_take_is_not_known() -> None:
    report = kubespread.survive(Snapshot.from_objects([*TWO, node_pool(), *WEB]), autoscaler="karpenter")
    assert report.verdict == "unknown"
    assert any("instance types of any" in gap for gap in report.gaps)
    assert (
        "losing zone a or b: karpenter adds no node, whether new nodes of any would take 1 pod is not known, as their "
        "instance types are not in the cluster"
    ) in report.answer
