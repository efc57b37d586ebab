"""A domain that no pod can go to and that sets the minimum earns the hint nodeTaintsPolicy: Honor, where that helps."""

from __future__ import annotations

import pytest

import kubespread
from tests.builders import Data, hard, node, pod, pods_on, taint

GPU = [taint("gpu")]
CORDON = [taint("node.kubernetes.io/unschedulable")]
OPEN = [node("a", zone="a", host="a"), node("b", zone="b", host="b")]
CLOSED = node("c", zone="c", host="c", taints=GPU)
RUNNING = pods_on({"a": 1, "b": 1})
HINT = "the minimum over zone is set by c, where every node is tainted or cordoned: with nodeTaintsPolicy: Honor on that constraint 2 of 3 nodes would fit"
BOTH = (
    "the minimum over zone is set by c and that over host is set by c, where every node is tainted or cordoned: "
    "with nodeTaintsPolicy: Honor on these constraints 2 of 3 nodes would fit"
)

CASES: dict[str, tuple[list[Data], Data, list[str]]] = {
    "a zone of tainted nodes": ([*OPEN, CLOSED, *RUNNING], pod(constraints=[hard()]), [HINT]),
    "a zone of cordoned nodes": (
        [*OPEN, node("c", zone="c", taints=CORDON, unschedulable=True), *RUNNING],
        pod(constraints=[hard()]),
        [HINT],
    ),
    "a cordon without its taint, which the policy does not see": (
        [*OPEN, node("c", zone="c", unschedulable=True), *RUNNING],
        pod(constraints=[hard()]),
        [],
    ),
    "two constraints that only together let it": (
        [*OPEN, CLOSED, *RUNNING],
        pod(constraints=[hard(), hard("host")]),
        [BOTH],
    ),
    "a taint that is tolerated": (
        [*OPEN, CLOSED, *RUNNING],
        pod(constraints=[hard()], tolerations=[{"key": "gpu", "operator": "Exists"}]),
        [],
    ),
    "a policy that honors taints already": (
        [*OPEN, CLOSED, *RUNNING],
        pod(constraints=[hard(nodeTaintsPolicy="Honor")]),
        [],
    ),
    "a zone with an open node that is full": (
        [*OPEN, CLOSED, node("d", zone="c", cpu="0"), *RUNNING],
        pod(constraints=[hard()], requests={"cpu": "1"}),
        [],
    ),
    "a taint that does not matter yet": ([*OPEN, CLOSED], pod(constraints=[hard()]), []),
    "a policy that would not help": ([*OPEN, CLOSED, *RUNNING], pod(constraints=[hard()], requests={"cpu": "9"}), []),
    "a soft constraint": ([CLOSED, *RUNNING], pod(constraints=[{**hard(), "whenUnsatisfiable": "ScheduleAnyway"}]), []),
}


@pytest.mark.parametrize("case", CASES)
def test_explain(case: str) -> None:
    objects, candidate, expected = CASES[case]
    assert list(kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate).notes) == expected


def test_the_remedy_works() -> None:
    snapshot = kubespread.Snapshot.from_objects([*OPEN, CLOSED, *RUNNING])
    remedied = kubespread.explain(snapshot, pod(constraints=[hard(nodeTaintsPolicy="Honor")]))
    assert len(remedied.feasible) == 2


def test_simulate_says_it_once_replicas_get_stuck() -> None:
    snapshot = kubespread.Snapshot.from_objects([*OPEN, CLOSED])
    candidate = pod(constraints=[hard()])
    assert kubespread.simulate(snapshot, candidate, 2).notes == ()
    stuck = kubespread.simulate(snapshot, candidate, 3)
    assert (stuck.placed, list(stuck.notes)) == (2, [HINT])


def test_releases_without_the_policy_get_no_hint() -> None:
    snapshot = kubespread.Snapshot.from_objects([*OPEN, CLOSED, *RUNNING])
    assert (
        kubespread.explain(snapshot, pod(constraints=[hard()]), kubespread.Scheduler(kube_version="1.25")).notes == ()
    )
