"""Scoring strategies: a score of each configured resource of a node with the pod on it, and their weighted mean; and
the arguments of NodeResourcesFit and NodeResourcesBalancedAllocation, which configure them.

NodeResourcesFit also scores a placement, the nodes that a group's pods share, always as MostAllocated, with the
resources and weights of the plugin's own strategy, over the sums of all nodes of the placement.

Source: pkg/scheduler/framework/plugins/noderesources/resource_allocation.go, score,
    calculateResourceAllocatableRequest, calculatePodResourceRequest, scorePlacement
Source: pkg/scheduler/framework/plugins/noderesources/least_allocated.go, leastRequestedScore
Source: pkg/scheduler/framework/plugins/noderesources/most_allocated.go, mostRequestedScore
Source: pkg/scheduler/framework/plugins/noderesources/requested_to_capacity_ratio.go,
    buildRequestedToCapacityRatioScorerFunction
Source: pkg/scheduler/apis/config/validation/validation_pluginargs.go, ValidateNodeResourcesFitArgs,
    ValidateNodeResourcesBalancedAllocationArgs
Source: pkg/scheduler/framework/plugins/noderesources/fit.go, ScorePlacement
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from kubespread.kube.api.meta import Int32, Int64, KubeObject
from kubespread.kube.name_rules import is_scalar, label_key_faults
from kubespread.kube.validation.faults import FieldFault, invalid_each, one_of, range_faults
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Counts, Integers, LabelColumn, divide, round_half_away, wrap
from kubespread.scheduler.plugin import MAX_NODE_SCORE, Args
from kubespread.scheduler.plugins.dynamicresources.devices import Rules


def allocation_of_domains(
    scoring: Scoring, cluster: Cluster, column: LabelColumn, requested: Mapping[str, Counts]
) -> Counts:
    """MostAllocated score 0..100 of each value of ``column``, by code, with the resources of ``scoring``.

    ``requested`` are the group's requests in each domain, by resource, as scores count them. A named resource that they
    do not request does not count.
    """
    size, has_domain = len(column.values), column.present
    holdings = Holdings(cluster)

    def of_domains(amounts: Counts) -> Counts:
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, column.codes[has_domain], amounts[has_domain])
        return total

    uses = []
    for resource in scoring.resources:
        if resource.name not in requested and is_scalar(resource.name):
            continue
        used = of_domains(holdings.non_zero_requested(resource.name))
        allocatable = of_domains(holdings.allocatable(resource.name))
        uses.append(ResourceUse(resource.weight, allocatable, used, used + requested.get(resource.name, 0)))
    return np.asarray(most_allocated(uses, size), dtype=np.int64)


Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
MAX_SHAPE_SCORE = 10


class WeightedResource(Struct, frozen=True):
    name: str
    weight: int = 1


class ShapePoint(Struct, frozen=True):
    """One point of RequestedToCapacityRatio: a utilization in percent and its score, 0..10."""

    utilization: int
    score: int


CPU_AND_MEMORY = (WeightedResource("cpu"), WeightedResource("memory"))


class Scoring(Struct, frozen=True):
    """Scoring strategy of NodeResourcesFit."""

    strategy: Strategy = "LeastAllocated"
    resources: tuple[WeightedResource, ...] = CPU_AND_MEMORY
    shape: tuple[ShapePoint, ...] = ()


class ResourceUse(Struct, frozen=True):
    """One configured resource on all nodes: allocatable, used, and used with the pod."""

    weight: int
    allocatable: Counts
    used: Counts
    requested: Counts

    @property
    def has_resource(self) -> NDArray[np.bool_]:
        """Nodes with the resource; others leave it out of their mean."""
        present: NDArray[np.bool_] = self.allocatable != 0
        return present

    @property
    def is_everywhere(self) -> bool:
        """True if every node has the resource."""
        return bool(self.allocatable.all())


def resource_uses(
    configured: Sequence[WeightedResource],
    requested: Mapping[str, int],
    holdings: Holdings,
    used: Callable[[str], Counts],
    devices: Rules | None = None,
) -> list[ResourceUse]:
    """Scored resources, in configured order; a named resource only if the pod requests it.

    With ``devices``, the rules by which they are allocated, a node that has none of a resource itself has the devices
    of the DeviceClass that backs it.
    """
    rows = []
    for resource in configured:
        amount = requested.get(resource.name, 0)
        if amount == 0 and is_scalar(resource.name):
            continue
        allocatable, occupied = holdings.allocatable(resource.name), used(resource.name)
        if devices is not None and is_scalar(resource.name):
            # What knows devices is only imported where something could be one.
            from kubespread.scheduler.plugins.dynamicresources.judging import device_totals

            if (totals := device_totals(holdings, resource.name, devices)) is not None:
                has_devices = (allocatable == 0) & (totals[0] > 0)
                allocatable = np.where(has_devices, totals[0], allocatable)
                occupied = np.where(has_devices, totals[1], occupied)
        rows.append(ResourceUse(resource.weight, allocatable, occupied, occupied + np.int64(wrap(amount))))
    return rows


def score(scoring: Scoring, uses: Sequence[ResourceUse], nodes: int) -> Integers:
    """Score 0..100 of the resources by the configured strategy."""
    match scoring.strategy:
        case "LeastAllocated":
            return least_allocated(uses, nodes)
        case "MostAllocated":
            return most_allocated(uses, nodes)
        case "RequestedToCapacityRatio":
            return requested_to_capacity_ratio(uses, scoring.shape, nodes)


def least_allocated(uses: Sequence[ResourceUse], nodes: int) -> Integers:
    """Weighted mean of the free percentages; 0 for overcommitted resources."""

    def free(use: ResourceUse) -> Integers:
        percent = divide((use.allocatable - use.requested) * MAX_NODE_SCORE, use.allocatable)
        return np.where(use.requested > use.allocatable, 0, percent)

    return _weighted_mean(uses, nodes, free)


def most_allocated(uses: Sequence[ResourceUse], nodes: int) -> Integers:
    """Weighted mean of the used percentages; 100 for overcommitted resources."""
    return _weighted_mean(
        uses, nodes, lambda use: divide(np.minimum(use.requested, use.allocatable) * MAX_NODE_SCORE, use.allocatable)
    )


def _weighted_mean(uses: Sequence[ResourceUse], nodes: int, percent: Callable[[ResourceUse], Integers]) -> Integers:
    """Weighted mean of percentages; products near int64's end wrap as Go's do, so that it may be outside 0..100."""
    total = np.zeros(nodes, dtype=np.int64)
    if uses and all(use.is_everywhere for use in uses):  # the usual case, in fewer steps
        for use in uses:
            total += use.weight * percent(use)
        return divide(total, sum(use.weight for use in uses))
    weights = np.zeros(nodes, dtype=np.int64)
    for use in uses:
        total += np.where(use.has_resource, use.weight * percent(use), 0)
        weights += np.where(use.has_resource, use.weight, 0)
    return divide(total, weights)


def requested_to_capacity_ratio(uses: Sequence[ResourceUse], shape: Sequence[ShapePoint], nodes: int) -> Integers:
    """Weighted mean of each resource's score on the line of ``shape``, rounded; resources with score 0 are left out."""
    total = np.zeros(nodes, dtype=np.int64)
    weights = np.zeros(nodes, dtype=np.int64)
    for use in uses:
        over = use.requested > use.allocatable
        utilization = np.where(over, 100, divide(use.requested * 100, use.allocatable))
        score = interpolate(utilization, shape)
        counted = use.has_resource & (score > 0)
        total += np.where(counted, use.weight * score, 0)
        weights += np.where(counted, use.weight, 0)
    mean = total.astype(np.float64) / np.where(weights == 0, 1, weights).astype(np.float64)
    return np.where(weights == 0, 0, round_half_away(mean))


def interpolate(utilization: Integers, shape: Sequence[ShapePoint]) -> Integers:
    """Score of each utilization on the line through the points, both in percent.

    Slopes are truncated toward zero as in Go, and beyond the ends the line is level.
    """
    points = [(point.utilization, point.score * 100 // MAX_SHAPE_SCORE) for point in shape]
    score = np.full(len(utilization), points[-1][1], dtype=np.int64)
    for (start, low), (right, high) in reversed(list(zip(points, points[1:], strict=False))):
        between = low + divide((high - low) * (utilization - start), right - start)
        score = np.where(utilization <= right, between, score)
    return np.where(utilization <= points[0][0], points[0][1], score)


_RATIO = "RequestedToCapacityRatio"


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
    is_checked_by_plugin = True

    ignored_resources: list[str] = field(default_factory=list)
    ignored_resource_groups: list[str] = field(default_factory=list)
    scoring_strategy: ScoringStrategy | None = None

    @property
    def scoring(self) -> Scoring:
        strategy = self.scoring_strategy
        if strategy is None:
            return Scoring()
        ratio = strategy.requested_to_capacity_ratio
        shape = tuple(ShapePoint(point.utilization, point.score) for point in ratio.shape) if ratio is not None else ()
        strategy_type = next(name for name in STRATEGIES if name == strategy.type)
        return Scoring(strategy_type, _weigh(strategy.resources), shape)

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        for position, name in enumerate(self.ignored_resources):
            yield from invalid_each(f"{path}.ignoredResources[{position}]", name, label_key_faults(name))
        for position, group in enumerate(self.ignored_resource_groups):
            if "/" in group or label_key_faults(group):
                yield FieldFault(f"{path}.ignoredResourceGroups[{position}]", f"not a group of resources: {group}")
        if self.scoring_strategy is not None:
            yield from _strategy_faults(self.scoring_strategy, f"{path}.scoringStrategy", version)


def _strategy_faults(strategy: ScoringStrategy, path: str, version: KubeVersion) -> Iterator[FieldFault]:
    yield from one_of(f"{path}.type", strategy.type, STRATEGIES)
    for position, resource in enumerate(strategy.resources):
        yield from range_faults(resource.weight, 0, 100, f"{path}.resources[{position}].weight")
    ratio, field = strategy.requested_to_capacity_ratio, f"{path}.requestedToCapacityRatio"
    if strategy.type == _RATIO and ratio is None:
        yield FieldFault(field, f"required where type is {_RATIO}")
    elif ratio is not None and strategy.type == _RATIO:
        yield from shape_faults(ratio.shape, f"{field}.shape")
    elif ratio is not None and version.reaches(36):
        yield FieldFault(field, f"only allowed where type is {_RATIO}")


def shape_faults(shape: Sequence[UtilizationShapePoint], path: str) -> Iterator[FieldFault]:
    """Yield faults of a line of utilization and score at ``path``."""
    if not shape:
        yield FieldFault(path, "at least one point is required")
    for position, (before, point) in enumerate(pairwise(shape), start=1):
        if point.utilization <= before.utilization:
            yield FieldFault(f"{path}[{position}].utilization", "must be greater than that of the point before")
            break
    for position, point in enumerate(shape):
        yield from range_faults(point.utilization, 0, 100, f"{path}[{position}].utilization")
        yield from range_faults(point.score, 0, 10, f"{path}[{position}].score")


class NodeResourcesBalancedAllocationArgs(Args):
    resources: list[ResourceSpec] = field(default_factory=list)

    @property
    def weighted_resources(self) -> tuple[WeightedResource, ...]:
        return _weigh(self.resources)

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        names: set[str] = set()
        for position, resource in enumerate(self.resources):
            if resource.name in names:
                yield FieldFault(f"{path}.resources[{position}].name", f"duplicate: {resource.name}")
            names.add(resource.name)
            yield from range_faults(resource.weight, 0, 1, f"{path}.resources[{position}].weight")


def _weigh(resources: Sequence[ResourceSpec]) -> tuple[WeightedResource, ...]:
    """Resources with their weights, where 0 counts as 1; cpu and memory if there are none."""
    return tuple(WeightedResource(resource.name, resource.weight or 1) for resource in resources) or CPU_AND_MEMORY
