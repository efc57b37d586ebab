"""A workload's pods placed afresh: all are removed, then placed one by one, as things are or with one thing changed.

What constraints count, in columns: a hostname has as many domains as there are nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.statefulset import REVISION_LABEL
from kubespread.kube.api.core import Node, Pod, ResourceRequirements
from kubespread.kube.owners import controller_of
from kubespread.questions.audit.report import AuditedConstraint, DomainPods
from kubespread.questions.queue.queue import Entry, run
from kubespread.reports.judged_nodes import counted_constraints, in_domains
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import Codes, Counts, Mask
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError, State
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SoftConstraint,
    SpreadState,
)
from kubespread.world.store.pod_book import as_template, terminating

MANY = 16
"""With more domains than this, only the extremes are reported."""


class Spread(Struct, frozen=True):
    """One constraint's domains that count, in the order of their values."""

    counted: HardConstraint | SoftConstraint
    codes: Codes
    """Of the domains, in the column of the key."""
    counts: Counts

    @property
    def skew(self) -> int:
        """Most minus least; the least is 0 while the domains are fewer than minDomains."""
        return skew_between(self.counts, lacks_domains=len(self.counts) < (self.counted.constraint.min_domains or 1))

    @property
    def is_even(self) -> bool:
        return self.skew <= self.counted.constraint.max_skew

    @property
    def state(self) -> Literal["ok", "violated", "uneven", "vacuous"]:
        constraint = self.counted.constraint
        if not constraint.counts_pods or constraint.selector.nothing or len(self.counts) < 2:
            return "vacuous" if self.is_even else "violated" if constraint.is_hard else "uneven"
        if self.is_even:
            return "ok"
        return "violated" if constraint.is_hard else "uneven"

    @property
    def pods(self) -> tuple[DomainPods, ...] | None:
        """By domain; None where there are many."""
        return None if len(self.codes) > MANY else tuple(map(self._domain, range(len(self.codes))))

    def value(self, position: int) -> str:
        """The domain at a position."""
        return self.counted.column.values[self.codes.item(position)]

    @property
    def least(self) -> list[str]:
        """The domains with the fewest pods."""
        return (
            list(map(self.value, np.flatnonzero(self.counts == self.counts.min()).tolist())) if len(self.counts) else []
        )

    def _domain(self, position: int) -> DomainPods:
        return DomainPods(self.value(position), self.counts.item(position))

    def report(self) -> AuditedConstraint:
        constraint, has_domains = self.counted.constraint, bool(len(self.counts))
        return AuditedConstraint(
            topology_key=constraint.topology_key,
            when_unsatisfiable=constraint.when_unsatisfiable,
            source=constraint.source,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            selector=str(constraint.selector),
            domains=len(self.counts),
            skew=self.skew,
            most=self._domain(int(self.counts.argmax())) if has_domains else None,
            least=self._domain(int(self.counts.argmin())) if has_domains else None,
            counts=self.pods,
            state=self.state,
        )

    @property
    def least_nodes(self) -> Mask:
        """The nodes of the domains with the fewest pods."""
        column = self.counted.column
        if not len(self.counts):
            return np.zeros(len(column.codes), dtype=np.bool_)
        is_least = np.zeros(len(column.values), dtype=np.bool_)
        is_least[self.codes[self.counts == self.counts.min()]] = True
        least: Mask = column.present & is_least[column.codes]
        return least


def spreads(states: Mapping[str, State]) -> list[Spread]:
    """The spread of each constraint in force for a pod, in the order declared; ``states`` are by plugin."""
    state = states.get(PodTopologySpread.name)
    return [_spread(constraint) for constraint in counted_constraints(state)] if isinstance(state, SpreadState) else []


def _spread(counted: HardConstraint | SoftConstraint) -> Spread:
    column = counted.column
    eligible = np.bincount(column.codes[column.present & counted.eligible], minlength=len(column.values)) > 0
    order = column.sorted_codes[eligible[column.sorted_codes]]
    counts = in_domains(counted, counted.around())[order]
    return Spread(counted, order, counts)


_SOME_TIME = "1970-01-01T00:00:00Z"

OnNodes = Sequence[tuple[Pod, int]]
"""Pods, each with its node."""


class Otherwise(Struct, frozen=True):
    """One thing that is changed before the pods are placed."""

    what: str = ""
    """``without volumes``; empty where everything is as it is."""
    plugins: Framework | None = None
    nodes: Mapping[int, Node] = field(default_factory=dict)
    remade: Callable[[Pod], Pod] = lambda pod: pod
    """Replaces each of the pods."""
    gone: OnNodes = ()
    """Other pods that are removed."""
    uncounted: OnNodes = ()
    """Other pods that keep their room, and that no constraint counts."""
    position: int | None = None
    """The new position of the constraint in question; None where it keeps its own."""


class Placed(Struct, frozen=True):
    """The cluster after placing."""

    cluster: Cluster
    template: Pod
    nodes: Sequence[int]
    """Of the workload's own pods."""
    desired: int
    """How many pods there are, with a node or without."""


class Afresh(Struct, frozen=True):
    """One workload's pods in a cluster."""

    cluster: Cluster
    plugins: Framework
    template: Pod
    """What its next pod is made of."""
    pods: OnNodes
    """Those that are on nodes and not terminating."""
    going: OnNodes = ()
    """Those that are terminating there."""

    def placed(self, otherwise: Otherwise) -> Placed:
        """The pods placed, each made of what it was made of."""
        gone = [*self.pods, *otherwise.gone, *otherwise.uncounted]
        uncounted = [(terminating(pod, _SOME_TIME), node) for pod, node in otherwise.uncounted]
        cluster = self.cluster.after(Change(gone=gone, come=uncounted))
        if otherwise.nodes:
            cluster = cluster.after(Change(replaced=otherwise.nodes))
        plugins = otherwise.plugins or self.plugins
        entries = [
            Entry(otherwise.remade(template), plugins, count, binds=False) for template, count in self._templates()
        ]
        outcomes, full = run(cluster, entries, first_in_heap)
        nodes = [choice.node for outcome in outcomes for choice in outcome.choices]
        return Placed(full, otherwise.remade(self.template), nodes, len(self.pods))

    def _templates(self) -> Iterator[tuple[Pod, int]]:
        """One of each set of identical pods and how many there are; those with volumes are never identical."""
        alike: dict[object, list[Pod]] = {}
        for pod, _ in self.pods:
            owner, spec = controller_of(pod), pod.spec
            if owner is not None and not spec.has_scheduled_volumes:
                # Pods of a StatefulSet differ in the labels with their names.
                key: object = owner.name, pod.metadata.labels.get(REVISION_LABEL)
            else:
                parts = spec.topology_spread_constraints, spec.node_selector, spec.tolerations
                key = self.cluster.kinds.number_of(pod), *map(id, parts)
            alike.setdefault(key, []).append(pod)
        yield from ((as_template(pods[0]), len(pods)) for pods in alike.values())

    def spread(self, cluster: Cluster, template: Pod, position: int) -> Spread | None:
        """What the constraint at ``position`` counts in another cluster; None where that cannot be told."""
        try:
            spreads_there = spreads(self.plugins.prepare(cluster, template).states)
        except SchedulingError:
            return None
        return spreads_there[position] if position < len(spreads_there) else None

    def others(self, spread: Spread) -> list[tuple[Pod, int]]:
        """The other pods that the constraint counts, each with its node; it counts no terminating ones."""
        constraint, kinds, running = spread.counted.constraint, self.cluster.kinds, self.cluster.running
        if not constraint.counts_pods:
            return []
        counted = [
            number
            for number in kinds.selectable(self.template.metadata.namespace, constraint.selector)
            if number in running.nodes_of_kind
            and not kinds[number].terminating
            and constraint.selector.matches(kinds[number].labels)
        ]
        own = {id(pod) for pod, _ in self.pods}
        places = running.places_of(counted).tolist()
        return [
            (running.pods[place], running.node.item(place)) for place in places if id(running.pods[place]) not in own
        ]


def without_volumes(pod: Pod) -> Pod:
    """The pod without volumes, as if its data were everywhere."""
    return replace(pod, spec=replace(pod.spec, volumes=[]))


def asking_for_nothing(pod: Pod) -> Pod:
    """The pod without requests, as if only the number of pods per node were limited."""
    spec = pod.spec
    containers = [replace(container, resources=ResourceRequirements()) for container in spec.containers]
    init_containers = [replace(container, resources=ResourceRequirements()) for container in spec.init_containers]
    return replace(
        pod, spec=replace(spec, containers=containers, init_containers=init_containers, resources=None, overhead={})
    )
