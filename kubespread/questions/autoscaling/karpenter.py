"""Karpenter, round by round: pods go one by one onto existing nodes, onto nodes planned in this round, or onto new
ones; then the new nodes are launched and kube-scheduler places the waiting pods.

Outlined; where Karpenter chooses at random, the first name is taken.

Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/scheduler.go, Solve, addToExistingNode,
    addToInflightNode, addToNewNodeClaim
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.kube.taint import PREFER_NO_SCHEDULE, untolerated
from kubespread.questions.autoscaling import scaling_up
from kubespread.questions.autoscaling.growing import GrowingCluster
from kubespread.questions.autoscaling.pending import PodGroup
from kubespread.questions.autoscaling.possible_domains import Spread, spreads
from kubespread.questions.autoscaling.preferences import Stage, stages
from kubespread.questions.autoscaling.scaling_up import Decision
from kubespread.questions.autoscaling.templates import ZoneGroup
from kubespread.reports.autoscaling import ScalingLoop
from kubespread.scheduler.cluster.amounts import requested
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.world.events.world import World
from kubespread.world.store.waiting import Waiting

_PREFERRED_AWAY = frozenset({PREFER_NO_SCHEDULE})
NOT_MODELLED = (
    "karpenter: the choice of instance types and their prices (a new node is like the template of its pool), zones of "
    "nodes that no constraint asks for (the first by name), reserved and spot capacity, batching, consolidation",
)


def loops(world: World, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> Iterator[ScalingLoop]:
    """Let the world grow until no pod waits, no pool helps, or new nodes helped no pod."""

    def decide(pending: Sequence[PodGroup]) -> Decision | None:
        round_ = _Round(GrowingCluster(world.cluster, daemons), groups, daemons)
        round_.place(pending)
        if not round_.launched:
            return None
        return Decision([(group, round_.launched[group.name]) for group in groups], round_.placed, round_.why)

    return scaling_up.loops(world, decide)


class _PodKind(Struct, frozen=True):
    """Identical pods, with their preferences in stages, and the filters that judge them here."""

    group: PodGroup
    plugins: Framework
    stages: tuple[Stage, ...]


class _Round:
    """One round of Karpenter's scheduling."""

    def __init__(self, growing: GrowingCluster, groups: Sequence[ZoneGroup], daemons: Sequence[Pod]) -> None:
        self._growing, self._daemons = growing, daemons
        self._there = len(growing)
        able = [group for group in groups if group.template is not None]
        self._groups = sorted(able, key=lambda group: (-group.group.weight, group.name))
        self._templates = [group.trial() for group in self._groups]
        self._pods_on: Counter[int] = Counter()
        """Pods by node planned in this round."""
        self.launched: Counter[str] = Counter()
        """New nodes by the name of their group."""
        self.placed = 0
        self.why: str | None = None

    def place(self, pending: Sequence[PodGroup]) -> None:
        """Place all pods that find room; the others are tried again after them, until no more are placed."""
        waiting = _in_order([(_kind_of(group), pod) for group in pending for pod in group.waiting])
        while waiting:
            unplaced, stuck = list[tuple[_PodKind, Waiting]](), set[int]()
            for kind, pod in waiting:
                if id(kind) not in stuck and self._place(kind):
                    self.placed += 1
                    stuck.clear()
                else:
                    stuck.add(id(kind))
                    unplaced.append((kind, pod))
            if len(unplaced) == len(waiting):
                self.why = self._reason(unplaced[0][0])
                return
            waiting = unplaced

    def _place(self, kind: _PodKind) -> bool:
        for stage in kind.stages:
            spread = spreads(self._growing.cluster, stage.strict, self._templates)
            node = self._among_nodes(kind, stage.pod, spread)
            if node is None:
                node = self._new_node(kind, stage.pod, spread)
            if node is not None:
                self._growing.place(kind.group.pod, kind.plugins, node)
                if node >= self._there:
                    self._pods_on[node] += 1
                return True
        return False

    def _among_nodes(self, kind: _PodKind, pod: Pod, spread: Sequence[Spread]) -> int | None:
        """The first existing node by name, else the planned one with the fewest pods."""
        fitting = self._growing.fitting(pod, kind.plugins)
        for constraint in spread:
            fitting = fitting & constraint.nodes(self._growing.cluster)
        positions = np.flatnonzero(fitting).tolist()
        names = self._growing.cluster.nodes.names
        return min(positions, key=lambda node: (node >= self._there, self._pods_on[node], names[node]), default=None)

    def _new_node(self, kind: _PodKind, pod: Pod, spread: Sequence[Spread]) -> int | None:
        """A node of the first pool that can make one, in the domain with the fewest pods of those it may go to."""
        tried: dict[str, list[tuple[tuple[int, ...], ZoneGroup]]] = {}
        for group, template in zip(self._groups, self._templates, strict=True):
            labels = template.metadata.labels
            domains = [(constraint, labels.get(constraint.key)) for constraint in spread if constraint.key in labels]
            if len(domains) == len(spread) and all(constraint.admits(domain) for constraint, domain in domains):
                fullness = tuple(constraint.counts[domain or ""] for constraint, domain in domains)
                tried.setdefault(group.group.name, []).append((fullness, group))
        for choices in tried.values():
            for _, group in sorted(choices, key=lambda choice: (choice[0], choice[1].name)):
                if self._has_room(group) and self._takes(group, kind, pod):
                    self.launched[group.name] += 1
                    return self._growing.add(group.trial(self.launched[group.name]))
        return None

    def _has_room(self, group: ZoneGroup) -> bool:
        room, limit = group.room, group.pool_limit
        pool = [member for member in self._groups if member.group.name == group.group.name]
        in_pool = sum(member.size + self.launched[member.name] for member in pool)
        return (room is None or room > self.launched[group.name]) and (limit is None or in_pool < limit)

    def _takes(self, group: ZoneGroup, kind: _PodKind, pod: Pod) -> bool:
        trial = group.trial()
        if untolerated(trial.spec.taints, pod.spec.tolerations, _PREFERRED_AWAY):
            return False
        growing = GrowingCluster(self._growing.cluster, self._daemons)
        node = growing.add(trial)
        return bool(growing.fitting(pod, kind.plugins)[node])

    def _reason(self, kind: _PodKind) -> str:
        """Why no pool can help a pod, once all its preferences are dropped."""
        spread = spreads(self._growing.cluster, kind.stages[-1].strict, self._templates)
        for constraint in spread:
            domains = [template.metadata.labels.get(constraint.key) for template in self._templates]
            if not any(map(constraint.admits, domains)):
                counts = ", ".join(f"{domain} {count}" for domain, count in sorted(constraint.counts.items()))
                return f"no pool makes nodes in a domain of {constraint.key} that the pod may go to ({counts})"
        full = [group.name for group in self._groups if not self._has_room(group)]
        return f"{', '.join(full)} may have no more nodes" if full else "no node that a pool makes has room for the pod"


def _kind_of(group: PodGroup) -> _PodKind:
    """Karpenter's own rules judge spreading, the profile's filters everything else."""
    plugins = group.plugins
    without = replace(
        plugins,
        filters=[plugin for plugin in plugins.filters if plugin.name != PodTopologySpread.name],
        pre_filters=[pre_filter for pre_filter in plugins.pre_filters if pre_filter.name != PodTopologySpread.name],
        scores=(),
    )
    return _PodKind(group, without, tuple(stages(group.pod)))


def _in_order(waiting: Sequence[tuple[_PodKind, Waiting]]) -> list[tuple[_PodKind, Waiting]]:
    """By cpu, then memory, the most first; then the oldest, then by name."""

    def key(entry: tuple[_PodKind, Waiting]) -> tuple[int, int, str, str, str]:
        requests, meta = requested(entry[0].group.pod)[0], entry[1].pod.metadata
        return (
            -requests.get("cpu", 0),
            -requests.get("memory", 0),
            meta.creation_timestamp,
            meta.uid or meta.namespace,
            meta.name,
        )

    return sorted(waiting, key=key)
