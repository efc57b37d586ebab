"""What one more node does to topology spread constraints, recomputed by the engine."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import kubespread
from tests.builders import Data, hard, pod, taint
from tests.questions.autoscaling.clusters import ZONE, machine, running

SPREAD = "node(s) didn't match pod topology spread constraints"


class Trap(NamedTuple):
    added: list[Data]
    message: str | None
    """kube-scheduler's."""
    fits: list[str]
    constraint: dict[str, Any] = {}
    there: dict[str, int] = {"a1": 2, "b1": 2}


TRAPS = {
    "without a new node the pod fits in both zones": Trap([], None, ["a1", "b1"]),
    "a node without room in a new zone bars all others": Trap(
        [machine("c1", "c", cpu="100m")], f"0/3 nodes are available: 1 Insufficient cpu, 2 {SPREAD}.", []
    ),
    "so does one with a taint": Trap(
        [machine("c1", "c", taints=[taint("gpu")])],
        f"0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 {SPREAD}.",
        [],
    ),
    "so does one that is cordoned": Trap(
        [machine("c1", "c", unschedulable=True)],
        f"0/3 nodes are available: 1 node(s) were unschedulable, 2 {SPREAD}.",
        [],
    ),
    "where taints are honored the tainted node makes no domain": Trap(
        [machine("c1", "c", taints=[taint("gpu")])], None, ["a1", "b1"], {"nodeTaintsPolicy": "Honor"}
    ),
    "a node without the label changes nothing for others": Trap([machine("c1")], None, ["a1", "b1"]),
    "with a minDomains of three two zones are too few": Trap(
        [], f"0/2 nodes are available: 2 {SPREAD}.", [], {"minDomains": 3}
    ),
    "the third zone takes the pod": Trap([machine("c1", "c")], None, ["c1"], {"minDomains": 3}),
    "with a minDomains of three each empty zone takes one": Trap([], None, ["a1", "b1"], {"minDomains": 3}, {}),
}


@pytest.mark.parametrize("trap", TRAPS.values(), ids=list(TRAPS))
def test_a_new_node_and_zones(trap: Trap) -> None:
    nodes = [machine("a1", "a"), machine("b1", "b"), *trap.added]
    snapshot = kubespread.Snapshot.from_objects([*nodes, *running(trap.there)])
    candidate = pod(constraints=[hard(ZONE, **trap.constraint)], requests={"cpu": "1"})
    report = kubespread.explain(snapshot, candidate)
    assert (report.message, sorted(node.name for node in report.nodes if node.feasible)) == (trap.message, trap.fits)


def test_a_node_without_the_label_fails_for_it() -> None:
    snapshot = kubespread.Snapshot.from_objects([machine("a1", "a"), machine("c1")])
    report = kubespread.explain(snapshot, pod(constraints=[hard(ZONE)]))
    said = {node.name: node.verdict.reasons for node in report.nodes}
    assert said["c1"] == (f"{SPREAD} (missing required label)",)


@pytest.mark.parametrize(
    ("copies", "placed", "message"),
    [
        ({"a": 3}, 1, f"0/5 nodes are available: 2 Insufficient cpu, 3 {SPREAD}."),
        ({"a": 3, "b": 1}, 9, f"0/6 nodes are available: 3 Insufficient cpu, 3 {SPREAD}."),
    ],
    ids=["copies in one zone do not scale", "the smaller zone bounds the larger one"],
)
def test_copies_in_one_zone(copies: dict[str, int], placed: int, message: str) -> None:
    new = [machine(f"new-{zone}{number}", zone) for zone, count in copies.items() for number in range(count)]
    small = [machine("a1", "a", cpu="100m"), machine("b1", "b", cpu="100m")]
    candidate = pod(constraints=[hard(ZONE)], requests={"cpu": "1"})
    report = kubespread.simulate(kubespread.Snapshot.from_objects([*small, *new]), candidate, 10)
    assert (report.placed, report.stopped) == (placed, message)
