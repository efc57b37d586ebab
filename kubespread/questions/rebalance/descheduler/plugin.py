"""The descheduler on a cluster: which pods RemovePodsViolatingTopologySpreadConstraint evicts, cycle by cycle.

Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, Balance
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, Filter
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import chain, groupby

import msgspec
import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.disruption import LET_THROUGH, selector_of
from kubespread.errors import UsageError
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    PriorityClass,
)
from kubespread.kube.api.core import Namespace, Pod, PodAffinityTerm, TopologySpreadConstraint
from kubespread.kube.gotext import quote
from kubespread.kube.owners import NamespacedName, is_terminating, moment, priority_of
from kubespread.kube.pod_requests import pod_requests
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
from kubespread.questions.rebalance.descheduler import policy as policies
from kubespread.questions.rebalance.goals import Attempt
from kubespread.questions.rebalance.report import DeschedulerReport, DeschedulerRound, StayingPods
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.columns import ABSENT, Mask
from kubespread.scheduler.cluster.nodes import Nodes, everywhere, matches_required_node_affinity, tolerated
from kubespread.world.events.world import World
from kubespread.world.store.happenings import EVICTED
from kubespread.world.store.pod_book import key_of

_PODS, _CPU = "pods", "cpu"
_Placed = tuple[Pod, int]
"""A pod and its node's position."""


class View:
    """What the descheduler sees of a cluster when a cycle begins.

    Which nodes it believes would accept a pod: it checks less than kube-scheduler does. Pods to be evicted still take
    their room. What depends on parts that pods of one template share is known by the identities of these.

    Source: descheduler v0.36: pkg/descheduler/node/node.go, NodeFit, PodFitsAnyOtherNode
    """

    def __init__(self, nodes: Nodes, pods: Sequence[Pod], objects: ClusterObjects, time: datetime) -> None:
        self.nodes, self.pods, self.objects, self.time = nodes, pods, objects, time
        self._requests: dict[tuple[int, ...], dict[str, int]] = {}
        self._free: dict[str, list[int]] = {}
        self._admitting: dict[tuple[int, ...], Mask] = {}
        self._repelling: dict[tuple[str, int], Mapping[int, set[str]]] = {}

    @cached_property
    def running(self) -> Sequence[_Placed]:
        """The pods on nodes that have not ended, in listing order: by node, namespace and name."""
        index = self.nodes.index
        placed = [
            (pod, index[pod.spec.node_name])
            for pod in self.pods
            if pod.status.phase not in ENDED_PHASES and pod.spec.node_name in index
        ]
        return sorted(placed, key=lambda item: (item[1], item[0].metadata.namespace, item[0].metadata.name))

    def ready(self, selector: Selector) -> Mask:
        """The ready nodes that ``selector`` matches. One that says nothing of its readiness counts as ready, and
        neither cordons nor taints matter.
        """
        ready = [
            selector.matches(node.metadata.labels)
            and all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)
            for node in self.nodes.objects
        ]
        return np.array(ready, dtype=np.bool_)

    def fits_other(self, pod: Pod, among: Mask) -> bool:
        """Whether some node of ``among`` other than the pod's own would accept it.

        Spreading, ports and volumes are not checked, nor pods' affinity and other pods' anti-affinity.
        """
        fitting = self._admits(pod) & among
        own = self.nodes.index.get(pod.spec.node_name)
        if own is not None:
            fitting[own] = False
        affinity = pod.spec.affinity
        if affinity is None or affinity.pod_anti_affinity is None:
            return bool(fitting.any())
        terms = affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
        return any(not self._is_repelled(pod, terms, node) for node in np.flatnonzero(fitting).tolist())

    def _admits(self, pod: Pod) -> Mask:
        """Nodes that are not cordoned, and whose labels, taints and room suit the pod."""
        spec, nodes = pod.spec, self.nodes
        key = (*_requesting(pod), id(spec.node_selector), id(spec.affinity), id(spec.tolerations))
        if key not in self._admitting:
            admits = matches_required_node_affinity(nodes, pod) & tolerated(nodes, pod, compares=False)
            admits &= ~nodes.unschedulable
            # One free pod slot is enough for the pod itself.
            for name, nano in {**self._requested(pod), _PODS: NANO}.items():
                amount = _units(name, nano)
                admits &= np.array([amount <= free for free in self._free_of(name)], dtype=np.bool_)
            self._admitting[key] = admits
        return self._admitting[key]

    def _requested(self, pod: Pod) -> dict[str, int]:
        """In billionths."""
        key = _requesting(pod)
        if key not in self._requests:
            self._requests[key] = {name: amount.nano for name, amount in pod_requests(pod).items()}
        return self._requests[key]

    def _free_of(self, name: str) -> list[int]:
        """What is left of a resource on each node; 0 where a node does not have it."""
        if name not in self._free:
            has = [parse(node.status.allocatable.get(name, 0)).nano for node in self.nodes.objects]
            pairs = zip(has, self._used[name], strict=True)
            self._free[name] = [_units(name, mine) - _units(name, taken) for mine, taken in pairs]
        return self._free[name]

    @cached_property
    def _used(self) -> Mapping[str, list[int]]:
        """What the pods of each node request, in billionths; each is one pod."""
        used: dict[str, list[int]] = defaultdict(lambda: [0] * len(self.nodes))
        for pod, node in self.running:
            for name, nano in {**self._requested(pod), _PODS: NANO}.items():
                used[name][node] += nano
        return used

    def _is_repelled(self, pod: Pod, terms: Sequence[PodAffinityTerm], node: int) -> bool:
        """Whether some pod on the node matches the anti-affinity of ``pod``."""
        own, labels = {pod.metadata.name}, self.nodes.objects[node].metadata.labels
        return any(
            term.topology_key in labels and not self._matching(pod, term).get(node, own) <= own for term in terms
        )

    def _matching(self, pod: Pod, term: PodAffinityTerm) -> Mapping[int, set[str]]:
        """The names of the pods that the term matches, by node; its namespaceSelector is not read."""
        key = pod.metadata.namespace, id(term)
        if key not in self._repelling:
            namespaces, matching = term.namespaces or [pod.metadata.namespace], dict[int, set[str]]()
            try:
                selector = from_label_selector(term.label_selector)
            except SelectorError:
                selector = Selector(nothing=True)
            for other, node in self.running:
                if other.metadata.namespace in namespaces and selector.matches(other.metadata.labels):
                    matching.setdefault(node, set()).add(other.metadata.name)
            self._repelling[key] = matching
        return self._repelling[key]


def _requesting(pod: Pod) -> tuple[int, ...]:
    """The parts of a spec that determine requests."""
    spec = pod.spec
    return id(spec.containers), id(spec.init_containers), id(spec.resources), id(spec.overhead)


def _units(name: str, nano: int) -> int:
    """Milli-units of cpu and whole units of everything else, rounded up."""
    return -(-nano // (NANO // 1000 if name == _CPU else NANO))


SYSTEM_CRITICAL_PRIORITY = 2_000_000_000

_Rule = Callable[[Pod], bool]
_OF_THE_POD: Mapping[str, _Rule] = {
    policies.LOCAL_STORAGE: lambda pod: any(volume.is_local for volume in pod.spec.volumes),
    policies.DAEMON_SET_PODS: lambda pod: any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references),
    policies.RESOURCE_CLAIMS: lambda pod: bool(pod.spec.resource_claims),
}
"""The protections that ask for nothing but the pod."""


class Protections:
    """Which pods of one cluster the evictor may not evict, by its arguments."""

    def __init__(self, view: View, args: policies.EvictorArgs) -> None:
        """Raises UsageError for a missing priority class."""
        self._view, self._args = view, args
        self._threshold = args.priority_threshold
        if args.priority_class:
            priority_class = view.objects.named(PriorityClass, args.priority_class)
            if priority_class is None:
                name = quote(args.priority_class)
                raise UsageError(f"the descheduler policy's priorityThreshold: priorityclass {name} not found")
            self._threshold = priority_class.value
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

    def _enabled(self) -> Iterator[tuple[str, _Rule]]:
        """In the order in which the evictor looks at them."""
        on, args = self._args.protections, self._args
        if policies.SYSTEM_CRITICAL in on:
            yield policies.SYSTEM_CRITICAL, self._is_important
        if policies.FAILED_BARE in on:
            yield policies.FAILED_BARE, lambda pod: not pod.metadata.owner_references
        else:
            yield "bare pod", lambda pod: not pod.metadata.owner_references and pod.status.phase != "Failed"
        yield from (
            (name, _OF_THE_POD[name]) for name in (policies.LOCAL_STORAGE, policies.DAEMON_SET_PODS) if name in on
        )
        if policies.WITH_PVC in on:
            yield policies.WITH_PVC, self._has_protected_claim
        if policies.WITHOUT_PDB in on:
            yield policies.WITHOUT_PDB, self._has_no_budget
        if policies.RESOURCE_CLAIMS in on:
            yield policies.RESOURCE_CLAIMS, _OF_THE_POD[policies.RESOURCE_CLAIMS]
        if not args.label_selector.is_empty:
            yield "labelSelector", lambda pod: not args.label_selector.matches(pod.metadata.labels)
        if args.min_replicas > 1:
            siblings = Counter(owner.uid for pod in self._view.pods for owner in pod.metadata.owner_references)
            yield (
                "minReplicas",
                lambda pod: (
                    len(owners := pod.metadata.owner_references) == 1 and siblings[owners[0].uid] < args.min_replicas
                ),
            )
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
        claims = self._view.objects.of(PersistentVolumeClaim)
        return {(claim.metadata.namespace, claim.metadata.name): claim.spec.storage_class_name for claim in claims}

    def _has_no_budget(self, pod: Pod) -> bool:
        namespace, labels = pod.metadata.namespace, pod.metadata.labels
        return not any(namespace == own and selector.matches(labels) for own, selector in self._budgets)

    @cached_property
    def _budgets(self) -> list[tuple[str, Selector]]:
        budgets = self._view.objects.of(PodDisruptionBudget)
        return [(budget.metadata.namespace, selector_of(budget)) for budget in budgets]

    def _is_young(self, pod: Pod) -> bool:
        """A pod without a start time counts as young."""
        started = moment(pod, "status.startTime", pod.status.start_time)
        return started is None or (self._view.time - started).total_seconds() * 1e9 < self._args.min_pod_age


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
    """The tolerations of its pods, encoded; empty where they do not matter."""

    def eligible(self, nodes: Nodes, pod: Pod) -> Mask:
        """Nodes that pass the inclusion policies for ``pod``, one of those that have the constraint."""
        passing = matches_required_node_affinity(nodes, pod) if self.honors_affinity else everywhere(nodes)
        return passing & tolerated(nodes, pod, compares=False) if self.honors_taints else passing


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


_INSERTION_SORTED = 12
"""Up to this many elements, Go's sort is an insertion sort."""


def balance(
    domains: Mapping[str, Sequence[Pod]], max_skew: int, fits: Callable[[Pod], bool], *, asks: bool
) -> list[Pod]:
    """Take pods from large domains until sizes are within ``max_skew`` of each other or meet at the average.

    ``fits`` says whether a node of a domain below the average would take a pod; with ``asks`` those that fit nowhere
    stay, though they count as moved. Which of several equal domains gives is arbitrary; here it is the last by name.
    """
    taken, sizes = list[Pod](), list(map(len, domains.values()))
    if skew_between(sizes) <= max_skew:
        return taken
    values = sorted(domains, key=lambda value: (len(domains[value]), value))
    sorted_domains = [in_eviction_order(domains[value]) for value in values]
    average = float(sum(sizes)) / float(len(sizes))
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
        taken += (pod for pod in out if not asks or fits(pod))
        sorted_domains[high] = giving[:-move]
        sorted_domains[low] = [*sorted_domains[low], *out]
    return taken


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
    if len(pods) > _INSERTION_SORTED:
        # Go's order depends on its sort's internals here; equal pods are reversed as below.
        ordered = list(reversed(pods))
        ordered.sort(key=lambda pod: (not _selects_nodes(pod), pod.spec.priority is not None, priority_of(pod)))
        return ordered
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


class Chosen(Struct, frozen=True):
    """What one profile would evict, before limits and budgets."""

    pods: Sequence[Pod] = ()
    """By namespace and name."""
    spreads: Sequence[SpreadTuple] = ()
    """Every constraint it processed."""


def choose(view: View, policy: policies.Policy, profile: policies.Profile) -> Chosen:
    """What the plugin chooses with the arguments of one profile; nothing in a cluster of fewer than two ready nodes.

    Constraints are looked at one after another, and none knows what was chosen for those before. Raises UsageError.
    """
    included = view.ready(policy.node_selector)
    if np.count_nonzero(included) < 2:
        return Chosen()
    spreads, chosen = list[SpreadTuple](), dict[tuple[str, str], Pod]()
    for _, group in groupby(candidates(view, profile, included), key=lambda pair: pair[0].metadata.namespace):
        placed = list(group)
        counted = _Counted([pair for pair in placed if not is_terminating(pair[0])])
        for spread, pod in spread_tuples((pod for pod, _ in placed), profile.plugin.constraints):
            spreads.append(spread)
            eligible = spread.eligible(view.nodes, pod) & included
            taken = _taken(view, spread, counted.by(spread.selector), eligible, asks=profile.plugin.node_fit)
            chosen.update({(pod.metadata.namespace, pod.metadata.name): pod for pod in taken})
    return Chosen([chosen[key] for key in sorted(chosen)], spreads)


def candidates(view: View, profile: policies.Profile, included: Mask) -> Iterable[_Placed]:
    """The pods that may be evicted, namespace by namespace, each in listing order. No other pod is even counted."""
    protections, plugin = Protections(view, profile.evictor), profile.plugin
    listed = (
        (pod, node)
        for pod, node in view.running
        if included[node]
        and plugin.allows(pod.metadata.namespace)
        and plugin.label_selector.matches(pod.metadata.labels)
        and protections.reason(pod) is None
    )
    return sorted(listed, key=lambda pair: pair[0].metadata.namespace)


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


def _taken(view: View, spread: SpreadTuple, placed: Sequence[_Placed], eligible: Mask, *, asks: bool) -> list[Pod]:
    """The pods that balancing one constraint takes. Their nodes need not be eligible: a pod there makes a domain of its
    own.
    """
    column = view.nodes.label(spread.topology_key)
    codes = np.unique(column.codes[eligible]).tolist()
    domains: dict[str, list[Pod]] = {column.values[code]: [] for code in codes if code != ABSENT}
    for pod, node in placed:
        if (code := column.codes.item(node)) != ABSENT:
            domains.setdefault(column.values[code], []).append(pod)
    average = sum(map(len, domains.values())) / max(1, len(domains))
    small = [column.index[value] for value, pods in domains.items() if len(pods) < average]
    below = eligible & np.isin(column.codes, small)
    return balance(domains, spread.max_skew, lambda pod: view.fits_other(pod, below), asks=asks)


# A cycle of the descheduler: the pods that its profiles choose, evicted as far as limits and budgets allow.
#
# Source: descheduler v0.36: pkg/descheduler/evictions/evictions.go, NewPodEvictor, EvictPod
# Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/defaultevictor.go, PreEvictionFilter


class Cycle(Struct):
    """The evictions of one cycle so far, by all profiles."""

    limits: policies.Limits
    evicted: list[Pod] = field(default_factory=list)
    held: list[tuple[Pod, str]] = field(default_factory=list)
    """Pods that were chosen and stay, and why."""
    _of_node: Counter[str] = field(default_factory=Counter)
    _of_namespace: Counter[str] = field(default_factory=Counter)

    def evict(self, view: View, chosen: Chosen, args: policies.EvictorArgs, request: Callable[[Pod], bool]) -> None:
        """Evict what one profile chose, by namespace and name; ``request`` asks the API server.

        The descheduler's own order is arbitrary.
        """
        # The policy's own node selector is not applied here.
        nodes, selector = view.ready(args.node_selector), args.namespace_selector
        every = () if selector.is_empty else view.objects.of(Namespace)
        namespaces = {each.metadata.name for each in every if selector.matches(each.metadata.labels)}
        for pod in chosen.pods:
            if args.node_fit and not view.fits_other(pod, nodes):
                why: str | None = "fits no other node"
            elif not selector.is_empty and pod.metadata.namespace not in namespaces:
                why = "namespaceLabelSelector"
            else:
                why = self._limit(pod) if pod.metadata.uid else "no UID"
            if why is None and request(pod):
                self.evicted.append(pod)
                self._of_node[pod.spec.node_name] += 1
                self._of_namespace[pod.metadata.namespace] += 1
            else:
                self.held.append((pod, why or "refused by a budget"))

    def _limit(self, pod: Pod) -> str | None:
        limits = self.limits
        counts = (
            ("total limit", limits.total, len(self.evicted)),
            ("node limit", limits.per_node, self._of_node[pod.spec.node_name]),
            ("namespace limit", limits.per_namespace, self._of_namespace[pod.metadata.namespace]),
        )
        return next((name for name, most, number in counts if most is not None and number >= most), None)


MAX_ROUNDS = 20


def played(start: Attempt, policy: policies.Policy, name: str) -> DeschedulerReport:
    """What the descheduler does with ``policy``, named ``name``, until nothing changes. Raises UsageError."""
    attempt = start.fork()
    seen = {_state(attempt.world): 0}
    rounds: list[DeschedulerRound] = []
    repeats: int | None = None
    while len(rounds) < MAX_ROUNDS and repeats is None:
        cycle = _cycle(attempt.world, policy)
        attempt.world.settle()
        attempt.count(attempt.world.next_step())
        rounds.append(_round(attempt, cycle, len(rounds) + 1))
        if not cycle.evicted:
            break
        repeats = seen.get(_state(attempt.world))
        seen[_state(attempt.world)] = len(rounds)
    return DeschedulerReport(
        policy=name,
        rounds=tuple(rounds),
        evictions=sum(len(one.evicted) for one in rounds),
        settles=not rounds[-1].evicted,
        repeats=repeats,
        holds=not attempt.violated,
        not_modelled=tuple(_not_modelled(policy)),
    )


def _cycle(world: World, policy: policies.Policy) -> Cycle:
    """One cycle: all evictions first, as the descheduler does not wait for replacements."""
    cycle = Cycle(policy.limits)

    def request(pod: Pod) -> bool:
        current = world.book[key_of(pod)]
        if world.budgets.evict(current, world.time).code != LET_THROUGH:
            return False
        world.delete([current], EVICTED)
        return True

    for profile in policy.profiles:
        pods = [_identified(pod) for pod in world.book]
        view = View(world.living.nodes, pods, world.workloads.objects, world.time)
        cycle.evict(view, choose(view, policy, profile), profile.evictor, request)
    return cycle


def _identified(pod: Pod) -> Pod:
    """The pod with a UID, as every stored pod has one: without it the descheduler evicts nothing."""
    if pod.metadata.uid:
        return pod
    return replace(pod, metadata=replace(pod.metadata, uid=str(NamespacedName.of(pod))))


def _round(attempt: Attempt, cycle: Cycle, number: int) -> DeschedulerRound:
    held = Counter(why for _, why in cycle.held)
    return DeschedulerRound(
        number=number,
        evicted=tuple(map(NamespacedName.of, cycle.evicted)),
        held=tuple(StayingPods(why=why, pods=held[why]) for why in sorted(held)),
        pending=len(attempt.world.queue.waiting),
        violated=attempt.violated,
    )


def _state(world: World) -> frozenset[tuple[object, int]]:
    """How many pods of each owner are on each node: all that the descheduler and the scheduler depend on."""
    return frozenset(Counter((world.book.owner_of(pod), pod.spec.node_name) for pod in world.book).items())


def _not_modelled(policy: policies.Policy) -> Iterator[str]:
    yield "the descheduler's order among equal pods and equal domains, which is arbitrary: here by name"
    yield "its interval, and back-off and retries of evictions"
    if policy.other_plugins:
        yield f"other plugins that the policy enables: {', '.join(policy.other_plugins)}"
