"""Scores of NodeResourcesFit, NodeResourcesBalancedAllocation and ImageLocality."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.builders import node, pod
from tests.scheduler.asking import ask, reasons, scores

Data = dict[str, Any]


def sized(name: str = "n", cpu: str = "4", memory: str = "8Gi", **more: str) -> Data:
    named = {key.replace("__", "/").replace("_", "."): value for key, value in more.items()}
    return {**node(name), "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110", **named}}}


def config(plugin: str, args: Data) -> str:
    profile = {"pluginConfig": [{"name": plugin, "args": args}]}
    return json.dumps(
        {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": [profile]}
    )


def strategy(kind: str, *resources: Data, shape: list[tuple[int, int]] | None = None) -> str:
    given: Data = {"type": kind}
    if resources:
        given["resources"] = list(resources)
    if shape:
        given["requestedToCapacityRatio"] = {
            "shape": [{"utilization": utilization, "score": score} for utilization, score in shape]
        }
    return config("NodeResourcesFit", {"scoringStrategy": given})


def asks(cpu: str | None = None, memory: str | None = None, **spec: Any) -> Data:
    return pod(requests={key: value for key, value in (("cpu", cpu), ("memory", memory)) if value is not None}, **spec)


def occupied(on: str, cpu: str | None = None, memory: str | None = None, **spec: Any) -> Data:
    plain = asks(cpu, memory, **spec)
    return {**plain, "metadata": {**plain["metadata"], "name": f"on-{on}"}, "spec": {**plain["spec"], "nodeName": on}}


RATIO = "RequestedToCapacityRatio"
FIT: dict[str, tuple[list[Data], Data, str | None, list[int]]] = {
    "least allocated": ([sized()], asks("1", "1Gi"), None, [81]),
    "a pod without requests counts with stand-ins": ([sized()], asks(), None, [97]),
    "pod-level requests are looked past": (
        [sized()],
        asks(resources={"requests": {"cpu": "2", "memory": "4Gi"}}),
        None,
        [97],
    ),
    "an explicit zero is not replaced": (
        [sized("n1"), sized("n2"), occupied("n1", "0", "0"), occupied("n2")],
        asks("1", "1Gi"),
        None,
        [81, 78],
    ),
    "most allocated": ([sized()], asks("1", "1Gi"), strategy("MostAllocated"), [18]),
    "a resource the node lacks is left out": (
        [{**sized(), "status": {"allocatable": {"cpu": "4", "pods": "9"}}}],
        asks("1"),
        None,
        [75],
    ),
    "weights, and a named resource the pod does not ask for": (
        [sized(nvidia_com__gpu="4")],
        asks("1", "1Gi"),
        strategy("LeastAllocated", {"name": "cpu"}, {"name": "memory"}, {"name": "nvidia.com/gpu", "weight": 5}),
        [81],
    ),
    "slopes truncate toward zero": (
        [sized()],
        asks("1", "4915Mi"),
        strategy(RATIO, shape=[(0, 10), (70, 5), (100, 0)]),
        [71],
    ),
    "zeros leave the mean": ([sized()], asks("1", "4915Mi"), strategy(RATIO, shape=[(0, 0), (50, 0), (100, 10)]), [18]),
    "the mean is rounded": ([sized()], asks("1"), strategy(RATIO, shape=[(0, 0), (100, 10)]), [14]),
}


@pytest.mark.parametrize("case", FIT)
def test_fit(case: str) -> None:
    objects, candidate, configuration, expected = FIT[case]
    assert list(scores(ask(objects, candidate, configuration), "NodeResourcesFit").values()) == expected


def test_a_named_resource_the_pod_asks_for_weighs_in() -> None:
    candidate = asks("1", "1Gi")
    candidate["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1", "memory": "1Gi"},
        "limits": {"nvidia.com/gpu": "1", "cpu": "1"},
    }
    configuration = strategy(
        "LeastAllocated", {"name": "cpu"}, {"name": "memory"}, {"name": "nvidia.com/gpu", "weight": 5}
    )
    assert scores(ask([sized(nvidia_com__gpu="4")], candidate, configuration), "NodeResourcesFit") == {"n": 76}


def test_ignored_resources_are_not_checked_when_they_are_extended() -> None:
    limits = {"example.com/a": "1", "b.org/x": "1", "hugepages-2Mi": "2Mi", "cpu": "1"}
    candidate = pod(containers=[{"name": "c", "image": "x", "resources": {"limits": limits}}])
    args = {"ignoredResources": ["example.com/a", "hugepages-2Mi"], "ignoredResourceGroups": ["b.org"]}
    assert reasons(ask([sized()], candidate, config("NodeResourcesFit", args))) == {"n": "Insufficient hugepages-2Mi"}


BALANCED: dict[str, tuple[list[Data], Data, dict[str, int]]] = {
    "an empty node": ([sized()], asks("1", "1Gi"), {"n": 71}),
    "improvement counts": ([sized("n1"), sized("n2"), occupied("n1", "1")], asks("1"), {"n1": 69, "n2": 68}),
    "floats truncate": ([sized(cpu="100"), occupied("n", "11")], asks("57"), {"n": 60}),
    "one resource kept": ([{**sized(), "status": {"allocatable": {"cpu": "4", "pods": "9"}}}], asks("1"), {"n": 75}),
    "nothing asked for: no score": ([sized()], asks(), {}),
}


@pytest.mark.parametrize("case", BALANCED)
def test_balanced_allocation(case: str) -> None:
    objects, candidate, expected = BALANCED[case]
    assert scores(ask(objects, candidate), "NodeResourcesBalancedAllocation") == expected


def images(name: str, *held: tuple[str, int]) -> Data:
    plain = node(name)
    listed = [{"names": [image], "sizeBytes": size} for image, size in held]
    return {**plain, "status": {**plain["status"], "images": listed}}


def uses(*names: str, volume: str | None = None) -> Data:
    volumes = [{"name": "v", "image": {"reference": volume}}] if volume else []
    return pod(containers=[{"name": f"c{at}", "image": image} for at, image in enumerate(names)], volumes=volumes)


BIG = 1000 * 2**20
IMAGES: dict[str, tuple[list[Data], Data, list[int]]] = {
    "the first node's size counts everywhere": (
        [images("a", ("x:1", 500_000_000)), images("b", ("x:1", 900_000_000)), images("c")],
        uses("x:1"),
        [30, 30, 0],
    ),
    "spread over few nodes dilutes": (
        [images("a", ("x:1", BIG)), images("b"), images("c"), images("d")],
        uses("x:1"),
        [23, 0, 0, 0],
    ),
    "divided first, then multiplied": (
        [
            *(images(f"n{at:02}", ("x:1", 238_683_863)) for at in range(3)),
            *(images(f"n{at:02}") for at in range(3, 11)),
        ],
        uses("x:1"),
        [3] * 3 + [0] * 8,
    ),
    "latest is the default tag": ([images("a", ("x:latest", BIG))], uses("x"), [100]),
    "a registry's port is no tag": ([images("a", ("reg:5000/x:latest", BIG))], uses("reg:5000/x"), [100]),
    "a second image that is missing halves it": ([images("a", ("x:1", BIG))], uses("x:1", "y:1"), [49]),
    "the same image twice": ([images("a", ("x:1", BIG))], uses("x:1", "x:1"), [100]),
    "an image volume adds to both sides": ([images("a", ("v:1", BIG))], uses("x:1", volume="v:1"), [49]),
    "small images count nothing": ([images("a", ("x:1", 34_361_835))], uses("x:1"), [0]),
    "from there on they do": ([images("a", ("x:1", 34_361_836))], uses("x:1"), [1]),
}


@pytest.mark.parametrize("case", IMAGES)
def test_image_locality(case: str) -> None:
    nodes, candidate, expected = IMAGES[case]
    assert list(scores(ask(nodes, candidate), "ImageLocality").values()) == expected
