"""Pod kinds: specs that thousands of pods have in common, each parsed once and identified by a number.

Two pods are of one kind if they are equal in everything that scheduling reads. The pods of a snapshot share their
parts, so parts are compared by identity: the same template met twice may become two kinds, which costs time and changes
nothing. Affinity terms, parsed, and the namespaces they reach.

Source: staging/src/k8s.io/kube-scheduler/framework/types.go, AffinityTerm
Source: pkg/scheduler/framework/plugins/interpodaffinity/plugin.go, mergeAffinityTermNamespacesIfNotEmpty,
    GetNamespaceLabelsSnapshot
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NewType, TypeVar

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod, PodAffinity, PodAffinityTerm, PodStatus, Volume
from kubespread.kube.owners import priority_of
from kubespread.kube.pod_requests import RESIZE_PENDING, is_sidecar
from kubespread.kube.selector import Selector, SelectorError, from_label_selector
from kubespread.scheduler.cluster.columns import Codes, Mask, distinct, requests_of, shallow, some
from kubespread.scheduler.cluster.memo import Results
from kubespread.scheduler.cluster.storage_index import ClaimKey, claim_name, claim_names

Labels = Mapping[str, str]
KindNumber = NewType("KindNumber", int)
"""Index of a kind in its table, as opposed to a position of a node."""


class AffinityTerm(Struct, frozen=True):
    """One affinity term of one pod. ``namespaces`` default to the pod's; required terms have no weight."""

    topology_key: str
    selector: Selector
    namespaces: tuple[str, ...]
    namespace_selector: Selector
    weight: int = 0

    def matches(self, namespace: str, namespace_labels: Labels, labels: Labels) -> bool:
        """True if the term selects a pod with ``labels`` in this namespace."""
        reached = namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        return reached and self.selector.matches(labels)


class PodTerms(Struct, frozen=True):
    """The four lists of terms of one pod."""

    required: tuple[AffinityTerm, ...] = ()
    required_anti: tuple[AffinityTerm, ...] = ()
    preferred: tuple[AffinityTerm, ...] = ()
    preferred_anti: tuple[AffinityTerm, ...] = ()

    @property
    def all(self) -> list[AffinityTerm]:
        return [*self.required, *self.required_anti, *self.preferred, *self.preferred_anti]


class MalformedTermsError(Exception):
    """A list of the candidate's terms cannot be parsed; the text is kube-scheduler's."""


def candidate_terms(pod: Pod) -> PodTerms:
    """Terms of the candidate. Raises MalformedTermsError with the first fault of each list."""
    parsed: dict[str, tuple[AffinityTerm, ...]] = {}
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
    """Terms of an existing pod, without lists that have a malformed term."""
    parsed: dict[str, tuple[AffinityTerm, ...]] = {}
    for name, _, terms in _lists(pod):
        try:
            parsed[name] = _parse(terms, pod.metadata.namespace)
        except SelectorError:
            parsed[name] = ()
    return PodTerms(**parsed)


def has_preferences(pod: Pod) -> bool:
    """True if the pod has preferred terms, well-formed or not."""
    return any(terms for name, _, terms in _lists(pod) if name in ("preferred", "preferred_anti"))


WeightedTerms = Sequence[tuple[int, PodAffinityTerm]]


def _lists(pod: Pod) -> list[tuple[str, str, WeightedTerms]]:
    affinity = pod.spec.affinity
    near = (affinity.pod_affinity if affinity is not None else None) or PodAffinity()
    away = (affinity.pod_anti_affinity if affinity is not None else None) or PodAffinity()
    required, required_anti = (
        [(0, term) for term in terms.required_during_scheduling_ignored_during_execution] for terms in (near, away)
    )
    preferred, preferred_anti = (
        [(term.weight, term.pod_affinity_term) for term in terms.preferred_during_scheduling_ignored_during_execution]
        for terms in (near, away)
    )
    return [
        ("required", "requiredAffinityTerms", required),
        ("required_anti", "requiredAntiAffinityTerms", required_anti),
        ("preferred", "preferredAffinityTerms", preferred),
        ("preferred_anti", "preferredAntiAffinityTerms", preferred_anti),
    ]


def _parse(terms: WeightedTerms, namespace: str) -> tuple[AffinityTerm, ...]:
    return tuple(_term(term, namespace, weight) for weight, term in terms)


def _term(term: PodAffinityTerm, namespace: str, weight: int) -> AffinityTerm:
    own_namespace = not term.namespaces and term.namespace_selector is None
    return AffinityTerm(
        topology_key=term.topology_key,
        selector=from_label_selector(term.label_selector),
        namespaces=(namespace,) if own_namespace else tuple(dict.fromkeys(term.namespaces)),
        namespace_selector=from_label_selector(term.namespace_selector),
        weight=weight,
    )


HostPort = tuple[str, str, int]
"""Address, protocol, port."""

ANY_ADDRESS = "0.0.0.0"  # the address of a port that names none


def host_ports(pod: Pod, *, sidecars: bool = True) -> frozenset[HostPort]:
    beside = [container for container in pod.spec.init_containers if is_sidecar(container)] if sidecars else []
    containers = [*pod.spec.containers, *beside]
    return frozenset(
        (port.host_ip or ANY_ADDRESS, port.protocol or "TCP", port.host_port)
        for container in containers
        for port in container.ports
        if port.host_port > 0
    )


T = TypeVar("T")
K = TypeVar("K")
Requests = tuple[Mapping[str, int], Mapping[str, int]]
_UNKNOWN = -1


class PodKind(Struct, frozen=True, dict=True):
    """Everything that scheduling reads of a pod on a node, parsed on first use."""

    number: KindNumber
    pod: Pod
    """One of its pods."""
    table: KindTable

    @property
    def namespace(self) -> str:
        return self.pod.metadata.namespace

    @property
    def labels(self) -> Mapping[str, str]:
        return self.pod.metadata.labels

    @property
    def terminating(self) -> bool:
        return self.pod.metadata.deletion_timestamp is not None

    @cached_property
    def priority(self) -> int:
        return priority_of(self.pod)

    @cached_property
    def requests(self) -> Requests:
        """Requests, and the same with scoring's stand-ins: one object for all kinds with equal requests."""
        spec = self.pod.spec
        read = id(spec.containers), id(spec.init_containers), id(spec.resources), id(spec.overhead)
        amounts = self.table.share("requests", (read, _grants(self.pod.status)), lambda: requests_of(self.pod))
        return self.table.share("amounts", tuple(tuple(requested.items()) for requested in amounts), lambda: amounts)

    @property
    def has_terms(self) -> bool:
        affinity = self.pod.spec.affinity
        return affinity is not None and (affinity.pod_affinity is not None or affinity.pod_anti_affinity is not None)

    @cached_property
    def terms(self) -> PodTerms | None:
        """Pod affinity and anti-affinity terms; None if the pod sets neither field."""
        affinity = self.pod.spec.affinity
        if not self.has_terms:
            return None
        return self.table.share("terms", (self.namespace, id(affinity)), lambda: existing_terms(self.pod))

    @cached_property
    def ports(self) -> frozenset[HostPort]:
        spec = self.pod.spec
        return self.table.share("ports", (id(spec.containers), id(spec.init_containers)), lambda: host_ports(self.pod))

    @cached_property
    def claims(self) -> tuple[ClaimKey, ...]:
        """Claims that the pod's volumes name, one per volume, without the claims of ephemeral volumes."""
        volumes = self.pod.spec.volumes
        return tuple(
            (self.namespace, v.persistent_volume_claim.claim_name)
            for v in volumes
            if v.persistent_volume_claim is not None
        )

    @cached_property
    def inline_volumes(self) -> tuple[Volume, ...]:
        """Volumes that are neither a claim nor created for the pod."""
        return tuple(volume for volume in self.pod.spec.volumes if claim_name(self.pod, volume) is None)


_MOST_RESULTS = 4096


class KindTable:
    """Kinds of pods in one cluster and in all clusters derived from it by changes. It only grows."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, KindNumber] = {}
        self._kinds: list[PodKind] = []
        self._parts: dict[tuple[str, Hashable], Any] = {}
        self._in_namespace: dict[str | None, list[KindNumber]] = {}
        self._by_label: dict[tuple[str | None, str, str], list[KindNumber]] = {}
        """Kinds by namespace and label; under the namespace None, kinds of all namespaces."""
        self._by_selected_label: dict[tuple[str, str] | None, list[KindNumber]] = {}
        """Kinds by the labels that their affinity terms select; under None if a term requires no label."""
        self._indexed = 0
        """Number of the kinds with terms in that index."""
        self._results: dict[int, tuple[Pod, Results]] = {}
        self.with_terms: list[KindNumber] = []
        """Kinds of pods with affinity terms."""
        self.with_ephemeral: list[KindNumber] = []
        """Kinds of pods with ephemeral volumes."""
        self._using: dict[ClaimKey, list[KindNumber]] = {}
        self.lowest_priority = 0
        """No pod of any kind has a lower one."""

    def __len__(self) -> int:
        return len(self._kinds)

    def __getitem__(self, number: KindNumber) -> PodKind:
        return self._kinds[number]

    def fork(self) -> KindTable:
        """Copy for clusters that continue separately, so that kinds of their pods are not added here."""
        other = shallow(self)
        # Cached judgments refer to the table, which would add later kinds too.
        other._numbers, other._kinds, other._parts = dict(self._numbers), list(self._kinds), {}
        other._in_namespace, other._by_label = _copy_lists(self._in_namespace), _copy_lists(self._by_label)
        other._by_selected_label, other._using = _copy_lists(self._by_selected_label), _copy_lists(self._using)
        other._results, other.with_terms, other.with_ephemeral = {}, list(self.with_terms), list(self.with_ephemeral)
        return other

    def number_of(self, pod: Pod) -> KindNumber:
        """Number of the pod's kind, which is added if it is new."""
        key = _identity(pod)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = KindNumber(len(self._kinds))
            self._kinds.append(PodKind(number, pod, self))
            self._enter(self._kinds[number])
        return number

    def results_of(self, pod: Pod) -> Results:
        """Cached results that depend on ``pod`` alone."""
        cached = self._results.get(id(pod))
        if cached is None or cached[0] is not pod:
            if len(self._results) >= _MOST_RESULTS:
                self._results.clear()
            cached = self._results[id(pod)] = (pod, Results())
        return cached[1]

    def _enter(self, kind: PodKind) -> None:
        """Add a kind to the indexes that spare selectors most kinds."""
        for namespace in (kind.namespace, None):
            self._in_namespace.setdefault(namespace, []).append(kind.number)
            for key, value in kind.labels.items():
                self._by_label.setdefault((namespace, key, value), []).append(kind.number)
        if kind.has_terms:
            self.with_terms.append(kind.number)
        self.lowest_priority = min(self.lowest_priority, kind.priority)
        for name in claim_names(kind.pod):
            self._using.setdefault((kind.namespace, name), []).append(kind.number)
        if any(volume.ephemeral is not None for volume in kind.pod.spec.volumes):
            self.with_ephemeral.append(kind.number)

    def users_of(self, claim: ClaimKey) -> Sequence[KindNumber]:
        """Kinds of pods that use a claim."""
        return self._using.get(claim, ())

    def with_terms_selecting(self, labels: Labels) -> set[KindNumber]:
        """Kinds with affinity terms that may select ``labels``; no other kind has one."""
        for number in self.with_terms[self._indexed :]:
            for term in (self[number].terms or PodTerms()).all:
                for label in _label_of(term.selector):
                    self._by_selected_label.setdefault(label, []).append(number)
        self._indexed = len(self.with_terms)
        return set().union(*(self._by_selected_label.get(label, ()) for label in (None, *labels.items())))

    def selectable(self, namespace: str | None, selector: Selector) -> Sequence[KindNumber]:
        """Kinds of a namespace, or of all, that ``selector`` may match, in order; no other kind can."""
        if selector.nothing:
            return ()
        for requirement in selector.requirements:
            if requirement.operator == "In":
                labeled = (self._by_label.get((namespace, requirement.key, value), ()) for value in requirement.values)
                return sorted(set().union(*labeled))
        return self._in_namespace.get(namespace, ())

    @property
    def all(self) -> list[PodKind]:
        return self._kinds

    def share(self, part: str, identity: Hashable, make: Callable[[], T]) -> T:
        """Cached part of pods, or judgment of kinds; ``identity`` holds everything that it depends on."""
        key = (part, identity)
        if key not in self._parts:
            self._parts[key] = make()
        shared: T = self._parts[key]
        return shared


def _copy_lists(lists: Mapping[K, list[KindNumber]]) -> dict[K, list[KindNumber]]:
    return {key: list(numbers) for key, numbers in lists.items()}


def _label_of(selector: Selector) -> Iterable[tuple[str, str] | None]:
    """Labels, one of them on every pod that it matches; None if it requires no value, empty if it matches nothing."""
    if selector.nothing:
        return ()
    requirement = next((requirement for requirement in selector.requirements if requirement.operator == "In"), None)
    return (None,) if requirement is None else [(requirement.key, value) for value in requirement.values]


def _identity(pod: Pod) -> Hashable:
    """Key that distinguishes a pod's kind; kinds keep one of their pods, so no identity is reused."""
    meta, spec = pod.metadata, pod.spec
    named = meta.name if spec.volumes and any(volume.ephemeral is not None for volume in spec.volumes) else ""
    # Claims on devices that are generated for one pod are of no other.
    claims: Hashable = None
    if spec.resource_claims:
        generated = ((status.name, status.resource_claim_name) for status in pod.status.resource_claim_statuses)
        claims = id(spec.resource_claims), *generated
    return (
        meta.namespace,
        id(meta.labels),
        meta.deletion_timestamp is None,
        named,
        id(spec.containers),
        id(spec.init_containers),
        id(spec.volumes),
        id(spec.affinity),
        id(spec.resources),
        id(spec.overhead),
        spec.priority,
        _grants(pod.status),
        claims,
    )


def _grants(status: PodStatus) -> bytes | None:
    """Resources that an in-place resize granted, by text, as each pod has its own status object."""
    reported = status.container_statuses or status.init_container_statuses
    if not (reported or status.resources or status.allocated_resources):
        # Most pods have conditions and nothing else: this runs for every pod that comes or goes.
        for condition in status.conditions:
            if condition.type == RESIZE_PENDING:
                break
        else:
            return None
    containers = [
        container
        for container in (*status.container_statuses, *status.init_container_statuses)
        if container.resources is not None or container.allocated_resources
    ]
    pending = [condition.reason for condition in status.conditions if condition.type == RESIZE_PENDING]
    if not (containers or pending or status.resources or status.allocated_resources):
        return None
    granted = [(container.name, container.resources, container.allocated_resources) for container in containers]
    return msgspec.msgpack.encode((granted, pending, status.resources, status.allocated_resources))


class KindJudgment:
    """Cached predicate on kinds of pods."""

    def __init__(
        self,
        table: KindTable,
        judge: Callable[[PodKind], bool],
        among: Callable[[], Sequence[KindNumber]] | None = None,
    ) -> None:
        """``among`` gives the kinds that may be judged yes, in order; without it all may."""
        self._table = table
        self._judge = judge
        self._among = among
        self._answers = np.empty(0, dtype=np.int8)

    def __getitem__(self, kind: KindNumber) -> bool:
        if kind >= len(self._answers):
            self._grow()
        answer = self._answers.item(kind)
        if answer == _UNKNOWN:
            answer = self._answers[kind] = self._judge(self._table[kind])
        return bool(answer)

    def candidates(self, otherwise: Iterable[KindNumber]) -> Iterable[KindNumber]:
        """Kinds that may be judged yes; ``otherwise`` if all may."""
        return otherwise if self._among is None else self._among()

    def select(self, kinds: Codes) -> Mask:
        """Answer for each of ``kinds``."""
        if len(self._answers) < len(self._table):
            self._grow()
        answers = self._answers[kinds]
        unknown = answers == _UNKNOWN
        if some(unknown):
            for kind in map(KindNumber, distinct(kinds[unknown])):
                self._answers[kind] = self._judge(self._table[kind])
            answers = self._answers[kinds]
        return answers.astype(np.bool_)

    def _grow(self) -> None:
        """Take in the kinds that are new in the table."""
        judged, size = len(self._answers), len(self._table)
        new = np.full(size - judged, _UNKNOWN if self._among is None else 0, dtype=np.int8)
        if self._among is not None:
            among = self._among()
            new[np.array(among[bisect_left(among, judged) :], dtype=np.intp) - judged] = _UNKNOWN
        self._answers = np.concatenate([self._answers, new])
