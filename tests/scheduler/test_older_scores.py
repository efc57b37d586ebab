"""What older releases score otherwise: the arithmetic, release by release."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.versions import NEWEST, SCORES_SINCE
from tests.builders import node, pod, soft
from tests.scheduler.asking import scores

Data = dict[str, Any]
_BIG = 1000 * 1024 * 1024


def holding(name: str, *images: str) -> Data:
    made = node(name)
    made["status"]["images"] = [{"names": [image], "sizeBytes": _BIG} for image in images]
    return made


def starting(image: str) -> Data:
    return pod(initContainers=[{"name": "init", "image": image}], containers=[{"name": "main", "image": "x:1"}])


NEAR = {
    "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "db"}}}}
        ]
    }
}
PREFERRED = {
    "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 1, "preference": {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}}
    ]
}
TWO = [node("a", zone="a"), node("b", zone="b")]
LOPSIDED = [*TWO, pod("p", "a", requests={"cpu": "4"})]

# The plugin, the cluster and the pod, and by release what each node gets; empty: no entry.
SCORES: dict[str, tuple[str, list[Data], Data, dict[str, list[int]]]] = {
    "a pod without soft constraints had the best spread everywhere": (
        "PodTopologySpread",
        TWO,
        pod(),
        {"1.28": [], "1.27": [200, 200], "1.24": [200, 200]},
    ),
    "so had one with hard constraints alone": (
        "PodTopologySpread",
        TWO,
        pod(constraints=[{**soft(), "whenUnsatisfiable": "DoNotSchedule"}]),
        {"1.28": [], "1.27": [200, 200]},
    ),
    "soft constraints are scored alike": (
        "PodTopologySpread",
        [*TWO, pod("p", "a")],
        pod(constraints=[soft()]),
        {"1.37": [0, 200], "1.28": [0, 200], "1.27": [0, 200], "1.24": [0, 200]},
    ),
    "affinity that meets no pod": ("InterPodAffinity", TWO, pod(affinity=NEAR), {"1.28": [], "1.27": [0, 0]}),
    "no affinity at all": ("InterPodAffinity", TWO, pod(), {"1.28": [], "1.27": [0, 0]}),
    "no preferred nodes": ("NodeAffinity", TWO, pod(), {"1.30": [], "1.29": [0, 0], "1.24": [0, 0]}),
    "an init container's image": (
        "ImageLocality",
        [holding("a", "i:1"), holding("b")],
        starting("i:1"),
        {"1.30": [24, 0], "1.29": [0, 0]},
    ),
    "an init container's image is not expected either": (
        "ImageLocality",
        [holding("a", "x:1"), holding("b", "x:1")],
        starting("i:1"),
        {"1.30": [49, 49], "1.29": [100, 100]},
    ),
    "an image volume": (
        "ImageLocality",
        [holding("a", "v:1"), holding("b", "v:1")],
        pod(volumes=[{"name": "v", "image": {"reference": "v:1"}}]),
        {"1.37": [49, 49], "1.36": [100, 100], "1.35": [0, 0]},
    ),
    "free storage, of a pod without claims": ("VolumeBinding", TWO, pod(), {"1.37": [0, 0], "1.36": []}),
    "devices, of a pod without claims": ("DynamicResources", TWO, pod(), {"1.35": [0, 0], "1.34": []}),
    "a pod that asks for nothing": (
        "NodeResourcesBalancedAllocation",
        LOPSIDED,
        pod(),
        {"1.33": [], "1.32": [75, 100], "1.24": [75, 100]},
    ),
    "a pod that asks for something": (
        "NodeResourcesBalancedAllocation",
        LOPSIDED,
        pod(requests={"memory": "8Gi"}),
        {"1.36": [87, 62], "1.35": [100, 75], "1.32": [100, 75]},
    ),
}


@pytest.mark.parametrize("case", SCORES)
def test_scores_by_release(case: str) -> None:
    plugin, objects, candidate, expected = SCORES[case]
    snapshot = kubespread.Snapshot.from_objects(objects)
    found = {
        version: kubespread.explain(snapshot, candidate, kubespread.Scheduler(kube_version=version))
        for version in expected
    }
    assert {version: list(scores(report, plugin).values()) for version, report in found.items()} == expected
    assert {report.not_modelled for report in found.values()} == {()}


MINORS = [f"1.{minor}" for minor in range(SCORES_SINCE, NEWEST + 1)]


@pytest.mark.parametrize("version", MINORS)
def test_no_release_whose_scores_are_modeled_excuses_them_as_a_whole(version: str) -> None:
    """Whatever a pod asks of every plugin that scores, all of it is scored by that release's own arithmetic."""
    candidate = pod(
        labels={"app": "web"},
        constraints=[soft(match={"app": "web"})],
        requests={"cpu": "1", "memory": "1Gi"},
        affinity={**NEAR, "nodeAffinity": PREFERRED},
    )
    report = kubespread.explain(
        kubespread.Snapshot.from_objects(LOPSIDED), candidate, kubespread.Scheduler(kube_version=version)
    )
    assert report.not_modelled == ()
    assert {
        "PodTopologySpread",
        "InterPodAffinity",
        "NodeAffinity",
        "TaintToleration",
        "ImageLocality",
        "NodeResourcesFit",
        "NodeResourcesBalancedAllocation",
    } >= set(report.nodes[0].scores) - {"DynamicResources", "VolumeBinding"}
    assert all(node.total == sum(node.scores.values()) for node in report.nodes)


def test_releases_whose_scores_are_not_modeled_say_so() -> None:
    snapshot = kubespread.Snapshot.from_objects(TWO)
    report = kubespread.explain(snapshot, pod(), kubespread.Scheduler(kube_version="1.23"))
    assert report.not_modelled == ("scores of kube-scheduler 1.23: nodes that fit are listed by name",)
    assert [node.total for node in report.nodes] == [None, None]


@pytest.mark.parametrize(
    ("version", "asked", "said"),
    [
        ("1.35", {}, ()),
        ("1.34", {}, ("kube-scheduler 1.34 takes any of the nodes with equal scores, at random (--seed does, too)",)),
        ("1.34", {"seed": 1}, ()),
    ],
)
def test_up_to_1_34_ties_are_random(version: str, asked: Data, said: tuple[str, ...]) -> None:
    snapshot, scheduler = kubespread.Snapshot.from_objects(TWO), kubespread.Scheduler(kube_version=version)
    assert kubespread.simulate(snapshot, pod(), 1, scheduler, **asked).not_modelled == said


@pytest.mark.parametrize("version", ["1.37", "1.32", "1.27", "1.24"])
def test_totals_of_placements_are_those_of_explain(version: str) -> None:
    snapshot, scheduler = kubespread.Snapshot.from_objects(LOPSIDED), kubespread.Scheduler(kube_version=version)
    explained = kubespread.explain(snapshot, pod(), scheduler)
    (placement,) = kubespread.simulate(snapshot, pod(), 1, scheduler).placements
    assert (placement.node, placement.total) == (
        explained.feasible[0],
        max(entry.total or 0 for entry in explained.nodes),
    )
