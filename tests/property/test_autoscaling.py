"""What holds of every scale-up, whatever the cluster, the pods and the groups."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.node_groups import Autoscaler, NodeGroup
from kubespread.questions.autoscaling.autoscale import autoscale
from tests.builders import Data, hard, soft
from tests.questions.autoscaling.clusters import HOSTNAME, ZONE, group, machine, running, waiting, world

nodes = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["100m", "2", "4"])), min_size=1, max_size=4).map(
    lambda drawn: [machine(f"n{place}", zone, cpu=cpu) for place, (zone, cpu) in enumerate(drawn)]
)
constraints = st.lists(
    st.one_of(
        st.builds(hard, st.just(ZONE), st.integers(1, 2), minDomains=st.one_of(st.none(), st.integers(1, 4))),
        st.builds(soft, st.sampled_from([ZONE, HOSTNAME])),
        st.builds(hard, st.just(HOSTNAME), st.integers(1, 2)),
    ),
    max_size=2,
    unique_by=lambda each: (each["topologyKey"], each["whenUnsatisfiable"]),
)
groups = st.lists(st.sampled_from("abcd"), min_size=1, max_size=3, unique=True).flatmap(
    lambda zones: st.builds(lambda most: [group("pool", *zones, maximum=most)], st.one_of(st.none(), st.integers(0, 3)))
)


@settings(max_examples=40, deadline=None)
@given(nodes, constraints, groups, st.integers(1, 7), st.integers(0, 2), st.sampled_from(list(Autoscaler)))
def test_scale_ups(
    nodes: list[Data], spread: list[Data], groups: list[NodeGroup], pods: int, there: int, kind: Autoscaler
) -> None:
    before = world(nodes, running({"n0": there}), waiting(pods, spread))
    before.settle()
    after = before.fork()
    report = autoscale(after, groups=groups, kind=kind)
    assert report.waiting == len(before.waiting)
    assert report.pods_left == len(after.waiting)
    for loop in report.loops:
        assert loop.pending - loop.placed == loop.left
        assert all(each.nodes for each in loop.added)
    for state in report.groups:
        assert state.maximum is None or state.added <= state.maximum
