"""Which pods of the domains of one constraint the descheduler takes away, in its own arithmetic.

Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, balanceDomains,
    sortDomains
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import priority_of
from kubespread.reports.skew import skew_between

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
