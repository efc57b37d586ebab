"""KubeSchedulerConfigurations: scoring strategies, profiles of every kind, odd ones, and those that do not start."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from kubespread.kube.well_known import HOSTNAME, ZONE
from tools.recorder.cases.cluster import PREFERRED, REQUIRED, ROW, node_affinity
from tools.recorder.cases.draw import Data, Draw

_FILTERS = (
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
)
_SCORES = (
    "TaintToleration",
    "NodeAffinity",
    "NodeResourcesFit",
    "VolumeBinding",
    "PodTopologySpread",
    "InterPodAffinity",
    "DynamicResources",
    "NodeResourcesBalancedAllocation",
    "ImageLocality",
)
_RESOURCES = (
    "cpu",
    "memory",
    "nvidia.com/gpu",
    "ephemeral-storage",
    "example.com/fpga",
    "hugepages-2Mi",
    "pods",
    "nope.io/x",
)
SHAPES = (
    [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
    [{"utilization": 0, "score": 10}, {"utilization": 40, "score": 7}, {"utilization": 100, "score": 0}],
    [{"utilization": 10, "score": 3}, {"utilization": 90, "score": 9}],
)
GATES = (
    "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge=false",
    "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false",
    "InPlacePodLevelResourcesVerticalScaling=false",
    "InPlacePodVerticalScalingInitContainers=false",
    "DRAExtendedResource=false",
    "SchedulerAsyncPreemption=false",
    "OpportunisticBatching=false",
    "PodTopologyLabelsAdmission=false",
    "NominatedNodeNameForExpectation=false",
    "StorageCapacityScoring=true",
    "StorageCapacityScoring=true,VolumeLimitScaling=true",
    "TaintTolerationComparisonOperators=true",
    "DRANodeAllocatableResources=true",
)


def configuration(*profiles: Data, **more: object) -> str:
    whole = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **more}
    return json.dumps({**whole, "profiles": list(profiles)})


def profile(*args: Data, plugins: Data | None = None, name: str = "default-scheduler") -> Data:
    found: Data = {"schedulerName": name}
    if args:
        found["pluginConfig"] = list(args)
    return found | ({"plugins": plugins} if plugins else {})


def args(plugin: str, **values: object) -> Data:
    return {"name": plugin, "args": values}


def default_constraints(*constraints: Data) -> Data:
    return args("PodTopologySpread", defaultConstraints=list(constraints), defaultingType="List")


def drawn_defaults(draw: Draw) -> Data:
    def one(key: str) -> Data:
        found = {
            "maxSkew": draw.one(1, 2, 3),
            "topologyKey": key,
            "whenUnsatisfiable": draw.one("DoNotSchedule", "ScheduleAnyway"),
        }
        return found | draw.fields(
            {
                "nodeAffinityPolicy": (0.2, ["Honor", "Ignore"]),
                "nodeTaintsPolicy": (0.2, ["Honor", "Ignore"]),
                "minDomains": (0.1, [1, 3, 7]),
            }
        )

    return default_constraints(*(one(key) for key in draw.some([ZONE, HOSTNAME, "rack", ROW, "absent"], 0, 4)))


def scoring(draw: Draw) -> list[Data]:
    """Arguments of the two plugins that score resources."""

    def weighed() -> list[Data]:
        return [
            {"name": name} | draw.fields({"weight": (0.8, [1, 2, 5, 30, 100])}) for name in draw.some(_RESOURCES, 1, 5)
        ]

    strategy: Data = {"type": draw.one("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")}
    strategy |= draw.fields({"resources": (0.85, weighed)})
    if strategy["type"] == "RequestedToCapacityRatio":
        points = sorted(draw.some(range(101), 1, 6))
        strategy["requestedToCapacityRatio"] = {
            "shape": [{"utilization": each, "score": draw.number(0, 10)} for each in points]
        }
    ignored = draw.fields(
        {
            "ignoredResources": (
                0.3,
                lambda: draw.some(["nvidia.com/gpu", "example.com/fpga", "cpu", "hugepages-2Mi"], 1, 3),
            ),
            "ignoredResourceGroups": (0.2, lambda: draw.some(["nvidia.com", "example.com", "kubernetes.io"], 1, 2)),
        }
    )
    found = [args("NodeResourcesFit", scoringStrategy=strategy, **ignored)]
    if draw.chance(0.5):
        balanced = [{"name": name} | draw.fields({"weight": (0.5, 1)}) for name in draw.some(_RESOURCES, 1, 5)]
        found.append(args("NodeResourcesBalancedAllocation", resources=balanced))
    return found


def plugins(draw: Draw) -> Data:
    """What a profile adds to the default plugins and takes from them."""
    found = {}
    for point in draw.some(["filter", "score", "multiPoint"], 1, 2):
        pool = {"filter": _FILTERS, "score": _SCORES}.get(point, tuple(dict.fromkeys(_FILTERS + _SCORES)))
        if point == "multiPoint" and draw.chance(0.12):
            needed = [{"name": "PrioritySort"}, {"name": "DefaultBinder"}]
            chosen = [{"name": name, "weight": draw.one(1, 3)} for name in draw.some(pool, 1, 8)]
            found[point] = {"disabled": [{"name": "*"}], "enabled": needed + chosen}
            continue

        def disabled(point: str = point, pool: Sequence[str] = pool) -> list[Data]:
            names = ["*"] if point != "multiPoint" and draw.chance(0.12) else draw.some(pool, 1, 4)
            return [{"name": name} for name in names]

        def enabled(pool: Sequence[str] = pool) -> list[Data]:
            return [
                {"name": name} | draw.fields({"weight": (0.7, [1, 2, 5, 10, 100, 0])}) for name in draw.some(pool, 1, 4)
            ]

        found[point] = draw.fields({"disabled": (0.55, disabled), "enabled": (0.7, enabled)})
    return found


def odd_plugins(draw: Draw) -> Data:
    """Also without a half of what a plugin does, and without preemption."""

    def without(*names: str) -> list[Data]:
        return [{"disabled": [{"name": name}]} for name in names]

    return plugins(draw) | draw.fields(
        {
            "preFilter": (0.15, without("NodePorts", "PodTopologySpread", "InterPodAffinity", "NodeResourcesFit", "*")),
            "preScore": (0.1, without("PodTopologySpread", "TaintToleration", "InterPodAffinity", "NodeAffinity")),
            "postFilter": (0.1, without("*", "DefaultPreemption", "DynamicResources")),
        }
    )


def profiles(draw: Draw, among: Sequence[Data]) -> tuple[list[str], str]:
    """The names of the profiles, and the configuration."""
    names = ["default-scheduler", *draw.some(["second", "third"], 0, 2)]
    whole = draw.fields({"percentageOfNodesToScore": (0.1, [0, 30])})
    return names, configuration(*(_profile(draw, name, among) for name in names), **whole)


def _profile(draw: Draw, name: str, among: Sequence[Data]) -> Data:
    table: Sequence[tuple[float, Callable[[], list[Data]]]] = (
        (0.35, lambda: scoring(draw)),
        (0.3, lambda: [args("NodeAffinity", addedAffinity=node_affinity(draw, among, 0.4, 0.8))]),
        (0.3, lambda: [drawn_affinity(draw)]),
        (0.4, lambda: [drawn_defaults(draw)]),
        (
            0.1,
            lambda: [
                args(
                    "DefaultPreemption",
                    minCandidateNodesPercentage=draw.one(0, 50),
                    minCandidateNodesAbsolute=draw.one(50, 100),
                )
            ],
        ),
        (0.1, lambda: [args("VolumeBinding", bindTimeoutSeconds=draw.one(0, 10))]),
        (0.1, lambda: [args("DynamicResources", filterTimeout=draw.one("10s", "0s"))]),
    )
    drawn = [each for probability, make in table if draw.chance(probability) for each in make()]
    found = profile(*drawn, plugins=plugins(draw) if draw.chance(0.6) else None, name=name)
    return found | draw.fields({"percentageOfNodesToScore": (0.1, [0, 50, 100])})


def drawn_affinity(draw: Draw) -> Data:
    return args(
        "InterPodAffinity",
        hardPodAffinityWeight=draw.one(0, 1, 7, 50, 100),
        ignorePreferredTermsOfExistingPods=draw.chance(0.5),
    )


Fault = tuple[str, Callable[[Draw], Data]]
"""To which part of a configuration it belongs ("" for the whole), and the fields it sets there."""


def _points(point: str, **lists: list[Data]) -> Data:
    return {"plugins": {point: lists}}


def _arguments(plugin: str, **values: object) -> Data:
    return {"pluginConfig": [args(plugin, **values)]}


_SOFT = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}


def _added_terms(draw: Draw) -> Data:
    values: tuple[list[str], ...] = ([], ["x"], ["1"], ["bad value!"])
    expression = {
        "key": draw.one("a", "a b", ""),
        "operator": draw.one("In", "Foo", "Gt", "Exists"),
        "values": draw.one(*values),
    }
    field = {
        "key": draw.one("metadata.name", "x"),
        "operator": draw.one("In", "Gt"),
        "values": draw.one([], ["a", "b"]),
    }
    terms: list[Data] = draw.one([], [{"matchExpressions": [expression]}], [{"matchFields": [field]}])
    return _arguments("NodeAffinity", addedAffinity={REQUIRED: {"nodeSelectorTerms": terms}})


def _ratio(draw: Draw) -> Data:
    shapes: tuple[list[Data], ...] = (
        [],
        [{"utilization": 50, "score": 3}, {"utilization": 50, "score": 4}],
        [{"utilization": -1, "score": 11}],
        [{"utilization": 101, "score": -1}],
        [{"utilization": 0, "score": 5}],
    )
    strategy = draw.fields({"requestedToCapacityRatio": (0.8, [{"shape": shape} for shape in shapes])})
    return _arguments(
        "NodeResourcesFit", scoringStrategy={"type": draw.one("RequestedToCapacityRatio", "MostAllocated"), **strategy}
    )


_FAULTS: Sequence[Callable[[Draw], Data]] = (
    lambda d: _arguments("PodTopologySpread", defaultingType=d.one("Foo", "System", ""), defaultConstraints=[_SOFT]),
    lambda d: {
        "pluginConfig": [
            default_constraints(
                {
                    "maxSkew": d.one(0, -1),
                    "topologyKey": d.one("", "a b", "zone"),
                    "whenUnsatisfiable": d.one("", "Maybe", "DoNotSchedule"),
                }
            )
        ]
    },
    lambda d: {"pluginConfig": [default_constraints({**_SOFT, "labelSelector": {"matchLabels": {"a": "b"}}}, _SOFT)]},
    lambda d: _arguments(
        "NodeResourcesFit",
        scoringStrategy={
            "type": d.one("Foo", "", "LeastAllocated"),
            "resources": [{"name": d.one("cpu", "", "a b"), "weight": d.one(-1, 0, 101, 5)}],
        },
    ),
    _ratio,
    lambda d: _arguments(
        "NodeResourcesFit",
        ignoredResources=[d.one("a b", "cpu", "x/y/z")],
        ignoredResourceGroups=[d.one("a/b", "a b", "ok.io")],
    ),
    lambda d: _arguments(
        "NodeResourcesBalancedAllocation",
        resources=d.one(
            [{"name": "cpu", "weight": 2}],
            [{"name": "cpu"}, {"name": "cpu"}],
            [{"name": "", "weight": 1}],
            [{"name": "memory", "weight": -1}],
        ),
    ),
    lambda d: _arguments("InterPodAffinity", hardPodAffinityWeight=d.one(-1, 101, 5, "5")),
    _added_terms,
    lambda d: _arguments(
        "NodeAffinity",
        addedAffinity={
            PREFERRED: [
                {
                    "weight": d.one(0, 101, 5),
                    "preference": d.one({}, {"matchExpressions": [{"key": "a", "operator": "In", "values": []}]}),
                }
            ]
        },
    ),
    lambda d: _arguments("VolumeBinding", bindTimeoutSeconds=d.one(-1, 0), **d.fields({"shape": (0.4, [SHAPES[0]])})),
    lambda d: _arguments(
        "DefaultPreemption", minCandidateNodesPercentage=d.one(-1, 0, 101), minCandidateNodesAbsolute=d.one(-1, 0)
    ),
    lambda d: _arguments(d.one("Nope", "PodTopologySpread", "NodeName"), foo="bar"),
    lambda _: {"pluginConfig": [args("InterPodAffinity", hardPodAffinityWeight=weight) for weight in (1, 2)]},
    lambda d: _points(
        "score", enabled=[{"name": d.one("Nope", "NodeName", "ImageLocality"), "weight": d.one(1, -1, 2147483647, "5")}]
    ),
    lambda d: _points("filter", enabled=[{"name": d.one("Nope", "ImageLocality", "NodeName")}, {"name": "NodeName"}]),
    lambda d: _points("multiPoint", enabled=[{"name": d.one("Nope", "NodeName")}, {"name": "NodeName"}]),
    lambda d: _points(d.one("multiPoint", "queueSort", "bind"), disabled=[{"name": "*"}]),
    lambda d: _points(
        d.one("multiPoint", "score"),
        enabled=[{"name": "ImageLocality", "weight": d.one(-5, 9223372036854775807, 100000)}],
    ),
    lambda d: {"schedulerName": d.one("", "x")},
    lambda d: {"percentageOfNodesToScore": d.one(-1, 101)},
    lambda _: {"nonsense": 1},
)
_WHOLE_FAULTS: Sequence[Callable[[Draw], Data]] = (
    lambda _: {"profiles": [profile(), profile()]},
    lambda _: {
        "profiles": [profile(), profile(plugins={"queueSort": {"enabled": [{"name": "PrioritySort"}]}}, name="second")]
    },
    lambda d: {"profiles": d.one([], {"a": 1})},
    lambda d: {"parallelism": d.one(0, -1, 4)},
    lambda d: {"percentageOfNodesToScore": d.one(-1, 101, 0)},
    lambda d: {"podInitialBackoffSeconds": d.one(0, -1), "podMaxBackoffSeconds": d.one(0, 5)},
    lambda d: {"apiVersion": d.one("kubescheduler.config.k8s.io/v1beta3", "foo/v1", "kubescheduler.config.k8s.io/v2")},
    lambda _: {"kind": "Foo"},
    lambda _: {"nonsense": 1},
    lambda d: {
        "extenders": [
            {
                "urlPrefix": d.one("", "http://x"),
                "weight": d.one(0, -1, 1),
                "prioritizeVerb": "p",
                "bindVerb": d.one("", "b"),
            }
        ]
    },
)


def faulty(draw: Draw) -> str:
    """One fault of the profile, of the whole configuration, or of each."""
    where = draw.one("profile", "profile", "whole", "both")
    only = profile() | (draw.one(*_FAULTS)(draw) if where != "whole" else {})
    whole: Data = json.loads(configuration(only))
    if where != "profile":
        whole |= draw.one(*_WHOLE_FAULTS)(draw)
    return json.dumps(whole)
