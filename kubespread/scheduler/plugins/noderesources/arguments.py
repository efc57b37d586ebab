"""The arguments of NodeResourcesFit and NodeResourcesBalancedAllocation, and what kube-scheduler refuses in them.

Source of the rules: kube-scheduler 1.36, apis/config/validation/validation_pluginargs.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import field

from kubespread.kube.api.meta import Int32, Int64, KubeObject
from kubespread.kube.name_rules import label_key_faults
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
from kubespread.scheduler.plugins.noderesources.strategies import (
    CPU_AND_MEMORY,
    STRATEGIES,
    Scoring,
    ShapePoint,
    WeightedResource,
)
from kubespread.scheduler.specification import Args

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
        known = next(name for name in STRATEGIES if name == strategy.type)
        return Scoring(known, _weighted(strategy.resources), shape)

    def building_faults(self, version: KubeVersion) -> Iterator[FieldFault]:
        for position, name in enumerate(self.ignored_resources):
            yield from invalid_each(f"ignoredResources[{position}]", name, label_key_faults(name))
        for position, group in enumerate(self.ignored_resource_groups):
            path = f"ignoredResourceGroups[{position}]"
            if "/" in group:
                yield invalid(path, group, "resource group name can't contain '/'")
            yield from invalid_each(path, group, label_key_faults(group))
        if self.scoring_strategy is not None:
            yield from _strategy_faults(self.scoring_strategy, version)


def _strategy_faults(strategy: ScoringStrategy, version: KubeVersion) -> Iterator[FieldFault]:
    if strategy.type not in STRATEGIES:
        yield unsupported("scoringStrategy.type", strategy.type, STRATEGIES)
    for position, resource in enumerate(strategy.resources):
        if not 0 <= resource.weight <= 100:
            detail = f"resource weight of {resource.name} not in valid range (0, 100]"
            yield invalid(f"scoringStrategy.resources[{position}].weight", resource.weight, detail)
    ratio, path = strategy.requested_to_capacity_ratio, "scoringStrategy.requestedToCapacityRatio"
    if strategy.type == _RATIO:
        if ratio is None:
            # Before 1.36 it is not checked, and building the plugin then fails in other words.
            yield required(path, "must be specified when type is RequestedToCapacityRatio")
        else:
            yield from shape_faults(ratio.shape, f"{path}.shape" if version.since(36) else "scoringStrategy.shape")
    elif ratio is not None and version.since(36):
        yield forbidden(path, "must be nil when type is not RequestedToCapacityRatio")


def shape_faults(shape: Sequence[UtilizationShapePoint], path: str) -> Iterator[FieldFault]:
    """What is wrong with a line of utilization and score that stands at ``path``."""
    if not shape:
        yield required(path, "at least one point must be specified")
    for position in range(1, len(shape)):
        if shape[position].utilization <= shape[position - 1].utilization:
            detail = "values must be sorted in increasing order"
            yield invalid(f"{path}[{position}].utilization", shape[position].utilization, detail)
            break
    for position, point in enumerate(shape):
        if not 0 <= point.utilization <= 100:
            yield invalid(f"{path}[{position}].utilization", point.utilization, "not in valid range [0, 100]")
        if not 0 <= point.score <= 10:
            yield invalid(f"{path}[{position}].score", point.score, "not in valid range [0, 10]")


class NodeResourcesBalancedAllocationArgs(Args):
    resources: list[ResourceSpec] = field(default_factory=list)

    @property
    def weighted_resources(self) -> tuple[WeightedResource, ...]:
        return _weighted(self.resources)

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        seen: set[str] = set()
        for position, resource in enumerate(self.resources):
            if resource.name in seen:
                yield duplicate(f"{path}.resources[{position}].name", resource.name)
            seen.add(resource.name)
            if resource.weight not in (0, 1):
                yield invalid(f"{path}.resources[{position}].weight", resource.weight, "must be 1")


def _weighted(resources: Sequence[ResourceSpec]) -> tuple[WeightedResource, ...]:
    """A weight of 0 counts as 1, and no resources at all are cpu and memory."""
    return tuple(WeightedResource(resource.name, resource.weight or 1) for resource in resources) or CPU_AND_MEMORY
