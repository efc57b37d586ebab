"""NodeResourcesFit: enough free cpu, memory, storage, pod slots and named resources, and a score by their allocation.

NodeResourcesBalancedAllocation: how much the pod evens out the used fractions of a node's resources. Sums run in
configured order, because the last bit of a float can decide a score.

Source: pkg/scheduler/framework/plugins/noderesources/fit.go, PreFilter, Filter, fitsRequest,
    computePodResourceRequest, shouldDelegateResourceToDRA
Source: pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go, PreScore, Score, balancedResourceScorer,
    balancedResourceScore
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from itertools import chain
from typing import ClassVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.kube.api.core import Pod
from kubespread.kube.api.devices import DeviceClass, extended_resources
from kubespread.kube.name_rules import is_extended
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.quantity import parse
from kubespread.scheduler.causes import Causes, PodCountDetail, ResourceDetail, per_node
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import (
    BASIC_RESOURCES,
    STAND_INS,
    Counts,
    Integers,
    Mask,
    Positions,
    canonical,
    divide,
    scheduler_amounts,
)
from kubespread.scheduler.plugin import (
    JUDGES,
    RANKS,
    SKIP,
    Code,
    OnNodeState,
    Plugin,
    PluginSetting,
    Specification,
    State,
    Status,
    Verdicts,
    read_as,
)
from kubespread.scheduler.plugins.dynamicresources.devices import Rules
from kubespread.scheduler.plugins.noderesources import scoring
from kubespread.scheduler.plugins.noderesources.scoring import Scoring

Floats = NDArray[np.float64]


class NodeResourcesBalancedAllocation(Plugin, frozen=True):
    name: ClassVar[str] = "NodeResourcesBalancedAllocation"

    resources: tuple[scoring.WeightedResource, ...] = scoring.CPU_AND_MEMORY
    scores_improvement: bool = True
    """Since 1.36 the score is the change made by the pod; before, it was the balance with the pod."""
    skips_best_effort: bool = True
    """Since 1.33 pods that request none of the resources are not scored; before, by the existing balance."""

    devices: Rules | None = Rules()
    """Rules for allocating devices behind resources; None without the gate DRAExtendedResource."""

    def signature(self, pod: Pod) -> Hashable:
        return tuple(sorted(scheduler_amounts(pod_requests(pod)).items()))

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        requested = scheduler_amounts(pod_requests(pod))
        if self.skips_best_effort and not any(requested.get(resource.name, 0) for resource in self.resources):
            return SKIP
        backed = self._device_classes(cluster, pod)
        devices = self.devices if backed and not any(claim.spec.selectors for claim in backed) else None
        return NodeResourcesBalancedAllocationState(self, requested, devices)

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        for device_class in self._device_classes(cluster, pod):
            if device_class.spec.selectors:
                # NewBalancedAllocation leaves celCache nil.
                yield (
                    f"{self.name}: kube-scheduler 1.36 crashes when it scores devices of the "
                    f"DeviceClass {device_class.metadata.name}, which has selectors; they are left out of the score"
                )

    def _device_classes(self, cluster: Cluster, pod: Pod) -> list[DeviceClass]:
        """The classes behind the scored resources that the pod requests."""
        if self.devices is None or not (listed := cluster.objects.get(DeviceClass)):
            return []
        classes, requested = extended_resources(listed), scheduler_amounts(pod_requests(pod))
        scored = [resource.name for resource in self.resources if requested.get(resource.name)]
        return [classes[name] for name in scored if name in classes]


class NodeResourcesBalancedAllocationState(Struct, OnNodeState, dict=True):
    plugin: NodeResourcesBalancedAllocation
    requested: dict[str, int]
    devices: Rules | None = None

    @property
    def reads(self) -> Collection[str] | None:
        return None if self.devices is not None else {resource.name for resource in self.plugin.resources}

    def score(self, holdings: Holdings) -> Counts:
        uses = scoring.resource_uses(self.plugin.resources, self.requested, holdings, holdings.requests, self.devices)
        with_pod = _balance(uses, [use.requested for use in uses], len(holdings))
        if not self.plugin.scores_improvement:
            return with_pod
        without = _balance(uses, [use.used for use in uses], len(holdings))
        return 50 + divide(50 + with_pod - without, 2)


def _balance(uses: Sequence[scoring.ResourceUse], amounts: Sequence[Integers], nodes: int) -> Integers:
    """Scores: 100 for equal fractions, less the more they deviate."""
    if len(uses) == 2 and all(use.is_everywhere for use in uses):  # the usual case, in fewer steps
        one, other = (np.minimum(amount / use.allocatable, 1.0) for use, amount in zip(uses, amounts, strict=True))
        return _points(np.abs((one - other) / 2))
    fractions = [
        np.where(
            use.has_resource,
            np.minimum(amount.astype(np.float64) / np.where(use.has_resource, use.allocatable, 1), 1.0),
            0.0,
        )
        for use, amount in zip(uses, amounts, strict=True)
    ]
    count = np.zeros(nodes, dtype=np.int64)
    total = np.zeros(nodes, dtype=np.float64)
    first = np.zeros(nodes, dtype=np.float64)
    second = np.zeros(nodes, dtype=np.float64)
    for use, fraction in zip(uses, fractions, strict=True):
        first = np.where(use.has_resource & (count == 0), fraction, first)
        second = np.where(use.has_resource & (count == 1), fraction, second)
        total = total + fraction
        count += use.has_resource
    deviation = np.where(count == 2, np.abs((first - second) / 2), 0.0)
    if len(uses) > 2:
        deviation = np.where(count > 2, _deviation(uses, fractions, total, count), deviation)
    return _points(deviation)


def _points(deviation: Floats) -> Integers:
    # Sums that overflowed make fractions beyond int64, which become its least number, as in Go on amd64.
    with np.errstate(invalid="ignore"):
        return ((1.0 - deviation) * 100.0).astype(np.int64)


def _deviation(
    uses: Sequence[scoring.ResourceUse], fractions: Sequence[Floats], total: Floats, count: Integers
) -> Floats:
    counted = np.maximum(count, 1).astype(np.float64)
    mean = total / counted
    squares = np.zeros(len(total), dtype=np.float64)
    for use, fraction in zip(uses, fractions, strict=True):
        squares = np.where(use.has_resource, squares + (fraction - mean) * (fraction - mean), squares)
    return np.sqrt(squares / counted)


BALANCED_ALLOCATION = Specification(
    name=NodeResourcesBalancedAllocation.name,
    points=RANKS,
    make=lambda setting: NodeResourcesBalancedAllocation(
        read_as(scoring.NodeResourcesBalancedAllocationArgs, setting.args).weighted_resources,
        scores_improvement=setting.version.reaches(36),
        skips_best_effort=setting.version.reaches(33),
        devices=Rules.from_version(setting.version) if setting.version.has("DRAExtendedResource") else None,
    ),
    args=scoring.NodeResourcesBalancedAllocationArgs,
    weight=1,
)


TOO_MANY_PODS = "Too many pods"


class NodeResourcesFit(Plugin, frozen=True):
    name: ClassVar[str] = "NodeResourcesFit"

    scoring: Scoring = Scoring()
    ignored_resources: frozenset[str] = frozenset()
    ignored_groups: frozenset[str] = frozenset()
    """Groups of extended resources, before the slash, that are not checked."""
    reports_unresolvable: bool = True
    """Since 1.34 a request larger than the node is distinguished from one larger than its free room."""
    checks_zero_requests: bool = False
    """Up to 1.27 an overcommitted node rejects any pod with requests, even for 0 of the resource."""
    extended_resource: bool = True
    """With the gate DRAExtendedResource a DeviceClass may provide resources."""
    devices: Rules = Rules()
    """Rules for allocating such devices."""

    def can_sign(self, cluster: Cluster, pod: Pod) -> bool:
        requested = scheduler_amounts(pod_requests(pod)) if self.extended_resource else {}
        return not any(requested.get(name) for name in extended_resources(cluster.objects.get(DeviceClass)))

    def signature(self, pod: Pod) -> Hashable:
        return tuple(self._compared_requests(pod).items()), tuple(sorted(scored_requests(pod).items()))

    def prepare(self, cluster: Cluster, pod: Pod) -> NodeResourcesFitState:
        # Nodes that have none of these themselves are left to DynamicResources.
        delegated = frozenset(extended_resources(cluster.objects.get(DeviceClass)) if self.extended_resource else ())
        return NodeResourcesFitState(self, self._compared_requests(pod), scored_requests(pod), delegated)

    def _compared_requests(self, pod: Pod) -> dict[str, int]:
        """Requests compared with the room of nodes, in the order of the reasons."""
        requested = scheduler_amounts(pod_requests(pod))
        ignored = {
            name
            for name in filter(is_extended, requested)
            if name in self.ignored_resources or name.partition("/")[0] in self.ignored_groups
        }
        named = sorted(requested.keys() - ignored - {*BASIC_RESOURCES})
        checked = {name: requested[name] for name in (*BASIC_RESOURCES, *named) if requested.get(name, 0) > 0}
        if checked and self.checks_zero_requests:
            checked = {name: requested.get(name, 0) for name in (*BASIC_RESOURCES, *named)}
        return checked


def scored_requests(pod: Pod) -> dict[str, int]:
    """Requests that the score counts: no pod-level resources, and a stand-in for each missing container request."""
    stand_ins = {name: parse(text) for name, text in STAND_INS.items()}
    return scheduler_amounts(pod_requests(pod, stand_ins, pod_level=False))


def _is_full(holdings: Holdings) -> Mask:
    is_full: Mask = holdings.pod_count + 1 > holdings.allowed_pods
    return is_full


def _crowding(holdings: Holdings) -> Iterator[tuple[int, PodCountDetail]]:
    full = np.flatnonzero(_is_full(holdings))
    running, allowed = holdings.pod_count[full].tolist(), holdings.allowed_pods[full].tolist()
    return zip(full.tolist(), map(PodCountDetail, running, allowed), strict=True)


class Room(Struct, frozen=True):
    """Room left of one resource on some nodes, and where it is too little."""

    resource: str
    requested: int
    free: Counts
    allocatable: Counts
    is_short: Mask

    def shortages(self) -> Iterator[tuple[int, ResourceDetail]]:
        """Each short node's place and numbers."""
        short = np.flatnonzero(self.is_short)
        for place, free, allocatable in zip(
            short.tolist(), self.free[short].tolist(), self.allocatable[short].tolist(), strict=True
        ):
            amounts = (canonical(self.resource, amount) for amount in (self.requested, free, allocatable))
            yield place, ResourceDetail(self.resource, *amounts)


class NodeResourcesFitState(Struct, OnNodeState, dict=True):
    plugin: NodeResourcesFit
    requested: dict[str, int]
    scored: dict[str, int]
    delegated: frozenset[str]

    @property
    def reads(self) -> Collection[str] | None:
        scored = {resource.name for resource in self.plugin.scoring.resources}
        return None if self.delegated else scored | self.requested.keys()

    def filter(self, holdings: Holdings) -> Verdicts:
        """Report every shortage of a node; a request larger than the whole node is unresolvable."""
        shortages: list[tuple[str, Mask]] = [(TOO_MANY_PODS, _is_full(holdings))]
        unresolvable = np.zeros(len(holdings), dtype=np.bool_)
        for room in self.rooms(holdings):
            shortages.append((f"Insufficient {room.resource}", room.is_short))
            unresolvable |= room.is_short & (room.requested > room.allocatable) & self.plugin.reports_unresolvable
        return _combine(shortages, unresolvable)

    def rooms(self, holdings: Holdings) -> Iterator[Room]:
        for name, requested in self.requested.items():
            allocatable = holdings.allocatable(name)
            is_judged = (allocatable > 0) | (name not in self.delegated)
            free = allocatable - holdings.requests(name)
            yield Room(name, requested, free, allocatable, is_judged & (requested > free))

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        holdings = Holdings(cluster, nodes)
        return per_node(len(nodes), chain(_crowding(holdings), *(room.shortages() for room in self.rooms(holdings))))

    def score(self, holdings: Holdings) -> Counts:
        devices, strategy = self.plugin.devices if self.delegated else None, self.plugin.scoring
        uses = scoring.resource_uses(strategy.resources, self.scored, holdings, holdings.non_zero_requested, devices)
        return scoring.score(strategy, uses, len(holdings))


def _combine(shortages: list[tuple[str, Mask]], unresolvable: Mask) -> Verdicts:
    """Verdicts by shortages; nodes with the same ones share one entry of the table."""
    short = np.zeros(len(unresolvable), dtype=np.bool_)
    for _, nodes in shortages:
        short |= nodes
    entry_of = np.zeros(len(unresolvable), dtype=np.int32)
    table: list[Status] = []
    failing = np.flatnonzero(short)
    if len(failing):
        rows = np.stack([*(nodes[failing] for _, nodes in shortages), unresolvable[failing]], axis=1)
        # A dry run judges one node after another: sorting a single row would take most of the time.
        distinct, row_of = (rows, np.intp(0)) if len(rows) == 1 else np.unique(rows, axis=0, return_inverse=True)
        entry_of[failing] = row_of.reshape(-1) + 1
        for row in distinct:
            reasons = tuple(reason for (reason, _), lacking in zip(shortages, row[:-1], strict=True) if lacking)
            table.append(Status(Code.UNRESOLVABLE if row[-1] else Code.UNSCHEDULABLE, reasons))
    return Verdicts(entry_of, tuple(table))


def _node_resources_fit(setting: PluginSetting) -> NodeResourcesFit:
    args, version = read_as(scoring.NodeResourcesFitArgs, setting.args), setting.version
    return NodeResourcesFit(
        args.scoring,
        frozenset(args.ignored_resources),
        frozenset(args.ignored_resource_groups),
        reports_unresolvable=version.reaches(34),
        checks_zero_requests=not version.reaches(28),
        extended_resource=version.has("DRAExtendedResource"),
        devices=Rules.from_version(version),
    )


NODE_RESOURCES_FIT = Specification(
    name=NodeResourcesFit.name,
    points=JUDGES | RANKS,
    make=_node_resources_fit,
    args=scoring.NodeResourcesFitArgs,
    weight=1,
)
