"""The arguments of plugins: decoding, validation, and what the plugins read.

Source of the rules: kubescheduler.config.k8s.io/v1 and kube-scheduler 1.36's validation of it. Faults of NodeResourcesFit and
NodeAffinity are found when the plugin is built, the others when the file is checked, and kube-scheduler words them apart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import field

from kubespread.kube.decoding import DecodingError, decode, normalized, unknown_fields
from kubespread.kube.meta import Int32, Int64, KubeObject
from kubespread.kube.names import label_key_faults
from kubespread.kube.node_selector import parse_term
from kubespread.kube.objects import NodeAffinity, TopologySpreadConstraint
from kubespread.kube.unknown_fields import did_you_mean
from kubespread.kube.validation.faults import FieldFault, duplicate, forbidden, invalid, invalid_each, required, unsupported
from kubespread.scheduler.plugin_args import (
    CPU_AND_MEMORY,
    FitArgs,
    InterPodAffinityArgs,
    PluginArgs,
    PreemptionArgs,
    ShapePoint,
    SpreadArgs,
    Strategy,
    WeightedResource,
)

GROUP = "kubescheduler.config.k8s.io"
DO_NOT_SCHEDULE, SCHEDULE_ANYWAY = "DoNotSchedule", "ScheduleAnyway"
_DEFAULTING_TYPES = ("System", "List")
_STRATEGIES: tuple[Strategy, ...] = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")

T = TypeVar("T", bound=KubeObject)


class ConfigurationError(Exception):
    """The file is refused as a whole; the text is kube-scheduler's, ``path`` the field where one field is to blame."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


class Args(KubeObject):
    ignored = frozenset({"apiVersion", "kind"})


class ResourceSpec(KubeObject):
    name: str = ""
    weight: Int64 = 0


class UtilizationShapePoint(KubeObject):
    utilization: Int32 = 0
    score: Int32 = 0


class RequestedToCapacityRatioParam(KubeObject):
    shape: list[UtilizationShapePoint] = field(default_factory=list)


class ScoringStrategy(KubeObject):
    type: str = ""
    resources: list[ResourceSpec] = field(default_factory=list)
    requested_to_capacity_ratio: RequestedToCapacityRatioParam | None = None


class NodeResourcesFitArgs(Args):
    ignored_resources: list[str] = field(default_factory=list)
    ignored_resource_groups: list[str] = field(default_factory=list)
    scoring_strategy: ScoringStrategy | None = None


class NodeResourcesBalancedAllocationArgs(Args):
    resources: list[ResourceSpec] = field(default_factory=list)


class PodTopologySpreadArgs(Args):
    default_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    defaulting_type: str = ""


class NodeAffinityArgs(Args):
    added_affinity: NodeAffinity | None = None


class InterPodAffinityPluginArgs(Args):
    hard_pod_affinity_weight: Int32 | None = None
    ignore_preferred_terms_of_existing_pods: bool = False


class DefaultPreemptionArgs(Args):
    min_candidate_nodes_percentage: Int32 | None = None
    min_candidate_nodes_absolute: Int32 | None = None


class VolumeBindingArgs(Args):
    bind_timeout_seconds: Int64 | None = None
    shape: list[UtilizationShapePoint] | None = None


class DynamicResourcesArgs(Args):
    filter_timeout: str = ""
    binding_timeout: str = ""


KINDS: Mapping[str, tuple[str, type[Args]]] = {
    "NodeResourcesFit": ("NodeResourcesFitArgs", NodeResourcesFitArgs),
    "NodeResourcesBalancedAllocation": ("NodeResourcesBalancedAllocationArgs", NodeResourcesBalancedAllocationArgs),
    "PodTopologySpread": ("PodTopologySpreadArgs", PodTopologySpreadArgs),
    "NodeAffinity": ("NodeAffinityArgs", NodeAffinityArgs),
    "InterPodAffinity": ("InterPodAffinityArgs", InterPodAffinityPluginArgs),
    "DefaultPreemption": ("DefaultPreemptionArgs", DefaultPreemptionArgs),
    "VolumeBinding": ("VolumeBindingArgs", VolumeBindingArgs),
    "DynamicResources": ("DynamicResourcesArgs", DynamicResourcesArgs),
}
"""Each plugin's arguments: the kind they may state, and their type. Arguments of other plugins are accepted unread."""


def strictly(data: Any, cls: type[T]) -> T:
    """Decode with unknown fields refused. Raises ConfigurationError."""
    try:
        clean = normalized(data, cls)
    except DecodingError as error:
        raise ConfigurationError(str(error), error.path) from error
    if unknown := list(unknown_fields(data, cls)):
        listed = ", ".join(f'unknown field "{found.path}"' for found in unknown)
        meant = '" and "'.join(found.meant for found in unknown if found.meant)
        raise ConfigurationError(f"strict decoding error: {listed}{did_you_mean(meant)}", unknown[0].path)
    return decode(clean, cls)


def decode_args(plugin: str, given: dict[str, Any], place: str) -> Args:
    """One plugin's arguments, standing at ``place`` (``.profiles[0].pluginConfig[0]``). Raises ConfigurationError."""
    expected, cls = KINDS[plugin]
    kind = given.get("kind", expected)
    if kind != expected:
        message = f"decoding {place}: args for plugin {plugin} were not of type {expected}.{GROUP}, got {kind}.{GROUP}"
        raise ConfigurationError(message, place.removeprefix("."))
    try:
        return strictly(given, cls)
    except ConfigurationError as error:
        strict = "strict decoding error: " if str(error).startswith("strict") else ""
        message = f"{strict}decoding {place}: {strict}decoding args for plugin {plugin}: {error}"
        raise ConfigurationError(message, f"{place.removeprefix('.')}.args") from error


def args_faults(args: Args, path: str) -> Iterator[FieldFault]:
    """What validation of the file finds in one plugin's arguments."""
    match args:
        case PodTopologySpreadArgs():
            yield from _spread_faults(args, path)
        case InterPodAffinityPluginArgs():
            weight = args.hard_pod_affinity_weight
            if weight is not None and not 0 <= weight <= 100:
                yield invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")
        case NodeResourcesBalancedAllocationArgs():
            yield from _balanced_faults(args, path)
        case DefaultPreemptionArgs():
            yield from _preemption_faults(args, path)
        case VolumeBindingArgs():
            if args.shape is not None:
                detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
                printed = [{"Utilization": point.utilization, "Score": point.score} for point in args.shape]
                yield invalid(f"{path}.shape", printed, detail)


def _spread_faults(args: PodTopologySpreadArgs, path: str) -> Iterator[FieldFault]:
    defaulting_type = args.defaulting_type or "System"
    if defaulting_type not in _DEFAULTING_TYPES:
        yield unsupported(f"{path}.defaultingType", defaulting_type, _DEFAULTING_TYPES)
    elif defaulting_type == "System" and args.default_constraints:
        yield invalid(f"{path}.defaultingType", defaulting_type, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for position, constraint in enumerate(args.default_constraints):
        here = f"{path}.defaultConstraints[{position}]"
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if constraint.max_skew <= 0:
            yield invalid(f"{here}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
        if not constraint.topology_key:
            yield required(f"{here}.topologyKey", "can not be empty")
        else:
            yield from invalid_each(f"{here}.topologyKey", constraint.topology_key, label_key_faults(constraint.topology_key))
        if not constraint.when_unsatisfiable:
            yield required(f"{here}.whenUnsatisfiable", "can not be empty")
        elif constraint.when_unsatisfiable not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
            yield unsupported(f"{here}.whenUnsatisfiable", constraint.when_unsatisfiable, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
        if constraint.label_selector is not None:
            yield forbidden(f"{here}.labelSelector", "constraint must not define a selector, as they deduced for each pod")
        if pair in seen:
            # The later of the two is reported here, the earlier one in a pod.
            yield duplicate(here, f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)


def _balanced_faults(args: NodeResourcesBalancedAllocationArgs, path: str) -> Iterator[FieldFault]:
    seen: set[str] = set()
    for position, resource in enumerate(args.resources):
        if resource.weight not in (0, 1):
            yield invalid(f"{path}.resources[{position}].weight", resource.weight, "must be 1")
        if resource.name in seen:
            yield duplicate(f"{path}.resources[{position}].name", resource.name)
        seen.add(resource.name)


def _preemption_faults(args: DefaultPreemptionArgs, path: str) -> Iterator[FieldFault]:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(f"{path}.minCandidateNodesPercentage", percentage, "not in valid range [0, 100]")
    if absolute is not None and absolute < 0:
        yield invalid(f"{path}.minCandidateNodesAbsolute", absolute, "not in valid range [0, inf)")
    if percentage == 0 and absolute == 0:
        detail = "cannot be zero at the same time as minCandidateNodes"
        yield invalid(f"{path}.minCandidateNodesPercentage", 0, f"{detail}Absolute")
        yield invalid(f"{path}.minCandidateNodesAbsolute", 0, f"{detail}Percentage")


def building_faults(args: Args) -> list[str]:
    """What is found only when the plugin is built, without the path of the file."""
    match args:
        case NodeResourcesFitArgs():
            return [str(fault) for fault in _fit_faults(args)]
        case NodeAffinityArgs():
            return _added_affinity_faults(args.added_affinity)
    return []


def _fit_faults(args: NodeResourcesFitArgs) -> Iterator[FieldFault]:
    for position, name in enumerate(args.ignored_resources):
        yield from invalid_each(f"ignoredResources[{position}]", name, label_key_faults(name))
    for position, group in enumerate(args.ignored_resource_groups):
        if "/" in group:
            yield invalid(f"ignoredResourceGroups[{position}]", group, "resource group name can't contain '/'")
        else:
            yield from invalid_each(f"ignoredResourceGroups[{position}]", group, label_key_faults(group))
    strategy = args.scoring_strategy
    if strategy is None:
        return
    path, ratio = "scoringStrategy", strategy.requested_to_capacity_ratio
    if strategy.type not in _STRATEGIES:
        yield unsupported(f"{path}.type", strategy.type, _STRATEGIES)
    for position, resource in enumerate(strategy.resources):
        if not 0 <= resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield invalid(f"{path}.resources[{position}].weight", resource.weight, detail)
    ratio_path = f"{path}.requestedToCapacityRatio"
    if strategy.type == "RequestedToCapacityRatio":
        if ratio is None:
            yield required(ratio_path, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from _shape_faults(ratio.shape, f"{ratio_path}.shape")
    elif ratio is not None:
        yield forbidden(ratio_path, "must be nil when type is not RequestedToCapacityRatio")


def _shape_faults(shape: Sequence[UtilizationShapePoint], path: str) -> Iterator[FieldFault]:
    if not shape:
        yield required(path, "at least one point must be specified")
    for position, point in enumerate(shape):
        here = f"{path}[{position}]"
        if position and point.utilization <= shape[position - 1].utilization:
            yield invalid(f"{here}.utilization", point.utilization, "utilization values must be sorted in increasing order")
        if not 0 <= point.utilization <= 100:
            yield invalid(f"{here}.utilization", point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= 10:
            yield invalid(f"{here}.score", point.score, "not in valid range [0, 10]")


def _added_affinity_faults(added: NodeAffinity | None) -> list[str]:
    if added is None:
        return []
    faults: list[str] = []
    required_terms = added.required_during_scheduling_ignored_during_execution
    for position, term in enumerate(required_terms.node_selector_terms if required_terms is not None else ()):
        path = f"addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{position}]"
        faults += parse_term(term, path).faults
    for position, preferred in enumerate(added.preferred_during_scheduling_ignored_during_execution or ()):
        path = f"addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[{position}]"
        faults += parse_term(preferred.preference, path).faults
    return faults


def plugin_args(given: Mapping[str, Args]) -> PluginArgs:
    """What the plugins read, from the decoded arguments of one profile by plugin; defaults where there are none."""
    made: dict[str, Any] = {}
    for args in given.values():
        match args:
            case PodTopologySpreadArgs():
                made["spread"] = _spread_args(args)
            case NodeAffinityArgs():
                made["added_affinity"] = args.added_affinity
            case NodeResourcesFitArgs():
                made["fit"] = _fit_args(args)
            case NodeResourcesBalancedAllocationArgs():
                made["balanced"] = _weighted(args.resources)
            case DefaultPreemptionArgs():
                made["preemption"] = _preemption_args(args)
            case InterPodAffinityPluginArgs():
                weight = 1 if args.hard_pod_affinity_weight is None else args.hard_pod_affinity_weight
                made["inter_pod_affinity"] = InterPodAffinityArgs(weight, args.ignore_preferred_terms_of_existing_pods)
    return PluginArgs(**made)


def _preemption_args(args: DefaultPreemptionArgs) -> PreemptionArgs:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    return PreemptionArgs(10 if percentage is None else percentage, 100 if absolute is None else absolute)


def _spread_args(args: PodTopologySpreadArgs) -> SpreadArgs:
    if args.defaulting_type != "List":
        return SpreadArgs()
    for constraint in args.default_constraints:
        # matchLabelKeys of a default constraint have no effect: the derived selector replaces the whole selector.
        constraint.match_label_keys = []
    return SpreadArgs("List", tuple(args.default_constraints))


def _fit_args(args: NodeResourcesFitArgs) -> FitArgs:
    ignored = frozenset(args.ignored_resources), frozenset(args.ignored_resource_groups)
    strategy = args.scoring_strategy
    if strategy is None:
        return FitArgs(*ignored)
    ratio = strategy.requested_to_capacity_ratio
    shape = tuple(ShapePoint(point.utilization, point.score) for point in ratio.shape) if ratio is not None else ()
    known: Strategy = next(name for name in _STRATEGIES if name == strategy.type)
    return FitArgs(*ignored, known, _weighted(strategy.resources), shape)


def _weighted(resources: Sequence[ResourceSpec]) -> tuple[WeightedResource, ...]:
    return tuple(WeightedResource(resource.name, resource.weight or 1) for resource in resources) or CPU_AND_MEMORY
