"""NodeResourcesBalancedAllocation: how much the pod evens out the used fractions of a node's resources.

Sums run in configured order, because the last bit of a float can decide a score.

Source: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go, PreScore, Score, balancedResourceScorer,
    balancedResourceScore
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, extended_resources
from kubespread.kube.pod_requests import pod_requests
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Counts, Integers, divide, scheduler_amounts
from kubespread.scheduler.plugin import RANKS, SKIP, OnNode, Plugin, Specification, State, read_as
from kubespread.scheduler.plugins.dynamicresources.devices import Rules
from kubespread.scheduler.plugins.noderesources.scoring import (
    CPU_AND_MEMORY,
    NodeResourcesBalancedAllocationArgs,
    Share,
    WeightedResource,
    shares,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NodeResourcesBalancedAllocation(Plugin):
    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    resources: tuple[WeightedResource, ...] = CPU_AND_MEMORY
    scores_improvement: bool = True
    """Since 1.36 the score is what the pod changes; before, it was the balance with the pod."""
    skips_best_effort: bool = True
    """Since 1.33 pods that ask for none of the resources are not scored; before, by the balance they find."""

    devices: Rules | None = Rules()
    """How devices behind resources are allocated; None without the gate DRAExtendedResource."""

    def signature(self, pod: Pod) -> Hashable:
        return tuple(sorted(scheduler_amounts(pod_requests(pod)).items()))

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        requested = scheduler_amounts(pod_requests(pod))
        if self.skips_best_effort and not any(requested.get(resource.name, 0) for resource in self.resources):
            return SKIP
        backed = self._backed(cluster, pod)
        devices = self.devices if backed and not any(claim.spec.selectors for claim in backed) else None
        return NodeResourcesBalancedAllocationState(self, requested, devices)

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        for device_class in self._backed(cluster, pod):
            if device_class.spec.selectors:
                # NewBalancedAllocation leaves celCache nil.
                yield (
                    f"{self.name}: kube-scheduler 1.36 crashes when it scores devices of the "
                    f"DeviceClass {device_class.metadata.name}, which has selectors; they are left out of the score"
                )

    def _backed(self, cluster: Cluster, pod: Pod) -> list[DeviceClass]:
        """The classes behind the scored resources that the pod requests."""
        if self.devices is None or not cluster.objects.of(DeviceClass):
            return []
        classes, requested = extended_resources(cluster.objects.of(DeviceClass)), scheduler_amounts(pod_requests(pod))
        scored = [resource.name for resource in self.resources if requested.get(resource.name)]
        return [classes[name] for name in scored if name in classes]


@dataclass
class NodeResourcesBalancedAllocationState(OnNode):
    plugin: NodeResourcesBalancedAllocation
    requested: dict[str, int]
    devices: Rules | None = None

    def points(self, held: Holdings) -> Counts:
        kept = shares(self.plugin.resources, self.requested, held, held.requested, self.devices)
        with_pod = _balance(kept, [share.requested for share in kept], len(held))
        if not self.plugin.scores_improvement:
            return with_pod
        without = _balance(kept, [share.used for share in kept], len(held))
        return 50 + divide(50 + with_pod - without, 2)


def _balance(kept: Sequence[Share], amounts: Sequence[Integers], nodes: int) -> Integers:
    """100 for equal fractions, less the more they deviate."""
    if len(kept) == 2 and all(share.is_everywhere for share in kept):  # the usual case, in fewer steps
        one, other = (np.minimum(amount / share.allocatable, 1.0) for share, amount in zip(kept, amounts, strict=True))
        return _points(np.abs((one - other) / 2))
    fractions = [
        np.where(
            share.kept, np.minimum(amount.astype(np.float64) / np.where(share.kept, share.allocatable, 1), 1.0), 0.0
        )
        for share, amount in zip(kept, amounts, strict=True)
    ]
    count = np.zeros(nodes, dtype=np.int64)
    total = np.zeros(nodes, dtype=np.float64)
    first = np.zeros(nodes, dtype=np.float64)
    second = np.zeros(nodes, dtype=np.float64)
    for share, fraction in zip(kept, fractions, strict=True):
        first = np.where(share.kept & (count == 0), fraction, first)
        second = np.where(share.kept & (count == 1), fraction, second)
        total = total + fraction
        count += share.kept
    deviation = np.where(count == 2, np.abs((first - second) / 2), 0.0)
    if len(kept) > 2:
        deviation = np.where(count > 2, _deviation(kept, fractions, total, count), deviation)
    return _points(deviation)


def _points(deviation: Floats) -> Integers:
    # Sums that overflowed make fractions beyond int64, which become its least number, as in Go on amd64.
    with np.errstate(invalid="ignore"):
        return ((1.0 - deviation) * 100.0).astype(np.int64)


def _deviation(kept: Sequence[Share], fractions: Sequence[Floats], total: Floats, count: Integers) -> Floats:
    counted = np.maximum(count, 1).astype(np.float64)
    mean = total / counted
    squares = np.zeros(len(total), dtype=np.float64)
    for share, fraction in zip(kept, fractions, strict=True):
        squares = np.where(share.kept, squares + (fraction - mean) * (fraction - mean), squares)
    return np.sqrt(squares / counted)


SPECIFICATION = Specification(
    name=NodeResourcesBalancedAllocation.name,
    points=RANKS,
    make=lambda setting: NodeResourcesBalancedAllocation(
        read_as(NodeResourcesBalancedAllocationArgs, setting.args).weighted_resources,
        scores_improvement=setting.version.since(36),
        skips_best_effort=setting.version.since(33),
        devices=Rules.of(setting.version) if setting.version.has("DRAExtendedResource") else None,
    ),
    args=NodeResourcesBalancedAllocationArgs,
    weight=1,
)
