"""Why a running pod is where it is, and which pods of a workload wait: said before anything else."""

from __future__ import annotations

import pytest

import kubespread
from kubespread import ExplainReport, Snapshot
from kubespread.errors import UsageError
from tests.builders import Data, node, pod, replica, taint
from tests.world.clusters import deployment

NODES = [node("a", cpu="4"), node("b", cpu="8")]


def explained(objects: list[Data], asked: str = "pod/web", *, why_here: bool = True) -> ExplainReport:
    return kubespread.explain(Snapshot.from_objects(objects), asked, why_here=why_here)


CASES: dict[str, tuple[list[Data], str]] = {
    "its node would win": (
        [*NODES, pod("web", "b", requests={"cpu": "2"})],
        "runs on b, which would win today: 454 against 436 of a: NodeResourcesFit +12, NodeResourcesBalancedAllocation +6",
    ),
    "another node would win": (
        [*NODES, pod("web", "a", requests={"cpu": "2"})],
        "runs on a, number 2 of 2 nodes that fit today with 436; b would win with 454: "
        "NodeResourcesFit -12, NodeResourcesBalancedAllocation -6 for its node",
    ),
    "nodes that score alike": (
        [node("a"), node("b"), pod("web", "b")],
        "runs on b, tied for the best of today with a: {total}",
    ),
    "the only node": ([node("a"), pod("web", "a")], "runs on a, the only node that fits today"),
    "a node that would not take it anymore": (
        [node("a", taints=[taint("x")]), node("b"), pod("web", "a")],
        "runs on a, which would not fit today: node(s) had untolerated taint(s); b would win",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_why_a_pod_is_where_it_is(case: str) -> None:
    objects, expected = CASES[case]
    report = explained(objects)
    assert report.here is not None
    assert report.answer[1] == str(report.here) == expected.format(total=report.here.total)


@pytest.mark.parametrize(
    ("objects", "asked", "what"),
    [
        ([*NODES, pod("web")], "pod/web", ", and web is pending: leave it out"),
        ([*NODES, *deployment("web", ("a",))], "deploy/web", ": name it as pod/NAME"),
    ],
)
def test_what_runs_nowhere_is_not_asked_why(objects: list[Data], asked: str, what: str) -> None:
    with pytest.raises(UsageError, match=f"^--why-here is about a pod that runs{what}$"):
        explained(objects, asked)


def test_pods_of_the_workload_that_wait_are_said_after_the_verdict() -> None:
    report = explained([*NODES, *deployment("web", ("a", None, None))], "deploy/web", why_here=False)
    assert report.waiting == ("default/web-b", "default/web-c")
    assert report.answer[:2] == (
        "2 of 2 nodes fit: b, a",
        "2 of its pods are pending, 2 of 2 fit now: web-b, web-c; this pod would be the next",
    )
    assert explained([*NODES, replica("web", "a")], "pod/web", why_here=False).waiting == ()
