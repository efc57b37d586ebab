"""A cluster drawn by topology: the domains, pods and load of its nodes, and how evenly some pods are spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.candidate.candidate import Candidate
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.errors import UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.gated_fields import as_counted
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import NamespacedName, full_name, is_active
from kubespread.kube.selector import Selector, SelectorError, parse_selector
from kubespread.kube.taint import taint_text
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, CORDON_TAINT_KEY, HOSTNAME, REGION, ZONE
from kubespread.questions.map.question import Map
from kubespread.questions.map.report import Load, MapDomain, MapNode, TopologyMap
from kubespread.questions.resolving import cluster_of, resolve
from kubespread.questions.scene import Scene
from kubespread.reports.judged_nodes import constraint_reports, counted_constraints
from kubespread.reports.parts import ConstraintReport, closing_states, minimum, skew_now
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import ABSENT, canonical
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.constraints import pretended_kinds
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SoftConstraint,
    SpreadState,
)
from kubespread.scheduler.profile.profile import framework
from kubespread.snapshot.snapshot import Snapshot
from kubespread.snapshot.topology_keys import check_topology_keys, full_topology_key
from kubespread.wording import short_key
from kubespread.world.reporting.outcomes import amounts_of, percent_of, resources_of
from kubespread.world.store.pod_book import key_of

_WIDE = {"region": (REGION, BETA_REGION), "zone": (ZONE, BETA_ZONE)}
_RACK = "rack"


class _DrawnCluster(Struct, frozen=True):
    """The cluster to draw, and the pods to mark."""

    snapshot: Snapshot
    """After its edits."""
    cluster: Cluster
    marked: MarkedPods
    candidate: Candidate | None = None
    gaps: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def answer(question: Map, scene: Scene) -> TopologyMap:
    """Map of the cluster's load, or of the marked pods."""
    if question.pods and question.selector:
        raise UsageError("name a workload or mark pods by a selector, not both")
    if question.pods:
        surroundings, settings = question.surroundings, question.settings
        (first, *_), cluster = resolve(scene.snapshot, question.pods, scene.scheduler, surroundings, settings=settings)
        drawn = _build(first, cluster, scene)
    else:
        drawn = _whole(question, scene)
    requested_keys = [full_topology_key(key, drawn.snapshot.nodes) for key in question.keys]
    check_topology_keys(requested_keys, drawn.snapshot.nodes)
    levels = requested_keys or [*default_keys(drawn.snapshot.nodes, drawn.marked.constraints)]
    if len(dict.fromkeys(levels)) < len(levels):
        raise UsageError("every topology key can be given only once")
    were, are = ({node.metadata.name for node in snapshot.nodes} for snapshot in (scene.snapshot, drawn.snapshot))
    drawing, candidate = Drawing(drawn.cluster, levels, drawn.marked, are - were), drawn.candidate
    return TopologyMap(
        kube_version=str(scene.release),
        cluster=scene.source,
        namespace=None if candidate is None else candidate.pod.metadata.namespace,
        workload=None if candidate is None else _name(candidate),
        selector=drawn.marked.selector,
        keys=tuple(levels),
        resources=drawing.resources,
        constraints=tuple(drawn.marked.constraints),
        skew=tuple(map(skew_now, drawn.marked.constraints)),
        domains=tuple(drawing.domains()),
        nodes=tuple(drawing.nodes()),
        load=drawing.load(),
        pending=sum(is_active(pod) and not pod.spec.node_name for pod in drawn.snapshot.pods),
        left=tuple(sorted(were - are)),
        gaps=tuple(dict.fromkeys((*drawn.gaps, *drawn.cluster.assumed))),
        notes=drawn.notes,
    )


def _whole(question: Map, scene: Scene) -> _DrawnCluster:
    """The cluster by itself."""
    now = scene.edited_snapshot
    cluster, marked = cluster_of(now, scene.release), MarkedPods()
    if text := question.selector:
        namespace = question.namespace or scene.snapshot.origin.namespace or DEFAULT_NAMESPACE
        try:
            marked = select(cluster, namespace, parse_selector(text))
        except SelectorError as error:
            raise UsageError(f"selector {text!r}: {error}") from error
    return _DrawnCluster(now, cluster, marked, gaps=scene.gaps(()), notes=scene.notes)


def _build(candidate: Candidate, cluster: Cluster, scene: Scene) -> _DrawnCluster:
    snapshot, version = candidate.surroundings.snapshot, candidate.surroundings.version
    if candidate.is_stored:
        # It is not placed again.
        cluster = Cluster.build(snapshot.nodes, as_counted(snapshot.pods, version), cluster.objects)
    plugins = framework(scene.scheduler.profile_for(candidate.pod.spec.scheduler_name, version))
    marked = MarkedPods.build(cluster, candidate.pod, plugins, _own_pods(candidate, cluster))
    return _DrawnCluster(snapshot, cluster, marked, candidate, candidate.gaps, candidate.notes)


def _own_pods(candidate: Candidate, cluster: Cluster) -> list[Pod]:
    """The pods of the workload, or the single pod, that run in ``cluster``."""
    running = cluster.running.pods
    if candidate.workload is None:
        return [pod for pod in running if candidate.is_stored and key_of(pod) == key_of(candidate.pod)]
    replica_sets = candidate.surroundings.objects.get(ReplicaSet)
    return pods_of(candidate.workload, candidate.companions, replica_sets, PodsByController(running))


def _name(candidate: Candidate) -> str:
    if candidate.workload is None:
        return f"Pod/{candidate.pod.metadata.name}"
    return f"{candidate.workload.kind}/{candidate.workload.name}"


class MarkedPods(Struct, frozen=True):
    """Marked pods, and the constraints on their spread."""

    constraints: Sequence[ConstraintReport] = ()
    counted: Sequence[HardConstraint | SoftConstraint] = ()
    places: Sequence[int] = ()
    """Positions of the pods in the cluster's list of running pods."""
    selector: str | None = None
    """Selector of the pods; None for a workload's own pods."""

    @classmethod
    def build(cls, cluster: Cluster, pod: Pod, plugins: Framework, own: Sequence[Pod]) -> MarkedPods:
        """Pods that the first constraint of ``pod`` counts, wherever they run; without constraints, its ``own``."""
        plugin = next((plugin for plugin in plugins.evaluators if isinstance(plugin, PodTopologySpread)), None)
        if plugin is not None:
            cluster.assume(plugin.gaps(cluster, pod))
        try:
            state = None if plugin is None else plugin.prepare(cluster, pod)
        except SchedulingError:
            state = None
        counted = counted_constraints(state) if isinstance(state, SpreadState) else []
        if not counted or not isinstance(state, SpreadState):
            ours = {id(pod) for pod in own}
            return cls(places=[place for place, pod in enumerate(cluster.running.pods) if id(pod) in ours])
        first, everywhere = counted[0].constraint, np.ones(len(cluster), dtype=np.bool_)
        reports = constraint_reports({PodTopologySpread.name: state}, everywhere)
        if not first.counts_pods:
            return cls(reports, counted, (), str(first.selector))
        running = cluster.running
        selected = np.flatnonzero(pretended_kinds(cluster, first, pod.metadata.namespace).select(running.kind)).tolist()
        # Spreading leaves terminating pods out.
        active = [place for place in selected if running.pods[place].metadata.deletion_timestamp is None]
        return cls(reports, counted, active, str(first.selector))


def select(cluster: Cluster, namespace: str, selector: Selector) -> MarkedPods:
    """Pods of ``namespace`` that ``selector`` matches and that are not terminating."""
    places = [
        place
        for place, pod in enumerate(cluster.running.pods)
        if pod.metadata.namespace == namespace
        and pod.metadata.deletion_timestamp is None
        and selector.matches(pod.metadata.labels)
    ]
    return MarkedPods(places=places, selector=str(selector))


def default_keys(nodes: Sequence[Node], constraints: Sequence[ConstraintReport]) -> tuple[str, ...]:
    """Region and zone, then the keys of constraints and of racks, the one with the fewest domains first.

    Keys that no node has are left out, as is the hostname, which is the node itself.
    """
    values: dict[str, set[str]] = {}
    for node in nodes:
        for key, value in node.metadata.labels.items():
            values.setdefault(key, set()).add(value)
    called: dict[str, list[str]] = {}
    for key in sorted(values):
        called.setdefault(short_key(key), []).append(key)
    # A custom label of that name stands in for a missing well-known one.
    wide = (
        next((key for key in (*usual, *called.get(name, ())) if key in values), None) for name, usual in _WIDE.items()
    )
    first = [key for key in wide if key is not None]
    having = Counter(key for node in nodes for key in node.metadata.labels)
    # A label with a different value on every node is just the node again.
    of_constraints = {
        constraint.topology_key
        for constraint in constraints
        if len(values.get(constraint.topology_key, ())) < having[constraint.topology_key]
    }
    others = (of_constraints | {*called.get(_RACK, ())}) - {HOSTNAME, *first}
    return (*first, *sorted(others, key=lambda key: (len(values[key]), key)))


class Drawing(Struct, frozen=True):
    """A cluster grouped by the domains of some keys."""

    cluster: Cluster
    keys: Sequence[str]
    marked: MarkedPods
    joined: Collection[str] = ()
    """Names of the nodes that edits added."""

    @property
    def resources(self) -> tuple[str, ...]:
        """Resources to show the load of."""
        return resources_of(self.cluster)

    def load(self, positions: NDArray[np.intp] | None = None) -> tuple[Load, ...]:
        """Total load of the nodes at ``positions``; None: of all."""
        every = slice(None) if positions is None else positions
        return tuple(
            _load(name, int(requested[every].sum()), int(allocatable[every].sum()))
            for name, requested, allocatable in amounts_of(self.cluster, self.resources)
        )

    def nodes(self) -> Iterator[MapNode]:
        """Yield the nodes by domain, then by name."""
        paths, marked = self._paths(), self._marked_on()
        names, objects = self.cluster.nodes.names, self.cluster.nodes.objects
        counts = self.cluster.running.usage.pod_count.tolist()
        amounts = [
            (name, used.tolist(), total.tolist()) for name, used, total in amounts_of(self.cluster, self.resources)
        ]
        skews = [_skews(report, counted) for report, counted in self._constraints()]
        for position in sorted(range(len(names)), key=lambda node: (_order(paths[node]), names[node])):
            yield MapNode(
                name=names[position],
                path=paths[position],
                pods=counts[position],
                marked=tuple(marked.get(position, ())),
                load=tuple(_load(name, used[position], total[position]) for name, used, total in amounts),
                skew=tuple(skew[position] for skew in skews),
                closed=tuple(_closures(objects[position])),
                joined=names[position] in self.joined,
            )

    def domains(self) -> Iterator[MapDomain]:
        """Yield the domains, each before the domains within it."""
        members: dict[tuple[str | None, ...], list[int]] = {}
        for position, path in enumerate(self._paths()):
            for depth in range(1, len(path) + 1):
                members.setdefault(path[:depth], []).append(position)
        marked = {position: len(pods) for position, pods in self._marked_on().items()}
        counts = self.cluster.running.usage.pod_count
        for path in sorted(members, key=_order):
            positions = np.array(members[path], dtype=np.intp)
            yield MapDomain(
                path=path,
                nodes=len(positions),
                pods=int(counts[positions].sum()),
                marked=sum(marked.get(position, 0) for position in members[path]),
                load=self.load(positions),
            )

    def _constraints(self) -> Iterator[tuple[ConstraintReport, HardConstraint | SoftConstraint]]:
        return zip(self.marked.constraints, self.marked.counted, strict=True)

    def _paths(self) -> list[tuple[str | None, ...]]:
        columns = [self.cluster.nodes.label(key) for key in self.keys]
        named = [(column.codes.tolist(), (*column.values, None)) for column in columns]
        values = [[of_key[code] for code in codes] for codes, of_key in named]
        return list(zip(*values, strict=True)) if values else [()] * len(self.cluster)

    def _marked_on(self) -> Mapping[int, Sequence[NamespacedName]]:
        """NAMESPACE/name of the marked pods of each node that has any."""
        running, by_node = self.cluster.running, dict[int, list[NamespacedName]]()
        for place in self.marked.places:
            by_node.setdefault(int(running.node[place]), []).append(full_name(running.pods[place]))
        return {node: sorted(names) for node, names in by_node.items()}


def _load(resource: str, requested: int, allocatable: int) -> Load:
    return Load(
        resource=resource,
        requested=canonical(resource, requested),
        allocatable=canonical(resource, allocatable),
        percent=percent_of(requested, allocatable),
    )


def _skews(report: ConstraintReport, counted: HardConstraint | SoftConstraint) -> list[int | None]:
    """Matching pods of each node's domain minus the minimum; None outside any domain that counts."""
    codes, values, least = counted.column.codes.tolist(), counted.column.values, report.global_minimum
    eligible = [domain for domain in report.domains if domain.eligible_nodes]
    if least is None:
        # A soft constraint has none while no node fits.
        least = minimum([domain.matching for domain in eligible])
    by_value = {domain.value: domain.matching - least for domain in eligible}
    return [None if code == ABSENT else by_value.get(values[code]) for code in codes]


def _order(path: tuple[str | None, ...]) -> tuple[tuple[bool, str], ...]:
    """Sort key: by value, nodes without the label last."""
    return tuple((value is None, value or "") for value in path)


def _closures(node: Node) -> Iterator[str]:
    yield from closing_states(node)
    for taint in node.spec.taints:
        if taint.key != CORDON_TAINT_KEY:
            yield taint_text(taint)
