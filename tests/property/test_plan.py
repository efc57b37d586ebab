"""Each total of a plan, counted again by hand on small clusters."""

from __future__ import annotations

from collections import Counter

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import Data
from tests.property.workloads_on_nodes import after, clusters, ready, snapshot_of
from tests.questions.test_plan import sides

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
    for side, cluster in zip(sides(report), (before, now), strict=True):
        counted = {name: number for name, number in ready(cluster).items() if "/DaemonSet/" not in name}
        assert (side.nodes, side.ready, side.pending) == (
            len(cluster.nodes),
            sum(counted.values()),
            sum(not each.spec.node_name for each in cluster.pods),
        )
    changed = {str(row.workload): row for row in report.workloads}
    for name in {*ready(before), *ready(now)} - changed.keys():
        # Those of DaemonSets go with their nodes.
        assert "/DaemonSet/" in name or ready(before)[name] == ready(now)[name]
    for name, row in changed.items():
        assert (row.before.ready if row.before else 0) == ready(before)[name]
        assert (row.after.ready if row.after else 0) == ready(now)[name]
    gone = [pod for step in report.steps for pod in step.pods_gone]
    daemons = {f"default/agent-{node.metadata.name}" for node in snapshot.nodes}
    assert report.gone == Counter(
        "with their nodes" if str(pod.pod) in daemons else pod.why for pod in gone if pod.node
    )
    left = {(str(pod.pod), pod.node) for pod in gone if pod.node}
    assert on_nodes(before) - on_nodes(now) <= left
    assert not {each for each in left if each in on_nodes(now)}


@settings(max_examples=6, deadline=None)
@given(objects=clusters(), edits=EDITS)
def test_the_scenario_ends_with_the_plans_cluster(objects: list[Data], edits: list[str]) -> None:
    snapshot = snapshot_of(objects)
    report = kubespread.plan(snapshot.edited(*edits))
    drawn = kubespread.topology_map(kubespread.after_steps(snapshot, edits))
    assert report.after is not None
    assert (report.after.nodes, report.after.pending) == (len(drawn.nodes), drawn.pending)
    assert report.after.percent == {load.resource: load.percent for load in drawn.load}
    played = kubespread.plan(snapshot, edits, by_step=True).steps
    # An edit names the kind in full.
    assert [msgspec.structs.replace(step, name="") for step in played] == [
        msgspec.structs.replace(step, name="") for step in report.steps
    ]
