"""The columns: what is on a node, what a selector counts, and how labels, taints and resources become arrays."""

from __future__ import annotations

import numpy as np

from kubespread.kube.selector import Requirement
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import ABSENT
from kubespread.scheduler.cluster.kinds import KindJudgment
from kubespread.snapshot.snapshot import Snapshot
from tests.builders import node, pod, pods_on


def cluster(*objects: dict[str, object]) -> Cluster:
    snapshot = Snapshot.from_objects(objects)
    return Cluster.build(snapshot.nodes, snapshot.pods)


def test_a_label_column_has_a_code_for_each_value() -> None:
    column = cluster(node("n0", zone="a"), node("n1"), node("n2", zone=""), node("n3", zone="a")).nodes.label("zone")
    assert (column.codes.tolist(), column.values) == ([0, ABSENT, 1, 0], ("a", ""))
    assert column.admits(Requirement("zone", "NotIn", ("a",))).tolist() == [False, True, True, False]


def test_pods_alike_are_of_one_kind() -> None:
    one = cluster(node("n0"), node("n1"), *pods_on({"n0": 2, "n1": 1}), pod("p", "n1", labels={"foo": "other"}))
    everyone, other = (
        KindJudgment(one.kinds, lambda kind: True),
        KindJudgment(one.kinds, lambda kind: kind.labels["foo"] == "other"),
    )
    assert len(one.kinds) == 2
    assert sorted(one.arrivals(everyone).node.tolist()) == [0, 0, 1, 1]
    assert one.arrivals(other).node.tolist() == [1]


def test_pods_without_a_place_are_not_in_the_cluster() -> None:
    placed = cluster(
        node("n0"),
        pod("pending"),
        pod("lost", "gone"),
        {**pod("done", "n0"), "status": {"phase": "Succeeded"}},
        pod("p", "n0"),
    )
    assert [found.metadata.name for found in placed.running.pods] == ["p"]


def test_requested_resources_add_up_per_node() -> None:
    made = cluster(
        node("n0"),
        node("n1"),
        pod("p1", "n0", requests={"cpu": "100m", "memory": "0.4"}),
        pod("p2", "n0", requests={"cpu": "1", "memory": "0.4"}),
    )
    resources = Holdings(made)
    assert resources.requests("cpu").tolist() == [1100, 0]
    assert resources.requests("memory").tolist() == [2, 0]
    assert resources.requests("example.com/gpu").tolist() == [0, 0]
    assert resources.allocatable("cpu").tolist() == [8000, 8000]
    assert (resources.pod_count.tolist(), resources.allowed_pods.tolist()) == ([2, 0], [110, 110])


def test_names_rank_by_bytes_not_by_place() -> None:
    assert cluster(node("n10"), node("n2"), node("a")).nodes.name_rank.tolist() == [1, 2, 0]


def test_a_node_without_allocatable_offers_its_capacity() -> None:
    plain = node("n0")
    capacity = {**plain, "status": {"capacity": {"cpu": "3", "pods": "7"}}}
    partial = {**node("n1"), "status": {"capacity": {"cpu": "3", "pods": "7"}, "allocatable": {"cpu": "2"}}}
    resources = Holdings(cluster(capacity, partial))
    assert (resources.allocatable("cpu").tolist(), resources.allowed_pods.tolist()) == ([3000, 2000], [7, 0])


def test_masks_are_never_shared_with_the_columns() -> None:
    one = cluster(node("n0", zone="a"), node("n1", zone="b"))
    admitted = one.nodes.label("zone").admits(Requirement("zone", "In", ("a",)))
    admitted[:] = False
    assert np.array_equal(one.nodes.label("zone").admits(Requirement("zone", "In", ("a",))), [True, False])
