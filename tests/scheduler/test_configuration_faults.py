"""What kube-scheduler refuses in a configuration file: texts, their order, and where each fault stands."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.errors import ManifestError
from kubespread.kube.time import in_json, nanoseconds
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugins.noderesources.scoring import NodeResourcesFitArgs
from kubespread.scheduler.profile.loading import ConfigurationError, load_profiles
from tests.builders import node, pod

Data = dict[str, Any]
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
ARGS = "profiles[0].pluginConfig[0].args"
BUILDING = "initializing profiles: creating profile for scheduler name default-scheduler: "
SORTED = {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}
QUEUE = (
    'profiles[1].plugins.queueSort: Invalid value: {"Enabled":[{"Name":"PrioritySort","Weight":0}],"Disabled":null}: '
    "must be the same for all profiles"
)


def profiles(*given: Data) -> Data:
    return {"profiles": list(given)}


def args(plugin: str, **given: Any) -> Data:
    return profiles({"pluginConfig": [{"name": plugin, "args": given}]})


def plugins(**points: Data) -> Data:
    return profiles({"plugins": points})


def extender(**given: Any) -> Data:
    return {"urlPrefix": "http://localhost", **given}


FIT = f'{BUILDING}initializing plugin "NodeResourcesFit": '
SHAPE = "scoringStrategy.requestedToCapacityRatio.shape"
NAME = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
REFUSALS: dict[str, tuple[Data, str]] = {
    "no back-off": (
        {"podInitialBackoffSeconds": 0},
        "podInitialBackoffSeconds: Invalid value: 0: must be greater than 0",
    ),
    "a back-off that shrinks": (
        {"podInitialBackoffSeconds": 20},
        "podMaxBackoffSeconds: Invalid value: 10: must be greater than or equal to PodInitialBackoffSeconds",
    ),
    "queueSort in one profile only": (
        profiles({"schedulerName": "a"}, {"schedulerName": "b", "plugins": SORTED}),
        QUEUE,
    ),
    "queueSort disabled in the first": (
        profiles(
            {"schedulerName": "a", "plugins": {"queueSort": {"disabled": [{"name": "*", "weight": 3}]}}},
            {"schedulerName": "b"},
        ),
        'profiles[1].plugins.queueSort: Invalid value: {"Enabled":null,"Disabled":null}: must be the same for all profiles',
    ),
    "two queueSort plugins": (
        plugins(queueSort={"enabled": [{"name": "PrioritySort"}, {"name": "Other"}]}),
        "profiles[0].plugins.queueSort.Enabled: Invalid value: 2: only one queue sort plugin can be enabled",
    ),
    "an extender that scores without weight": (
        {"extenders": [extender(prioritizeVerb="rank")]},
        "extenders[0].weight: Invalid value: 0: must have a positive weight applied to it",
    ),
    "two extenders that bind": (
        {"extenders": [extender(bindVerb="bind"), extender(bindVerb="bind")]},
        'extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind',
    ),
    "managed resources": (
        {
            "extenders": [
                extender(managedResources=[{"name": "cpu"}, {"name": "a b"}]),
                extender(managedResources=[{"name": "cpu"}]),
            ]
        },
        '[extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, '
        f'extenders[0].managedResources[1].name: Invalid value: "a b": {NAME}, '
        'extenders[1].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name, '
        'extenders[1].managedResources[0].name: Invalid value: "cpu": duplicate extender managed resource name]',
    ),
    "a lease that is shorter than its renewal": (
        {"leaderElection": {"leaseDuration": "5s", "resourceLock": "endpoints"}},
        '[leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`, '
        'leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"]',
    ),
    "a negative retry": (
        {"leaderElection": {"retryPeriod": "-90s"}},
        'leaderElection.retryPeriod: Invalid value: "-1m30s": must be greater than zero',
    ),
    "what is no duration": ({"leaderElection": {"retryPeriod": "soon"}}, 'time: invalid duration "soon"'),
    "a negative burst": (
        {"clientConnection": {"burst": -1}},
        "clientConnection.burst: Invalid value: -1: must be non-negative",
    ),
    "the order of faults": (
        {
            "podInitialBackoffSeconds": -1,
            "parallelism": 0,
            "percentageOfNodesToScore": 101,
            "clientConnection": {"burst": -1},
            "extenders": [extender(prioritizeVerb="rank", weight=-1)],
            **profiles(
                {
                    "schedulerName": "a",
                    "percentageOfNodesToScore": -1,
                    "pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": -1}}],
                },
                {"schedulerName": "a", "plugins": SORTED},
            ),
        },
        "[clientConnection.burst: Invalid value: -1: must be non-negative, "
        "parallelism: Invalid value: 0: should be an integer value greater than zero, "
        "profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100], "
        f"{ARGS}.bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value, "
        f"profiles[1].schedulerName: Duplicate value: {{}}, {QUEUE}, "
        "percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100], "
        "podInitialBackoffSeconds: Invalid value: -1: must be greater than 0, "
        "extenders[0].weight: Invalid value: -1: must have a positive weight applied to it]",
    ),
    "cloud limits at a point and in pluginConfig": (
        profiles(
            {"plugins": {"filter": {"enabled": [{"name": "EBSLimits"}]}}, "pluginConfig": [{"name": "CinderLimits"}]}
        ),
        '[profiles[0].plugins.filter.enabled[0]: Invalid value: "EBSLimits": was invalid in version "v1" '
        '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1"), '
        'profiles[0].pluginConfig[0]: Invalid value: "CinderLimits": was invalid in version "v1" '
        '(KubeSchedulerConfiguration is version "kubescheduler.config.k8s.io/v1")]',
    ),
    "cloud limits in multiPoint": (
        plugins(multiPoint={"enabled": [{"name": "EBSLimits"}]}),
        f'{BUILDING}PreFilterPlugin "EBSLimits" does not exist',
    ),
    "an unknown plugin in multiPoint, and no PreFilter": (
        plugins(multiPoint={"enabled": [{"name": "Nope"}]}, preFilter={"disabled": [{"name": "*"}]}),
        f'{BUILDING}FilterPlugin "Nope" does not exist',
    ),
    "what a point names itself comes first": (
        plugins(multiPoint={"enabled": [{"name": "Nope"}]}, permit={"enabled": [{"name": "NodeName"}]}),
        f'{BUILDING}plugin "NodeName" does not extend PermitPlugin plugin',
    ),
    "arguments come before points": (
        profiles(
            {
                "plugins": {"multiPoint": {"enabled": [{"name": "Nope"}]}},
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {"scoringStrategy": {"type": "MostAllocated", "resources": [{"weight": -1}]}},
                    }
                ],
            }
        ),
        f"{FIT}scoringStrategy.resources[0].weight: Invalid value: -1: resource weight of  not in valid range (0, 100]",
    ),
    "one plugin's arguments twice, both looked at": (
        profiles(
            {
                "pluginConfig": [
                    {"name": "InterPodAffinity"},
                    {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": -1}},
                ]
            }
        ),
        '[profiles[0].pluginConfig[1]: Duplicate value: "InterPodAffinity", '
        "profiles[0].pluginConfig[1].args.hardPodAffinityWeight: Invalid value: -1: not in valid range [0, 100]]",
    ),
    "a shape that falls back, and leaves the range": (
        args("VolumeBinding", shape=[{"utilization": 50, "score": 11}, {"utilization": 50, "score": 0}]),
        f"[{ARGS}.shape[1].utilization: Invalid value: 50: values must be sorted in increasing order, "
        f"{ARGS}.shape[0].score: Invalid value: 11: not in valid range [0, 10]]",
    ),
    "timeouts of devices": (
        args("DynamicResources", filterTimeout="-1s", bindingTimeout="10ms"),
        f'[{ARGS}.filterTimeout: Invalid value: "-1s": must be zero or positive, '
        f'{ARGS}.bindingTimeout: Invalid value: "10ms": must be at least 1 second]',
    ),
    "a ratio that falls, and leaves the range": (
        args(
            "NodeResourcesFit",
            scoringStrategy={
                "type": "RequestedToCapacityRatio",
                "requestedToCapacityRatio": {
                    "shape": [{"utilization": 50}, {"utilization": 50, "score": 11}, {"utilization": -1}]
                },
            },
        ),
        f"{FIT}[{SHAPE}[1].utilization: Invalid value: 50: values must be sorted in increasing order, "
        f"{SHAPE}[1].score: Invalid value: 11: not in valid range [0, 10], "
        f"{SHAPE}[2].utilization: Invalid value: -1: not in valid range [0, 100]]",
    ),
    "arguments of another version": (
        args("NodeAffinity", apiVersion="kubescheduler.config.k8s.io/v1beta3", kind="NodeAffinityArgs"),
        'decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: no kind "NodeAffinityArgs" is registered '
        'for version "kubescheduler.config.k8s.io/v1beta3" in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"',
    ),
    "arguments of no kind there is": (
        args("NodeAffinity", kind="FooArgs"),
        'decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: no kind "FooArgs" is registered '
        'for version "kubescheduler.config.k8s.io/v1" in scheme "pkg/scheduler/apis/config/scheme/scheme.go:29"',
    ),
    "arguments that are no object": (
        profiles({"pluginConfig": [{"name": "NodeAffinity", "args": 5}]}),
        "decoding .profiles[0].pluginConfig[0]: decoding args for plugin NodeAffinity: couldn't get version/kind; json parse error: "
        'json: cannot unmarshal number into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
        'Kind string "json:\\"kind,omitempty\\"" }',
    ),
    "an unknown field whose name has dots": (
        {"profiles": [{"parallelism.x[0]": 1}]},
        'strict decoding error: unknown field "profiles[0].parallelism.x[0]"',
    ),
    "unknown fields everywhere are told together": (
        {"foo": 1, **args("PodTopologySpread", bar=1)},
        'strict decoding error: unknown field "foo", decoding .profiles[0].pluginConfig[0]: strict decoding error: '
        'decoding args for plugin PodTopologySpread: strict decoding error: unknown field "bar"',
    ),
    "a wrong type is worse than an unknown field": (
        {"foo": 1, **args("InterPodAffinity", hardPodAffinityWeight="x")},
        "decoding .profiles[0].pluginConfig[0]: decoding args for plugin InterPodAffinity: "
        "json: cannot unmarshal string into Go struct field InterPodAffinityArgs.hardPodAffinityWeight of type int32",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case: str) -> None:
    given, expected = REFUSALS[case]
    with pytest.raises(ConfigurationError) as refused:
        load_profiles({**HEAD, **given})
    assert str(refused.value) == expected


ACCEPTED: dict[str, Data] = {
    "no election, so nothing of it is looked at": {"leaderElection": {"leaderElect": False, "leaseDuration": "-1s"}},
    "an extender that does not score": {
        "extenders": [extender(filterVerb="filter", weight=-1, httpTimeout="5s", enableHTTPS=True)]
    },
    "faulty arguments of a plugin that is not built": profiles(
        {
            "plugins": {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}},
            "pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "Foo"}}}],
        }
    ),
    "a preferred term of weight 0 is not looked at": args(
        "NodeAffinity",
        addedAffinity={
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 0, "preference": {"matchExpressions": [{"key": "a", "operator": "In"}]}}
            ]
        },
    ),
    "arguments of a plugin nobody knows": profiles({"pluginConfig": [{"name": "Nope", "args": 5}]}),
    "queueSort spelled out everywhere": profiles(
        {"schedulerName": "a", "plugins": SORTED}, {"schedulerName": "b", "plugins": SORTED}
    ),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    assert load_profiles({**HEAD, **ACCEPTED[case]})


def test_resources_that_only_extenders_look_after_take_the_place_of_those_ignored() -> None:
    managed = [{"name": "example.com/a", "ignoredByScheduler": True}, {"name": "example.com/b"}]
    given = args("NodeResourcesFit", ignoredResources=["example.com/c"])
    (profile,) = load_profiles({**HEAD, **given, "extenders": [extender(managedResources=managed)]})
    assert profile.args_of("NodeResourcesFit", NodeResourcesFitArgs).ignored_resources == ["example.com/a"]


def test_before_1_36_a_shape_has_a_shorter_path() -> None:
    strategy = {"type": "RequestedToCapacityRatio", "requestedToCapacityRatio": {"shape": []}}
    with pytest.raises(
        ConfigurationError, match=r": scoringStrategy\.shape: Required value: at least one point must be specified$"
    ):
        load_profiles({**HEAD, **args("NodeResourcesFit", scoringStrategy=strategy)}, KubeVersion(34))


SINCE_1_37: dict[str, tuple[Data, str]] = {
    "what free storage is worth": (
        args("VolumeBinding", shape=[{"utilization": 0, "score": 1}]),
        f'{ARGS}.shape: Invalid value: [{{"Utilization":0,"Score":1}}]: '
        "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring",
    ),
    "what is asked when a group fits nowhere": (
        plugins(podGroupPostFilter={"disabled": [{"name": "*"}]}),
        'strict decoding error: unknown field "profiles[0].plugins.podGroupPostFilter"; known since 1.37',
    ),
}


@pytest.mark.parametrize("case", SINCE_1_37)
def test_what_is_accepted_since_1_37_is_refused_before(case: str) -> None:
    given, expected = SINCE_1_37[case]
    assert load_profiles({**HEAD, **given})
    with pytest.raises(ConfigurationError) as refused:
        load_profiles({**HEAD, **given}, KubeVersion(36))
    assert str(refused.value) == expected


def told(text: str) -> list[str]:
    with pytest.raises(ManifestError) as refused:
        kubespread.explain(kubespread.Snapshot.from_objects([node("a")]), pod(), kubespread.Scheduler(config=text))
    return str(refused.value).splitlines()


TYPOS = """\
kind: KubeSchedulerConfiguration
apiVersion: kubescheduler.config.k8s.io/v1
profiles:
- schedulerName: default-scheduler
  plugins:
    fitler:
      disabled: [{name: NodePorts}]
paralelism: 3
"""


def test_each_of_several_faults_has_its_line_and_what_was_meant() -> None:
    # Sorted as the JSON that kube-scheduler makes of YAML is.
    assert told(TYPOS) == [
        '<scheduler config>:8: strict decoding error: unknown field "paralelism", unknown field "profiles[0].plugins.fitler"',
        '<scheduler config>:8: paralelism: unknown field; did you mean "parallelism"?',
        '<scheduler config>:6: profiles[0].plugins.fitler: unknown field; did you mean "filter"?',
    ]


def test_one_fault_is_told_once() -> None:
    assert told(TYPOS.replace("fitler", "filter")) == [
        '<scheduler config>:8: strict decoding error: unknown field "paralelism"; did you mean "parallelism"?'
    ]


def test_a_refused_value_has_its_line() -> None:
    text = TYPOS.replace("fitler", "filter").replace("paralelism: 3", "parallelism: 0")
    assert told(text) == [
        "<scheduler config>:8: parallelism: Invalid value: 0: should be an integer value greater than zero"
    ]


DURATIONS = {
    "0": 0,
    "1h30m": 5400 * 10**9,
    "-1.5s": -1_500_000_000,
    "+2ms": 2_000_000,
    ".5us": 500,
    "1m0.25s": 60_250_000_000,
}


@pytest.mark.parametrize("text", DURATIONS)
def test_durations(text: str) -> None:
    assert nanoseconds(text) == DURATIONS[text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 'time: invalid duration ""'),
        ("5", 'time: missing unit in duration "5"'),
        ("5x", 'time: unknown unit "x" in duration "5x"'),
        ("s", 'time: invalid duration "s"'),
        ("9" * 5000 + "s", f'time: invalid duration "{"9" * 5000}s"'),
    ],
    ids=["empty", "no unit", "another unit", "no number", "beyond int64"],
)
def test_what_is_no_duration(text: str, expected: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011 - the text is compared whole
        nanoseconds(text)
    assert str(refused.value) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("90s", "1m30s"), ("-3600s", "-1h0m0s"), ("1500us", "1.5ms"), ("0", "0s"), ("7ns", "7ns")]
)
def test_durations_as_go_prints_them(text: str, expected: str) -> None:
    assert in_json(text) == expected
