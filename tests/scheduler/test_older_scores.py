"""What older releases score otherwise: the arithmetic, release by release."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.versions import NEWEST, SCORES_SINCE
from tests.builders import node, pod, soft

Data = dict[str, Any]


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
