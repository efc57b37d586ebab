"""Profiles and KubeSchedulerConfiguration: expansion, weights, and kube-scheduler's refusals."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.kube.versions import KubeVersion
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


def spread_args(**args: Any) -> Data:
    return {"profiles": [{"pluginConfig": [{"name": "PodTopologySpread", "args": args}]}]}


ZONE = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
BUILDING = "initializing profiles: creating profile for scheduler name default-scheduler: "
ARGS = "profiles[0].pluginConfig[0].args"
REFUSALS: dict[str, tuple[Any, str]] = {
    "no kind": ({"apiVersion": HEAD["apiVersion"]}, "Object 'Kind' is missing: expected a KubeSchedulerConfiguration"),
    "an old version": (
        {**HEAD, "apiVersion": "kubescheduler.config.k8s.io/v1beta3"},
        'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1beta3" '
        'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"; Kubernetes 1.23 to 1.28 read it (--kube-version)',
    ),
    "an alpha version": (
        {**HEAD, "apiVersion": "kubescheduler.config.k8s.io/v1alpha2"},
        'no kind "KubeSchedulerConfiguration" is registered for version "kubescheduler.config.k8s.io/v1alpha2" '
        'in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"; alpha configurations are not read, write it as v1beta1 or newer',
    ),
    "an unknown field": ({"foo": 1}, 'strict decoding error: unknown field "foo"'),
    "a wrong type": (
        {"parallelism": "x"},
        "json: cannot unmarshal string into Go struct field KubeSchedulerConfiguration.parallelism of type int32",
    ),
    "an unknown field in args": (
        spread_args(defaultingTypo="x"),
        "strict decoding error: decoding .profiles[0].pluginConfig[0]: strict decoding error: decoding args for plugin PodTopologySpread: "
        'strict decoding error: unknown field "defaultingTypo"; did you mean "defaultingType"?',
    ),
    "args of another kind": (
        spread_args(kind="NodeAffinityArgs"),
        "decoding .profiles[0].pluginConfig[0]: args for plugin PodTopologySpread were not of type "
        "PodTopologySpreadArgs.kubescheduler.config.k8s.io, got NodeAffinityArgs.kubescheduler.config.k8s.io",
    ),
    "a percentage out of range": (
        {"percentageOfNodesToScore": 101, "profiles": [{"percentageOfNodesToScore": 200}]},
        "[profiles[0].percentageOfNodesToScore: Invalid value: 200: not in valid range [0-100], "
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]]",
    ),
    "a profile without a name": (
        {"profiles": [{"schedulerName": "a"}, {}]},
        "profiles[1].schedulerName: Required value",
    ),
    "two profiles of one name": (
        {"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]},
        "profiles[1].schedulerName: Duplicate value: {}",
    ),
    "a plugin configured twice": (
        {"profiles": [{"pluginConfig": [{"name": "NodeAffinity"}, {"name": "NodeAffinity"}]}]},
        'profiles[0].pluginConfig[1]: Duplicate value: "NodeAffinity"',
    ),
    "constraints without List": (
        spread_args(defaultConstraints=[ZONE]),
        f'{ARGS}.defaultingType: Invalid value: "System": when .defaultConstraints are not empty',
    ),
    "another defaulting type": (
        spread_args(defaultingType="list"),
        f'{ARGS}.defaultingType: Unsupported value: "list": supported values: "System", "List"',
    ),
    "an empty constraint": (
        spread_args(defaultingType="List", defaultConstraints=[{}]),
        f"[{ARGS}.defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf), "
        f"{ARGS}.defaultConstraints[0].topologyKey: Required value: can not be empty, "
        f"{ARGS}.defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty]",
    ),
    "a selector": (
        spread_args(defaultingType="List", defaultConstraints=[{**ZONE, "labelSelector": {}}]),
        f"{ARGS}.defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod",
    ),
    "a constraint twice": (
        spread_args(defaultingType="List", defaultConstraints=[ZONE, ZONE]),
        f'{ARGS}.defaultConstraints[1]: Duplicate value: "{{zone, ScheduleAnyway}}"',
    ),
    "another action": (
        spread_args(defaultingType="List", defaultConstraints=[{**ZONE, "whenUnsatisfiable": "Maybe"}]),
        f'{ARGS}.defaultConstraints[0].whenUnsatisfiable: Unsupported value: "Maybe": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ),
    "an unknown score plugin": (
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "Nope"}]}}}]},
        f'{BUILDING}ScorePlugin "Nope" does not exist',
    ),
    "an unknown plugin in multiPoint": (
        {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Nope"}]}}}]},
        f'{BUILDING}PreFilterPlugin "Nope" does not exist',
    ),
    "a plugin at the wrong point": (
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "NodeName"}]}}}]},
        f'{BUILDING}plugin "NodeName" does not extend ScorePlugin plugin',
    ),
    "a plugin twice": (
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "ImageLocality"}, {"name": "ImageLocality"}]}}}]},
        f'{BUILDING}plugin "ImageLocality" already registered as "ScorePlugin"',
    ),
    "nothing left to sort the queue": (
        {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "*"}]}}}]},
        f'{BUILDING}only one queue sort plugin required for profile with scheduler name "default-scheduler", but got 0',
    ),
    "nothing left to bind": (
        {
            "profiles": [
                {"plugins": {"multiPoint": {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}]}}}
            ]
        },
        f'{BUILDING}at least one bind plugin is needed for profile with scheduler name "default-scheduler"',
    ),
    "a negative weight before others": (
        {"profiles": [{"plugins": {"score": {"enabled": [{"name": "ImageLocality", "weight": -1}]}}}]},
        f"{BUILDING}score plugins: total score of Score plugins could overflow",
    ),
    "malformed addedAffinity": (
        {
            "profiles": [
                {
                    "pluginConfig": [
                        {
                            "name": "NodeAffinity",
                            "args": {
                                "addedAffinity": {
                                    "requiredDuringSchedulingIgnoredDuringExecution": {
                                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "z", "operator": "Foo"}]}]
                                    }
                                }
                            },
                        }
                    ]
                }
            ]
        },
        f"{ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]"
        '.matchExpressions[0].operator: Unsupported value: "Foo": supported values: "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"',
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case: str) -> None:
    given, expected = REFUSALS[case]
    data = given if "apiVersion" in given else {**HEAD, **given}
    with pytest.raises(ConfigurationError) as refused:
        load_profiles(data)
    assert str(refused.value) == expected


def test_the_policies_of_default_constraints_are_not_validated() -> None:
    args = {"defaultingType": "List", "defaultConstraints": [{**ZONE, "minDomains": -2, "nodeTaintsPolicy": "x"}]}
    profile = one_profile(pluginConfig=[{"name": "PodTopologySpread", "args": args}])
    assert profile.args_of("PodTopologySpread", PodTopologySpreadArgs).default_constraints[0].min_domains == -2


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


def config_args(plugin: str, **args: Any) -> Data:
    return {"profiles": [{"pluginConfig": [{"name": plugin, "args": args}]}]}


FIT = f'{BUILDING}initializing plugin "NodeResourcesFit": '
ARGS_REFUSALS: dict[str, tuple[Data, str]] = {
    "a strategy nobody has": (
        config_args("NodeResourcesFit", scoringStrategy={"type": "Foo", "resources": [{"name": "cpu", "weight": 200}]}),
        f'{FIT}[scoringStrategy.type: Unsupported value: "Foo": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", '
        "scoringStrategy.resources[0].weight: Invalid value: 200: resource weight of cpu not in valid range (0, 100]]",
    ),
    "a strategy without type": (
        config_args("NodeResourcesFit", scoringStrategy={}),
        f'{FIT}scoringStrategy.type: Unsupported value: "": supported values: "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"',
    ),
    "a ratio without its shape": (
        config_args("NodeResourcesFit", scoringStrategy={"type": "RequestedToCapacityRatio"}),
        f"{FIT}scoringStrategy.requestedToCapacityRatio: Required value: must be specified when type is RequestedToCapacityRatio",
    ),
    "a shape for another strategy": (
        config_args(
            "NodeResourcesFit", scoringStrategy={"type": "MostAllocated", "requestedToCapacityRatio": {"shape": []}}
        ),
        f"{FIT}scoringStrategy.requestedToCapacityRatio: Forbidden: must be nil when type is not RequestedToCapacityRatio",
    ),
    "an ignored group with a slash": (
        config_args("NodeResourcesFit", ignoredResourceGroups=["a/b"]),
        f"{FIT}ignoredResourceGroups[0]: Invalid value: \"a/b\": resource group name can't contain '/'",
    ),
    "weights of the balance": (
        config_args("NodeResourcesBalancedAllocation", resources=[{"name": "cpu", "weight": 2}, {"name": "cpu"}]),
        f'[{ARGS}.resources[0].weight: Invalid value: 2: must be 1, {ARGS}.resources[1].name: Duplicate value: "cpu"]',
    ),
    "a hard affinity weight": (
        config_args("InterPodAffinity", hardPodAffinityWeight=101),
        f"{ARGS}.hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]",
    ),
    "a kind that is a list": (
        config_args("InterPodAffinity", kind=["InterPodAffinityArgs"]),
        "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: couldn't get version/kind; json parse error: "
        "json: cannot unmarshal array into Go struct field .kind of type string",
    ),
    "preemption without candidates": (
        config_args("DefaultPreemption", minCandidateNodesPercentage=0, minCandidateNodesAbsolute=0),
        f"[{ARGS}.minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute, "
        f"{ARGS}.minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage]",
    ),
}


@pytest.mark.parametrize("case", ARGS_REFUSALS)
def test_refused_arguments(case: str) -> None:
    given, expected = ARGS_REFUSALS[case]
    with pytest.raises(ConfigurationError) as refused:
        load_profiles({**HEAD, **given})
    assert str(refused.value) == expected


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


def test_v1beta2_lists_its_defaults_at_every_point() -> None:
    data = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta2",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {
                    "score": {"enabled": enabled(("PodTopologySpread", 5)), "disabled": [{"name": "ImageLocality"}]}
                }
            }
        ],
    }
    (profile,) = load_profiles(data, KubeVersion(27))
    assert dict(scores(profile)) == {
        "TaintToleration": 1,
        "NodeAffinity": 1,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 5,
        "InterPodAffinity": 1,
        "NodeResourcesBalancedAllocation": 1,
    }
    assert profile.filters == default_profile(KubeVersion(27)).filters


def test_v1beta1_infers_the_list_and_names_plugins_that_are_gone() -> None:
    args = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
        "kind": "PodTopologySpreadArgs",
        "defaultConstraints": [ZONE],
    }
    data = {
        "apiVersion": "kubescheduler.config.k8s.io/v1beta1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "plugins": {
                    "filter": {"enabled": enabled(("NodeLabel", 0)), "disabled": [{"name": "NodePorts"}]},
                    "score": {"enabled": enabled(("RequestedToCapacityRatio", 2))},
                },
                "pluginConfig": [{"name": "PodTopologySpread", "args": args}],
            }
        ],
    }
    (profile,) = load_profiles(data, KubeVersion(20))
    assert profile.args_of("PodTopologySpread", PodTopologySpreadArgs).defaulting_type == "List"
    assert profile.unread_points == ("filter.NodeLabel", "score.RequestedToCapacityRatio")
    assert profile.filters == tuple(name for name in default_profile(KubeVersion(20)).filters if name != "NodePorts")


@pytest.mark.parametrize(
    ("api_version", "minor", "served"),
    [("v1beta3", 28, True), ("v1beta3", 29, False), ("v1beta2", 28, False), ("v1beta1", 23, False), ("v1", 24, False)],
)
def test_a_version_of_the_file_is_read_where_it_was_served(api_version: str, minor: int, served: bool) -> None:
    data = {"apiVersion": f"kubescheduler.config.k8s.io/{api_version}", "kind": "KubeSchedulerConfiguration"}
    if served:
        assert load_profiles(data, KubeVersion(minor)) == (default_profile(KubeVersion(minor)),)
    else:
        with pytest.raises(ConfigurationError, match="is registered for version"):
            load_profiles(data, KubeVersion(minor))
