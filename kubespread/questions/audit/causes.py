"""Faults in the placement of a workload's pods, and the first change that ends one alone: that is the cause.

A change is tried by placing the pods afresh: all are removed, then placed one by one, with one thing changed. What
constraints count is kept in columns: a hostname has as many domains as there are nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.statefulset import REVISION_LABEL
from kubespread.kube.api.core import Affinity, Node, Pod, ResourceRequirements, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.owners import WorkloadReference, controller_of
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.questions.audit import AuditedConstraint, DomainPods, PlacedAfresh
from kubespread.questions.audit.standing import OnNodes
from kubespread.questions.queue import Entry, run
from kubespread.reports.findings import Cause
from kubespread.reports.judged_nodes import KEEPING_OFF, counted_constraints, in_domains
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Codes, Counts, Mask, Positions
from kubespread.scheduler.cluster.running import RunningPods
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import first_in_heap
from kubespread.scheduler.plugin import SchedulingError, State
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SoftConstraint,
    SpreadState,
)
from kubespread.wording import some_of
from kubespread.world.store.pod_book import as_template, terminate

_FAR_ABOVE, _MAX_NAMED = 1000, 3
MANY = 16
"""Number of domains above which only the extremes are reported."""


class CountedSpread(Struct, frozen=True):
    """The counted domains of one constraint, by value."""

    counted: HardConstraint | SoftConstraint
    codes: Codes
    """Codes of the domains in the key's column."""
    counts: Counts

    @property
    def skew(self) -> int:
        """Most minus fewest; the fewest is 0 below minDomains."""
        return skew_between(self.counts, lacks_domains=len(self.counts) < (self.counted.constraint.min_domains or 1))

    @property
    def is_even(self) -> bool:
        return self.skew <= self.counted.constraint.max_skew

    @property
    def state(self) -> Literal["ok", "violated", "uneven", "vacuous"]:
        constraint = self.counted.constraint
        if not self.is_even:
            return "violated" if constraint.is_hard else "uneven"
        counts = constraint.counts_pods and not constraint.selector.nothing and len(self.counts) > 1
        return "ok" if counts else "vacuous"

    @property
    def pods(self) -> tuple[DomainPods, ...] | None:
        """Pods per domain; None if there are many domains."""
        return None if len(self.codes) > MANY else tuple(map(self._domain, range(len(self.codes))))

    @property
    def _fewest(self) -> Codes:
        return self.codes[self.counts == self.counts.min()] if len(self.counts) else self.codes

    @property
    def least(self) -> list[str]:
        """The domains with the fewest pods, by value."""
        return [self.counted.column.values[code] for code in self._fewest.tolist()]

    @property
    def least_nodes(self) -> Mask:
        column = self.counted.column
        nodes: Mask = column.present & np.isin(column.codes, self._fewest)
        return nodes

    def _domain(self, position: int) -> DomainPods:
        return DomainPods(self.counted.column.values[self.codes.item(position)], self.counts.item(position))

    def report(self) -> AuditedConstraint:
        constraint, has_domains = self.counted.constraint, bool(len(self.counts))
        return AuditedConstraint(
            topology_key=constraint.topology_key,
            when_unsatisfiable=constraint.when_unsatisfiable,
            source=constraint.source,
            max_skew=constraint.max_skew,
            domains=len(self.counts),
            skew=self.skew,
            most=self._domain(int(self.counts.argmax())) if has_domains else None,
            least=self._domain(int(self.counts.argmin())) if has_domains else None,
            counts=self.pods,
            state=self.state,
        )


def spreads(states: Mapping[str, State]) -> list[CountedSpread]:
    """Spread of each constraint in force, in declared order; ``states`` are by plugin."""
    state = states.get(PodTopologySpread.name)
    return [_spread(constraint) for constraint in counted_constraints(state)] if isinstance(state, SpreadState) else []


def _spread(counted: HardConstraint | SoftConstraint) -> CountedSpread:
    column = counted.column
    eligible = np.bincount(column.codes[column.present & counted.eligible], minlength=len(column.values)) > 0
    order = column.sorted_codes[eligible[column.sorted_codes]]
    counts = in_domains(counted, counted.counts_at())[order]
    return CountedSpread(counted, order, counts)


_SOME_TIME = "1970-01-01T00:00:00Z"


class Variant(Struct, frozen=True):
    """A change made before the pods are placed."""

    what: str = ""
    """``without volumes``; empty for no change."""
    plugins: Framework | None = None
    nodes: Mapping[int, Node] = field(default_factory=dict)
    remade: Callable[[Pod], Pod] = lambda pod: pod
    """Function that changes each of the pods."""
    removed: OnNodes = ()
    """Other pods to remove."""
    uncounted: OnNodes = ()
    """Other pods that keep their room and count for no constraint."""
    position: int | None = None
    """New position of the finding's constraint; None if it keeps its own."""


class PlacedByQueue(Struct, frozen=True):
    """The cluster after placing."""

    cluster: Cluster
    template: Pod
    nodes: Sequence[int]
    """Nodes of the workload's own pods."""
    desired: int
    """Number of pods, placed or not."""


class PodsToPlace(Struct, frozen=True):
    """A workload's pods, to be placed again."""

    cluster: Cluster
    plugins: Framework
    template: Pod
    """Template of its next pod."""
    pods: OnNodes
    """Pods on nodes that are not terminating."""
    going: OnNodes = ()
    """Terminating pods on nodes."""

    @property
    def open_nodes(self) -> Mask:
        """Nodes that taints, cordons and node affinity leave open to its pods, with or without room."""
        return ~evaluate(self.plugins, self.cluster, self.template, is_scored=False).barred_by(KEEPING_OFF)

    def place(self, otherwise: Variant) -> PlacedByQueue:
        """Remove the pods, make the change and place them again."""
        removed = [*self.pods, *otherwise.removed, *otherwise.uncounted]
        uncounted = [(terminate(pod, _SOME_TIME), node) for pod, node in otherwise.uncounted]
        cluster = self.cluster.apply(ClusterChange(removed_pods=removed, added_pods=uncounted))
        if otherwise.nodes:
            cluster = cluster.apply(ClusterChange(replaced_nodes=otherwise.nodes))
        plugins = otherwise.plugins or self.plugins
        entries = [
            Entry(otherwise.remade(template), plugins, count, binds=False) for template, count in self._templates()
        ]
        outcomes, full = run(cluster, entries, first_in_heap)
        nodes = [choice.node for outcome in outcomes for choice in outcome.choices]
        return PlacedByQueue(full, otherwise.remade(self.template), nodes, len(self.pods))

    def _templates(self) -> Iterator[tuple[Pod, int]]:
        """Yield a template for each set of identical pods, with their number."""
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

    def spread(self, cluster: Cluster, template: Pod, position: int) -> CountedSpread | None:
        """Spread of the constraint at ``position`` in another cluster; None if that is unknown."""
        try:
            spreads_there = spreads(self.plugins.prepare(cluster, template).states)
        except SchedulingError:
            return None
        return spreads_there[position] if position < len(spreads_there) else None


class PlacementEffect(Struct, frozen=True, kw_only=True):
    """Fault in where a workload's pods are, and a test for whether a trial ends it."""

    afresh: PodsToPlace
    key: str
    """Topology key of the effect."""
    lacking: Mask
    """Nodes of the domains with too few of its pods."""
    place: str = ""
    """Names of these domains; empty if the nodes say enough."""

    def judge(self, placed: PlacedByQueue, otherwise: Variant, *, afresh: bool = True) -> PlacedAfresh:
        """Result of a trial, and whether it ended the effect; ``afresh`` is False if the pods did not move."""
        counts, skew, is_over = self._placements(placed, otherwise)
        return PlacedAfresh(
            what=otherwise.what,
            afresh=afresh,
            placed=len(placed.nodes),
            counts=counts,
            skew=skew,
            holds=is_over and len(placed.nodes) == placed.desired,
        )

    def _placements(self, placed: PlacedByQueue, otherwise: Variant) -> tuple[tuple[DomainPods, ...] | None, int, bool]:
        """The pods by domain, None where there are many; the skew; and whether they are where they should be."""
        raise NotImplementedError


class ExceededSkew(PlacementEffect, frozen=True, kw_only=True):
    """A constraint with a skew above its maxSkew."""

    spread: CountedSpread
    position: int
    """Position among the template's constraints."""

    @classmethod
    def build(cls, afresh: PodsToPlace, spread: CountedSpread, position: int) -> ExceededSkew:
        return cls(
            afresh=afresh,
            key=spread.counted.constraint.topology_key,
            lacking=spread.least_nodes,
            place=_names(spread.least),
            spread=spread,
            position=position,
        )

    @property
    def own(self) -> Sequence[TopologySpreadConstraint]:
        """Constraints that the pods declare; none if this one is a default."""
        is_own = self.spread.counted.constraint.source == "pod"
        return self.afresh.template.spec.topology_spread_constraints if is_own else []

    def _placements(self, placed: PlacedByQueue, otherwise: Variant) -> tuple[tuple[DomainPods, ...] | None, int, bool]:
        position = self.position if otherwise.position is None else otherwise.position
        spread = self.afresh.spread(placed.cluster, placed.template, position)
        return (None, 0, False) if spread is None else (spread.pods, spread.skew, spread.is_even)


class InOneDomain(PlacementEffect, frozen=True, kw_only=True):
    """All pods of a workload in one of several domains."""

    domain: str
    in_force: Sequence[CountedSpread]
    """Its constraints."""

    @classmethod
    def find(cls, afresh: PodsToPlace, in_force: Sequence[CountedSpread], key: str | None) -> InOneDomain | None:
        """Find the one domain of ``key`` with all pods; None if several have pods, or a constraint over it is exceeded.

        Without a key the domains are zones, or hosts if there is only one zone.
        """
        nodes = afresh.cluster.nodes
        key = key or (ZONE if len(nodes.label(ZONE).values) > 1 else HOSTNAME)
        column = nodes.label(key)
        codes = column.codes[[position for _, position in afresh.pods]]
        if not len(codes) or len(column.values) < 2 or codes.min() < 0 or np.count_nonzero(codes != codes[0]):
            return None
        lacking = column.present & (column.codes != codes[0])
        effect = cls(afresh=afresh, key=key, lacking=lacking, domain=column.values[codes.item(0)], in_force=in_force)
        return None if any(not spread.is_even for spread in effect.over_key) else effect

    @property
    def over_key(self) -> list[CountedSpread]:
        return [spread for spread in self.in_force if spread.counted.constraint.topology_key == self.key]

    @property
    def defaults(self) -> Sequence[TopologySpreadConstraint] | None:
        """Default constraints; None if nothing spreads the pods."""
        running = self.afresh.plugins.evaluators
        plugin = next((plugin for plugin in running if isinstance(plugin, PodTopologySpread)), None)
        return None if plugin is None else plugin.defaults.constraints

    def _placements(self, placed: PlacedByQueue, otherwise: Variant) -> tuple[tuple[DomainPods, ...] | None, int, bool]:
        domains = pods_in_domains(placed.cluster, self.key, placed.nodes)
        inside = sum(domain.pods for domain in domains)
        is_spread = inside < len(placed.nodes) or sum(domain.pods > 0 for domain in domains) > 1
        return domains if len(domains) <= MANY else None, 0, is_spread


def pods_in_domains(cluster: Cluster, key: str, nodes: Sequence[int]) -> tuple[DomainPods, ...]:
    """Number of pods on ``nodes`` in each domain of a key in the cluster, by value."""
    column = cluster.nodes.label(key)
    codes = column.codes[list(nodes)]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.values))
    return tuple(DomainPods(column.values[code], int(counts[code])) for code in column.sorted_codes.tolist())


class CauseFound(NamedTuple):
    """A cause, with the trials that led to it."""

    cause: Cause
    detail: str
    """Plugins, nodes, pods or message behind the cause."""
    trials: tuple[PlacedAfresh, ...]


Staying = Iterable[tuple[Cause, PlacedAfresh]]
"""Placements in which the pods stay where they are, each with the cause it shows if it ends the effect."""


def cause_of(effect: PlacementEffect, staying: Staying) -> CauseFound:
    """Find the first row of `UNDONE` that alone ends the effect, trying changes that move no pod first."""
    trials: list[PlacedAfresh] = []
    for cause, trial in staying:
        trials.append(trial)
        if trial.holds:
            return CauseFound(cause, "", tuple(trials))
    for cause, detail, otherwise in _undoings(effect):
        trials.append(effect.judge(effect.afresh.place(otherwise), otherwise))
        if trials[-1].holds:
            return CauseFound(cause, detail, tuple(trials))
    return CauseFound("unknown", "", tuple(trials))


def _undoings(effect: PlacementEffect) -> Iterator[tuple[Cause, str, Variant]]:
    """Yield changes that undo each cause; none for a single pod in one domain, as it is in one anywhere."""
    for cause, of_constraint, of_domain in UNDONE:
        if isinstance(effect, ExceededSkew) and of_constraint is not None:
            yield from ((cause, *undoing) for undoing in of_constraint(effect))
        elif isinstance(effect, InOneDomain) and of_domain is not None and len(effect.afresh.pods) > 1:
            yield from ((cause, *undoing) for undoing in of_domain(effect))


Undoings = Iterator[tuple[str, Variant]]
"""Changes that undo a cause, each with the details of the cause; empty if it cannot be the cause."""


def _tighter(effect: InOneDomain) -> Undoings:
    """Try maxSkew 1, and a soft constraint also made hard."""
    if not effect.over_key or effect.defaults is None:
        return
    constraint, defaults = effect.over_key[0].counted.constraint, effect.defaults
    tighter: dict[str, dict[str, Any]] = {}
    if constraint.max_skew > 1:
        tighter["with maxSkew 1"] = {"max_skew": 1}
    if not constraint.is_hard:
        tighter["with maxSkew 1 and DoNotSchedule"] = {"max_skew": 1, "when_unsatisfiable": DO_NOT_SCHEDULE}
    for what, fields in tighter.items():

        def remade(pod: Pod, fields: dict[str, Any] = fields) -> Pod:
            is_own = constraint.source == "pod"
            declared = pod.spec.topology_spread_constraints if is_own else _selecting(effect.afresh, defaults)
            changed = [replace(own, **fields) if own.topology_key == effect.key else own for own in declared]
            return _constrain(pod, changed)

        yield "", Variant(what, remade=remade)


def _with_defaults(effect: InOneDomain) -> Undoings:
    if effect.defaults and not effect.in_force:
        applied = _selecting(effect.afresh, effect.defaults)
        yield "", Variant("with the default constraints", remade=lambda pod: _with_more(pod, applied))


def _with_constraint(effect: InOneDomain) -> Undoings:
    """Try a constraint that it lacks."""
    if effect.defaults is not None and not effect.over_key:
        hard = TopologySpreadConstraint(max_skew=1, topology_key=effect.key, when_unsatisfiable=DO_NOT_SCHEDULE)
        own = _selecting(effect.afresh, [hard])
        yield "", Variant("with a hard constraint of maxSkew 1", remade=lambda pod: _with_more(pod, own))


def _selecting(afresh: PodsToPlace, constraints: Iterable[TopologySpreadConstraint]) -> list[TopologySpreadConstraint]:
    """The constraints as if they selected the workload's pods, by the labels that all of them have."""
    pods = (afresh.template, *(pod for pod, _ in afresh.pods))
    labels = set.intersection(*(set(pod.metadata.labels.items()) for pod in pods))
    selector = LabelSelector(match_labels=dict(sorted(labels)))
    return [replace(constraint, label_selector=selector) for constraint in constraints]


def _with_more(pod: Pod, constraints: Sequence[TopologySpreadConstraint]) -> Pod:
    return _constrain(pod, [*pod.spec.topology_spread_constraints, *constraints])


def _constrain(pod: Pod, constraints: list[TopologySpreadConstraint]) -> Pod:
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))


def _as_they_are(_effect: PlacementEffect) -> Undoings:
    yield "", Variant()


def _without_terminating(effect: PlacementEffect) -> Undoings:
    """Remove the workload's own terminating pods, then all of them."""
    afresh, own = effect.afresh, list(effect.afresh.going)
    if own:
        yield _holding(afresh, own), Variant("without its own terminating pods", removed=own)
    kinds, running = afresh.cluster.kinds, afresh.cluster.running
    places = running.places_of([number for number in running.nodes_of_kind if kinds[number].terminating])
    if others := _other_pods(running, places, own):
        yield _holding(afresh, others), Variant("without terminating pods", removed=[*own, *others])


def _without_other_pods(effect: ExceededSkew) -> Undoings:
    """Leave out the other pods that the constraint counts; it counts no terminating ones."""
    afresh, constraint = effect.afresh, effect.spread.counted.constraint
    kinds, running = afresh.cluster.kinds, afresh.cluster.running
    counted = [
        number
        for number in (
            kinds.selectable(afresh.template.metadata.namespace, constraint.selector) if constraint.counts_pods else ()
        )
        if number in running.nodes_of_kind
        and not kinds[number].terminating
        and constraint.selector.matches(kinds[number].labels)
    ]
    if others := _other_pods(running, running.places_of(counted), afresh.pods):
        owners = (controller_of(pod) or WorkloadReference("Pod", pod.metadata.name) for pod, _ in others)
        names = _names(dict.fromkeys(f"{owner.kind}/{owner.name}" for owner in owners))
        yield names, Variant("without counting pods of others", uncounted=others)


def _other_pods(running: RunningPods, places: Positions, own: OnNodes) -> OnNodes:
    """Pods at ``places``, each with its node, that are not the workload's ``own``."""
    own_ids = {id(pod) for pod, _ in own}
    pods = ((running.pods[place], running.node.item(place)) for place in places.tolist())
    return [(pod, node) for pod, node in pods if id(pod) not in own_ids]


def _without_volumes(effect: PlacementEffect) -> Undoings:
    """Pretend that its data were everywhere."""
    pods = [pod for pod, _ in effect.afresh.pods]
    if any(pod.spec.has_scheduled_volumes for pod in pods):
        claims = (volume.persistent_volume_claim for pod in pods for volume in pod.spec.volumes)
        names = _names(dict.fromkeys(claim.claim_name for claim in claims if claim is not None))
        yield names, Variant("without volumes", remade=lambda pod: replace(pod, spec=replace(pod.spec, volumes=[])))


def _without_min_domains(effect: ExceededSkew) -> Undoings:
    least, position = effect.spread.counted.constraint.min_domains, effect.position

    def remade(pod: Pod) -> Pod:
        constraints = list(pod.spec.topology_spread_constraints)
        if position < len(constraints):
            constraints[position] = replace(constraints[position], min_domains=None)
        return _constrain(pod, constraints)

    if effect.own and len(effect.spread.counts) < (least or 1):
        yield f"{least}", Variant("without minDomains", remade=remade)


def _open_nodes(effect: PlacementEffect) -> Undoings:
    """Lift cordons and taints on nodes that take no pods: of the domains that lack some, then of all that count."""
    nodes = effect.afresh.cluster.nodes
    closed = np.array([node.spec.unschedulable or bool(node.spec.taints) for node in nodes.objects], dtype=np.bool_)
    present = nodes.label(effect.key).present
    groups = [("" if effect.key == HOSTNAME else effect.place, effect.lacking)]
    if isinstance(effect, ExceededSkew) and (closed & present & ~effect.lacking).any():
        groups.append(("", present))
    for domain, mask in groups:
        if places := np.flatnonzero(closed & mask).tolist():
            names = _names(nodes.names[place] for place in places)
            opened = {
                place: replace(node, spec=replace(node.spec, unschedulable=False, taints=[]))
                for place in places
                for node in [nodes.objects[place]]
            }
            yield f"{names} of {domain}" if domain else names, Variant("without cordons and taints", nodes=opened)


def _label_nodes(effect: ExceededSkew) -> Undoings:
    """Try the nodes that lack the topology key in the first of the domains with the fewest pods."""
    nodes, column = effect.afresh.cluster.nodes, effect.spread.counted.column
    absent = column.absent & effect.afresh.open_nodes
    if (least := effect.spread.least) and absent.any():
        lacking = np.flatnonzero(absent).tolist()
        labeled = {}
        for place in lacking:
            node = nodes.objects[place]
            labels = {**node.metadata.labels, effect.key: least[0]}
            labeled[place] = replace(node, metadata=replace(node.metadata, labels=labels))
        names = _names(nodes.names[place] for place in lacking)
        yield names, Variant(f"with the label {effect.key}={least[0]}", nodes=labeled)


def _on_any_node(effect: PlacementEffect) -> Undoings:
    """Drop its node selector and required node affinity; preferences are scores."""
    spec = effect.afresh.template.spec
    own = spec.affinity and spec.affinity.node_affinity
    if spec.node_selector or (own and own.required_during_scheduling_ignored_during_execution):
        yield ("nodeSelector" if spec.node_selector else "node affinity", Variant("on any node", remade=_for_any_node))


def _for_any_node(pod: Pod) -> Pod:
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        preferred = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=None)
        affinity = replace(affinity, node_affinity=preferred)
    return replace(pod, spec=replace(pod.spec, node_selector={}, affinity=affinity))


def _beside_any_pod(effect: PlacementEffect) -> Undoings:
    """Drop its required pod affinity and anti-affinity; preferences are scores."""
    affinity = effect.afresh.template.spec.affinity or Affinity()
    terms = {"pod affinity": affinity.pod_affinity, "pod anti-affinity": affinity.pod_anti_affinity}
    required = [name for name, own in terms.items() if own and own.required_during_scheduling_ignored_during_execution]
    if required:
        detail = " and ".join(required)
        yield detail, Variant(f"without {detail}", remade=_for_any_pods)


def _for_any_pods(pod: Pod) -> Pod:
    affinity = pod.spec.affinity or Affinity()
    near, far = affinity.pod_affinity, affinity.pod_anti_affinity
    preferred = replace(
        affinity,
        pod_affinity=near and replace(near, required_during_scheduling_ignored_during_execution=[]),
        pod_anti_affinity=far and replace(far, required_during_scheduling_ignored_during_execution=[]),
    )
    return replace(pod, spec=replace(pod.spec, affinity=preferred))


def _without_other_constraints(effect: ExceededSkew) -> Undoings:
    own, position = effect.own, effect.position
    if len(own) > 1:
        keys = _names(constraint.topology_key for place, constraint in enumerate(own) if place != position)
        yield (
            keys,
            Variant(
                "without its other constraints",
                position=0,
                remade=lambda pod: _constrain(pod, pod.spec.topology_spread_constraints[position : position + 1]),
            ),
        )


def _with_other_scores(effect: ExceededSkew) -> Undoings:
    """Try a soft constraint without the score of each plugin in turn, the weightiest first, and then with all of them
    outweighed.
    """
    plugins, own = effect.afresh.plugins, PodTopologySpread.name
    if effect.spread.counted.constraint.is_hard:
        return
    for plugin, _ in sorted(plugins.scores, key=lambda item: -item[1]):
        if plugin.name != own:
            others = replace(plugins, scores=[score for score in plugins.scores if score[0] != plugin])
            yield plugin.name, Variant(f"without the score of {plugin.name}", plugins=others)
    above = [(plugin, weight * (_FAR_ABOVE if plugin.name == own else 1)) for plugin, weight in plugins.scores]
    weighted = replace(plugins, scores=above)
    yield "several plugins together", Variant(f"with {own} above all other scores", plugins=weighted)


def _with_room(effect: PlacementEffect) -> Undoings:
    """Pretend that only the number of pods per node were limited."""
    yield effect.place, Variant("asking for no resources", remade=_asking_for_nothing)


def _asking_for_nothing(pod: Pod) -> Pod:
    spec = pod.spec
    containers = [replace(container, resources=ResourceRequirements()) for container in spec.containers]
    init_containers = [replace(container, resources=ResourceRequirements()) for container in spec.init_containers]
    return replace(
        pod, spec=replace(spec, containers=containers, init_containers=init_containers, resources=None, overhead={})
    )


UNDONE: Sequence[tuple[Cause, Callable[[ExceededSkew], Undoings] | None, Callable[[InOneDomain], Undoings] | None]] = (
    ("loose", None, _tighter),
    ("defaultNotApplied", None, _with_defaults),
    ("noConstraint", None, _with_constraint),
    ("drift", _as_they_are, _as_they_are),
    ("terminating", _without_terminating, _without_terminating),
    ("otherPods", _without_other_pods, None),
    ("volumes", _without_volumes, _without_volumes),
    ("minDomains", _without_min_domains, None),
    ("unavailableNodes", _open_nodes, _open_nodes),
    ("missingLabel", _label_nodes, None),
    ("nodeAffinity", _on_any_node, _on_any_node),
    ("podAffinity", _beside_any_pod, _beside_any_pod),
    ("otherConstraints", _without_other_constraints, None),
    ("outweighed", _with_other_scores, None),
    ("capacity", _with_room, _with_room),
)
"""Causes, the cheapest to undo first, and how to undo each: for a violated constraint, and for pods in one domain."""


def _holding(afresh: PodsToPlace, pods: OnNodes) -> str:
    """Name ``pods``, or the ones that keep the next pod off their nodes: ``web-9 on b1 (Insufficient cpu)``."""
    cluster = afresh.cluster.apply(ClusterChange(removed_pods=afresh.pods))
    reasons: dict[int, str] = {}
    try:
        evaluation = evaluate(afresh.plugins, cluster, afresh.template)
        reasons = {node: ", ".join(evaluation.verdict(node).reasons) for _, node in pods}
    except SchedulingError:
        pass
    holders = [(f"{pod.metadata.name} on {cluster.nodes.names[node]}", reasons.get(node)) for pod, node in pods]
    return _names([f"{text} ({why})" for text, why in holders if why] or [text for text, _ in holders])


def _names(names: Iterable[str]) -> str:
    return some_of(list(names), _MAX_NAMED)
