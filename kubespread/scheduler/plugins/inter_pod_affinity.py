"""The plugin: affinity, anti-affinity and the anti-affinity of others as filter, all preferences as score.

Source: pkg/scheduler/framework/plugins/interpodaffinity/filtering.go, PreFilter, Filter, satisfyPodAffinity,
    satisfyPodAntiAffinity
Source: pkg/scheduler/framework/plugins/interpodaffinity/scoring.go, PreScore, processExistingPod, NormalizeScore
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import ClassVar, NamedTuple, Self

import numpy as np
from msgspec import field

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Namespace, Pod
from kubespread.kube.api.meta import Int32
from kubespread.kube.validation.faults import FieldFault, range_faults
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.causes import Causes, PodAffinityDetail, PodAntiAffinityDetail, name_of, per_node
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, DomainCounts, Mask, Positions, distinct, greatest, least, some
from kubespread.scheduler.cluster.kinds import (
    AffinityTerm,
    KindJudgment,
    KindNumber,
    Labels,
    MalformedTermsError,
    PodKind,
    PodTerms,
    candidate_terms,
    has_preferences,
)
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.plugin import (
    JUDGES,
    MAX_NODE_SCORE,
    RANKS,
    SKIP,
    Args,
    Code,
    CountingState,
    Extent,
    FixedState,
    Plugin,
    Point,
    SchedulingError,
    Specification,
    State,
    Status,
    Verdicts,
    read_as,
)


class InterPodAffinityArgs(Args):
    hard_pod_affinity_weight: Int32 = 1
    ignore_preferred_terms_of_existing_pods: bool = False

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        yield from range_faults(self.hard_pod_affinity_weight, 0, 100, f"{path}.hardPodAffinityWeight")


AFFINITY = Status(Code.UNRESOLVABLE, ("node(s) didn't match pod affinity rules",))
ANTI_AFFINITY = Status(Code.UNSCHEDULABLE, ("node(s) didn't match pod anti-affinity rules",))
EXISTING_ANTI_AFFINITY = Status(Code.UNSCHEDULABLE, ("node(s) didn't satisfy existing pods anti-affinity rules",))

# Positions of existingAntiAffinityCounts, affinityCounts and topologyScore. The candidate's anti-affinity terms follow,
# each counted separately.
_EXISTING_ANTI, _AFFINITY, _SCORE, _FIRST_ANTI = 0, 1, 2, 3


class InterPodAffinity(Plugin, frozen=True):
    name: ClassVar[str] = "InterPodAffinity"

    args: InterPodAffinityArgs = field(default_factory=InterPodAffinityArgs)
    is_pre_filtering: bool = True

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield a gap if namespace selectors need unknown labels of namespaces."""
        if cluster.objects.knows(Namespace):
            return
        try:
            own = candidate_terms(pod).all
        except MalformedTermsError:
            own = []
        if any(term.namespace_selector.requirements for term in own):
            yield from cluster.objects.gap(Namespace, "the pod's namespaceSelectors see no labels")
        kinds = (cluster.kinds[kind] for kind in cluster.kinds.with_terms if kind in cluster.running.nodes_of_kind)
        existing = (term for kind in kinds if kind.terms is not None for term in kind.terms.all)
        if any(_needs_namespace_labels(term, pod) for term in existing):
            consequence = "the namespaceSelectors of other pods' affinity see no labels"
            yield from cluster.objects.gap(Namespace, consequence)

    def can_sign(self, cluster: Cluster, pod: Pod) -> bool:
        affinity = pod.spec.affinity
        return affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None)

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        try:
            terms = candidate_terms(pod)
        except MalformedTermsError as error:
            if self.is_pre_filtering:
                return Status(Code.UNRESOLVABLE, (f"parsing pod: {error}",))
            # PreScore parses the pod as well, unless it skips one that prefers nothing.
            ignores = self.args.ignore_preferred_terms_of_existing_pods and not has_preferences(pod)
            return SKIP if ignores else UnparsedState(str(error))
        return InterPodAffinityState(cluster, terms, TermMatcher(cluster.objects, pod), self.args)


class UnparsedState(FixedState):
    """State for a pod with malformed terms, in a profile without PreFilter."""

    def __init__(self, error: str) -> None:
        self._error = error

    def score(self) -> Counts | None:
        raise SchedulingError(f'running PreScore plugin "InterPodAffinity": failed to parse pod: {self._error}')


def _needs_namespace_labels(term: AffinityTerm, pod: Pod) -> bool:
    """True if the labels of the pod's namespace decide whether an existing pod's term applies to it."""
    meta = pod.metadata
    selects_namespaces = bool(term.namespace_selector.requirements) and meta.namespace not in term.namespaces
    return selects_namespaces and term.selector.matches(meta.labels)


class Effect(NamedTuple):
    """Contribution of one pod of a kind: counts, topology key and weight."""

    counts: int
    topology_key: str
    weight: int = 1


class InterPodAffinityState(CountingState):
    _forked = ("_counts",)

    def __init__(self, cluster: Cluster, terms: PodTerms, matcher: TermMatcher, args: InterPodAffinityArgs) -> None:
        self._nodes = cluster.nodes
        self._kinds = cluster.kinds
        self._terms = terms
        self._matcher = matcher
        self._args = args
        self._effects: dict[KindNumber, tuple[Effect, ...]] = {}
        self._matters = KindJudgment(cluster.kinds, self._has_effects, self._related_kinds)
        self._counts = [CountsByKey(cluster.nodes) for _ in range(_FIRST_ANTI + len(terms.required_anti))]
        self.move(cluster.arrivals(self._matters))

    def _related_kinds(self) -> Sequence[KindNumber]:
        """Kinds that the candidate's terms may select, or with terms that may select it."""
        selected_by_own = (self._kinds.selectable(None, term.selector) for term in self._terms.all)
        return sorted(self._kinds.with_terms_selecting(self._matcher.labels).union(*selected_by_own))

    def _has_effects(self, kind: PodKind) -> bool:
        self._effects[kind.number] = effects = tuple(self._effects_of(kind))
        return bool(effects)

    def _effects_of(self, kind: PodKind) -> Iterator[Effect]:
        """Effects that a pod of this kind has on the candidate."""
        own, existing = self._terms, kind.terms or PodTerms()
        selects = self._matcher.is_selected_by

        def matches(*terms: AffinityTerm) -> bool:
            return all(self._matcher.matches(term, kind.namespace, kind.labels) for term in terms)

        yield from (Effect(_EXISTING_ANTI, term.topology_key) for term in existing.required_anti if selects(term))
        for position, term in enumerate(own.required_anti):
            if matches(term):
                yield Effect(_FIRST_ANTI + position, term.topology_key)
        if own.required and matches(*own.required):
            yield from (Effect(_AFFINITY, term.topology_key) for term in own.required)
        prefers = own.preferred or own.preferred_anti or not self._args.ignore_preferred_terms_of_existing_pods
        if not prefers:
            return
        for sign, preferred in ((1, own.preferred), (-1, own.preferred_anti)):
            yield from (Effect(_SCORE, term.topology_key, sign * term.weight) for term in preferred if matches(term))
        if self._args.hard_pod_affinity_weight > 0:
            weight = self._args.hard_pod_affinity_weight
            yield from (Effect(_SCORE, term.topology_key, weight) for term in existing.required if selects(term))
        for sign, preferred in ((1, existing.preferred), (-1, existing.preferred_anti)):
            yield from (Effect(_SCORE, term.topology_key, sign * term.weight) for term in preferred if selects(term))

    def move(self, moves: Moves) -> None:
        matters = self._matters.select(moves.kind)
        if not some(matters):
            return
        moves = moves.select(matters)
        for kind in map(KindNumber, distinct(moves.kind)):
            chosen = moves.kind == kind
            for effect in self._effects[kind]:
                counts = self._counts[effect.counts][effect.topology_key]
                counts.add(moves.node[chosen], moves.by[chosen], effect.weight)

    def move_one(self, kind: KindNumber, node: int, by: int) -> None:
        if self._matters[kind]:
            for effect in self._effects[kind]:
                self._counts[effect.counts][effect.topology_key].add_one(node, by, effect.weight)

    def carry_over(self, cluster: Cluster, moves: Moves) -> Self | None:
        if not cluster.nodes.have_same_labels_as(self._nodes):
            return None
        fork = self.fork()
        fork._nodes = cluster.nodes
        fork.move(moves)
        return fork

    def filter(self, nodes: Positions | None = None) -> Verdicts | None:
        """Judge the candidate's affinity, then its anti-affinity, then that of existing pods."""
        terms, existing_anti = self._terms, self._counts[_EXISTING_ANTI]
        if not (terms.required or terms.required_anti) and existing_anti.is_empty:
            return None
        rows = np.zeros(len(self._nodes) if nodes is None else len(nodes), dtype=np.int32)
        for counts in existing_anti.values():
            rows[counts.counts_at(nodes) > 0] = 3
        for position, term in enumerate(terms.required_anti):
            rows[self._counts[_FIRST_ANTI + position][term.topology_key].counts_at(nodes) > 0] = 2
        if terms.required:
            rows[~self._satisfies_pod_affinity(nodes)] = 1
        return Verdicts(rows, (AFFINITY, ANTI_AFFINITY, EXISTING_ANTI_AFFINITY))

    def _satisfies_pod_affinity(self, nodes: Positions | None) -> Mask:
        """Mark nodes in domains that meet every required term.

        When no pod anywhere meets them, the first of a group may go wherever the keys exist, if it meets them itself.
        """
        required, counts = self._terms.required, self._counts[_AFFINITY]
        present = [self._nodes.label(term.topology_key).present for term in required]
        satisfied: Mask = np.logical_and.reduce(present if nodes is None else [column[nodes] for column in present])
        if counts.is_empty and self._matcher.matches_itself(required):
            return satisfied
        for term in required:
            satisfied = satisfied & (counts[term.topology_key].counts_at(nodes) > 0)
        return satisfied

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """Unmet terms of the filter's one reason for each node."""
        judged = self.filter(nodes)
        if judged is None:
            return super().causes(cluster, nodes)
        # The candidate's own anti-affinity terms, and existing pods' terms that select it.
        own_anti = (
            self._anti_affinity_details(cluster, nodes, _FIRST_ANTI + position, term.topology_key, own=term)
            for position, term in enumerate(self._terms.required_anti)
        )
        others = (
            self._anti_affinity_details(cluster, nodes, _EXISTING_ANTI, key) for key in self._counts[_EXISTING_ANTI]
        )
        by_reason = (
            (1, self._affinity_details(nodes)),
            (2, chain.from_iterable(own_anti)),
            (3, chain.from_iterable(others)),
        )
        rows = judged.rows.tolist()
        return per_node(
            len(nodes),
            ((place, cause) for reason, causes in by_reason for place, cause in causes if rows[place] == reason),
        )

    def _affinity_details(self, nodes: Positions) -> Iterator[tuple[int, PodAffinityDetail]]:
        required, counts = self._terms.required, self._counts[_AFFINITY]
        is_first = counts.is_empty and self._matcher.matches_itself(required)
        for term in required:
            column = self._nodes.label(term.topology_key)
            is_unmet = column.absent[nodes] | (counts[term.topology_key].counts_at(nodes) == 0) & (not is_first)
            reach = _reach(term)
            of_domain = [PodAffinityDetail(term.topology_key, domain, *reach) for domain in (*column.values, None)]
            codes = column.codes[nodes].tolist()
            yield from ((place, of_domain[codes[place]]) for place in np.flatnonzero(is_unmet).tolist())

    def _term_against(self, kind: PodKind, key: str) -> AffinityTerm:
        """First anti-affinity term over ``key`` of pods of the kind that selects the candidate."""
        existing = (kind.terms or PodTerms()).required_anti
        return next(term for term in existing if term.topology_key == key and self._matcher.is_selected_by(term))

    def _anti_affinity_details(
        self, cluster: Cluster, nodes: Positions, counts: int, key: str, own: AffinityTerm | None = None
    ) -> Iterator[tuple[int, PodAntiAffinityDetail]]:
        """Yield a detail per node with counted pods in its domain, naming the first of these pods."""
        column, running = self._nodes.label(key), cluster.running
        kinds = (
            number for number, effects in self._effects.items() if (counts, key) in {effect[:2] for effect in effects}
        )
        counted = running.places_of(kinds)
        domain_counts = self._counts[counts][key].counts_at()
        of_domain = {}
        for code, first in zip(*np.unique(column.codes[running.node[counted]], return_index=True), strict=True):
            pod = counted.item(first)
            node = running.node.item(pod)
            term = own or self._term_against(self._kinds[running.kind_of(pod)], key)
            pod_name, pods = name_of(running.pods[pod]), domain_counts.item(node)
            if code >= 0 and pods > 0:
                of_domain[int(code)] = PodAntiAffinityDetail(
                    key, column.values[code], *_reach(term), pod_name, self._nodes.names[node], pods, own is None
                )
        for place, code in enumerate(column.codes[nodes].tolist()):
            if code in of_domain:
                yield place, of_domain[code]

    def score(self, feasible: Mask) -> Counts | None:
        preferences = self._counts[_SCORE]
        if preferences.is_empty:
            return None
        raw = np.zeros(len(self._nodes), dtype=np.int64)
        for counts in preferences.values():
            raw += counts.counts_at()
        return raw

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        fitting = raw[feasible]
        return least(fitting), greatest(fitting)

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """Stretch scores to 0..100 between the feasible extremes, dividing before multiplying, as Go does."""
        least, greatest = extent
        if least == greatest:
            return np.zeros(len(raw), dtype=np.int64)
        stretched: Counts = (
            float(MAX_NODE_SCORE) * ((raw - least).astype(np.float64) / float(greatest - least))
        ).astype(np.int64)
        return stretched


def _reach(term: AffinityTerm) -> tuple[str, tuple[str, ...], str | None]:
    """Selector of pods, namespaces, and selector of further namespaces of a term, as texts."""
    further = None if term.namespace_selector.nothing else str(term.namespace_selector)
    return str(term.selector), term.namespaces, further


INTER_POD_AFFINITY = Specification(
    name=InterPodAffinity.name,
    points=JUDGES | RANKS,
    make=lambda setting: InterPodAffinity(
        read_as(InterPodAffinityArgs, setting.args), is_pre_filtering=Point.PRE_FILTER in setting.points
    ),
    args=InterPodAffinityArgs,
    weight=2,
)


class CountsByKey(dict[str, DomainCounts]):
    """Counts over the domains of several topology keys, each made on first use."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def __missing__(self, topology_key: str) -> DomainCounts:
        column = self._nodes.label(topology_key)
        counts = self[topology_key] = DomainCounts(column.codes, len(column.values))
        return counts

    def fork(self) -> CountsByKey:
        """Copy with counts that move separately."""
        fork = CountsByKey(self._nodes)
        fork.update((key, counts.fork()) for key, counts in self.items())
        return fork

    @property
    def is_empty(self) -> bool:
        """True if no pod counts for any key."""
        return all(counts.is_empty for counts in self.values())


class TermMatcher:
    """Matcher between the candidate's and existing pods' terms, with the labels of namespaces."""

    def __init__(self, objects: ClusterObjects, pod: Pod) -> None:
        self._pod, self._objects = pod, objects
        own = objects.find(Namespace, pod.metadata.namespace)
        self._namespace_labels: Labels = {} if own is None else own.metadata.labels

    @property
    def labels(self) -> Labels:
        return self._pod.metadata.labels

    def matches(self, term: AffinityTerm, namespace: str, labels: Labels) -> bool:
        """True if a term of the candidate matches a pod.

        Namespaces are looked up beforehand, and the scheduler then applies the namespace selector once more, to an
        empty label set: a selector made only of NotIn and DoesNotExist reaches every namespace.
        """
        if not term.namespace_selector.matches({}) and namespace not in term.namespaces:
            named = self._objects.find(Namespace, namespace)
            if named is None or not term.namespace_selector.matches(named.metadata.labels):
                return False
        return term.selector.matches(labels)

    def matches_itself(self, terms: Iterable[AffinityTerm]) -> bool:
        """True if the candidate matches its own ``terms``."""
        meta = self._pod.metadata
        return all(self.matches(term, meta.namespace, meta.labels) for term in terms)

    def is_selected_by(self, term: AffinityTerm) -> bool:
        """True if an existing pod's term matches the candidate."""
        meta = self._pod.metadata
        return term.matches(meta.namespace, self._namespace_labels, meta.labels)
