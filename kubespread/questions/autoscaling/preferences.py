"""A pod's preferences, as Karpenter treats them: required at first, and dropped one by one where it finds no node.

The preference policy is Respect.

Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/preferences.go, Relax
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    Pod,
    PodAffinity,
    PodAntiAffinity,
    PodSpec,
    PreferredSchedulingTerm,
    Toleration,
    WeightedPodAffinityTerm,
)
from kubespread.kube.taint import PREFER_NO_SCHEDULE
from kubespread.kube.well_known import DO_NOT_SCHEDULE

_TOLERATES_PREFERENCES = Toleration(operator="Exists", effect=PREFER_NO_SCHEDULE)

Weighted = TypeVar("Weighted", PreferredSchedulingTerm, WeightedPodAffinityTerm)
Relaxation = Callable[[PodSpec], PodSpec | None]
"""The spec with one preference dropped, None where it has none of the kind."""


class Stage(Struct, frozen=True):
    """What a pod asks for, some of its preferences dropped."""

    pod: Pod
    """With its remaining preferences as requirements."""
    strict: Pod
    """The same without preferred nodes, which do not limit the domains it is spread over (NewStrictPodRequirements)."""


def stages(pod: Pod) -> Iterator[Stage]:
    """The pod with all preferences required, then with one fewer each time."""
    spec: PodSpec | None = pod.spec
    while spec is not None:
        strict = _without_preferred_nodes(spec)
        yield Stage(replace(pod, spec=_required(spec)), replace(pod, spec=_required(strict)))
        spec = next((relaxed for relax in _RELAXATIONS if (relaxed := relax(spec)) is not None), None)


def _without_preferred_nodes(spec: PodSpec) -> PodSpec:
    affinity = spec.affinity
    if affinity is None or affinity.node_affinity is None:
        return spec
    nodes = replace(affinity.node_affinity, preferred_during_scheduling_ignored_during_execution=[])
    return replace(spec, affinity=replace(affinity, node_affinity=nodes))


def _required(spec: PodSpec) -> PodSpec:
    constraints = [
        replace(constraint, when_unsatisfiable=DO_NOT_SCHEDULE) for constraint in spec.topology_spread_constraints
    ]
    affinity = spec.affinity
    if affinity is None:
        return replace(spec, topology_spread_constraints=constraints)
    hardened = Affinity(
        node_affinity=_required_of_nodes(affinity.node_affinity),
        pod_affinity=_required_of_pods(affinity.pod_affinity),
        pod_anti_affinity=_required_of_pods(affinity.pod_anti_affinity),
    )
    return replace(spec, topology_spread_constraints=constraints, affinity=hardened)


def _required_of_nodes(affinity: NodeAffinity | None) -> NodeAffinity | None:
    """The first of the required terms, and what is preferred most."""
    if affinity is None:
        return None
    terms = _terms(affinity)[:1] or [NodeSelectorTerm()]
    if preferred := affinity.preferred_during_scheduling_ignored_during_execution:
        wish, term = preferred[_heaviest(preferred)].preference, terms[0]
        terms = [
            NodeSelectorTerm(
                match_expressions=[*term.match_expressions, *wish.match_expressions],
                match_fields=[*term.match_fields, *wish.match_fields],
            )
        ]
    if terms == [NodeSelectorTerm()]:
        return None
    return NodeAffinity(required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=terms))


Kind = TypeVar("Kind", PodAffinity, PodAntiAffinity)


def _required_of_pods(affinity: Kind | None) -> Kind | None:
    if affinity is None:
        return None
    return replace(
        affinity,
        required_during_scheduling_ignored_during_execution=affinity.terms,
        preferred_during_scheduling_ignored_during_execution=[],
    )


def _terms(affinity: NodeAffinity) -> list[NodeSelectorTerm]:
    required = affinity.required_during_scheduling_ignored_during_execution
    return [] if required is None else required.node_selector_terms


def _heaviest(terms: Sequence[Weighted]) -> int:
    return max(range(len(terms)), key=lambda place: terms[place].weight)


def _without_heaviest(terms: Sequence[Weighted]) -> list[Weighted]:
    heaviest = _heaviest(terms)
    return [term for place, term in enumerate(terms) if place != heaviest]


def _fewer_required_terms(spec: PodSpec) -> PodSpec | None:
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    if spec.affinity is None or affinity is None or len(terms := _terms(affinity)) < 2:
        return None
    rest = NodeSelector(node_selector_terms=terms[1:])
    relaxed = replace(affinity, required_during_scheduling_ignored_during_execution=rest)
    return replace(spec, affinity=replace(spec.affinity, node_affinity=relaxed))


def _fewer_preferred_nodes(spec: PodSpec) -> PodSpec | None:
    affinity = spec.affinity.node_affinity if spec.affinity is not None else None
    preferred = affinity.preferred_during_scheduling_ignored_during_execution if affinity is not None else None
    if spec.affinity is None or affinity is None or not preferred:
        return None
    relaxed = replace(affinity, preferred_during_scheduling_ignored_during_execution=_without_heaviest(preferred))
    return replace(spec, affinity=replace(spec.affinity, node_affinity=relaxed))


def _fewer_preferred_pods(kind: str) -> Relaxation:
    def relax(spec: PodSpec) -> PodSpec | None:
        affinity: PodAffinity | None = getattr(spec.affinity, kind, None)
        if spec.affinity is None or affinity is None:
            return None
        preferred = affinity.preferred_during_scheduling_ignored_during_execution
        if not preferred:
            return None
        relaxed = replace(affinity, preferred_during_scheduling_ignored_during_execution=_without_heaviest(preferred))
        return replace(spec, affinity=replace(spec.affinity, **{kind: relaxed}))

    return relax


def _fewer_soft_constraints(spec: PodSpec) -> PodSpec | None:
    constraints = spec.topology_spread_constraints
    soft = next((constraint for constraint in constraints if constraint.when_unsatisfiable != DO_NOT_SCHEDULE), None)
    if soft is None:
        return None
    return replace(
        spec, topology_spread_constraints=[constraint for constraint in constraints if constraint is not soft]
    )


def _tolerating_preferences(spec: PodSpec) -> PodSpec | None:
    if _TOLERATES_PREFERENCES in spec.tolerations:
        return None
    return replace(spec, tolerations=[*spec.tolerations, _TOLERATES_PREFERENCES])


_RELAXATIONS: tuple[Relaxation, ...] = (
    _fewer_required_terms,
    _fewer_preferred_pods("pod_affinity"),
    _fewer_preferred_pods("pod_anti_affinity"),
    _fewer_preferred_nodes,
    _fewer_soft_constraints,
    _tolerating_preferences,
)
