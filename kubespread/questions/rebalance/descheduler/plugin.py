"""Which pods RemovePodsViolatingTopologySpreadConstraint would have evicted from a cluster.

Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go, Balance
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, groupby

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import is_terminating
from kubespread.kube.selector import Selector
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.questions.rebalance.descheduler.balancing import Balanced, balance
from kubespread.questions.rebalance.descheduler.constraints import SpreadTuple, eligible, spread_tuples
from kubespread.questions.rebalance.descheduler.policy import Policy, Profile
from kubespread.questions.rebalance.descheduler.protections import Protections
from kubespread.questions.rebalance.descheduler.view import View, in_listing_order
from kubespread.scheduler.cluster.labels import ABSENT, Mask

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
