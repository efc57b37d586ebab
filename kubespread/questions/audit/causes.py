"""Possible causes of an effect, each with what undoes it: the first that ends the effect alone is the cause."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from msgspec.structs import replace
from msgspec.structs import replace as with_fields

from kubespread.kube.api.core import Affinity, Node, Pod
from kubespread.kube.owners import controller_of
from kubespread.kube.taint import uncordoned
from kubespread.kube.well_known import HOSTNAME
from kubespread.questions.audit.afresh import Afresh, OnNodes, Otherwise, asking_for_nothing, without_volumes
from kubespread.questions.audit.effects import Effect, Exceeded
from kubespread.questions.audit.report import Cause, PlacedAfresh
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.evaluation import evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import Plugin, SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.wording import some_of

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
