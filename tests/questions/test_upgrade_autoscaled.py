"""What an autoscaler adds while a pool is replaced, and what still waits in the end."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import kubespread
from kubespread import Snapshot
from kubespread.node_groups.groups import NodeGroup
from tests.builders import Data
from tests.questions.autoscaling.clusters import group, machine
from tests.world.clusters import budget, deployment

FULL = [machine("n1", "a", pool="pool"), machine("n2", "a", pool="pool"), *deployment("web", ("n1", "n2"), cpu="3")]
ONE_BY_ONE = [*FULL, budget("web", minAvailable=1)]
ADDS, LIMIT = "cluster-autoscaler adds", "Deployment/web: 1 pod still pending: it may have 2 nodes and has them"


class Case(NamedTuple):
    objects: list[Data]
    groups: list[NodeGroup] | None
    verdict: str
    said: list[str]
    options: dict[str, Any] = {}


CASES = {
    "a budget waits no longer for a pod that gets a new node": Case(
        ONE_BY_ONE, [group("pool", "a", maximum=3)], "yes", ["2 of 2 nodes replaced", f"{ADDS} 1 node"], {"batch": 2}
    ),
    "the maximum of the group is named where it goes on waiting": Case(
        ONE_BY_ONE,
        [group("pool", "a", maximum=2)],
        "no",
        ["0 of 2 nodes replaced, 1 pod left pending: blocked at n1, n2", f"{ADDS} no node", LIMIT],
        {"batch": 2},
    ),
    "a template that is replaced itself still says what new nodes are like": Case(
        FULL,
        [NodeGroup("more", template="n1", zones=("a",), maximum=9)],
        "yes",
        ["2 of 2 nodes replaced", f"{ADDS} 2 nodes"],
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
    assert (report.verdict, list(report.answer)[: len(case.said)]) == (case.verdict, case.said)
    assert not any("no nodes are added" in text for text in report.not_modelled)
