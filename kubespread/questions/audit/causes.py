"""Possible causes of an effect, each with what undoes it: the first that ends the effect alone is the cause.

Workloads whose pods are all in one zone, or on one host, so that losing it takes all of them. What is wrong with the
placement of a workload's pods, and whether placing them differently ends it. How workloads stand: pods that are not
ready on nodes, whether that changes by itself, and who must act.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from msgspec.structs import replace as with_fields

from kubespread.kube.api.core import Affinity, Node, Pod, TopologySpreadConstraint
from kubespread.kube.api.meta import LabelSelector
from kubespread.kube.owners import controller_of, is_ready
from kubespread.kube.taint import uncordoned
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.questions.audit.afresh import (
    MANY,
    Afresh,
    OnNodes,
    Otherwise,
    Placed,
    Spread,
    asking_for_nothing,
    without_volumes,
)
from kubespread.questions.audit.outlook import Outlook
from kubespread.questions.audit.report import AuditFinding, Cause, DomainPods, Level, PlacedAfresh, RolloutUnderWay
from kubespread.questions.audit.revisions import Group, Revisions
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import Plugin, SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.wording import some_of
from kubespread.world.events.world import World
from kubespread.world.store.waiting import SchedulerOf


class Standing(Struct, frozen=True):
    """A workload's current and desired pods."""

    group: Group
    template: Pod | None
    """The template of its next pod; None where nothing has it."""
    replicas: int
    placed: OnNodes
    going: OnNodes
    """Its terminating pods that are on nodes."""
    awaited: Sequence[Pod]
    """Those that wait for nothing but a node that kube-scheduler finds."""
    placeable: int | None
    """How many of these find one now; None without any."""
    rollout: RolloutUnderWay | None

    @classmethod
    def of(cls, world: World, group: Group, revisions: Revisions, outlook: Outlook) -> Standing:
        scheduler_of, replicas = world.surroundings.scheduler_of, group.replicas(world)
        awaited = [pod for pod in group.waiting if not pod.spec.scheduling_gates and scheduler_of(pod) is not None]
        return cls(
            group=group,
            template=revisions.template,
            replicas=replicas,
            placed=_on_nodes(world, group.pods),
            going=_on_nodes(world, group.terminating),
            awaited=awaited,
            placeable=outlook.placeable(awaited) if awaited else None,
            rollout=outlook.rollout(group, revisions, replicas),
        )

    @property
    def unready(self) -> Sequence[Pod]:
        """Pods on nodes."""
        return [pod for pod, _ in self.placed if not is_ready(pod)]

    @property
    def ready(self) -> int:
        return len(self.placed) - len(self.unready)

    @property
    def is_changing(self) -> bool:
        """Whether controllers or kube-scheduler have something to do."""
        return bool(self.awaited or self.rollout is not None or self.replicas > len(self.group.pods))


def _on_nodes(world: World, pods: Sequence[Pod]) -> OnNodes:
    index = world.living.nodes.index
    return [(pod, position) for pod in pods if (position := index.get(pod.spec.node_name)) is not None]


def missing(standing: Standing, outlook: Outlook) -> Iterator[AuditFinding]:
    """A risk where fewer pods are ready on nodes than desired."""
    rollout, group = standing.rollout, standing.group
    if rollout is not None and rollout.state == "stuck":
        yield _risk("stuckRollout", rollout.message or "")
    elif standing.awaited:
        yield _risk("pending", outlook.first_message(standing.awaited))
    if standing.replicas > len(group.pods):
        yield _risk("notCreated", next((unmade.message for unmade in outlook.unmade(group)), ""))
    if standing.unready and standing.ready < standing.replicas:
        yield _risk("notReady", some_of([pod.metadata.name for pod in standing.unready], _MAX_NAMED))


def _risk(cause: Cause, detail: str) -> AuditFinding:
    return AuditFinding(level="risk", cause=cause, topology_key=None, detail=detail)


def gated(pods: Sequence[Pod], template: Pod) -> Iterator[AuditFinding]:
    """A risk where pods wait behind scheduling gates, or the next one will; gates may also be added on creation."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    gates = {gate.name for pod in (*waiting, template) for gate in pod.spec.scheduling_gates}
    if gates:
        yield AuditFinding(level="risk", cause="gated", topology_key=None, detail=", ".join(sorted(gates)))


def scheduled_by_others(pods: Sequence[Pod], template: Pod, scheduler_of: SchedulerOf) -> Iterator[AuditFinding]:
    """Schedulers that are not modeled: a risk where pods wait for one, else the workload is not judged."""
    waiting = [pod for pod in pods if not pod.spec.node_name]
    awaited = {pod.spec.scheduler_name for pod in waiting if scheduler_of(pod) is None}
    if scheduler_of(template) is None or awaited:
        names = sorted(awaited | ({template.spec.scheduler_name} if scheduler_of(template) is None else set()))
        level: Level = "risk" if awaited else "unjudged"
        yield AuditFinding(level=level, cause="otherScheduler", topology_key=None, detail=", ".join(names))


class Effect(Protocol):
    def judged(self, placed: Placed, otherwise: Otherwise, *, afresh: bool = True) -> PlacedAfresh:
        """The result of a trial, and whether the effect is over; not ``afresh``: the pods stayed where they were."""


def tried(effect: Effect, afresh: Afresh, otherwise: Otherwise) -> PlacedAfresh:
    """The pods placed afresh with one thing changed."""
    return effect.judged(afresh.placed(otherwise), otherwise)


class Exceeded(Struct, frozen=True):
    """A constraint whose skew is above its maxSkew."""

    afresh: Afresh
    spread: Spread
    position: int
    """The constraint's place among those of the template."""

    def judged(self, placed: Placed, otherwise: Otherwise, *, afresh: bool = True) -> PlacedAfresh:
        position = self.position if otherwise.position is None else otherwise.position
        spread = self.afresh.spread(placed.cluster, placed.template, position)
        return PlacedAfresh(
            what=otherwise.what,
            afresh=afresh,
            placed=len(placed.nodes),
            counts=None if spread is None else spread.pods,
            skew=0 if spread is None else spread.skew,
            holds=spread is not None and spread.is_even and len(placed.nodes) == placed.desired,
        )


class InOneDomain(Struct, frozen=True):
    """All pods of a workload are in one of several domains of a key."""

    key: str

    def judged(self, placed: Placed, otherwise: Otherwise, *, afresh: bool = True) -> PlacedAfresh:
        domains = pods_in_domains(placed.cluster, self.key, placed.nodes)
        inside = sum(domain.pods for domain in domains)
        is_spread = inside < len(placed.nodes) or sum(domain.pods > 0 for domain in domains) > 1
        return PlacedAfresh(
            what=otherwise.what,
            afresh=afresh,
            placed=len(placed.nodes),
            counts=domains if len(domains) <= MANY else None,
            skew=0,
            holds=is_spread and len(placed.nodes) == placed.desired,
        )


def pods_in_domains(cluster: Cluster, key: str, nodes: Sequence[int]) -> tuple[DomainPods, ...]:
    """How many pods on ``nodes`` each domain of a key has, by value, for all domains of the cluster."""
    column = cluster.nodes.label(key)
    codes = column.codes[list(nodes)]
    counts = np.bincount(codes[codes >= 0], minlength=len(column.values))
    return tuple(DomainPods(column.values[code], int(counts[code])) for code in column.sorted_codes.tolist())


Constraints = Iterable[TopologySpreadConstraint]


def in_one_domain(
    in_force: Sequence[Spread], afresh: Afresh, staying: Callable[[Effect], Staying], asked: str | None
) -> Iterator[AuditFinding]:
    """All pods in one of several domains of the key ``asked`` about, by default zones, or hosts without several zones;
    ``in_force`` are the constraints.
    """
    nodes = afresh.cluster.nodes
    key = asked or (ZONE if len(nodes.label(ZONE).values) > 1 else HOSTNAME)
    column = nodes.label(key)
    codes = column.codes[[position for _, position in afresh.pods]]
    if not len(codes) or len(column.values) < 2 or codes.min() < 0 or np.count_nonzero(codes != codes[0]):
        return
    about = [spread for spread in in_force if spread.counted.constraint.topology_key == key]
    if any(not spread.is_even for spread in about):
        # The constraint's own finding says so.
        return
    effect, others = InOneDomain(key), column.present & (column.codes != codes[0])
    # Wherever one pod is, it is alone there.
    candidates = _candidates(afresh, key, in_force, about, others) if len(codes) > 1 else ()
    verdict = first_that_ends(effect, afresh, staying(effect), candidates)
    domain = column.values[codes.item(0)]
    yield AuditFinding(
        level="risk", cause=verdict.cause, topology_key=key, detail=verdict.detail or domain, trials=verdict.trials
    )


def _candidates(
    afresh: Afresh, key: str, in_force: Sequence[Spread], about: Sequence[Spread], others: Mask
) -> Iterator[Candidate]:
    """What may be the cause; ``about`` are the constraints over the key, ``others`` the nodes of the other domains."""
    plugin = next((running for running in afresh.plugins.running if isinstance(running, PodTopologySpread)), None)
    if plugin is not None:
        defaults = plugin.defaults.constraints
        yield from (
            _loose(afresh, defaults, about[0]) if about else _unconstrained(afresh, key, () if in_force else defaults)
        )
    yield from of_where_they_are(afresh)
    yield from of_volumes(afresh)
    yield from of_closed_nodes(afresh, others, "")
    yield from of_template(afresh)
    yield of_room("")


def _loose(afresh: Afresh, defaults: Constraints, spread: Spread) -> Iterator[Candidate]:
    """With maxSkew 1, and a soft constraint also made hard."""
    constraint = spread.counted.constraint
    key, is_own = constraint.topology_key, constraint.source == "pod"
    tighter: dict[str, Callable[[TopologySpreadConstraint], TopologySpreadConstraint]] = {}
    if constraint.max_skew > 1:
        tighter["with maxSkew 1"] = lambda constraint: replace(constraint, max_skew=1)
    if not constraint.is_hard:
        tighter["with maxSkew 1 and DoNotSchedule"] = lambda constraint: replace(
            constraint, max_skew=1, when_unsatisfiable=DO_NOT_SCHEDULE
        )
    for what, change in tighter.items():

        def remade(pod: Pod, change: Callable[..., TopologySpreadConstraint] = change) -> Pod:
            own = pod.spec.topology_spread_constraints if is_own else _selecting(afresh, defaults)
            changed = [change(constraint) if constraint.topology_key == key else constraint for constraint in own]
            return replace(pod, spec=replace(pod.spec, topology_spread_constraints=changed))

        yield Candidate("loose", "", Otherwise(what, remade=remade))


def _unconstrained(afresh: Afresh, key: str, defaults: Constraints) -> Iterator[Candidate]:
    """With constraints that it lacks; ``defaults`` are those that do not apply to it."""
    own = TopologySpreadConstraint(max_skew=1, topology_key=key, when_unsatisfiable=DO_NOT_SCHEDULE)
    if defaults:
        applied = _selecting(afresh, defaults)
        remade = Otherwise("with the default constraints", remade=lambda pod: _with_more(pod, applied))
        yield Candidate("defaultNotApplied", "", remade)
    constrained = _selecting(afresh, [own])
    remade = Otherwise("with a hard constraint of maxSkew 1", remade=lambda pod: _with_more(pod, constrained))
    yield Candidate("noConstraint", "", remade)


def _selecting(afresh: Afresh, constraints: Constraints) -> list[TopologySpreadConstraint]:
    """The constraints as if they selected the workload's pods, by the labels that all of them have."""
    pods = (afresh.template, *(pod for pod, _ in afresh.pods))
    labels = set.intersection(*(set(pod.metadata.labels.items()) for pod in pods))
    selector = LabelSelector(match_labels=dict(sorted(labels)))
    return [replace(constraint, label_selector=selector) for constraint in constraints]


def _with_more(pod: Pod, constraints: Sequence[TopologySpreadConstraint]) -> Pod:
    own = [*pod.spec.topology_spread_constraints, *constraints]
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=own))


_FAR_ABOVE = 1000
_MAX_NAMED = 3


class Candidate(NamedTuple):
    """A possible cause."""

    cause: Cause
    detail: str
    """What it is made of."""
    undone: Otherwise


class Told(NamedTuple):
    """The cause, with the trials that led to it."""

    cause: Cause
    detail: str
    trials: tuple[PlacedAfresh, ...]


Staying = Iterable[tuple[Cause, PlacedAfresh]]
"""What happens when the pods stay where they are, and the cause this shows if that ends the effect."""


def first_that_ends(effect: Effect, afresh: Afresh, staying: Staying, candidates: Iterable[Candidate]) -> Told:
    """The first of ``candidates``, the cheapest first, whose undoing alone ends the effect; what needs no pod to move
    is tried before them.
    """
    trials: list[PlacedAfresh] = []
    for cause, trial in staying:
        trials.append(trial)
        if trial.holds:
            return Told(cause, "", tuple(trials))
    for cause, detail, undone in candidates:
        trials.append(effect.judged(afresh.placed(undone), undone))
        if trials[-1].holds:
            return Told(cause, detail, tuple(trials))
    return Told("unknown", "", tuple(trials))


def of_exceeded(effect: Exceeded) -> Iterator[Candidate]:
    """For a constraint that does not hold."""
    afresh, spread, position = effect.afresh, effect.spread, effect.position
    constraint, key = spread.counted.constraint, spread.counted.constraint.topology_key
    own = afresh.template.spec.topology_spread_constraints if constraint.source == "pod" else []
    least = spread.least
    yield from of_where_they_are(afresh)
    if others := afresh.others(spread):
        names = _named(dict.fromkeys(_controller(pod) for pod, _ in others))
        yield Candidate("otherPods", names, Otherwise("without counting pods of others", uncounted=others))
    yield from of_volumes(afresh)
    if own and len(spread.counts) < (constraint.min_domains or 1):
        less = Otherwise("without minDomains", remade=lambda pod: _without_min_domains(pod, position))
        yield Candidate("minDomains", f"{constraint.min_domains}", less)
    column, fewest = spread.counted.column, spread.least_nodes
    yield from of_closed_nodes(afresh, fewest, "" if key == HOSTNAME else _named(least))
    if (_closed(afresh) & column.present & ~fewest).any():
        yield from of_closed_nodes(afresh, column.present, "")
    if least and (absent := column.absent).any():
        yield _of_missing_label(afresh, absent, key, least[0])
    yield from of_template(afresh)
    if len(own) > 1:
        keys = _named(constraint.topology_key for place, constraint in enumerate(own) if place != position)
        alone = Otherwise("without its other constraints", remade=lambda pod: _with_only(pod, position), position=0)
        yield Candidate("otherConstraints", keys, alone)
    if not constraint.is_hard:
        yield from of_scores(afresh)
    yield of_room(_named(least))


def of_where_they_are(afresh: Afresh) -> Iterator[Candidate]:
    """First nothing but where the pods are now, then what goes away by itself."""
    yield Candidate("drift", "", Otherwise())
    own = list(afresh.going)
    if own:
        yield Candidate("terminating", _holding(afresh, own), Otherwise("without its own terminating pods", gone=own))
    if others := _terminating_others(afresh):
        gone = Otherwise("without terminating pods", gone=[*own, *others])
        yield Candidate("terminating", _holding(afresh, others), gone)


def of_volumes(afresh: Afresh) -> Iterator[Candidate]:
    if any(pod.spec.has_scheduled_volumes for pod, _ in afresh.pods):
        yield Candidate("volumes", _claims(afresh), Otherwise("without volumes", remade=without_volumes))


def of_closed_nodes(afresh: Afresh, among: Mask, domain: str) -> Iterator[Candidate]:
    """Nodes, those of ``domain``, that take no pods."""
    nodes = afresh.cluster.nodes
    if closed := np.flatnonzero(_closed(afresh) & among).tolist():
        names = _named(nodes.names[node] for node in closed)
        opened = {node: _opened(nodes.objects[node]) for node in closed}
        detail = f"{names} of {domain}" if domain else names
        yield Candidate("unavailableNodes", detail, Otherwise("without cordons and taints", nodes=opened))


def _closed(afresh: Afresh) -> Mask:
    """The nodes with a cordon or taints."""
    nodes = afresh.cluster.nodes.objects
    return np.array([node.spec.unschedulable or bool(node.spec.taints) for node in nodes], dtype=np.bool_)


def _of_missing_label(afresh: Afresh, absent: Mask, key: str, value: str) -> Candidate:
    nodes, lacking = afresh.cluster.nodes, np.flatnonzero(absent).tolist()
    labeled = {node: _labeled(nodes.objects[node], key, value) for node in lacking}
    names = _named(nodes.names[node] for node in lacking)
    return Candidate("missingLabel", names, Otherwise(f"with the label {key}={value}", nodes=labeled))


def of_template(afresh: Afresh) -> Iterator[Candidate]:
    """What else the pods require of nodes and of each other; preferences are scores."""
    spec = afresh.template.spec
    affinity = spec.affinity or Affinity()
    required = affinity.node_affinity and affinity.node_affinity.required_during_scheduling_ignored_during_execution
    if spec.node_selector or required:
        detail = "nodeSelector" if spec.node_selector else "node affinity"
        yield Candidate("nodeAffinity", detail, Otherwise("on any node", remade=_on_any_node))
    terms = {"pod affinity": affinity.pod_affinity, "pod anti-affinity": affinity.pod_anti_affinity}
    kinds = [
        kind
        for kind, own in terms.items()
        if own is not None and own.required_during_scheduling_ignored_during_execution
    ]
    if kinds:
        detail = " and ".join(kinds)
        yield Candidate("podAffinity", detail, Otherwise(f"without {detail}", remade=_beside_any_pod))


def of_scores(afresh: Afresh) -> Iterator[Candidate]:
    """Without the score of each plugin in turn, the weightiest first, and then with all of them outweighed."""
    plugins = afresh.plugins
    for plugin, _ in sorted(plugins.scores, key=lambda item: -item[1]):
        if plugin.name != PodTopologySpread.name:
            others = [score for score in plugins.scores if score[0] != plugin]
            yield _of_score(plugins, others, plugin.name, f"without the score of {plugin.name}")
    above = [
        (plugin, weight * _FAR_ABOVE if plugin.name == PodTopologySpread.name else weight)
        for plugin, weight in plugins.scores
    ]
    what = f"with {PodTopologySpread.name} above all other scores"
    yield _of_score(plugins, above, "several plugins together", what)


def _of_score(plugins: Framework, scores: Sequence[tuple[Plugin, int]], detail: str, what: str) -> Candidate:
    return Candidate("outweighed", detail, Otherwise(what, plugins=with_fields(plugins, scores=scores)))


def of_room(domain: str) -> Candidate:
    return Candidate("capacity", domain, Otherwise("asking for no resources", remade=asking_for_nothing))


def _without_min_domains(pod: Pod, position: int) -> Pod:
    constraints = list(pod.spec.topology_spread_constraints)
    if position < len(constraints):
        constraints[position] = replace(constraints[position], min_domains=None)
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=constraints))


def _with_only(pod: Pod, position: int) -> Pod:
    only = pod.spec.topology_spread_constraints[position : position + 1]
    return replace(pod, spec=replace(pod.spec, topology_spread_constraints=only))


def _on_any_node(pod: Pod) -> Pod:
    affinity = pod.spec.affinity
    if affinity is not None and affinity.node_affinity is not None:
        preferred = replace(affinity.node_affinity, required_during_scheduling_ignored_during_execution=None)
        affinity = replace(affinity, node_affinity=preferred)
    return replace(pod, spec=replace(pod.spec, node_selector={}, affinity=affinity))


def _beside_any_pod(pod: Pod) -> Pod:
    affinity = pod.spec.affinity or Affinity()
    near, far = affinity.pod_affinity, affinity.pod_anti_affinity
    preferred = replace(
        affinity,
        pod_affinity=near and replace(near, required_during_scheduling_ignored_during_execution=[]),
        pod_anti_affinity=far and replace(far, required_during_scheduling_ignored_during_execution=[]),
    )
    return replace(pod, spec=replace(pod.spec, affinity=preferred))


def _opened(node: Node) -> Node:
    return replace(uncordoned(node), spec=replace(node.spec, unschedulable=False, taints=[]))


def _labeled(node: Node, key: str, value: str) -> Node:
    metadata = replace(node.metadata, labels={**node.metadata.labels, key: value})
    return replace(node, metadata=metadata)


def _controller(pod: Pod) -> str:
    """What controls the pod, else its name."""
    owner = controller_of(pod)
    return f"{owner.kind}/{owner.name}" if owner is not None else f"Pod/{pod.metadata.name}"


def _terminating_others(afresh: Afresh) -> list[tuple[Pod, int]]:
    """Terminating pods of others, each with its node."""
    cluster = afresh.cluster
    kinds, running, own = cluster.kinds, cluster.running, {id(pod) for pod, _ in afresh.going}
    places = running.places_of([number for number in running.nodes_of_kind if kinds[number].terminating]).tolist()
    return [(running.pods[place], running.node.item(place)) for place in places if id(running.pods[place]) not in own]


def _holding(afresh: Afresh, pods: OnNodes) -> str:
    """Where ``pods`` are, first those that keep the workload's next pod out: ``web-9 on b1 (Insufficient cpu)``."""
    cluster = afresh.cluster.after(Change(gone=afresh.pods))
    reasons: dict[int, str] = {}
    try:
        evaluation = evaluate(afresh.plugins, cluster, afresh.template)
        reasons = {node: ", ".join(evaluation.verdict(node).reasons) for _, node in pods}
    except SchedulingError:
        pass
    holders = [(f"{pod.metadata.name} on {cluster.nodes.names[node]}", reasons.get(node)) for pod, node in pods]
    return _named([f"{text} ({why})" for text, why in holders if why] or [text for text, _ in holders])


def _claims(afresh: Afresh) -> str:
    return _named(
        dict.fromkeys(
            volume.persistent_volume_claim.claim_name
            for pod, _ in afresh.pods
            for volume in pod.spec.volumes
            if volume.persistent_volume_claim is not None
        )
    )


def _named(names: Iterable[str]) -> str:
    return some_of(list(names), _MAX_NAMED)
