"""What kube-scheduler refuses in the arguments of plugins.

Source of the rules: kube-scheduler 1.36, apis/config/validation/validation_pluginargs.go. Faults of NodeResourcesFit
are found when the plugin is built, the others when the file is checked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import NodeAffinity
from kubespread.kube.api.node_terms import NodeSelectorTerm
from kubespread.kube.names import label_key_faults
from kubespread.kube.node_selector import parse_term
from kubespread.kube.validation.faults import (
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    required,
    unsupported,
)
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubespread.scheduler.profile.args import (
    STRATEGIES,
    Args,
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeAffinityArgs,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from kubespread.scheduler.profile.durations import SECOND, in_json, nanoseconds

_DEFAULTING_TYPES = ("System", "List")


def args_faults(args: Args, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    """What validation of the file finds in one plugin's arguments."""
    match args:
        case PodTopologySpreadArgs():
            yield from _spread_faults(args, path)
        case InterPodAffinityArgs():
            weight = args.hard_pod_affinity_weight
            if weight is not None and not 0 <= weight <= 100:
                yield invalid(f"{path}.hardPodAffinityWeight", weight, "not in valid range [0, 100]")
        case NodeAffinityArgs():
            yield from _added_affinity_faults(args.added_affinity, f"{path}.addedAffinity")
        case NodeResourcesBalancedAllocationArgs():
            yield from _balanced_faults(args, path)
        case DefaultPreemptionArgs():
            yield from _preemption_faults(args, path)
        case VolumeBindingArgs():
            yield from _binding_faults(args, path, version)
        case DynamicResourcesArgs():
            yield from _devices_faults(args, path, version)


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
            yield from invalid_each(
                f"{here}.topologyKey", constraint.topology_key, label_key_faults(constraint.topology_key)
            )
        if not constraint.when_unsatisfiable:
            yield required(f"{here}.whenUnsatisfiable", "can not be empty")
        elif constraint.when_unsatisfiable not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
            yield unsupported(
                f"{here}.whenUnsatisfiable", constraint.when_unsatisfiable, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
            )
        if constraint.label_selector is not None:
            yield forbidden(
                f"{here}.labelSelector", "constraint must not define a selector, as they deduced for each pod"
            )
        if pair in seen:
            # The later of the two is reported here, the earlier one in a pod.
            yield duplicate(here, f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)


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


def _balanced_faults(args: NodeResourcesBalancedAllocationArgs, path: str) -> Iterator[FieldFault]:
    seen: set[str] = set()
    for position, resource in enumerate(args.resources):
        if resource.name in seen:
            yield duplicate(f"{path}.resources[{position}].name", resource.name)
        seen.add(resource.name)
        if resource.weight not in (0, 1):
            yield invalid(f"{path}.resources[{position}].weight", resource.weight, "must be 1")


def _binding_faults(args: VolumeBindingArgs, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    if args.bind_timeout_seconds is not None and args.bind_timeout_seconds < 0:
        detail = "invalid BindTimeoutSeconds, should not be a negative value"
        yield invalid(f"{path}.bindTimeoutSeconds", args.bind_timeout_seconds, detail)
    if args.shape is None:
        return
    if version.has("StorageCapacityScoring"):
        yield from _shape_faults(args.shape, f"{path}.shape")
    else:
        # Printed with the fields in Go's order, not sorted as the keys of a map are.
        points = ",".join(f'{{"Utilization":{point.utilization},"Score":{point.score}}}' for point in args.shape)
        detail = "unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"
        yield FieldFault(f"{path}.shape", f"Invalid value: [{points}]: {detail}")


def _devices_faults(args: DynamicResourcesArgs, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    if args.filter_timeout is not None:
        if not version.has("DRASchedulerFilterTimeout"):
            yield forbidden(f"{path}.filterTimeout", "DRASchedulingFilterTimeout feature gate is disabled")
        elif nanoseconds(args.filter_timeout) < 0:
            yield invalid(f"{path}.filterTimeout", in_json(args.filter_timeout), "must be zero or positive")
    if args.binding_timeout is not None:
        # The other gate of the text is on wherever this one can be.
        if not version.has("DRADeviceBindingConditions"):
            detail = "DRADeviceBindingConditions or DRAResourceClaimDeviceStatus feature gate is disabled"
            yield forbidden(f"{path}.bindingTimeout", detail)
        elif nanoseconds(args.binding_timeout) < SECOND:
            yield invalid(f"{path}.bindingTimeout", in_json(args.binding_timeout), "must be at least 1 second")


def _added_affinity_faults(added: NodeAffinity | None, path: str) -> Iterator[FieldFault]:
    if added is None:
        return
    needed = added.required_during_scheduling_ignored_during_execution
    for position, term in enumerate(needed.node_selector_terms if needed is not None else ()):
        yield from _term_faults(
            term, f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{position}]"
        )
    for position, preferred in enumerate(added.preferred_during_scheduling_ignored_during_execution or ()):
        # Terms of weight 0 are dropped before they are looked at.
        if preferred.weight:
            yield from _term_faults(
                preferred.preference, f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{position}]"
            )


def _term_faults(term: NodeSelectorTerm, path: str) -> Iterator[FieldFault]:
    for fault in parse_term(term, path).faults:
        place, _, message = fault.partition(": ")
        yield FieldFault(place, message)


def building_faults(args: NodeResourcesFitArgs, version: KubeVersion) -> Iterator[FieldFault]:
    """What is found only when NodeResourcesFit is built, without the path of the file."""
    for position, name in enumerate(args.ignored_resources):
        yield from invalid_each(f"ignoredResources[{position}]", name, label_key_faults(name))
    for position, group in enumerate(args.ignored_resource_groups):
        path = f"ignoredResourceGroups[{position}]"
        if "/" in group:
            yield invalid(path, group, "resource group name can't contain '/'")
        yield from invalid_each(path, group, label_key_faults(group))
    strategy = args.scoring_strategy
    if strategy is None:
        return
    if strategy.type not in STRATEGIES:
        yield unsupported("scoringStrategy.type", strategy.type, STRATEGIES)
    for position, resource in enumerate(strategy.resources):
        if not 0 <= resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield invalid(f"scoringStrategy.resources[{position}].weight", resource.weight, detail)
    ratio, path = strategy.requested_to_capacity_ratio, "scoringStrategy.requestedToCapacityRatio"
    if strategy.type == "RequestedToCapacityRatio":
        if ratio is None:
            # Before 1.36 it is not checked, and building the plugin then fails in other words.
            yield required(path, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from _shape_faults(ratio.shape, f"{path}.shape" if version.since(36) else "scoringStrategy.shape")
    elif ratio is not None and version.since(36):
        yield forbidden(path, "must be nil when type is not RequestedToCapacityRatio")


def _shape_faults(shape: Sequence[UtilizationShapePoint], path: str) -> Iterator[FieldFault]:
    if not shape:
        yield required(path, "at least one point must be specified")
    for position in range(1, len(shape)):
        if shape[position].utilization <= shape[position - 1].utilization:
            yield invalid(
                f"{path}[{position}].utilization",
                shape[position].utilization,
                "values must be sorted in increasing order",
            )
            break
    for position, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(f"{path}[{position}].utilization", point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= 10:
            yield invalid(f"{path}[{position}].score", point.score, "not in valid range [0, 10]")
