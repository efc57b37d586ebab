"""Feature gates: their defaults by release, what switching them does, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.versions import KubeVersion
from tests.builders import hard, node, pod, pods_on
from tests.scheduler.asking import SKEWED, reasons

Data = dict[str, Any]

TWO_ZONES = [node("n1", zone="z1"), node("n2", zone="z2"), *pods_on({"n1": 2, "n2": 2})]


def with_gates(gates: str, objects: list[Data], candidate: Data, version: str = "1.36") -> kubespread.ExplainReport:
    return kubespread.explain(kubespread.Snapshot.from_objects(objects), candidate, kube_version=version, feature_gates=gates)


@pytest.mark.parametrize(
    ("gate", "on_since"),
    [
        ("EvenPodsSpread", 18),
        ("DefaultPodTopologySpread", 20),
        ("MinDomainsInPodTopologySpread", 27),
        ("NodeInclusionPolicyInPodTopologySpread", 26),
        ("MatchLabelKeysInPodTopologySpread", 27),
        ("MatchLabelKeysInPodAffinity", 31),
        ("PodAffinityNamespaceSelector", 22),
        ("PodSchedulingReadiness", 27),
        ("SidecarContainers", 29),
        ("PodLevelResources", 34),
        ("NodeDeclaredFeatures", 36),
    ],
)
def test_a_gate_is_on_from_its_release_to_the_newest(gate: str, on_since: int) -> None:
    assert [minor for minor in range(18, 37) if KubeVersion(minor).has(gate)] == list(range(on_since, 37))


@pytest.mark.parametrize("gate", ["TaintTolerationComparisonOperators", "VolumeCapacityPriority", "NoSuchGate"])
def test_a_gate_that_never_came_on_is_off(gate: str) -> None:
    assert not any(KubeVersion(minor).has(gate) for minor in range(18, 37))


def test_a_field_switched_off_is_dropped_and_said() -> None:
    off = "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false"
    revisions = [node("n1", zone="z1"), node("n2", zone="z2"), *pods_on({"n1": 2}, labels={"foo": "bar", "rev": "1"})]
    candidate = pod(labels={"foo": "bar", "rev": "2"}, constraints=[hard(matchLabelKeys=["rev"])])
    report = with_gates(off, revisions, candidate)
    assert (reasons(report), report.notes) == (
        {"n1": SKEWED},
        ("spec.topologySpreadConstraints[0].matchLabelKeys is dropped: feature gate MatchLabelKeysInPodTopologySpread is off",),
    )


def test_a_field_switched_on_early_counts() -> None:
    candidate = pod(constraints=[hard(minDomains=3)])
    report = with_gates("MinDomainsInPodTopologySpread=true", TWO_ZONES, candidate, "1.25")
    assert (reasons(report), report.notes) == ({"n1": SKEWED, "n2": SKEWED}, ())


def test_a_plugin_goes_with_its_gate() -> None:
    dependent = "InPlacePodLevelResourcesVerticalScaling=false,RestartAllContainersOnContainerExits=false"
    assert "NodeDeclaredFeatures" not in with_gates(f"NodeDeclaredFeatures=false,{dependent}", TWO_ZONES, pod()).filter_plugins


def test_system_default_constraints_go_with_their_gate() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"selector": {"foo": "bar"}}}
    keys = {
        gates: [found.topology_key for found in with_gates(gates, [*TWO_ZONES, service], pod(), "1.23").constraints]
        for gates in ("", "DefaultPodTopologySpread=false")
    }
    assert keys == {"": ["kubernetes.io/hostname", "topology.kubernetes.io/zone"], "DefaultPodTopologySpread=false": []}


def test_a_gate_that_is_not_modelled_is_named_when_it_is_changed() -> None:
    report = with_gates("SchedulerAsyncAPICalls=true,OpportunisticBatching=true", TWO_ZONES, pod())
    assert report.not_modelled == ("feature gate SchedulerAsyncAPICalls=true",)


@pytest.mark.parametrize(
    ("gates", "message"),
    [
        ("Nope=true", "unrecognized feature gate: Nope"),
        ("EvenPodsSpread=true", "unrecognized feature gate: EvenPodsSpread"),
        ("PodSchedulingReadiness=false", "cannot set feature gate PodSchedulingReadiness to false, feature is locked to true"),
        ("PodLevelResources", "missing bool value for PodLevelResources"),
        (
            "PodLevelResources=maybe",
            'invalid value of PodLevelResources=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
        ),
    ],
)
def test_gates_that_are_refused(gates: str, message: str) -> None:
    with pytest.raises(kubespread.UsageError) as refused:
        with_gates(gates, TWO_ZONES, pod())
    assert str(refused.value) == message
