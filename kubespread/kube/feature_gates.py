"""Feature gates: what each release enables by default, and what a cluster's operator may change.

Source of the rules: k8s.io/component-base/featuregate; of the tables: `kube/gate_histories.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from kubespread.errors import UsageError
from kubespread.kube.gate_histories import DEPENDENCIES, DEPENDENCIES_SINCE, HISTORIES
from kubespread.kube.gotext import aggregate, compact_json
from kubespread.kube.unrelated_gates import GONE_SINCE, UNRELATED_GATES

_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_ENTRY = re.compile(r"(?P<minor>\d+)(?:\.(?P<patch>\d+))?(?P<stage>[-+]L?|x)")

Release = tuple[int, int]
"""A release by its minor and its patch."""
_NEVER: Release = (1000, 0)

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
    "TopologyAwareWorkloadScheduling",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Stage:
    """What one release does with a gate."""

    default: bool
    locked: bool = False
    removed: bool = False


@cache
def _stage(name: str, release: Release) -> _Stage | None:
    """The last entry of a gate's history up to ``release``; None when the release does not have it yet."""
    stage = None
    for entry in _ENTRY.finditer(HISTORIES.get(name, "")):
        if (int(entry["minor"]), int(entry["patch"] or 0)) > release:
            break
        kind = entry["stage"]
        if kind == "x":
            stage = _Stage(stage is not None and stage.default, removed=True)
        else:
            stage = _Stage(kind[0] == "+", locked=kind.endswith("L"))
    return stage


def default(name: str, release: Release) -> bool:
    """Whether a release behaves as with this gate on if it is not set."""
    stage = _stage(name, release)
    return stage is not None and stage.default


def exists(name: str, release: Release) -> bool:
    """Whether a release has this gate, or had it and fixed its behavior."""
    return _stage(name, release) is not None


def settable(release: Release) -> Iterator[str]:
    """The gates of a release that an operator may set."""
    stages = ((name, _stage(name, release)) for name in sorted(HISTORIES))
    return (name for name, stage in stages if stage is not None and not (stage.removed or stage.locked))


def parse(text: str, release: Release) -> dict[str, bool]:
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
        if name in UNRELATED_GATES and release < GONE_SINCE.get(name, _NEVER):
            continue
        stage, value = _stage(name, release), setting in _TRUE
        if stage is None or stage.removed:
            raise UsageError(f"unrecognized feature gate: {name}")
        if stage.locked and value != stage.default:
            raise UsageError(
                f"cannot set feature gate {name} to {compact_json(value)}, feature is locked to "
                f"{compact_json(stage.default)}"
            )
        values[name] = value
    if problems := list(_unmet(values, release)):
        raise UsageError(aggregate(problems))
    return values


def _unmet(values: Mapping[str, bool], release: Release) -> Iterator[str]:
    """Gates that are on while what they depend on is off; the components say so in no particular order."""
    for gate, needed in DEPENDENCIES.items() if release >= DEPENDENCIES_SINCE else ():
        if values.get(gate, default(gate, release)):
            off = [other for other in needed if not values.get(other, default(other, release))]
            if off:
                yield f"{gate} is enabled, but depends on features that are disabled: [{' '.join(off)}]"
