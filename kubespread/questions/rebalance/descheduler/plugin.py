"""Which pods RemovePodsViolatingTopologySpreadConstraint would have evicted from a cluster.

Which pods the descheduler's evictor may evict. What the descheduler sees of a cluster when a cycle begins.

Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, Balance
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, Filter
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, groupby

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.controllers.disruption import selector_of
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PriorityClass,
)
from kubespread.kube.api.core import Node, Pod, PodAffinityTerm, TopologySpreadConstraint
from kubespread.kube.gotext import quote
from kubespread.kube.owners import is_terminating, moment, priority_of
from kubespread.kube.pod_requests import Amounts, pod_requests
from kubespread.kube.quantity import NANO, parse
from kubespread.kube.selector import Requirement, Selector, SelectorError, from_label_selector, required_node_selector
from kubespread.kube.well_known import (
    CONFIG_SOURCE,
    DESCHEDULER_EVICT,
    DESCHEDULER_PREFER_NO_EVICTION,
    ENDED_PHASES,
    MIRROR_POD,
    READY,
)
from kubespread.questions.rebalance.descheduler.policy import (
    DAEMON_SET_PODS,
    FAILED_BARE,
    LOCAL_STORAGE,
    RESOURCE_CLAIMS,
    SYSTEM_CRITICAL,
    WITH_PVC,
    WITHOUT_PDB,
    EvictorArgs,
    Policy,
    Profile,
)
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.columns import ABSENT, Mask
from kubespread.scheduler.cluster.nodes import Nodes, everywhere, matches_required_node_affinity, tolerated

# Which nodes the descheduler believes would accept a pod. It checks less than kube-scheduler does.
#
# Source: descheduler v0.36: pkg/descheduler/node/node.go, NodeFit, PodFitsAnyOtherNode


_PODS, _CPU = "pods", "cpu"


class NodeFit:
    """Node fit for pods of one cluster; pods to be evicted still take their room."""

    def __init__(self, nodes: Nodes, pods: Sequence[Pod]) -> None:
        self._nodes = nodes
        self._running = [
            (pod, position)
            for pod in pods
            if pod.status.phase not in ENDED_PHASES and (position := nodes.index.get(pod.spec.node_name)) is not None
        ]
        self._requests: dict[tuple[int, ...], tuple[Pod, Amounts]] = {}
        """By the parts of the spec that say what a pod requests, with a pod that keeps them."""
        self._free: dict[str, list[int]] = {}
        self._masks: dict[tuple[int, ...], tuple[Pod, Mask]] = {}
        self._repelling: dict[tuple[str, int], tuple[PodAffinityTerm, Mapping[int, set[str]]]] = {}

    def fits_other(self, pod: Pod, among: Mask) -> bool:
        """Whether some node of ``among`` other than the pod's own would accept it.

        Spreading, ports and volumes are not checked, nor pods' affinity and other pods' anti-affinity.
        """
        fitting = self._admits(pod) & among
        own = self._nodes.index.get(pod.spec.node_name)
        if own is not None:
            fitting[own] = False
        if not fitting.any():
            return False
        terms = list(_anti_affinity(pod))
        if not terms:
            return True
        return any(not self._is_repelled(pod, terms, node) for node in np.flatnonzero(fitting).tolist())

    def _admits(self, pod: Pod) -> Mask:
        """Nodes that are not cordoned, and whose labels, taints and room suit the pod. Computed once for identical
        pods.
        """
        spec = pod.spec
        key = (*_requesting(pod), id(spec.node_selector), id(spec.affinity), id(spec.tolerations))
        mask = self._masks.get(key)
        if mask is None:
            mask = self._masks[key] = pod, self._judged(pod)
        return mask[1]

    def _judged(self, pod: Pod) -> Mask:
        nodes = self._nodes
        admits = matches_required_node_affinity(nodes, pod) & tolerated(nodes, pod, compares=False)
        admits &= ~nodes.unschedulable
        # One free pod slot is enough for the pod itself.
        requests = {_PODS: 1, **{name: amount for name, amount in self._amounts(pod).items() if name != _PODS}}
        for name, amount in requests.items():
            admits &= np.array([amount <= free for free in self._free_of(name)], dtype=np.bool_)
        return admits

    def _amounts(self, pod: Pod) -> dict[str, int]:
        """Milli-units of cpu and whole units of everything else, rounded up."""
        return {name: _units(name, amount.nano) for name, amount in self._requested(pod).items()}

    def _requested(self, pod: Pod) -> Amounts:
        key = _requesting(pod)
        amounts = self._requests.get(key)
        if amounts is None:
            amounts = self._requests[key] = pod, pod_requests(pod)
        return amounts[1]

    def _free_of(self, name: str) -> list[int]:
        """What is left of a resource on each node; 0 where a node does not have it."""
        if name not in self._free:
            has = [parse(node.status.allocatable.get(name, 0)).nano for node in self._nodes.objects]
            used = self._used_pods if name == _PODS else self._used.get(name, [0] * len(has))
            self._free[name] = [_units(name, mine) - _units(name, taken) for mine, taken in zip(has, used, strict=True)]
        return self._free[name]

    @cached_property
    def _used_pods(self) -> list[int]:
        counts = np.bincount([position for _, position in self._running], minlength=len(self._nodes))
        return [count * NANO for count in counts.tolist()]

    @cached_property
    def _used(self) -> dict[str, list[int]]:
        """What the pods of each node request, exactly."""
        used: dict[str, list[int]] = {}
        for pod, position in self._running:
            for name, amount in self._requested(pod).items():
                if name not in used:
                    used[name] = [0] * len(self._nodes)
                used[name][position] += amount.nano
        return used

    def _is_repelled(self, pod: Pod, terms: Sequence[PodAffinityTerm], node: int) -> bool:
        """Whether some pod on the node matches the anti-affinity of ``pod``."""
        own = {pod.metadata.name}
        labels = self._nodes.objects[node].metadata.labels
        return any(
            term.topology_key in labels and not self._matching(pod, term).get(node, own) <= own for term in terms
        )

    def _matching(self, pod: Pod, term: PodAffinityTerm) -> Mapping[int, set[str]]:
        """The names of the pods that the term matches, by node; its namespaceSelector is not read."""
        key = pod.metadata.namespace, id(term)
        domains = self._repelling.get(key)
        if domains is None:
            domains = self._repelling[key] = term, self._matched(pod.metadata.namespace, term)
        return domains[1]

    def _matched(self, namespace: str, term: PodAffinityTerm) -> Mapping[int, set[str]]:
        try:
            selector = from_label_selector(term.label_selector)
        except SelectorError:
            return {}
        namespaces, domains = term.namespaces or [namespace], dict[int, set[str]]()
        for other, position in self._running:
            if other.metadata.namespace in namespaces and selector.matches(other.metadata.labels):
                domains.setdefault(position, set()).add(other.metadata.name)
        return domains


def _requesting(pod: Pod) -> tuple[int, ...]:
    """The parts of a spec that determine requests; pods of one template share them."""
    spec = pod.spec
    return id(spec.containers), id(spec.init_containers), id(spec.resources), id(spec.overhead)


def _units(name: str, nano: int) -> int:
    unit = NANO // 1000 if name == _CPU else NANO
    return -(-nano // unit)


def _anti_affinity(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    if affinity is not None and affinity.pod_anti_affinity is not None:
        yield from affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution


class View(Struct, frozen=True, dict=True):
    """The nodes and pods of a cluster, beside its other objects."""

    nodes: Nodes
    pods: Sequence[Pod]
    objects: ClusterObjects
    time: datetime

    @cached_property
    def fit(self) -> NodeFit:
        return NodeFit(self.nodes, self.pods)

    @cached_property
    def ready(self) -> tuple[bool, ...]:
        """Per node."""
        return tuple(map(is_ready, self.nodes.objects))


def is_ready(node: Node) -> bool:
    """Whether the descheduler looks at the node: one that says nothing of its readiness counts as ready, and neither
    cordons nor taints matter.
    """
    return all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)


def in_listing_order(view: View, pods: Sequence[Pod]) -> Iterator[tuple[Pod, int]]:
    """Those of ``pods`` on nodes, by node, namespace and name, each with its node's position."""
    position_of = view.nodes.index
    placed = [(position_of[pod.spec.node_name], pod) for pod in pods if pod.spec.node_name in position_of]
    placed.sort(key=lambda item: (item[0], item[1].metadata.namespace, item[1].metadata.name))
    return ((pod, node) for node, pod in placed)


SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

_Rule = Callable[[Pod], bool]


class Protections:
    """The evictor's arguments applied to the pods of one cluster."""

    def __init__(self, view: View, args: EvictorArgs) -> None:
        """Raises UsageError for a missing priority class."""
        self._view, self._args = view, args
        self._threshold = self._priority_threshold()
        self._rules: dict[str, _Rule] = dict(self._enabled())

    def reason(self, pod: Pod) -> str | None:
        """What protects the pod from eviction, None where nothing does."""
        annotations, args = pod.metadata.annotations, self._args
        if DESCHEDULER_EVICT in annotations:
            return None
        if args.heeds_prefer_no_eviction and DESCHEDULER_PREFER_NO_EVICTION in annotations:
            return DESCHEDULER_PREFER_NO_EVICTION
        if MIRROR_POD in annotations or annotations.get(CONFIG_SOURCE, "api") != "api":
            return "static pod"
        if is_terminating(pod):
            return "terminating"
        return next((name for name, protects in self._rules.items() if protects(pod)), None)

    def _priority_threshold(self) -> int | None:
        name = self._args.priority_class
        if not name:
            return self._args.priority_threshold
        priority_class = self._view.objects.named(PriorityClass, name)
        if priority_class is None:
            raise UsageError(f"the descheduler policy's priorityThreshold: priorityclass {quote(name)} not found")
        return priority_class.value

    def _enabled(self) -> Iterator[tuple[str, _Rule]]:
        on, args = self._args.protections, self._args
        if SYSTEM_CRITICAL in on:
            yield SYSTEM_CRITICAL, self._is_important
        yield (FAILED_BARE, _is_bare) if FAILED_BARE in on else ("bare pod", _is_bare_and_works)
        if LOCAL_STORAGE in on:
            yield LOCAL_STORAGE, _has_local_storage
        if DAEMON_SET_PODS in on:
            yield DAEMON_SET_PODS, _is_of_daemon_set
        if WITH_PVC in on:
            yield WITH_PVC, self._has_protected_claim
        if WITHOUT_PDB in on:
            yield WITHOUT_PDB, self._has_no_budget
        if RESOURCE_CLAIMS in on:
            yield RESOURCE_CLAIMS, _has_resource_claims
        if not args.label_selector.is_empty:
            yield "labelSelector", lambda pod: not args.label_selector.matches(pod.metadata.labels)
        if args.min_replicas > 1:
            yield "minReplicas", self._has_few_siblings
        if args.min_pod_age:
            yield "minPodAge", self._is_young

    def _is_important(self, pod: Pod) -> bool:
        priority = pod.spec.priority
        limits = (SYSTEM_CRITICAL_PRIORITY, *(() if self._threshold is None else (self._threshold,)))
        return priority is not None and any(priority >= limit for limit in limits)

    def _has_protected_claim(self, pod: Pod) -> bool:
        claims = [volume.persistent_volume_claim for volume in pod.spec.volumes]
        names = [claim.claim_name for claim in claims if claim is not None]
        protected = self._args.protected_storage_classes
        if not protected:
            return bool(names)
        # A missing claim, or one without a class, protects its pod.
        classes = [self._classes.get((pod.metadata.namespace, name)) or None for name in names]
        return any(name is None or name in protected for name in classes)

    @cached_property
    def _classes(self) -> dict[tuple[str, str], str | None]:
        return {
            (claim.metadata.namespace, claim.metadata.name): claim.spec.storage_class_name
            for claim in self._view.objects.of(PersistentVolumeClaim)
        }

    def _has_no_budget(self, pod: Pod) -> bool:
        return not any(
            namespace == pod.metadata.namespace and selector.matches(pod.metadata.labels)
            for namespace, selector in self._budgets
        )

    @cached_property
    def _budgets(self) -> list[tuple[str, Selector]]:
        return [
            (budget.metadata.namespace, selector_of(budget)) for budget in self._view.objects.of(PodDisruptionBudget)
        ]

    def _has_few_siblings(self, pod: Pod) -> bool:
        owners = pod.metadata.owner_references
        return len(owners) == 1 and self._siblings[owners[0].uid] < self._args.min_replicas

    @cached_property
    def _siblings(self) -> Counter[str]:
        return Counter(owner.uid for pod in self._view.pods for owner in pod.metadata.owner_references)

    def _is_young(self, pod: Pod) -> bool:
        """A pod without a start time counts as young."""
        started = moment(pod, "status.startTime", pod.status.start_time)
        if started is None:
            return True
        return (self._view.time - started).total_seconds() * 1e9 < self._args.min_pod_age


def _is_bare(pod: Pod) -> bool:
    return not pod.metadata.owner_references


def _is_bare_and_works(pod: Pod) -> bool:
    return _is_bare(pod) and pod.status.phase != "Failed"


def _has_local_storage(pod: Pod) -> bool:
    return any(volume.is_local for volume in pod.spec.volumes)


def _is_of_daemon_set(pod: Pod) -> bool:
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references)


def _has_resource_claims(pod: Pod) -> bool:
    return bool(pod.spec.resource_claims)


# The constraints that the descheduler balances in a namespace, each once.
#
# Source: descheduler v0.36:
#     pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go,
#     newTopologySpreadConstraint


_encode = msgspec.msgpack.Encoder().encode


class SpreadTuple(Struct, frozen=True):
    """One constraint as the descheduler knows it: minDomains and whenUnsatisfiable are not part of it."""

    namespace: str
    max_skew: int
    topology_key: str
    selector: Selector
    honors_affinity: bool
    honors_taints: bool
    affinity: bytes
    """The node selector and required node affinity of its pods, encoded; empty where they do not matter."""
    tolerations: bytes
    """The same of tolerations."""


def spread_tuples(pods: Iterable[Pod], enforced: frozenset[str]) -> Iterator[tuple[SpreadTuple, Pod]]:
    """The distinct constraints of the candidates of a namespace in listing order, with the first pod that has each."""
    seen: set[SpreadTuple] = set()
    specs: set[tuple[int, ...]] = set()
    for pod in pods:
        spec = pod.spec
        parts = spec.topology_spread_constraints, spec.node_selector, spec.affinity, spec.tolerations
        alike = (*map(id, parts), id(pod.metadata.labels))
        if alike in specs:
            continue
        specs.add(alike)
        for constraint in spec.topology_spread_constraints:
            if constraint.when_unsatisfiable in enforced:
                made = _tuple(pod, constraint)
                if made is not None and made not in seen:
                    seen.add(made)
                    yield made, pod


def _tuple(pod: Pod, constraint: TopologySpreadConstraint) -> SpreadTuple | None:
    """None where the selector cannot be parsed: the descheduler passes it over."""
    try:
        selector = from_label_selector(constraint.label_selector)
    except SelectorError:
        return None
    labels = pod.metadata.labels
    keys = (Requirement(key, "In", (labels[key],)) for key in constraint.match_label_keys if key in labels)
    requirements = sorted({*selector.requirements, *keys}, key=lambda term: (term.key, term.operator, term.values))
    honors_affinity = constraint.node_affinity_policy in (None, "Honor")
    honors_taints = constraint.node_taints_policy == "Honor"
    required = required_node_selector(pod)
    return SpreadTuple(
        pod.metadata.namespace,
        constraint.max_skew,
        constraint.topology_key,
        Selector(tuple(requirements), selector.nothing),
        honors_affinity,
        honors_taints,
        _encode([sorted(pod.spec.node_selector.items()), required]) if honors_affinity else b"",
        _encode(pod.spec.tolerations) if honors_taints else b"",
    )


def eligible(nodes: Nodes, spread: SpreadTuple, pod: Pod) -> Mask:
    """Nodes that pass the inclusion policies for ``pod``, one of those that have the constraint."""
    passing = matches_required_node_affinity(nodes, pod) if spread.honors_affinity else everywhere(nodes)
    return passing & tolerated(nodes, pod, compares=False) if spread.honors_taints else passing


_INSERTION_SORTED = 12
"""Up to this many elements, Go's sort is an insertion sort."""


class Balanced(Struct, frozen=True):
    """The result for one constraint."""

    before: Mapping[str, int]
    """Pods per domain."""
    believed: Mapping[str, int]
    """The same as the descheduler believes it to be afterwards: skipped pods count as moved."""
    taken: Sequence[Pod] = ()
    skipped: Sequence[Pod] = ()
    """Pods that were chosen and fit no other node."""


def is_balanced(sizes: Sequence[int], max_skew: int) -> bool:
    """Whether the descheduler leaves domains of these sizes alone."""
    return skew_between(sizes) <= max_skew


def balance(
    domains: Mapping[str, Sequence[Pod]], max_skew: int, fits: Callable[[Pod], bool], *, asks: bool
) -> Balanced:
    """Take pods from large domains until sizes are within ``max_skew`` of each other or meet at the average.

    ``fits`` says whether a node of a domain below the average would take a pod; with ``asks`` those that fit nowhere
    stay, though they count as moved. Which of several equal domains gives is arbitrary; here it is the last by name.
    """
    before = {value: len(pods) for value, pods in sorted(domains.items())}
    if is_balanced(list(before.values()), max_skew):
        return Balanced(before, before)
    values = sorted(domains, key=lambda value: (len(domains[value]), value))
    sorted_domains = [in_eviction_order(domains[value]) for value in values]
    average = float(sum(before.values())) / float(len(before))
    taken: list[Pod] = []
    skipped: list[Pod] = []
    low, high = 0, len(sorted_domains) - 1
    while low < high:
        # Once per round; the rest is done even if both are the same domain by then.
        if len(sorted_domains[high]) <= average:
            high -= 1
        move = _moved(len(sorted_domains[high]), len(sorted_domains[low]), average, max_skew)
        if move <= 0:
            low += 1
            continue
        # False comes first, and the sort is stable: pods that fit nowhere else go last.
        giving = sorted(sorted_domains[high], key=fits)
        out = giving[-move:]
        for pod in out:
            (skipped if asks and not fits(pod) else taken).append(pod)
        sorted_domains[high] = giving[:-move]
        sorted_domains[low] = [*sorted_domains[low], *out]
    believed = {value: len(pods) for value, pods in sorted(zip(values, sorted_domains, strict=True))}
    return Balanced(before, believed, taken, skipped)


def _moved(above: int, below: int, average: float, max_skew: int) -> int:
    """How many pods move from a domain of one size to one of the other."""
    skew = above - below
    if skew <= max_skew:
        return 0
    half = math.ceil((skew - max_skew) / 2)
    return min(math.ceil(above - average), math.ceil(average - below), half)


def in_eviction_order(pods: Sequence[Pod]) -> list[Pod]:
    """The pods of a domain, passed in listing order; those at the end go first.

    Pods with a node selector or node affinity go last, the others by priority, the highest first. Two equal priorities
    compare as less than each other, so an insertion sort reverses its input.
    """
    if len(pods) <= _INSERTION_SORTED:
        return _insertion_sorted(pods)
    # Go's order depends on its sort's internals here; equal pods are reversed as above.
    ordered = list(reversed(pods))
    ordered.sort(key=lambda pod: (not _selects_nodes(pod), pod.spec.priority is not None, priority_of(pod)))
    return ordered


def _insertion_sorted(pods: Sequence[Pod]) -> list[Pod]:
    ordered = list(pods)
    for end in range(1, len(ordered)):
        place = end
        while place > 0 and _is_less(ordered[place], ordered[place - 1]):
            ordered[place], ordered[place - 1] = ordered[place - 1], ordered[place]
            place -= 1
    return ordered


def _is_less(one: Pod, other: Pod) -> bool:
    if _selects_nodes(one) != _selects_nodes(other):
        return _selects_nodes(one)
    first, second = one.spec.priority, other.spec.priority
    if first is None or second is None:
        return first is None and second is not None
    return first <= second


def _selects_nodes(pod: Pod) -> bool:
    """Preferred terms count too."""
    affinity = pod.spec.affinity
    return bool(pod.spec.node_selector) or (affinity is not None and affinity.node_affinity is not None)


_Placed = tuple[Pod, int]
"""A pod and its node's position."""


class Chosen(Struct, frozen=True):
    """What one profile would evict, before limits and budgets."""

    pods: Sequence[Pod] = ()
    """By namespace and name."""
    balanced: Sequence[tuple[SpreadTuple, Balanced]] = ()
    """Every constraint it processed."""


def choose(view: View, policy: Policy, profile: Profile) -> Chosen:
    """What the plugin chooses with the arguments of one profile; nothing in a cluster of fewer than two ready nodes.

    Constraints are looked at one after another, and none knows what was chosen for those before. Raises UsageError.
    """
    included = included_nodes(view, policy)
    if np.count_nonzero(included) < 2:
        return Chosen()
    balanced: list[tuple[SpreadTuple, Balanced]] = []
    chosen: dict[tuple[str, str], Pod] = {}
    for _, group in groupby(candidates(view, profile, included), key=lambda pair: pair[0].metadata.namespace):
        placed = list(group)
        counted = _Counted([pair for pair in placed if not is_terminating(pair[0])])
        for spread, pod in spread_tuples((pod for pod, _ in placed), profile.plugin.constraints):
            outcome = _balanced(
                view, spread, counted.by(spread.selector), eligible(view.nodes, spread, pod) & included, profile
            )
            balanced.append((spread, outcome))
            chosen.update({(pod.metadata.namespace, pod.metadata.name): pod for pod in outcome.taken})
    return Chosen([chosen[key] for key in sorted(chosen)], balanced)


def included_nodes(view: View, policy: Policy) -> Mask:
    """The ready nodes that the policy selects."""
    selector = policy.node_selector
    return np.array(
        [
            ready and selector.matches(node.metadata.labels)
            for ready, node in zip(view.ready, view.nodes.objects, strict=True)
        ],
        dtype=np.bool_,
    )


def candidates(view: View, profile: Profile, included: Mask) -> Iterator[_Placed]:
    """The pods that may be evicted, namespace by namespace, each in listing order. No other pod is even counted."""
    protections, plugin = Protections(view, profile.evictor), profile.plugin
    listed = [
        (pod, node)
        for pod, node in in_listing_order(view, view.pods)
        if included[node]
        and plugin.allows(pod.metadata.namespace)
        and pod.status.phase not in ENDED_PHASES
        and plugin.label_selector.matches(pod.metadata.labels)
        and protections.reason(pod) is None
    ]
    listed.sort(key=lambda pair: pair[0].metadata.namespace)
    yield from listed


def _balanced(
    view: View, spread: SpreadTuple, placed: Sequence[_Placed], eligible_nodes: Mask, profile: Profile
) -> Balanced:
    column = view.nodes.label(spread.topology_key)
    domains = _domains(view, spread, placed, eligible_nodes)
    average = sum(map(len, domains.values())) / max(1, len(domains))
    small = [column.index[value] for value, pods in domains.items() if len(pods) < average]
    below = eligible_nodes & np.isin(column.codes, small)

    def fits(pod: Pod) -> bool:
        return view.fit.fits_other(pod, below)

    return balance(domains, spread.max_skew, fits, asks=profile.plugin.node_fit)


class _Counted:
    """The candidates of a namespace that may count. Pods of one template share their labels, and are matched once."""

    def __init__(self, placed: Sequence[_Placed]) -> None:
        self._placed = placed
        self._alike: dict[int, list[int]] = {}
        for place, (pod, _) in enumerate(placed):
            self._alike.setdefault(id(pod.metadata.labels), []).append(place)

    def by(self, selector: Selector) -> Sequence[_Placed]:
        """Those that ``selector`` matches, in listing order."""
        matching = [
            places for places in self._alike.values() if selector.matches(self._placed[places[0]][0].metadata.labels)
        ]
        return [self._placed[place] for place in sorted(chain.from_iterable(matching))]


def _domains(
    view: View, spread: SpreadTuple, placed: Sequence[_Placed], eligible_nodes: Mask
) -> Mapping[str, Sequence[Pod]]:
    """The pods of each domain. Their nodes need not be eligible: a pod there makes a domain of its own."""
    column = view.nodes.label(spread.topology_key)
    codes = column.codes
    domains: dict[str, list[Pod]] = {
        column.values[code]: [] for code in np.unique(codes[eligible_nodes]).tolist() if code != ABSENT
    }
    for pod, node in placed:
        code = codes.item(node)
        if code != ABSENT:
            domains.setdefault(column.values[code], []).append(pod)
    return domains
