"""What an autoscaler adds while a pool is replaced, and what still waits in the end."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.node_groups import NodeGroup
from tests.builders import Data
from tests.questions.autoscaling.clusters import group, machine
from tests.world.clusters import budget, deployment

FULL = [machine("n1", "a", pool="pool"), machine("n2", "a", pool="pool"), *deployment("web", ("n1", "n2"), cpu="3")]
ONE_BY_ONE = [*FULL, budget("web", minAvailable=1)]
HELD = (
    "step 1: 1 pod cannot be evicted (web-b): Cannot evict pod as it would violate the pod's disruption budget. The "
    "disruption budget web needs 1 healthy pods and has 1 currently"
)
LIMIT = (
    "step 1: 1 pod pending (Deployment/web): 0/2 nodes are available: 2 node(s) were unschedulable (cluster-autoscaler: "
    "it may have 2 nodes and has them)"
)
DONE = "every step done in full; nothing is worse"


class Case(NamedTuple):
    objects: list[Data]
    groups: list[NodeGroup] | None
    verdict: str
    joined: list[tuple[str, ...]]
    """In each batch: the nodes that replace others, and those that are added for pods that wait."""
    said: list[str]
    options: dict[str, Any] = {}


CASES = {
    "a budget waits no longer for a pod that gets a new node": Case(
        ONE_BY_ONE, [group("pool", "a", maximum=3)], "yes", [("n1-1", "n2-1", "pool-1")], [DONE], {"batch": 2}
    ),
    "the maximum of the group is named where it goes on waiting": Case(
        ONE_BY_ONE,
        [group("pool", "a", maximum=2)],
        "no",
        [()],
        [
            "0 of 1 step done in full; 1 pod cannot be evicted (web-b), 1 pod pending (Deployment/web), 1 workload "
            "degraded (Deployment/web 1 of 2 ready)",
            HELD,
            LIMIT,
        ],
        {"batch": 2},
    ),
    "a template that is replaced itself still says what new nodes are like": Case(
        FULL,
        [NodeGroup("more", template="n1", zones=("a",), maximum=9)],
        "yes",
        [("more-1", "n1-1"), ("more-2", "n2-1")],
        [DONE],
        {"to": "2x8"},
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_is_added_while_nodes_are_replaced(case: Case) -> None:
    report = kubespread.upgrade(
        Snapshot.from_objects(case.objects),
        "topology.kubernetes.io/zone=a",
        autoscaler=None if case.groups is None else "ca",
        node_groups=case.groups,
        remedies=False,
        **case.options,
    )
    assert (report.verdict, [step.nodes.joined for step in report.steps]) == (case.verdict, case.joined)
    assert list(report.answer) == case.said
    assert not any("no nodes are added" in text for text in report.not_modelled)
