"""cluster-autoscaler, loop by loop: which group helps, how many nodes it adds, and which pods are then placed.

Among several groups that help it takes one by its expanders.

Source: cluster-autoscaler 1.36.1: cluster-autoscaler/core/scaleup/orchestrator/orchestrator.go, ScaleUp,
    ComputeExpansionOption
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.pod_requests import amounts
from kubespread.kube.well_known import HOSTNAME
from kubespread.node_groups import Expander
from kubespread.questions.autoscaling.growing import (
    Decision,
    EqualPods,
    GrowingCluster,
    ZoneGroup,
    grown_by,
    helps,
    largest_first,
)
from kubespread.reports.autoscaling import ScalingLoop
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import requests_of, scheduler_amounts
from kubespread.scheduler.plugin import Status
from kubespread.scheduler.plugins.podtopologyspread.plugin import CONSTRAINTS_NOT_MATCHED
from kubespread.wording import count_of
from kubespread.world.events.world import World

# The choice among scale-ups: each of cluster-autoscaler's expanders keeps the ones it ranks first.
#
# Of the ones that the last expander keeps, a random one is taken; here it is the first by name.
#
# Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/factory/chain.go, BestOption
# Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/waste/waste.go, BestOptions
# Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/mostpods/mostpods.go, BestOptions
# Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/priority/priority.go, BestOptions
# Source: cluster-autoscaler 1.36.1: cluster-autoscaler/expander/price/price.go, BestOptions


class ScaleUp(Struct, frozen=True):
    """A possible scale-up of one group."""

    group: ZoneGroup
    nodes: int
    """Number of nodes to request: each gets a pod in the simulation."""
    pods: int
    """Number of pending pods with room in the simulation."""
    helped: int
    """Pending pods that one more node would help."""
    waste: float
    """Shares of the new nodes' cpu and memory that stay free, added up."""
    why: str | None
    """Reason the estimate stopped before all helped pods had room."""


Options = Sequence[ScaleUp]


def best(options: Options, expanders: Sequence[Expander]) -> list[ScaleUp]:
    """Narrow the options down, one expander after another, until one is left; empty if an expander accepts none."""
    left = sorted(options, key=lambda option: option.group.name)
    for expander in expanders:
        if len(left) > 1 or expander is Expander.PRICE:
            left = _EXPANDERS[expander](left)
    return left


def _least(options: Options, key: Callable[[ScaleUp], Any]) -> list[ScaleUp]:
    least = min(map(key, options), default=None)
    return [option for option in options if key(option) == least]


def _by_priority(options: Options) -> list[ScaleUp]:
    """Rank by priority; a group without one is not chosen, unless none has one."""
    prioritized = [option for option in options if option.group.group.priority is not None]
    return _least(prioritized, lambda option: -(option.group.group.priority or 0)) or [*options]


def _by_price(options: Options) -> list[ScaleUp]:
    """Rank by cost per pod that finds room; a group of unknown price is not chosen.

    Pods of one kind have one price, so options for the same pods rank as in cluster-autoscaler before it weighs sizes.
    """

    def key(option: ScaleUp) -> Fraction:
        (machine,) = option.group.machines
        return Fraction(machine.price or 0) * option.nodes / option.pods

    return _least([option for option in options if option.group.machines[0].price is not None], key)


_EXPANDERS: Mapping[Expander, Callable[[Options], list[ScaleUp]]] = {
    Expander.LEAST_WASTE: lambda options: _least(options, lambda option: option.waste),
    Expander.MOST_PODS: lambda options: _least(options, lambda option: -option.pods),
    Expander.PRIORITY: _by_priority,
    Expander.PRICE: _by_price,
    Expander.RANDOM: list,
}


MAX_NODES = 1000
"""Most nodes per estimate: cluster-autoscaler's default."""


def estimate(cluster: Cluster, daemons: Sequence[Pod], group: ZoneGroup, helped: Sequence[EqualPods]) -> ScaleUp | None:
    """Simulate the scale-up of ``group`` for the pods it helps; None if no pod finds room."""
    trial = group.trial()
    packing = _Packing(GrowingCluster(cluster, daemons), group)
    for pods in largest_first(helped, trial):
        packing.pack(pods)
    nodes, placed = packing.node_count, packing.placed
    if not nodes:
        return None
    # Waste is a share of the machine's capacity, which includes its own reservations.
    offered = scheduler_amounts(amounts(trial.status.capacity or trial.status.allocatable))
    requests = [requests_of(pod)[0] for pod in placed]
    waste = 0.0
    for name in ("cpu", "memory"):
        if offered.get(name):
            total = offered[name] * nodes
            waste += (total - sum(request.get(name, 0) for request in requests)) / total
    return ScaleUp(group, nodes, len(placed), sum(map(len, helped)), waste, packing.why)


class _Packing:
    """Nodes of one estimate, and the pods on them."""

    def __init__(self, growing: GrowingCluster, group: ZoneGroup) -> None:
        self._growing, self._group = growing, group
        self._most = MAX_NODES if group.room is None else min(group.room, MAX_NODES)
        self._added: list[int] = []
        self._used: set[int] = set()
        """Nodes with a pod on them that was pending."""
        self.placed: list[Pod] = []
        self.why: str | None = None

    @property
    def node_count(self) -> int:
        """Number of nodes to request, at most the group's room.

        An existing node counts too if a constraint on host names sent a pod back to it: trackScheduledPod counts it.
        """
        room = self._group.room
        return len(self._used) if room is None else min(len(self._used), room)

    def pack(self, pods: EqualPods) -> None:
        """Place identical pods until one finds no room on another node either."""
        unplaced = len(pods)
        for find in (self._first, self._node_for):
            while unplaced and (node := find(pods)) is not None:
                self._growing.place(pods.pod, pods.plugins, node)
                self.placed.append(pods.pod)
                self._used.add(node)
                unplaced -= 1

    def _first(self, pods: EqualPods) -> int | None:
        """The first of the nodes added so far that fits."""
        if not self._added:
            return None
        fitting = self._growing.fitting(pods.pod, pods.plugins)
        return next((node for node in self._added if fitting[node]), None)

    def _node_for(self, pods: EqualPods) -> int | None:
        """The last node, else with a constraint on host names any other one, else a new one."""
        if self._added:
            last = self._added[-1]
            fitting = self._growing.fitting(pods.pod, pods.plugins)
            if fitting[last]:
                return last
            status = self._growing.verdict(pods.pod, pods.plugins, last)
            # isPodUsingHostNameTopologyKey does not ask whether a constraint is a hard one.
            constraints = pods.pod.spec.topology_spread_constraints
            is_over_hosts = any(constraint.topology_key == HOSTNAME for constraint in constraints)
            if status.reasons == CONSTRAINTS_NOT_MATCHED.reasons and is_over_hosts and fitting.any():
                return int(np.flatnonzero(fitting)[0])
            if last not in self._used:
                self.why = self.why or _stop_reason(status)
                return None
        if len(self._added) >= self._most:
            self.why = self.why or self._limit()
            return None
        node = self._growing.add(self._group.trial(len(self._added)))
        self._added.append(node)
        if self._growing.fitting(pods.pod, pods.plugins)[node]:
            return node
        self.why = self.why or _stop_reason(self._growing.verdict(pods.pod, pods.plugins, node))
        return None

    def _limit(self) -> str:
        if self._group.room is not None and self._group.room <= MAX_NODES:
            return f"{self._group.name} may have {count_of(self._group.group.maximum or 0, 'node')}"
        return f"one estimate ends at {MAX_NODES} nodes"


def _stop_reason(status: Status) -> str:
    return f"on another node of it: {', '.join(status.reasons)}"


NOT_MODELLED = (
    "cluster-autoscaler: balancing of similar node groups, priorities of pods below its cutoff, back-off, quotas of "
    "the cloud, time, scale-down; of the expander price the size of nodes that it prefers",
)


def loops(
    world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod], expanders: Sequence[Expander]
) -> Iterator[ScalingLoop]:
    """Let the world grow until no pod waits, no group helps, or new nodes help no pod."""

    def decide(pending: Sequence[EqualPods]) -> Decision | None:
        options = best(_options(world, groups, daemons, pending), expanders)
        if not options:
            return None
        first, *others = options
        return Decision(
            additions=[(first.group, first.group.machines * first.nodes)],
            expected=first.pods,
            why=first.why,
            tied=tuple(option.group.name for option in others),
        )

    return grown_by(world, decide)


def _options(
    world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod], pending: Sequence[EqualPods]
) -> list[ScaleUp]:
    options = []
    for group in groups:
        if group.template is None or group.room == 0:
            continue
        helped = helps(world.cluster, daemons, group.trial(), pending)
        option = estimate(world.cluster, daemons, group, helped) if helped else None
        if option is not None:
            options.append(option)
    return options
