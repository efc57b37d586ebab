"""Descheduler policies: what they mean, and what the descheduler refuses."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.errors import ManifestError
from kubespread.kube.api.meta import LabelSelector
from kubespread.manifest.text import FieldLines
from kubespread.questions.rebalance.descheduler import (
    DAEMON_SET_PODS,
    EVICTOR,
    FAILED_BARE,
    LOCAL_STORAGE,
    PLUGIN,
    SYSTEM_CRITICAL,
    WITH_PVC,
    EvictorArgs,
    PluginArgs,
    Policy,
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


MEANINGS: dict[str, tuple[Data, tuple[PluginArgs, EvictorArgs]]] = {
    "without arguments the defaults": (policy(), (PluginArgs(), EvictorArgs())),
    "soft constraints too": (
        policy({"constraints": ["DoNotSchedule", "ScheduleAnyway"], "topologyBalanceNodeFit": False}),
        (PluginArgs(["DoNotSchedule", "ScheduleAnyway"], topology_balance_node_fit=False), EvictorArgs()),
    ),
    "pods with some labels alone": (
        policy({"labelSelector": {"matchLabels": {"app": "web"}}}, {"noEvictionPolicy": "Mandatory"}),
        (
            PluginArgs(label_selector=LabelSelector(match_labels={"app": "web"})),
            EvictorArgs(no_eviction_policy="Mandatory"),
        ),
    ),
}


@pytest.mark.parametrize("case", MEANINGS)
def test_meaning(case: str) -> None:
    data, expected = MEANINGS[case]
    assert decoded(data).profiles == [expected]


def decoded(data: Data) -> Policy:
    return decode_policy(data, "policy.yaml", FieldLines(b""))


PROTECTIONS: dict[str, tuple[Data, set[str]]] = {
    "the default ones": ({}, {LOCAL_STORAGE, DAEMON_SET_PODS, FAILED_BARE, SYSTEM_CRITICAL}),
    "deprecated booleans": (
        {"evictLocalStoragePods": True, "ignorePvcPods": True},
        {DAEMON_SET_PODS, FAILED_BARE, SYSTEM_CRITICAL, WITH_PVC},
    ),
    "deprecated booleans are ignored beside podProtections": (
        {"evictLocalStoragePods": True, "podProtections": {"defaultDisabled": ["DaemonSetPods"]}},
        {LOCAL_STORAGE, FAILED_BARE, SYSTEM_CRITICAL},
    ),
}


@pytest.mark.parametrize("case", PROTECTIONS)
def test_protections(case: str) -> None:
    evictor, expected = PROTECTIONS[case]
    ((_, args),) = decoded(policy(evictor=evictor)).profiles
    assert args.protections == expected


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
            (f"{ARGS.format(0)}.labelSelector", '"Is" is not a valid label selector operator'),
        ],
    ),
    "arguments that are not modeled": (
        policy(evictor={"priorityThreshold": {"name": "high"}, "minPodAge": "1h"}),
        [(f"{ARGS.format(1)}.minPodAge", "not modeled"), (f"{ARGS.format(1)}.priorityThreshold.name", "not modeled")],
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
        [("nodeSelector", "expected a string, found a number")],
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault(case: str) -> None:
    data, expected = FAULTS[case]
    with pytest.raises(ManifestError) as raised:
        decoded(data)
    assert [(fault.field, fault.message) for fault in raised.value.faults] == expected
