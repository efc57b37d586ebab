"""A domain that no pod can go to and that sets the minimum earns the advice nodeTaintsPolicy: Honor, where that helps."""

from __future__ import annotations

import pytest

import kubespread
from tests.builders import Data, hard, node, pod, pods_on, taint

GPU = [taint("gpu")]
CORDON = [taint("node.kubernetes.io/unschedulable")]
OPEN = [node("a", zone="a", host="a"), node("b", zone="b", host="b")]
CLOSED = node("c", zone="c", host="c", taints=GPU)
RUNNING = pods_on({"a": 1, "b": 1})
CASES: dict[str, tuple[list[Data], Data, list[int | None]]] = {
    "a zone of tainted nodes": ([*OPEN, CLOSED, *RUNNING], pod(constraints=[hard()]), [2]),
    "a zone of cordoned nodes": (
        [*OPEN, node("c", zone="c", taints=CORDON, unschedulable=True), *RUNNING],
        pod(constraints=[hard()]),
        [2],
    ),
    "a cordon without its taint, which the policy does not see": (
        [*OPEN, node("c", zone="c", unschedulable=True), *RUNNING],
        pod(constraints=[hard()]),
        [],
    ),
    "two constraints that only together let it in": (
        [*OPEN, CLOSED, *RUNNING],
        pod(constraints=[hard(), hard("host")]),
        [],
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


def policies(report: kubespread.ExplainReport) -> list[int | None]:
    """How many nodes fit with nodeTaintsPolicy Honor alone, constraint by constraint."""
    enough = () if report.advice is None else report.advice.enough
    return [each.nodes for each in enough if each.change.endswith("nodeTaintsPolicy Honor")]


@pytest.mark.parametrize("case", CASES)
def test_explain(case: str) -> None:
    objects, candidate, expected = CASES[case]
    assert policies(kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate)) == expected


def test_the_remedy_works() -> None:
    snapshot = kubespread.Snapshot.from_objects([*OPEN, CLOSED, *RUNNING])
    remedied = kubespread.explain(snapshot, pod(constraints=[hard(nodeTaintsPolicy="Honor")]))
    assert len(remedied.feasible) == 2


def test_releases_without_the_policy_are_not_advised_to_set_it() -> None:
    snapshot = kubespread.Snapshot.from_objects([*OPEN, CLOSED, *RUNNING])
    scheduler = kubespread.Scheduler(kube_version="1.25")
    assert policies(kubespread.explain(snapshot, pod(constraints=[hard()]), scheduler)) == []
