"""Which pods RemovePodsViolatingTopologySpreadConstraint would have evicted from a cluster.

Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, Balance
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod, TopologySpreadConstraint
from kubespread.kube.node_selector import required_node_selector
from kubespread.kube.pod_status import is_terminating, priority_of
from kubespread.kube.selector import Requirement, Selector, SelectorError, from_label_selector
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.questions.rebalance.descheduler.policy import Policy, Profile
from kubespread.questions.rebalance.descheduler.protections import Protections
from kubespread.questions.rebalance.descheduler.view import View, in_listing_order
from kubespread.reports.skew import skew_between
from kubespread.scheduler.cluster.labels import ABSENT, Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import everywhere, matches_required_node_affinity, tolerated

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
