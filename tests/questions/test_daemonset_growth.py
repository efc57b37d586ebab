"""What one more DaemonSet costs on every node: who has no room for it, and who is pushed out for it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.questions.plan import PlanReport
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.store.happenings import PREEMPTED
from tests.builders import Data, node, pod

CRITICAL = "system-node-critical"


def agent(cpu: int, priority: str = "") -> Data:
    """In kube-system, where pods may be that critical."""
    containers = [{"name": "a", "image": "a", "resources": {"requests": {"cpu": str(cpu)}}}]
    named = {"priorityClassName": priority} if priority else {}
    labels = {"app": "agent"}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {**named, "containers": containers}},
        },
    }


def cluster(*used: int) -> list[Data]:
    """A node of 4 cpu for each number, with a pod that requests so much."""
    nodes = [node(f"n{place}", cpu="4") for place in range(len(used))]
    return [
        *nodes,
        *(pod(f"p{place}", f"n{place}", requests={"cpu": str(cpu)}) for place, cpu in enumerate(used) if cpu),
    ]


def planned(objects: list[Data], manifest: Data) -> PlanReport:
    return kubespread.plan(Snapshot.from_objects(objects), manifests=manifest)


@pytest.mark.parametrize(
    ("used", "cpu", "priority", "lacking", "pushed_out"),
    [
        pytest.param((1, 2), 2, "", [], [], id="every node has room"),
        pytest.param((1, 3, 4), 2, "", ["n1", "n2"], [], id="the full ones are named"),
        pytest.param((1, 3), 2, CRITICAL, [], ["p1"], id="a critical one pushes others out"),
        pytest.param((0, 0), 5, CRITICAL, ["n0", "n1"], [], id="and nobody where that would not help"),
    ],
)
def test_who_has_no_room_and_who_is_pushed_out(
    used: tuple[int, ...], cpu: int, priority: str, lacking: list[str], pushed_out: list[str]
) -> None:
    report = planned(cluster(*used), agent(cpu, priority))
    step = report.steps[-1]
    assert [trouble.count for trouble in step.get("pending")] == ([len(lacking)] if lacking else [])
    assert [each.pod.name for each in step.pods_gone if each.why == PREEMPTED] == pushed_out
    if lacking:
        assert any(f": on {', '.join(lacking)}: " in sentence for sentence in report.answer)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.integers(1, 4))
def test_the_nodes_without_room_are_those_with_less_free_than_it_requests(used: list[int], cpu: int) -> None:
    """Counted by hand, and the same for simulate, which takes all nodes at once."""
    lacking = [f"n{place}" for place, taken in enumerate(used) if 4 - taken < cpu]
    report = planned(cluster(*used), agent(cpu))
    assert report.pending == len(lacking)
    simulated = kubespread.simulate(Snapshot.from_objects(cluster(*used)), agent(cpu))
    assert simulated.placed == len(used) - len(lacking)
    named = "" if len(lacking) <= 3 else f" and {len(lacking) - 3} more"
    said = f"no room on {', '.join(lacking[:3])}{named}: Insufficient cpu"
    assert simulated.stopped == (said if lacking else None)
