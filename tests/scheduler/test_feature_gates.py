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
    return kubespread.explain(
        kubespread.Snapshot.from_objects(objects),
        candidate,
        kubespread.Scheduler(kube_version=version, feature_gates=gates),
    )


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
    assert [minor for minor in range(18, 38) if KubeVersion(minor).has(gate)] == list(range(on_since, 38))


@pytest.mark.parametrize("gate", ["TaintTolerationComparisonOperators", "VolumeCapacityPriority", "NoSuchGate"])
def test_a_gate_that_never_came_on_is_off(gate: str) -> None:
    assert not any(KubeVersion(minor).has(gate) for minor in range(18, 38))


def test_a_field_switched_off_is_dropped_and_said() -> None:
    off = "MatchLabelKeysInPodTopologySpread=false,MatchLabelKeysInPodTopologySpreadSelectorMerge=false"
    revisions = [node("n1", zone="z1"), node("n2", zone="z2"), *pods_on({"n1": 2}, labels={"foo": "bar", "rev": "1"})]
    candidate = pod(labels={"foo": "bar", "rev": "2"}, constraints=[hard(matchLabelKeys=["rev"])])
    report = with_gates(off, revisions, candidate)
    assert (reasons(report), report.notes) == (
        {"n1": SKEWED},
        (
            "spec.topologySpreadConstraints[0].matchLabelKeys is dropped: feature gate MatchLabelKeysInPodTopologySpread is off",
        ),
    )


def test_a_field_switched_on_early_counts() -> None:
    candidate = pod(constraints=[hard(minDomains=3)])
    report = with_gates("MinDomainsInPodTopologySpread=true", TWO_ZONES, candidate, "1.25")
    assert (reasons(report), report.notes) == ({"n1": SKEWED, "n2": SKEWED}, ())


def test_a_plugin_goes_with_its_gate() -> None:
    dependent = ",".join(
        f"{gate}=false"
        for gate in (
            "ExtendWebSocketsToKubelet",
            "InPlacePodLevelResourcesVerticalScaling",
            "InPlacePodVerticalScalingInitContainers",
            "RestartAllContainersOnContainerExits",
        )
    )
    assert (
        "NodeDeclaredFeatures"
        not in with_gates(f"NodeDeclaredFeatures=false,{dependent}", TWO_ZONES, pod()).filter_plugins
    )


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
        (
            "PodSchedulingReadiness=false",
            "cannot set feature gate PodSchedulingReadiness to false, feature is locked to true",
        ),
        (
            "PodLevelResources=false",
            "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources]",
        ),
        (
            "TopologyAwareWorkloadScheduling=true",
            "TopologyAwareWorkloadScheduling is enabled, but depends on features that are disabled: [GenericWorkload]",
        ),
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


def test_dependencies_are_not_checked_before_the_components_do() -> None:
    assert (
        KubeVersion(34)
        .with_gates("MatchLabelKeysInPodTopologySpread=false")
        .has("MatchLabelKeysInPodTopologySpreadSelectorMerge")
    )


def test_a_gate_of_the_components_that_places_no_pod_is_accepted() -> None:
    report = with_gates("ContextualLogging=false,WatchList=false,CRIListStreaming=true", TWO_ZONES, pod())
    assert report.not_modelled == ()


def with_taint(name: str, value: str, effect: str) -> Data:
    return node(name, taints=[{"key": "level", "value": value, "effect": effect}])


COMPARING = "TaintTolerationComparisonOperators=true"
LEVELS = {"low": "3", "same": "5", "high": "10", "odd": "05", "text": "x"}


@pytest.mark.parametrize(("operator", "fits"), [("Gt", {"high"}), ("Lt", {"low"})])
def test_the_taints_number_is_compared_with_the_tolerations(operator: str, fits: set[str]) -> None:
    nodes = [with_taint(name, value, "NoSchedule") for name, value in LEVELS.items()]
    candidate = pod(tolerations=[{"key": "level", "operator": operator, "value": "5"}])
    report = with_gates(COMPARING, nodes, candidate)
    assert set(LEVELS) - set(reasons(report)) == fits


def test_what_is_compared_counts_for_scores_and_for_spreading_too() -> None:
    nodes = [with_taint(name, value, "PreferNoSchedule") for name, value in LEVELS.items()]
    candidate = pod(tolerations=[{"key": "level", "operator": "Gt", "value": "5"}])
    scored = {found.name: found.scores["TaintToleration"] for found in with_gates(COMPARING, nodes, candidate).nodes}
    assert scored == {"low": 0, "same": 0, "high": 300, "odd": 0, "text": 0}
    nodes = [with_taint("a", "10", "NoSchedule"), with_taint("b", "10", "NoSchedule"), *pods_on({"a": 1})]
    for name, found in (("a", nodes[0]), ("b", nodes[1])):
        found["metadata"]["labels"]["zone"] = name
    spread = pod(constraints=[hard(nodeTaintsPolicy="Honor")], tolerations=candidate["spec"]["tolerations"])
    assert reasons(with_gates(COMPARING, nodes, spread)) == {"a": SKEWED}


def test_without_its_gate_the_requests_of_a_running_pod_as_a_whole_do_not_count() -> None:
    running = pod("big", "n", resources={"requests": {"cpu": "8"}})
    off = "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false"
    candidate = pod(requests={"cpu": "1"})
    assert reasons(with_gates("", [node("n"), running], candidate)) == {"n": "Insufficient cpu"}
    assert reasons(with_gates(off, [node("n"), running], candidate)) == {}


@pytest.mark.parametrize(
    ("gates", "version", "message"),
    [
        ("LogarithmicScaleDown=true", "1.37", "unrecognized feature gate: LogarithmicScaleDown"),
        ("SidecarContainers=true", "1.37", "unrecognized feature gate: SidecarContainers"),
        (
            "NodeDeclaredFeatures=false",
            "1.37",
            "cannot set feature gate NodeDeclaredFeatures to false, feature is locked to true",
        ),
        (
            "PodLevelResources=false",
            "1.37",
            "[InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are disabled: [PodLevelResources], "
            "PodLevelResourcesFixDefaulting is enabled, but depends on features that are disabled: [PodLevelResources], "
            "PodLevelResourcesFixKubeletQOSClass is enabled, but depends on features that are disabled: [PodLevelResources]]",
        ),
        (
            "DRAConsumableCapacity=false",
            "1.37",
            "DRAFractionalCapacityRange is enabled, but depends on features that are disabled: [DRAConsumableCapacity]",
        ),
        ("StorageCapacityScoring=true", "1.32", "unrecognized feature gate: StorageCapacityScoring"),
        ("ContextualLogging=true", "1.23", "unrecognized feature gate: ContextualLogging"),
        ("AppArmor=true", "1.33", "unrecognized feature gate: AppArmor"),
        ("AppArmor=false", "1.31", "cannot set feature gate AppArmor to false, feature is locked to true"),
        (
            "GracefulNodeShutdown=false,WindowsGracefulNodeShutdown=false",
            "1.36",
            "GracefulNodeShutdownBasedOnPodPriority is enabled, but depends on features that are disabled: "
            "[GracefulNodeShutdown]",
        ),
        (
            "InPlacePodVerticalScaling=true,NodeDeclaredFeatures=false,ExtendWebSocketsToKubelet=false,"
            "InPlacePodLevelResourcesVerticalScaling=false,RestartAllContainersOnContainerExits=false",
            "1.36",
            "InPlacePodVerticalScalingInitContainers is enabled, but depends on features that are disabled: "
            "[NodeDeclaredFeatures]",
        ),
    ],
)
def test_gates_that_a_release_refuses(gates: str, version: str, message: str) -> None:
    with pytest.raises(kubespread.UsageError) as refused:
        with_gates(gates, TWO_ZONES, pod(), version)
    assert str(refused.value) == message


def test_gates_that_went_in_1_37_are_known_before() -> None:
    assert with_gates("LogarithmicScaleDown=true,SidecarContainers=true", TWO_ZONES, pod()).not_modelled == ()
