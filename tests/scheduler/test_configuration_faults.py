"""What kube-scheduler refuses in a configuration file, and where each fault stands."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.errors import ManifestError
from kubespread.kube.time import format_duration, nanoseconds
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugin import read_as
from kubespread.scheduler.plugins.noderesources.scoring import NodeResourcesFitArgs
from kubespread.scheduler.profile.loading import ConfigurationError, load_profiles
from tests.builders import node, pod
from tests.tables import FIXTURES, table_of

Data = dict[str, Any]
HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
ARGS = "profiles[0].pluginConfig[0].args"
SORTED = {"queueSort": {"enabled": [{"name": "PrioritySort"}]}}


def profiles(*given: Data) -> Data:
    return {"profiles": list(given)}


def args(plugin: str, **given: Any) -> Data:
    return profiles({"pluginConfig": [{"name": plugin, "args": given}]})


def plugins(**points: Data) -> Data:
    return profiles({"plugins": points})


def extender(**given: Any) -> Data:
    return {"urlPrefix": "http://localhost", **given}


REFUSALS = table_of(FIXTURES / "refused" / "configurations.yaml")


@pytest.mark.parametrize("case", REFUSALS)
def test_refusals(case: str) -> None:
    given = REFUSALS[case]["configuration"]
    with pytest.raises(ConfigurationError) as refused:
        load_profiles(given if "apiVersion" in given else {**HEAD, **given})
    assert str(refused.value) == REFUSALS[case]["refused"]


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
    assert read_as(NodeResourcesFitArgs, profile.args["NodeResourcesFit"]).ignored_resources == ["example.com/a"]


SINCE_1_37: dict[str, tuple[Data, str]] = {
    "what free storage is worth": (
        args("VolumeBinding", shape=[{"utilization": 0, "score": 1}]),
        f"{ARGS}.shape: needs the feature gate StorageCapacityScoring",
    ),
    "what is asked when a group fits nowhere": (
        plugins(podGroupPostFilter={"disabled": [{"name": "*"}]}),
        "profiles[0].plugins.podGroupPostFilter: unknown field; known since 1.37",
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
        '<scheduler config>:8: paralelism: unknown field, did you mean "parallelism"?',
        '<scheduler config>:6: profiles[0].plugins.fitler: unknown field, did you mean "profiles[0].plugins.filter"?',
    ]


def test_one_fault_is_told_once() -> None:
    assert told(TYPOS.replace("fitler", "filter")) == [
        '<scheduler config>:8: paralelism: unknown field, did you mean "parallelism"?'
    ]


def test_a_refused_value_has_its_line() -> None:
    text = TYPOS.replace("fitler", "filter").replace("paralelism: 3", "parallelism: 0")
    assert told(text) == ["<scheduler config>:8: parallelism: must be greater than 0"]


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
    assert format_duration(nanoseconds(text)) == expected
