"""The arguments of plugins: their types, and what the plugins read of them.

Source of the rules: kubescheduler.config.k8s.io/v1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import field

from kubespread.kube.api.core import NodeAffinity, TopologySpreadConstraint
from kubespread.kube.api.meta import Int32, Int64, KubeObject
from kubespread.scheduler.profile import plugin_args as read

STRATEGIES: tuple[read.Strategy, ...] = ("LeastAllocated", "MostAllocated", "RequestedToCapacityRatio")


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


class InterPodAffinityArgs(Args):
    hard_pod_affinity_weight: Int32 | None = None
    ignore_preferred_terms_of_existing_pods: bool = False


class DefaultPreemptionArgs(Args):
    min_candidate_nodes_percentage: Int32 | None = None
    min_candidate_nodes_absolute: Int32 | None = None


class VolumeBindingArgs(Args):
    bind_timeout_seconds: Int64 | None = None
    shape: list[UtilizationShapePoint] | None = None


class DynamicResourcesArgs(Args):
    filter_timeout: str | None = None
    binding_timeout: str | None = None


KINDS: Mapping[str, type[Args]] = {
    cls.__name__: cls
    for cls in (
        NodeResourcesFitArgs, NodeResourcesBalancedAllocationArgs, PodTopologySpreadArgs, NodeAffinityArgs,
        InterPodAffinityArgs, DefaultPreemptionArgs, VolumeBindingArgs, DynamicResourcesArgs,
    )
}  # fmt: skip
"""The kinds of arguments that are read, each called after its plugin. Arguments of other plugins are accepted unread.
"""


def plugin_args(given: Mapping[str, Args]) -> read.PluginArgs:
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
            case InterPodAffinityArgs():
                weight = 1 if args.hard_pod_affinity_weight is None else args.hard_pod_affinity_weight
                made["inter_pod_affinity"] = read.InterPodAffinityArgs(
                    weight, args.ignore_preferred_terms_of_existing_pods
                )
    return read.PluginArgs(**made)


def _preemption_args(args: DefaultPreemptionArgs) -> read.PreemptionArgs:
    percentage, absolute = args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
    return read.PreemptionArgs(10 if percentage is None else percentage, 100 if absolute is None else absolute)


def _spread_args(args: PodTopologySpreadArgs) -> read.SpreadArgs:
    if args.defaulting_type != "List":
        return read.SpreadArgs()
    for constraint in args.default_constraints:
        # matchLabelKeys of a default constraint have no effect: the derived selector replaces the whole selector.
        constraint.match_label_keys = []
    return read.SpreadArgs("List", tuple(args.default_constraints))


def _fit_args(args: NodeResourcesFitArgs) -> read.FitArgs:
    ignored = frozenset(args.ignored_resources), frozenset(args.ignored_resource_groups)
    strategy = args.scoring_strategy
    if strategy is None:
        return read.FitArgs(*ignored)
    ratio = strategy.requested_to_capacity_ratio
    shape = tuple(read.ShapePoint(point.utilization, point.score) for point in ratio.shape) if ratio is not None else ()
    known: read.Strategy = next(name for name in STRATEGIES if name == strategy.type)
    return read.FitArgs(*ignored, known, _weighted(strategy.resources), shape)


def _weighted(resources: Sequence[ResourceSpec]) -> tuple[read.WeightedResource, ...]:
    return (
        tuple(read.WeightedResource(resource.name, resource.weight or 1) for resource in resources)
        or read.CPU_AND_MEMORY
    )
