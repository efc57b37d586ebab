"""Descheduler policies: what they mean, and what the descheduler refuses."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.questions.rebalance.descheduler.policy import (
    DAEMON_SET_PODS,
    EVICTOR,
    FAILED_BARE,
    LOCAL_STORAGE,
    PLUGIN,
    SYSTEM_CRITICAL,
    WITH_PVC,
    EvictorArgs,
    Limits,
    PluginArgs,
    Policy,
    PolicyError,
    Profile,
    decode_policy,
)
from tests.builders import Data


def policy(plugin: Any = None, evictor: Any = None, **more: Any) -> Data:
    profile = {
        "name": "default",
        "pluginConfig": [{"name": PLUGIN, "args": plugin}, {"name": EVICTOR, "args": evictor}],
        "plugins": {"balance": {"enabled": [PLUGIN]}},
    }
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile], **more}


MEANINGS: dict[str, tuple[Data, Policy]] = {
    "without arguments the defaults": (policy(), Policy((Profile("default"),))),
    "limits": (
        policy(maxNoOfPodsToEvictPerNode=1, maxNoOfPodsToEvictPerNamespace=2, maxNoOfPodsToEvictTotal=3),
        Policy((Profile("default"),), limits=Limits(1, 2, 3)),
    ),
    "soft constraints too": (
        policy({"constraints": ["DoNotSchedule", "ScheduleAnyway"], "topologyBalanceNodeFit": False}),
        Policy((Profile("default", PluginArgs(frozenset({"DoNotSchedule", "ScheduleAnyway"}), node_fit=False)),)),
    ),
    "deprecated booleans": (
        policy(evictor={"evictLocalStoragePods": True, "ignorePvcPods": True}),
        Policy(
            (
                Profile(
                    "default",
                    evictor=EvictorArgs(
                        protections=frozenset({DAEMON_SET_PODS, FAILED_BARE, SYSTEM_CRITICAL, WITH_PVC})
                    ),
                ),
            )
        ),
    ),
    "deprecated booleans are ignored beside podProtections": (
        policy(evictor={"evictLocalStoragePods": True, "podProtections": {"defaultDisabled": ["DaemonSetPods"]}}),
        Policy(
            (
                Profile(
                    "default", evictor=EvictorArgs(protections=frozenset({LOCAL_STORAGE, FAILED_BARE, SYSTEM_CRITICAL}))
                ),
            )
        ),
    ),
    "namespaceLabelSelector counts only with matchLabels": (
        policy(evictor={"namespaceLabelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}),
        Policy((Profile("default"),)),
    ),
    "an age": (
        policy(evictor={"minPodAge": "1h", "noEvictionPolicy": "Mandatory"}),
        Policy((Profile("default", evictor=EvictorArgs(min_pod_age=3600 * 10**9, heeds_prefer_no_eviction=True)),)),
    ),
}


@pytest.mark.parametrize("case", MEANINGS)
def test_meaning(case: str) -> None:
    data, expected = MEANINGS[case]
    assert decode_policy(data) == expected


def test_other_plugins_are_named() -> None:
    data = policy()
    data["profiles"][0]["plugins"] = {
        "balance": {"enabled": [PLUGIN, "LowNodeUtilization"]},
        "deschedule": {"enabled": ["PodLifeTime"]},
    }
    assert decode_policy(data).other_plugins == ("PodLifeTime", "LowNodeUtilization")


ARGS = "profiles[0].pluginConfig[{}].args"
FAULTS: dict[str, tuple[Data, list[tuple[str, str]]]] = {
    "an older version": (
        {**policy(), "apiVersion": "descheduler/v1alpha1"},
        [
            (
                "",
                "expected a DeschedulerPolicy of apiVersion descheduler/v1alpha2, "
                "found DeschedulerPolicy of descheduler/v1alpha1",
            )
        ],
    ),
    "nobody enables the plugin": (
        {**policy(), "profiles": []},
        [("profiles", f"no profile enables the balance plugin {PLUGIN}: the descheduler spreads nothing")],
    ),
    "both include and exclude": (
        policy({"namespaces": {"include": ["a"], "exclude": ["b"]}}),
        [(f"{ARGS.format(0)}.namespaces", "only one of Include/Exclude namespaces can be set")],
    ),
    "an unknown constraint and a malformed selector, each with its place": (
        policy({"constraints": ["Never"], "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}),
        [
            (f"{ARGS.format(0)}.constraints[0]", "constraint Never is not one of [DoNotSchedule ScheduleAnyway]"),
            (
                f"{ARGS.format(0)}.labelSelector",
                'failed to get label selectors from strategy\'s params: "Is" is not a valid label selector operator',
            ),
        ],
    ),
    "two thresholds": (
        policy(evictor={"priorityThreshold": {"value": 1, "name": "high"}}),
        [
            (
                f"{ARGS.format(1)}.priorityThreshold",
                "priority threshold misconfigured, only one of priorityThreshold fields can be set",
            )
        ],
    ),
    "an unknown field": (
        policy({"topologyBalanceNodeFits": True}),
        [
            (
                f"{ARGS.format(0)}.topologyBalanceNodeFits",
                'strict decoding error: unknown field "topologyBalanceNodeFits", did you mean "topologyBalanceNodeFit"?',
            )
        ],
    ),
    "a protection that there is not": (
        policy(evictor={"podProtections": {"extraEnabled": ["PodsWithPVCs"]}}),
        [
            (
                f"{ARGS.format(1)}.podProtections.extraEnabled[0]",
                'Unsupported value: "PodsWithPVCs": supported values: "PodsWithPVC", "PodsWithoutPDB", '
                '"PodsWithResourceClaims"',
            )
        ],
    ),
    "values of other types": (
        policy(evictor={"nodeFit": "yes"}, nodeSelector=7),
        [
            (
                "nodeSelector",
                "json: cannot unmarshal number into Go struct field DeschedulerPolicy.nodeSelector of type string",
            )
        ],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault(case: str) -> None:
    data, expected = FAULTS[case]
    with pytest.raises(PolicyError) as raised:
        decode_policy(data)
    assert list(raised.value.faults) == expected
