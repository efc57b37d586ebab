"""Profiles and KubeSchedulerConfiguration: expansion, weights, arguments, and versions of the file."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugin import read_as
from kubespread.scheduler.plugins.default_preemption import DefaultPreemption, DefaultPreemptionArgs
from kubespread.scheduler.plugins.inter_pod_affinity import InterPodAffinity, InterPodAffinityArgs
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesBalancedAllocation, NodeResourcesFit
from kubespread.scheduler.plugins.noderesources.scoring import Scoring, ShapePoint, WeightedResource
from kubespread.scheduler.plugins.podtopologyspread.constraints import PodTopologySpreadArgs
from kubespread.scheduler.profile.loading import ConfigurationError, load_profiles
from kubespread.scheduler.profile.profile import PluginEntry, Profile, configured_plugins, default_profile
from tests.builders import node, pod, taint
from tests.scheduler.asking import ask

Data = dict[str, Any]

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def one_profile(**profile: Any) -> Profile:
    (loaded,) = load_profiles({**HEAD, "profiles": [profile]})
    return loaded


def scores(profile: Profile) -> list[tuple[str, int]]:
    return [(entry.name, entry.weight) for entry in profile.scores]


DEFAULT_FILTERS = [
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "VolumeRestrictions",
    "NodeVolumeLimits",
    "VolumeBinding",
    "VolumeZone",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeDeclaredFeatures",
]
DEFAULT_SCORES = [
    ("TaintToleration", 3),
    ("NodeAffinity", 2),
    ("NodeResourcesFit", 1),
    ("VolumeBinding", 1),
    ("PodTopologySpread", 2),
    ("InterPodAffinity", 2),
    ("DynamicResources", 2),
    ("NodeResourcesBalancedAllocation", 1),
    ("ImageLocality", 1),
]


def without(name: str) -> list[tuple[str, int]]:
    return [entry for entry in DEFAULT_SCORES if entry[0] != name]


def test_the_default_profile() -> None:
    profile = default_profile()
    assert (list(profile.filters), scores(profile), profile.scheduler_name) == (
        DEFAULT_FILTERS,
        DEFAULT_SCORES,
        "default-scheduler",
    )
    assert load_profiles(HEAD) == (profile,)


def enabled(*entries: tuple[str, int]) -> list[Data]:
    return [{"name": name, "weight": weight} if weight else {"name": name} for name, weight in entries]


EXPANSIONS: dict[str, tuple[Data, list[tuple[str, int]]]] = {
    "a name at score moves to the front, its weight counts": (
        {"score": {"enabled": enabled(("PodTopologySpread", 10), ("ImageLocality", 0))}},
        [
            ("PodTopologySpread", 10),
            ("ImageLocality", 1),
            *[e for e in without("PodTopologySpread") if e[0] != "ImageLocality"],
        ],
    ),
    "a name in multiPoint keeps its place": (
        {"multiPoint": {"enabled": enabled(("PodTopologySpread", 7))}},
        [(name, 7 if name == "PodTopologySpread" else weight) for name, weight in DEFAULT_SCORES],
    ),
    "a forgotten weight is 1": (
        {"score": {"enabled": enabled(("NodeAffinity", 0))}},
        [("NodeAffinity", 1), *without("NodeAffinity")],
    ),
    "the specific point beats multiPoint": (
        {
            "multiPoint": {"enabled": enabled(("PodTopologySpread", 7))},
            "score": {"enabled": enabled(("PodTopologySpread", 0))},
        },
        [("PodTopologySpread", 1), *without("PodTopologySpread")],
    ),
    "disabled and enabled again goes to the end": (
        {"score": {"disabled": [{"name": "PodTopologySpread"}], "enabled": enabled(("PodTopologySpread", 9))}},
        [*without("PodTopologySpread"), ("PodTopologySpread", 9)],
    ),
    "a star disables all but what is named": (
        {"score": {"disabled": [{"name": "*"}], "enabled": enabled(("ImageLocality", 5))}},
        [("ImageLocality", 5)],
    ),
    "a profile made from nothing": (
        {
            "multiPoint": {
                "disabled": [{"name": "*"}],
                "enabled": enabled(
                    ("PrioritySort", 0), ("DefaultBinder", 0), ("PodTopologySpread", 4), ("NodeAffinity", 0)
                ),
            }
        },
        [("PodTopologySpread", 4), ("NodeAffinity", 1)],
    ),
    "a negative weight in multiPoint is accepted when nothing follows": (
        {"multiPoint": {"enabled": enabled(("ImageLocality", -5))}},
        [*without("ImageLocality"), ("ImageLocality", -5)],
    ),
    "disabling an unknown plugin is accepted": ({"score": {"disabled": [{"name": "Nope"}]}}, DEFAULT_SCORES),
}


@pytest.mark.parametrize("case", EXPANSIONS)
def test_score_expansion(case: str) -> None:
    plugins, expected = EXPANSIONS[case]
    assert scores(one_profile(plugins=plugins)) == expected


def test_filter_expansion_moves_named_plugins_to_the_front() -> None:
    profile = one_profile(plugins={"filter": {"enabled": enabled(("PodTopologySpread", 0), ("NodeResourcesFit", 0))}})
    rest = [name for name in DEFAULT_FILTERS if name not in ("PodTopologySpread", "NodeResourcesFit")]
    assert list(profile.filters) == ["PodTopologySpread", "NodeResourcesFit", *rest]


def test_a_plugin_disabled_and_enabled_in_multi_point_comes_last() -> None:
    points = {
        "disabled": [{"name": "NodeName"}, {"name": "ImageLocality"}],
        "enabled": enabled(("NodeName", 0), ("ImageLocality", 3)),
    }
    profile = one_profile(plugins={"multiPoint": points})
    assert (profile.filters[-1], profile.scores[-1]) == ("NodeName", PluginEntry("ImageLocality", 3))


ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def test_the_policies_of_default_constraints_are_not_validated() -> None:
    args = {"defaultingType": "List", "defaultConstraints": [{**ZONE, "minDomains": -2, "nodeTaintsPolicy": "x"}]}
    profile = one_profile(pluginConfig=[{"name": "PodTopologySpread", "args": args}])
    assert read_as(PodTopologySpreadArgs, profile.args["PodTopologySpread"]).default_constraints[0].min_domains == -2


def test_the_arguments_of_every_plugin_are_read() -> None:
    fit = {
        "ignoredResources": ["example.com/a"],
        "scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "resources": [{"name": "cpu", "weight": 3}, {"name": "nvidia.com/gpu"}],
            "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]},
        },
    }
    profile = one_profile(
        pluginConfig=[
            {"name": "NodeResourcesFit", "args": fit},
            {
                "name": "NodeResourcesBalancedAllocation",
                "args": {"resources": [{"name": "cpu"}, {"name": "example.com/a", "weight": 1}]},
            },
            {
                "name": "InterPodAffinity",
                "args": {"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True},
            },
            {"name": "DefaultPreemption", "args": {"minCandidateNodesAbsolute": 5}},
            {"name": "Unknown", "args": {"anything": 1}},
        ]
    )
    cpu = WeightedResource("cpu")
    plugins = configured_plugins(profile)
    read = (
        plugins["NodeResourcesFit"],
        plugins["NodeResourcesBalancedAllocation"],
        plugins["InterPodAffinity"],
        plugins["DefaultPreemption"],
    )
    assert read == (
        NodeResourcesFit(
            Scoring(
                strategy="RequestedToCapacityRatio",
                resources=(WeightedResource("cpu", 3), WeightedResource("nvidia.com/gpu")),
                shape=(ShapePoint(0, 0), ShapePoint(100, 10)),
            ),
            ignored_resources=frozenset({"example.com/a"}),
        ),
        NodeResourcesBalancedAllocation((cpu, WeightedResource("example.com/a"))),
        InterPodAffinity(
            InterPodAffinityArgs(hard_pod_affinity_weight=0, ignore_preferred_terms_of_existing_pods=True)
        ),
        DefaultPreemption(DefaultPreemptionArgs(min_candidate_nodes_absolute=5)),
    )


def test_a_disabled_filter_is_asked_and_decides_nothing() -> None:
    config = "{apiVersion: kubescheduler.config.k8s.io/v1, kind: KubeSchedulerConfiguration, profiles: [{plugins: {multiPoint: {disabled: [{name: TaintToleration}]}}}]}"
    report = ask([node("n", taints=[taint("k")])], pod(), config)
    (entry,) = report.nodes
    assert (report.feasible, entry.verdict.code, [found.plugin for found in entry.rejections]) == (
        ("n",),
        "Success",
        ["TaintToleration"],
    )
    assert ("TaintToleration" in report.filter_plugins, "TaintToleration" in entry.scores) == (False, False)


@pytest.mark.parametrize(("minor", "served"), [(24, False), (25, True)])
def test_the_file_is_read_since_its_version_is_served(minor: int, served: bool) -> None:
    data = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    if served:
        assert load_profiles(data, KubeVersion(minor)) == (default_profile(KubeVersion(minor)),)
    else:
        with pytest.raises(ConfigurationError, match="is not read by Kubernetes 1.24"):
            load_profiles(data, KubeVersion(minor))
