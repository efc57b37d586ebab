"""Each total of a plan, counted again by hand on small clusters."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import Data
from tests.property.workloads_on_nodes import after, clusters, ready, snapshot_of

EDITS = st.lists(
    st.sampled_from(
        [
            "add-node n0",
            "scale default/deploy/web=6",
            "scale default/deploy/web=1",
            "cordon n1",
            "drain n1 --ignore-daemonsets --force",
            "fail-hard n2",
        ]
    ),
    min_size=1,
    max_size=3,
    unique=True,
)


def on_nodes(snapshot: kubespread.Snapshot) -> set[tuple[str, str]]:
    return {(f"default/{each.metadata.name}", each.spec.node_name) for each in snapshot.pods if each.spec.node_name}


@settings(max_examples=5, deadline=None)
@given(objects=clusters(), edits=EDITS)
def test_both_sides_are_counted_as_by_hand(objects: list[Data], edits: list[str]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.plan(snapshot.edited(*edits))
    before = after(snapshot)
    now = after(snapshot, *edits)
    lost = {str(pod) for step in report.steps for pod in step.lost}
    for name in {*ready(before), *ready(now)} - {str(row.workload) for row in report.whole.workloads}:
        # Those of DaemonSets go with their nodes; a pod without a controller is lost, which is said of it alone.
        assert "/DaemonSet/" in name or ready(before)[name] == ready(now)[name] or name.replace("/Pod/", "/") in lost
    steps = [ready(before), *(ready(after(snapshot, *edits[:number])) for number in range(1, len(edits)))]
    for row in report.whole.workloads:
        name = str(row.workload)
        assert (row.ready_before, row.ready) == (max(each[name] for each in steps), ready(now)[name])
    gone = [pod for step in report.steps for pod in step.pods_gone]
    left = {(str(pod.pod), pod.node) for pod in gone if pod.node}
    assert on_nodes(before) - on_nodes(now) <= left
    assert not {each for each in left if each in on_nodes(now)}


@settings(max_examples=6, deadline=None)
@given(objects=clusters(), edits=EDITS)
def test_steps_are_the_same_as_edits(objects: list[Data], edits: list[str]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.plan(snapshot.edited(*edits))
    played = kubespread.plan(snapshot, edits).steps
    # An edit names the kind in full.
    assert [msgspec.structs.replace(step, name="") for step in played] == [
        msgspec.structs.replace(step, name="") for step in report.steps
    ]
