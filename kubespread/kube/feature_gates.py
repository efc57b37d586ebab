"""Feature gates: what each release turns on by itself, and what a cluster's operator may change.

Source of the table: the gate tables of the releases 1.18 to 1.36.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kubespread.errors import UsageError
from kubespread.kube.gotext import aggregate, compact_json
from kubespread.kube.unrelated_gates import UNRELATED_GATES

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_ENTRY = re.compile(r"(?P<minor>\d+)(?P<stage>[-+]L?|x)")

# The minors in which a gate changes: on (+) or off (-) by default, no longer changeable (L), removed with its behavior
# fixed (x).
_HISTORIES: Mapping[str, str] = {
    # Spreading
    "EvenPodsSpread": "16- 18+ 19+L 21x",
    "DefaultPodTopologySpread": "19- 20+ 24+L 26x",
    "MinDomainsInPodTopologySpread": "24- 27+ 30+L 32x",
    "NodeInclusionPolicyInPodTopologySpread": "25- 26+ 33+L",
    "MatchLabelKeysInPodTopologySpread": "25- 27+",
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": "34+",
    "PodTopologyLabelsAdmission": "33- 35+",
    # Other placement fields
    "PodAffinityNamespaceSelector": "21- 22+ 24+L 26x",
    "MatchLabelKeysInPodAffinity": "29- 31+ 33+L",
    "PodSchedulingReadiness": "26- 27+ 30+L",
    "TaintTolerationComparisonOperators": "35-",
    "NonPreemptingPriority": "16- 19+ 24+L 26x",
    "PreferNominatedNode": "21- 22+ 24+L 26x",
    "NodeDeclaredFeatures": "35- 36+",
    "ContainerRestartRules": "34- 35+",
    "RestartAllContainersOnContainerExits": "35- 36+",
    "IdentifyPodOS": "23- 24+ 25+L 27x",
    "RuntimeClass": "16+ 20+L 24x",
    "PodOverhead": "16- 18+ 24+L 26x",
    "UserNamespacesSupport": "28- 33+ 36+L",
    "UserNamespacesHostNetworkSupport": "35-",
    "GenericWorkload": "35-",
    "GangScheduling": "35-",
    "TopologyAwareWorkloadScheduling": "36-",
    "WorkloadAwarePreemption": "36-",
    "WorkloadWithJob": "36-",
    # Resources
    "SidecarContainers": "28- 29+ 33+L",
    "PodLevelResources": "32- 34+",
    "InPlacePodVerticalScaling": "27- 33+ 35+L",
    "InPlacePodLevelResourcesVerticalScaling": "35- 36+",
    "InPlacePodVerticalScalingInitContainers": "36+",
    "LocalStorageCapacityIsolation": "16+ 25+L 27x",
    "DynamicResourceAllocation": "26- 34+ 35+L",
    "DRAExtendedResource": "34- 36+",
    "DRAPrioritizedList": "33- 34+",
    "DRAAdminAccess": "32- 34+ 36+L",
    "DRAConsumableCapacity": "34- 36+",
    "DRADeviceBindingConditions": "34- 36+",
    "DRAPartitionableDevices": "33- 36+",
    "DRADeviceTaints": "33- 36+",
    "DRADeviceTaintRules": "35-",
    "DRASchedulerFilterTimeout": "34+",
    "DRAResourceClaimDeviceStatus": "32- 33+",
    "DRANodeAllocatableResources": "36-",
    "DRAListTypeAttributes": "36-",
    "DRAWorkloadResourceClaims": "36-",
    "ImageVolume": "31- 35+ 36+L",
    # Volumes
    "CSIStorageCapacity": "19- 21+ 24+L 28x",
    "GenericEphemeralVolume": "19- 21+ 23+L 25x",
    "CSIMigration": "16- 17+ 25+L 27x",
    "ReadWriteOncePod": "22- 27+ 29+L 31x",
    "AttachVolumeLimit": "16+ 17+L 21x",
    "BalanceAttachedNodeVolumes": "16- 22x",
    "VolumeCapacityPriority": "21- 33x",
    "StorageCapacityScoring": "33-",
    "VolumeLimitScaling": "35-",
    "MutablePVNodeAffinity": "35-",
    "MutableCSINodeAllocatableCount": "33- 35+ 36+L",
    "AnyVolumeDataSource": "18- 24+ 33+L",
    "VolumeAttributesClass": "29- 34+ 36+L",
    "NodeOutOfServiceVolumeDetach": "24- 26+ 28+L 32x",
    # The scheduler's own ways
    "SchedulerQueueingHints": "28- 32+ 34+L",
    "SchedulerAsyncPreemption": "32- 33+",
    "SchedulerPopFromBackoffQ": "33+",
    "SchedulerAsyncAPICalls": "34-",
    "NominatedNodeNameForExpectation": "34- 35+",
    "ClearingNominatedNodeNameAfterBinding": "34- 35+",
    "OpportunisticBatching": "35+",
    "ResourceLimitsPriorityFunction": "16- 19x",
}

# What a gate needs to be on with it; checked at startup since the release below. Those of unrelated gates are left out.
_DEPENDENCIES_SINCE = 35
_DEPENDENCIES: Mapping[str, tuple[str, ...]] = {
    "DRAAdminAccess": ("DynamicResourceAllocation",),
    "DRAConsumableCapacity": ("DynamicResourceAllocation",),
    "DRADeviceBindingConditions": ("DynamicResourceAllocation", "DRAResourceClaimDeviceStatus"),
    "DRADeviceTaintRules": ("DRADeviceTaints",),
    "DRADeviceTaints": ("DynamicResourceAllocation",),
    "DRAExtendedResource": ("DynamicResourceAllocation",),
    "DRAPartitionableDevices": ("DynamicResourceAllocation",),
    "DRAPrioritizedList": ("DynamicResourceAllocation",),
    "DRASchedulerFilterTimeout": ("DynamicResourceAllocation",),
    "DRAWorkloadResourceClaims": ("GenericWorkload",),
    "GangScheduling": ("GenericWorkload",),
    "InPlacePodLevelResourcesVerticalScaling": (
        "InPlacePodVerticalScaling",
        "PodLevelResources",
        "NodeDeclaredFeatures",
    ),
    "MatchLabelKeysInPodTopologySpreadSelectorMerge": ("MatchLabelKeysInPodTopologySpread",),
    "RestartAllContainersOnContainerExits": ("ContainerRestartRules", "NodeDeclaredFeatures"),
    "TopologyAwareWorkloadScheduling": ("GenericWorkload",),
    "UserNamespacesHostNetworkSupport": ("UserNamespacesSupport",),
    "WorkloadWithJob": ("GenericWorkload",),
}

# Gates whose switching changes an answer here; switching another is named in the report as not modeled.
MODELLED = frozenset({
    "EvenPodsSpread", "DefaultPodTopologySpread", "MinDomainsInPodTopologySpread",
    "NodeInclusionPolicyInPodTopologySpread", "MatchLabelKeysInPodTopologySpread", "PodAffinityNamespaceSelector",
    "MatchLabelKeysInPodAffinity", "PodSchedulingReadiness", "TaintTolerationComparisonOperators",
    "UserNamespacesHostNetworkSupport", "UserNamespacesSupport", "ContainerRestartRules",
    "RestartAllContainersOnContainerExits", "NodeDeclaredFeatures", "SidecarContainers", "PodLevelResources",
    "DynamicResourceAllocation", "DRAExtendedResource", "DRADeviceTaints", "DRAPrioritizedList", "DRAAdminAccess",
    "StorageCapacityScoring", "InPlacePodVerticalScaling",
    "InPlacePodVerticalScalingInitContainers", "InPlacePodLevelResourcesVerticalScaling",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Stage:
    """What one release does with a gate."""

    default: bool
    locked: bool = False
    removed: bool = False


def _stage(name: str, minor: int) -> _Stage | None:
    """The last entry of a gate's history up to ``minor``; None when the release does not have it yet."""
    stage = None
    for entry in _ENTRY.finditer(_HISTORIES.get(name, "")):
        if int(entry["minor"]) > minor:
            break
        kind = entry["stage"]
        if kind == "x":
            stage = _Stage(stage is not None and stage.default, removed=True)
        else:
            stage = _Stage(kind[0] == "+", locked=kind.endswith("L"))
    return stage


def default(name: str, minor: int) -> bool:
    """Whether a release behaves as with this gate on, when nobody sets it."""
    stage = _stage(name, minor)
    return stage is not None and stage.default


def exists(name: str, minor: int) -> bool:
    """Whether a release has this gate, or had it and fixed its behavior."""
    return _stage(name, minor) is not None


def parse(text: str, minor: int) -> dict[str, bool]:
    """``Name=true,Other=false`` as a component's --feature-gates takes it, in its words. Raises UsageError."""
    values: dict[str, bool] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, separator, setting = (part.strip() for part in pair.partition("="))
        if not separator:
            raise UsageError(f"missing bool value for {name}")
        if setting not in _TRUE | _FALSE:
            raise UsageError(
                f'invalid value of {name}={setting}, err: strconv.ParseBool: parsing "{setting}": invalid syntax'
            )
        if name in UNRELATED_GATES:
            continue
        stage, value = _stage(name, minor), setting in _TRUE
        if stage is None or stage.removed:
            raise UsageError(f"unrecognized feature gate: {name}")
        if stage.locked and value != stage.default:
            raise UsageError(
                f"cannot set feature gate {name} to {compact_json(value)}, feature is locked to "
                f"{compact_json(stage.default)}"
            )
        values[name] = value
    if problems := list(_unmet(values, minor)):
        raise UsageError(aggregate(problems))
    return values


def _unmet(values: Mapping[str, bool], minor: int) -> Iterator[str]:
    """Gates that are on while what they depend on is off; the components say so in no particular order."""
    for gate, needed in _DEPENDENCIES.items() if minor >= _DEPENDENCIES_SINCE else ():
        if values.get(gate, default(gate, minor)):
            off = [other for other in needed if not values.get(other, default(other, minor))]
            if off:
                yield f"{gate} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
