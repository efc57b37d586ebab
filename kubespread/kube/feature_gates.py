"""Feature gates: what each release enables by default, and what a cluster's operator may change.

What gates each release has is in `kube/releases/`.

Source: staging/src/k8s.io/component-base/featuregate/feature_gate.go, Set, SetFromMap, Validate
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.kube.gotext import aggregate, compact_json
from kubespread.kube.releases.changes import Release, changes_to

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})

# Gates whose switching changes an answer here; switching another is named in the report as not modeled.
MODELLED = frozenset({
    "EvenPodsSpread", "DefaultPodTopologySpread", "MinDomainsInPodTopologySpread",
    "NodeInclusionPolicyInPodTopologySpread", "MatchLabelKeysInPodTopologySpread", "PodAffinityNamespaceSelector",
    "MatchLabelKeysInPodAffinity", "PodSchedulingReadiness", "TaintTolerationComparisonOperators",
    "UserNamespacesHostNetworkSupport", "UserNamespacesSupport", "ContainerRestartRules",
    "RestartAllContainersOnContainerExits", "NodeDeclaredFeatures", "SidecarContainers", "PodLevelResources",
    "DynamicResourceAllocation", "DRAExtendedResource", "DRADeviceTaints", "DRADeviceTaintRules",
    "DRAPrioritizedList", "DRAAdminAccess", "StorageCapacityScoring", "InPlacePodVerticalScaling",
    "InPlacePodVerticalScalingInitContainers", "InPlacePodLevelResourcesVerticalScaling", "VolumeLimitScaling",
    "PodLevelResourcesFixDefaulting", "MaxUnavailableStatefulSet", "GenericWorkload", "GangScheduling",
    "TopologyAwareWorkloadScheduling", "DRAPartitionableDevices", "DRAConsumableCapacity",
    "DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus", "DRAFractionalCapacityRange",
})  # fmt: skip


class _Gate(Struct, frozen=True):
    """A feature gate as one release has it."""

    default: bool
    locked: bool = False
    removed: bool = False
    is_related: bool = True


@cache
def _gates(release: Release) -> Mapping[str, _Gate]:
    """The gates that a release has, and those whose behavior it has fixed."""
    gates: dict[str, _Gate] = {}
    for changes in changes_to(release):
        for is_related, changed in ((True, changes.gates), (False, changes.unrelated_gates)):
            for name, stage in changed.items():
                if stage == "gone":
                    gates[name] = replace(gates[name], removed=True)
                else:
                    gates[name] = _Gate(stage.endswith("on"), stage.startswith("locked"), is_related=is_related)
    return gates


@cache
def _dependencies(release: Release) -> Mapping[str, tuple[str, ...]]:
    return {gate: needed for changes in changes_to(release) for gate, needed in changes.dependencies.items()}


def default(name: str, release: Release) -> bool:
    """Whether a release behaves as with this gate on if it is not set."""
    gate = _gates(release).get(name)
    return gate is not None and gate.default


def exists(name: str, release: Release) -> bool:
    """Whether a release has this gate, or had it and fixed its behavior."""
    return name in _gates(release)


def settable(release: Release) -> Iterator[str]:
    """The gates of a release that an operator may set, and that have to do with the placement of pods."""
    for name, gate in sorted(_gates(release).items()):
        if gate.is_related and not (gate.removed or gate.locked):
            yield name


@cache
def parse(text: str, release: Release) -> Mapping[str, bool]:
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
        gate, value = _gates(release).get(name), setting in _TRUE
        if gate is None or gate.removed:
            raise UsageError(f"unrecognized feature gate: {name}")
        if gate.locked and value != gate.default:
            raise UsageError(
                f"cannot set feature gate {name} to {compact_json(value)}, feature is locked to "
                f"{compact_json(gate.default)}"
            )
        values[name] = value
    if problems := list(_unmet(values, release)):
        raise UsageError(aggregate(problems))
    return {name: value for name, value in values.items() if _gates(release)[name].is_related}


def _unmet(values: Mapping[str, bool], release: Release) -> Iterator[str]:
    """Gates that are on while what they depend on is off; the components say so in no particular order."""
    for gate, needed in sorted(_dependencies(release).items()):
        if values.get(gate, default(gate, release)) and not _gates(release)[gate].removed:
            off = [other for other in needed if not values.get(other, default(other, release))]
            if off:
                yield f"{gate} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
