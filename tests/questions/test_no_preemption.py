"""Pods that fit nowhere preempt others by default, and who has to go is said; ``preemption=False``: nobody goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

import kubespread
from kubespread import Side, Snapshot
from kubespread.reports.parts import QuestionReport
from kubespread.snapshot.edits.registry import parse
from tests.builders import hard, hosts, taint
from tests.world.clusters import deployment

ZONE = "topology.kubernetes.io/zone"
FULL = Snapshot.from_objects(
    [
        *hosts("a", "b"),
        *deployment("low", ("n1",) * 4, cpu="2", spec={"priority": 0}),
        *deployment("high", ("n0",), cpu="7", spec={"priority": 9}),
    ]
)
"""Two nodes: ``high`` has all of n0, the four pods of ``low`` have all of n1."""
ROOMY = replace(FULL, nodes=(*FULL.nodes, *Snapshot.from_objects([*hosts("a", "b", "b")]).nodes[2:]))
"""The same, with an empty node."""
_N0, _N1, _N2 = hosts("a", "a", "b")
SPARE = Snapshot.from_objects(
    [
        _N0,
        _N1,
        {**_N2, "spec": {"taints": [taint("spare")]}},
        *deployment("low", ("n1",) * 4, cpu="2", spec={"priority": 0, "tolerations": [{"operator": "Exists"}]}),
        *deployment("high", ("n0",), cpu="7", spec={"priority": 9}),
    ]
)
"""The same, with an empty node that only ``low`` tolerates."""
WAITING = Snapshot.from_objects(
    [
        *hosts("a", "b"),
        *deployment(
            "low",
            ("n0", "n1"),
            cpu="5",
            spec={"priority": 0, "topologySpreadConstraints": [hard(ZONE, match={"app": "low"})]},
        ),
        *deployment("high", (None,), cpu="7", spec={"priority": 9}),
    ]
)
"""``high`` waits for room that ``low`` has."""
LOW = "default/low-d, default/low-c, default/low-b and 1 more"
QUESTIONS: dict[str, tuple[Callable[..., QuestionReport], list[str], list[str]]] = {
    "survive": (
        lambda **options: kubespread.survive(FULL, **options),
        [
            "none of 2 zones can be lost. zone a: 4 pods pending (Deployment/low), 1 workload degraded "
            "(Deployment/low 0 of 4 ready)",
            "losing any zone: 4 pods pending: 0/2 nodes are available: 1 Insufficient cpu, "
            "1 node(s) had untolerated taint(s)",
            "losing any zone: 1 workload degraded, at worst Deployment/low 0 of 4 ready (losing zone a)",
            f"losing zone a preempts 4 pods: {LOW}",
        ],
        [
            "none of 2 zones can be lost. zone b: 4 pods pending (Deployment/low), 1 workload degraded "
            "(Deployment/low 0 of 4 ready)",
            "losing any zone: up to 4 pods pending: 0/2 nodes are available: 1 Insufficient cpu, "
            "1 node(s) had untolerated taint(s)",
            "losing any zone: 1 workload degraded, at worst Deployment/low 0 of 4 ready (losing zone b)",
        ],
    ),
    "upgrade": (
        lambda **options: kubespread.upgrade(FULL, "n0", **options),
        [
            "every step done in full; 4 pods were preempted",
            f"step 1 preempts 4 pods: {LOW}",
            "step 1: Deployment/high is down meanwhile: no other pod is ready",
        ],
        [
            "every step done in full; in the end nothing is worse",
            "step 1: Deployment/high is down meanwhile: no other pod is ready",
        ],
    ),
    "removable": (
        lambda **options: kubespread.removable(SPARE, "n0", **options),
        ["n0 can go", "together they preempt 4 pods, each of which finds another node"],
        [
            "n0 cannot go: 1 pod pending (Deployment/high): 0/2 nodes are available: 1 Insufficient cpu, "
            "1 node(s) had untolerated taint(s); 1 workload degraded (Deployment/high 0 of 1 ready)"
        ],
    ),
    "rebalance": (
        lambda **options: kubespread.rebalance(WAITING, **options),
        ["nothing to do: the constraint holds"],
        ["nothing to do: the constraint holds"],
    ),
    "audit": (
        lambda **options: kubespread.audit(WAITING, "deploy/high", **options),
        [
            "1 at risk, 0 fine of 1 workload",
            "Deployment/high: 0 of 1 pod on nodes, 1 pending, 1 of them placeable now",
            "pods that wait preempt 1 pod: default/low-a",
        ],
        [
            "1 at risk, 0 fine of 1 workload",
            "Deployment/high: 0 of 1 pod on nodes, 1 pending: 0/2 nodes are available: 2 Insufficient cpu.",
        ],
    ),
    "pending": (
        lambda **options: kubespread.pending(WAITING, **options),
        [
            "1 pod pending for 1 cause; 1 of them finds a node as things are",
            "pods of Deployment/high find a node by preempting 1 pod: default/low-a",
        ],
        ["1 pod pending for 1 cause; 1 change frees it"],
    ),
    "compare, where one side preempts": (
        lambda **options: kubespread.compare(
            Side(ROOMY, "deploy/high"),
            Side(ROOMY.edited(parse("delete-node n2", None)), "deploy/high"),
            replicas=2,
            **options,
        ),
        [
            "1 of 1 workload and 1 of 3 nodes differ, worse: default/Deployment/high preempts – → default/low-a, default/low-b, default/low-c, default/low-d and 1 more change",
            "edits: – → delete-node n2",
        ],
        [
            "1 of 1 workload and 1 of 3 nodes differ, worse: default/Deployment/high pending 0 → 1 and 1 more change",
            "edits: – → delete-node n2",
        ],
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_who_is_preempted_is_said_and_nobody_is_where_that_is_asked_for(question: str) -> None:
    asked, by_default, without = QUESTIONS[question]
    reports = [asked(), asked(preemption=False)]
    assert [[*report.answer] for report in reports] == [by_default, without]
    assert [report.manner for report in reports] == ["", "no preemption"]
