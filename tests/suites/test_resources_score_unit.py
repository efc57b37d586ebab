"""NodeResourcesFit's and NodeResourcesBalancedAllocation's own score tables.

Source: kubernetes/kubernetes, pkg/scheduler/framework/plugins/noderesources: fit_test.go (1.31), TestFitScore (7 cases);
least_allocated_test.go (1.35), TestLeastAllocatedScoringStrategy (16); balanced_allocation_test.go (1.35),
TestNodeResourcesBalancedAllocation (10), which is asked as in 1.34: 29 of 33 taken. The plugin alone scores, no filter is asked, since the tables
score nodes that are too small as well.

Not taken, 4 cases: "Resources not set, pods scheduled with error" and "resource with zero weight" have a strategy
without resources or weight, to which the API gives its defaults before a plugin sees it; "include DRA resource on a node for balanced resource allocation", with and
without PreScore, has devices of a class that stands for an extended resource, see tests/scheduler/test_dynamic_resources.py.

Not applicable, 10 cases: BenchmarkTestFitScore (6) has no outcome; TestBalancedAllocationSignPod (4) is about batches of
pods whose signatures kube-scheduler compares.
"""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.errors import ManifestError
from tests.suites.resource_pods import sized_node, sized_pod
from tests.suites.tables import ask_alone, scores

Data = dict[str, Any]

FIT, BALANCED = "NodeResourcesFit", "NodeResourcesBalancedAllocation"
WITH_PRESCORE, ALONE = ("preScore", "score"), ("score",)


def node(name: str, text: str) -> Data:
    return sized_node(name, text, "")


def asking(*containers: str) -> Data:
    return sized_pod("p", *containers, unit="")


def placed(*lines: str) -> list[Data]:
    """``node1 3000/0``: a pod on a node."""
    split = [line.partition(" ") for line in lines]
    return [sized_pod(f"on{n}", *filter(None, [text]), on=on, unit="") for n, (on, _, text) in enumerate(split)]


def strategy(kind: str, weights: dict[str, int] | None = None, shape: list[tuple[int, int]] | None = None) -> Data:
    resources = [{"name": name, "weight": weight} for name, weight in (weights or {"cpu": 1, "memory": 1}).items()]
    made: Data = {"type": kind, "resources": resources}
    if shape is not None:
        points = [{"utilization": utilization, "score": score} for utilization, score in shape]
        made["requestedToCapacityRatio"] = {"shape": points}
    return {"scoringStrategy": made}


Case = tuple[Data, Data, list[Data], dict[str, int]]

RATIO_DOWN = strategy("RequestedToCapacityRatio", shape=[(0, 10), (100, 0)])
RATIO_UP = strategy("RequestedToCapacityRatio", shape=[(0, 0), (100, 10)])
MOST, LEAST = strategy("MostAllocated"), strategy("LeastAllocated")
TWO = [node("node1", "4000/10000"), node("node2", "6000/10000"), *placed("node1 2000/4000", "node2 1000/2000")]

STRATEGIES: dict[str, Case] = {
    "RequestedToCapacityRatio case1": (RATIO_DOWN, asking("3000/5000"), TWO, {"node1": 10, "node2": 32}),
    "RequestedToCapacityRatio case2": (RATIO_UP, asking("3000/5000"), TWO, {"node1": 95, "node2": 68}),
    "MostAllocated": (MOST, asking("1000/2000"), TWO, {"node1": 67, "node2": 36}),
    "LeastAllocated": (LEAST, asking("1000/2000"), TWO, {"node1": 32, "node2": 63}),
}
NOT_CALLED = ("RequestedToCapacityRatio case1", "MostAllocated", "LeastAllocated")
"""Those asked again "if PreScore is not called"."""


@pytest.mark.parametrize(
    ("case", "points"), [*((case, WITH_PRESCORE) for case in STRATEGIES), *((case, ALONE) for case in NOT_CALLED)]
)
def test_scoring_strategies(case: str, points: tuple[str, ...]) -> None:
    args, asked, objects, expected = STRATEGIES[case]
    assert scores(ask_alone(FIT, objects, asked, args, points=points), FIT) == expected


PAIR = asking("1000/2000", "2000/3000")
EXTENDED = strategy("LeastAllocated", {"example.com/aaa": 1, "cpu": 1, "memory": 1})

LEAST_ALLOCATED: dict[str, Case] = {
    "nothing scheduled, nothing requested": (
        LEAST,
        asking(),
        [node("node1", "4000/10000"), node("node2", "4000/10000")],
        {"node1": 100, "node2": 100},
    ),
    "nothing scheduled, resources requested, differently sized nodes": (
        LEAST,
        PAIR,
        [node("node1", "4000/10000"), node("node2", "6000/10000")],
        {"node1": 37, "node2": 50},
    ),
    "no resources requested, pods scheduled": (
        LEAST,
        asking(),
        [node("node1", "4000/10000"), node("node2", "4000/10000"), *placed("node1", "node1", "node2", "node2")],
        {"node1": 100, "node2": 100},
    ),
    "no resources requested, pods scheduled with resources": (
        LEAST,
        asking(),
        [
            node("node1", "10000/20000"),
            node("node2", "10000/20000"),
            *placed("node1 3000/0", "node1 3000/0", "node2 3000/0", "node2 3000/5000"),
        ],
        {"node1": 70, "node2": 57},
    ),
    "resources requested, pods scheduled with resources": (
        LEAST,
        PAIR,
        [node("node1", "10000/20000"), node("node2", "10000/20000"), *placed("node1 3000/0", "node2 3000/5000")],
        {"node1": 57, "node2": 45},
    ),
    "resources requested, pods scheduled with resources, differently sized nodes": (
        LEAST,
        PAIR,
        [node("node1", "10000/20000"), node("node2", "10000/50000"), *placed("node1 3000/0", "node2 3000/5000")],
        {"node1": 57, "node2": 60},
    ),
    "requested resources exceed node capacity": (
        LEAST,
        asking("3000/0"),
        [node("node1", "4000/10000"), node("node2", "4000/10000"), *placed("node1 3000/0", "node2 3000/5000")],
        {"node1": 50, "node2": 25},
    ),
    "zero node resources, pods scheduled with resources": (
        LEAST,
        asking(),
        [node("node1", ""), node("node2", ""), *placed("node1 3000/0", "node2 3000/5000")],
        {"node1": 0, "node2": 0},
    ),
    "nothing scheduled, resources requested with different weight on CPU and memory, differently sized nodes": (
        strategy("LeastAllocated", {"memory": 2, "cpu": 1}),
        PAIR,
        [node("node1", "4000/10000"), node("node2", "6000/10000")],
        {"node1": 41, "node2": 50},
    ),
    "bypass extended resource if the pod does not request": (
        EXTENDED,
        PAIR,
        [node("node1", "6000/10000"), node("node2", "6000/10000 aaa=4")],
        {"node1": 50, "node2": 50},
    ),
    "honor extended resource if the pod requests": (
        EXTENDED,
        asking("3000/5000 aaa=2"),
        [node("node1", "6000/10000 aaa=4"), node("node2", "6000/10000 aaa=10")],
        {"node1": 50, "node2": 60},
    ),
    "if the node doesn't have a resource": (
        strategy("LeastAllocated", {"example.com/aaa": 2, "cpu": 1, "memory": 1}),
        asking("3000/4000"),
        [node("node1", "6000/10000"), node("node2", "6000/10000 aaa=4")],
        {"node1": 55, "node2": 55},
    ),
}


@pytest.mark.parametrize("case", LEAST_ALLOCATED)
def test_least_allocated(case: str) -> None:
    args, asked, objects, expected = LEAST_ALLOCATED[case]
    assert scores(ask_alone(FIT, objects, asked, args, points=WITH_PRESCORE), FIT) == expected


REFUSED = {
    "resource with negative weight": ({"memory": -1, "cpu": 1}, 0),
    "resource weight larger than MaxNodeScore": ({"memory": 1, "cpu": 101}, 1),
}


@pytest.mark.parametrize("case", REFUSED)
def test_weights_that_are_refused(case: str) -> None:
    weights, place = REFUSED[case]
    with pytest.raises(ManifestError, match=rf"scoringStrategy\.resources\[{place}\]\.weight: Invalid value"):
        ask_alone(FIT, TWO, PAIR, strategy("LeastAllocated", weights), points=WITH_PRESCORE)


BOTH = "3000/5000"
THREE_RESOURCES = {"resources": [{"name": name, "weight": 1} for name in ("cpu", "memory", "nvidia.com/gpu")]}
TWO_RESOURCES = {"resources": THREE_RESOURCES["resources"][:2]}
USED = placed("node1 3000/0", "node2 3000/5000")

BALANCE: dict[str, Case] = {
    "nothing scheduled, resources requested, differently sized nodes": (
        TWO_RESOURCES,
        asking("1000/2000", "2000/3000"),
        [node("node1", "4000/10000"), node("node2", "6000/10000")],
        {"node1": 87, "node2": 100},
    ),
    "resources requested, pods scheduled with resources": (
        TWO_RESOURCES,
        asking("1000/2000", "2000/3000"),
        [node("node1", "10000/20000"), node("node2", "10000/20000"), *USED],
        {"node1": 82, "node2": 95},
    ),
    "resources requested, pods scheduled with resources, differently sized nodes": (
        TWO_RESOURCES,
        asking("1000/2000", "2000/3000"),
        [node("node1", "10000/20000"), node("node2", "10000/50000"), *USED],
        {"node1": 82, "node2": 80},
    ),
    "requested resources at node capacity": (
        TWO_RESOURCES,
        asking("1000/0", "2000/0"),
        [node("node1", "6000/10000"), node("node2", "6000/10000"), *USED],
        {"node1": 50, "node2": 75},
    ),
    "include scalar resource on a node for balanced resource allocation": (
        THREE_RESOURCES,
        asking("0/0 gpu=1"),
        [
            node("node1", "3500/40000 gpu=8"),
            node("node2", "3500/40000 gpu=8"),
            *placed("node2 3000/5000", "node1 3000/5000 gpu=3"),
        ],
        {"node1": 70, "node2": 65},
    ),
    "node without the scalar resource should skip the scalar resource": (
        THREE_RESOURCES,
        asking("1000/2000", "2000/3000"),
        [node("node1", "3500/40000 gpu=8"), node("node2", "3500/40000")],
        {"node1": 63, "node2": 63},
    ),
}


@pytest.mark.parametrize(
    ("case", "points"),
    [
        *((case, WITH_PRESCORE) for case in BALANCE),
        # "... if PreScore not called"
        ("resources requested, pods scheduled with resources", ALONE),
    ],
)
def test_balanced_allocation(case: str, points: tuple[str, ...]) -> None:
    args, asked, objects, expected = BALANCE[case]
    report = ask_alone(BALANCED, objects, asked, args, points=points, kube_version="1.34")
    assert scores(report, BALANCED) == expected


# The case "nothing scheduled, nothing requested, skip in PreScore".
def test_a_pod_that_asks_for_nothing_is_not_balanced() -> None:
    objects = [node("node1", "4000/10000"), node("node2", "4000/10000")]
    assert scores(ask_alone(BALANCED, objects, asking(), TWO_RESOURCES, points=WITH_PRESCORE), BALANCED) == {}
