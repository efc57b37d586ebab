"""Affinity terms, parsed, and the namespaces they reach.

Source: staging/src/k8s.io/kube-scheduler/framework/types.go, AffinityTerm
Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go, mergeAffinityTermNamespacesIfNotEmpty,
    GetNamespaceLabelsSnapshot
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from kubespread.kube.api.core import Pod, PodAffinity, PodAffinityTerm
from kubespread.kube.selector import Selector, SelectorError, from_label_selector

Labels = Mapping[str, str]


class Term(Struct, frozen=True):
    """One term of one pod. ``namespaces`` are those it names; required terms weigh nothing."""

    topology_key: str
    selector: Selector
    namespaces: tuple[str, ...]
    namespace_selector: Selector
    weight: int = 0

    def matches(self, namespace: str, namespace_labels: Labels, labels: Labels) -> bool:
        """Whether a pod with these labels, in a namespace with those, is one the term speaks of."""
        reached = namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        return reached and self.selector.matches(labels)


class PodTerms(Struct, frozen=True):
    """The four lists of one pod."""

    required: tuple[Term, ...] = ()
    required_anti: tuple[Term, ...] = ()
    preferred: tuple[Term, ...] = ()
    preferred_anti: tuple[Term, ...] = ()

    @property
    def all(self) -> list[Term]:
        return [*self.required, *self.required_anti, *self.preferred, *self.preferred_anti]


class MalformedTermsError(Exception):
    """Some list of the candidate cannot be parsed; the text is kube-scheduler's."""


def candidate_terms(pod: Pod) -> PodTerms:
    """The candidate's terms. Raises MalformedTermsError with the first fault of each list."""
    parsed: dict[str, tuple[Term, ...]] = {}
    faults = []
    for name, described, terms in _lists(pod):
        try:
            parsed[name] = _parse(terms, pod.metadata.namespace)
        except SelectorError as error:
            faults.append(f"{described}: {error}")
    if faults:
        raise MalformedTermsError(faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]")
    return PodTerms(**parsed)


def existing_terms(pod: Pod) -> PodTerms:
    """An existing pod's terms; a list with any malformed term is dropped as a whole."""
    parsed: dict[str, tuple[Term, ...]] = {}
    for name, _, terms in _lists(pod):
        try:
            parsed[name] = _parse(terms, pod.metadata.namespace)
        except SelectorError:
            parsed[name] = ()
    return PodTerms(**parsed)


def has_preferences(pod: Pod) -> bool:
    """Whether the pod has preferred terms, well-formed or not."""
    return any(terms for name, _, terms in _lists(pod) if name in ("preferred", "preferred_anti"))


WeightedTerms = Sequence[tuple[int, PodAffinityTerm]]


def _lists(pod: Pod) -> list[tuple[str, str, WeightedTerms]]:
    affinity = pod.spec.affinity
    near = (affinity.pod_affinity if affinity is not None else None) or PodAffinity()
    away = (affinity.pod_anti_affinity if affinity is not None else None) or PodAffinity()
    return [
        ("required", "requiredAffinityTerms", _required(near)),
        ("required_anti", "requiredAntiAffinityTerms", _required(away)),
        ("preferred", "preferredAffinityTerms", _preferred(near)),
        ("preferred_anti", "preferredAntiAffinityTerms", _preferred(away)),
    ]


def _required(affinity: PodAffinity) -> WeightedTerms:
    return [(0, term) for term in affinity.required_during_scheduling_ignored_during_execution]


def _preferred(affinity: PodAffinity) -> WeightedTerms:
    return [
        (weighted.weight, weighted.pod_affinity_term)
        for weighted in affinity.preferred_during_scheduling_ignored_during_execution
    ]


def _parse(terms: WeightedTerms, namespace: str) -> tuple[Term, ...]:
    return tuple(_term(term, namespace, weight) for weight, term in terms)


def _term(term: PodAffinityTerm, namespace: str, weight: int) -> Term:
    own_namespace = not term.namespaces and term.namespace_selector is None
    return Term(
        topology_key=term.topology_key,
        selector=from_label_selector(term.label_selector),
        namespaces=(namespace,) if own_namespace else tuple(dict.fromkeys(term.namespaces)),
        namespace_selector=from_label_selector(term.namespace_selector),
        weight=weight,
    )
