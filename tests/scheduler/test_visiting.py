"""Whom kube-scheduler takes among equals: the first of the best as its heap is met from the root."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import kubespread
from kubespread.scheduler.cluster.nodes import heap_preorder
from tests.builders import Data, hosts

JOB: Data = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "sums"},
    "spec": {
        "parallelism": 4,
        "template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}},
    },
}


def met_from_the_root(size: int) -> list[int]:
    """The rule as it is written down: go(i) is i itself, then go(2i + 1), then go(2i + 2)."""

    def go(at: int) -> list[int]:
        return [at, *go(2 * at + 1), *go(2 * at + 2)] if at < size else []

    return go(0)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 7, 8, 12, 100])
def test_the_keys_sort_positions_as_they_are_met(size: int) -> None:
    keys: Any = heap_preorder(size)
    assert sorted(range(size), key=lambda at: int(keys[at])) == met_from_the_root(size)


def test_a_job_of_four_on_six_nodes_that_are_alike_goes_through_the_zones_in_turn() -> None:
    nodes = hosts("a", "a", "a", "b", "b", "b")
    zone_of = {node["metadata"]["name"]: node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in nodes}
    report = kubespread.simulate(kubespread.Snapshot.from_objects(nodes), JOB)
    assert Counter(zone_of[placed.node] for placed in report.placements) == {"a": 2, "b": 2}
