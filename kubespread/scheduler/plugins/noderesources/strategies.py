"""Scoring strategies: what each configured resource of a node is worth with the pod on it, and their weighted mean.

Source of the rules: kube-scheduler 1.36,
noderesources/{resource_allocation,least_allocated,most_allocated,requested_to_capacity_ratio}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.resource_names import is_scalar
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.integers import Integers, divide, round_half_away, wrapped
from kubespread.scheduler.plugin import MAX_NODE_SCORE
from kubespread.scheduler.plugins.dynamicresources.rules import Rules
from kubespread.scheduler.plugins.dynamicresources.totals import device_totals

Strategy = Literal["LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
MAX_SHAPE_SCORE = 10


@dataclass(frozen=True, slots=True)
class WeightedResource:
    name: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class ShapePoint:
    """One point of RequestedToCapacityRatio: a utilization in percent and its score, 0..10."""

    utilization: int
    score: int


CPU_AND_MEMORY = (WeightedResource("cpu"), WeightedResource("memory"))


@dataclass(frozen=True, slots=True)
class Scoring:
    """How NodeResourcesFit scores."""

    strategy: Strategy = "LeastAllocated"
    resources: tuple[WeightedResource, ...] = CPU_AND_MEMORY
    shape: tuple[ShapePoint, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """One configured resource over all nodes: what they have, what is used, and what would be with the pod."""

    weight: int
    allocatable: Counts
    used: Counts
    requested: Counts

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Nodes without the resource leave it out of their mean."""
        present: NDArray[np.bool_] = self.allocatable != 0
        return present

    @property
    def is_everywhere(self) -> bool:
        """Whether every node has the resource."""
        return bool(self.allocatable.all())


def shares(
    configured: Sequence[WeightedResource],
    requested: Mapping[str, int],
    held: Holdings,
    used: Callable[[str], Counts],
    devices: Rules | None = None,
) -> list[Share]:
    """The resources that take part, in configured order; a named resource only when the pod asks for it.

    With ``devices``, the rules by which they are allocated, a node that has none of a resource itself has the devices
    of the DeviceClass that backs it.
    """
    found = []
    for resource in configured:
        amount = requested.get(resource.name, 0)
        if amount == 0 and is_scalar(resource.name):
            continue
        allocatable, occupied = held.allocatable(resource.name), used(resource.name)
        totals = None if devices is None else device_totals(held, resource.name, devices)
        if totals is not None:
            has_devices = (allocatable == 0) & (totals[0] > 0)
            allocatable = np.where(has_devices, totals[0], allocatable)
            occupied = np.where(has_devices, totals[1], occupied)
        found.append(Share(resource.weight, allocatable, occupied, occupied + np.int64(wrapped(amount))))
    return found


def score(scoring: Scoring, kept: Sequence[Share], nodes: int) -> Integers:
    """What the configured strategy makes of the shares, 0..100."""
    match scoring.strategy:
        case "LeastAllocated":
            return least_allocated(kept, nodes)
        case "MostAllocated":
            return most_allocated(kept, nodes)
        case "RequestedToCapacityRatio":
            return requested_to_capacity_ratio(kept, scoring.shape, nodes)


def least_allocated(kept: Sequence[Share], nodes: int) -> Integers:
    """The free part of each resource in percent; 0 where more is used than there is."""

    def free(share: Share) -> Integers:
        percent = divide((share.allocatable - share.requested) * MAX_NODE_SCORE, share.allocatable)
        return np.where(share.requested > share.allocatable, 0, percent)

    return _weighted_mean(kept, nodes, free)


def most_allocated(kept: Sequence[Share], nodes: int) -> Integers:
    """The used part of each resource in percent."""
    return _weighted_mean(
        kept,
        nodes,
        lambda share: divide(np.minimum(share.requested, share.allocatable) * MAX_NODE_SCORE, share.allocatable),
    )


def _weighted_mean(kept: Sequence[Share], nodes: int, percent: Callable[[Share], Integers]) -> Integers:
    """Products of sizes near int64's end wrap as Go's do, so that a score may be outside 0..100."""
    total = np.zeros(nodes, dtype=np.int64)
    if kept and all(share.is_everywhere for share in kept):  # the usual case, in fewer steps
        for share in kept:
            total += share.weight * percent(share)
        return divide(total, sum(share.weight for share in kept))
    weights = np.zeros(nodes, dtype=np.int64)
    for share in kept:
        total += np.where(share.kept, share.weight * percent(share), 0)
        weights += np.where(share.kept, share.weight, 0)
    return divide(total, weights)


def requested_to_capacity_ratio(kept: Sequence[Share], shape: Sequence[ShapePoint], nodes: int) -> Integers:
    """A broken line over the used part; resources whose line is at 0 leave the mean, which is rounded."""
    total = np.zeros(nodes, dtype=np.int64)
    weights = np.zeros(nodes, dtype=np.int64)
    for share in kept:
        over = share.requested > share.allocatable
        utilization = np.where(over, 100, divide(share.requested * 100, share.allocatable))
        score = on_the_line(utilization, shape)
        counted = share.kept & (score > 0)
        total += np.where(counted, share.weight * score, 0)
        weights += np.where(counted, share.weight, 0)
    mean = total.astype(np.float64) / np.where(weights == 0, 1, weights).astype(np.float64)
    return np.where(weights == 0, 0, round_half_away(mean))


def on_the_line(utilization: Integers, shape: Sequence[ShapePoint]) -> Integers:
    """The score of each utilization on the line through the points, both in percent: slopes are truncated toward zero
    as Go does, and beyond the ends the line is level.
    """
    points = [(point.utilization, point.score * 100 // MAX_SHAPE_SCORE) for point in shape]
    score = np.full(len(utilization), points[-1][1], dtype=np.int64)
    for (left, low), (right, high) in reversed(list(zip(points, points[1:], strict=False))):
        between = low + divide((high - low) * (utilization - left), right - left)
        score = np.where(utilization <= right, between, score)
    return np.where(utilization <= points[0][0], points[0][1], score)
