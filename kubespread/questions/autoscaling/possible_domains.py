"""Topology spread as Karpenter sees it: the minimum is taken over the domains that its pools could make, whether or not
a node of them runs.

Outlined.

Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/topology.go, NewTopology
Source: karpenter v1.14: pkg/controllers/provisioning/scheduling/topologygroup.go, Get, nextDomainTopologySpread,
    domainMinCount
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.node_selector import parse_term, required_node_selector
from kubespread.kube.selector import Requirement, from_map
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.kube.well_known import HOSTNAME
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import ABSENT, Mask
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    Constraint,
    DefaultConstraints,
    NodeInclusion,
    counted_kinds,
    pod_constraints,
)

NO_DEFAULTS = DefaultConstraints("system", ())


class Spread(Struct, frozen=True):
    """One constraint of a pod, and how many matching pods each domain has."""

    constraint: Constraint
    counts: Counter[str]
    """Every domain that is possible."""
    minimum: int

    @property
    def key(self) -> str:
        return self.constraint.topology_key

    def admits(self, domain: str | None) -> bool:
        """Whether the pod may go to ``domain``; a node without the label is none."""
        if domain is None:
            return False
        return self.counts[domain] + self.constraint.self_match - self.minimum <= self.constraint.max_skew

    def nodes(self, cluster: Cluster) -> Mask:
        """The nodes of domains that it admits."""
        column = cluster.nodes.label(self.key)
        answers = [*map(self.admits, column.values), False]
        return np.array(answers, dtype=np.bool_)[column.codes]


def spreads(cluster: Cluster, pod: Pod, templates: Iterable[Node]) -> list[Spread]:
    """The constraints of ``pod``, all treated as hard; the scheduler's defaults are not read."""
    if not pod.spec.topology_spread_constraints:
        return []
    made = list(templates)
    constraints = pod_constraints(pod, NO_DEFAULTS, cluster.objects).constraints
    inclusion = NodeInclusion(cluster.nodes, pod, compares=False)
    return [_spread(cluster, pod, constraint, inclusion, made) for constraint in constraints]


def _spread(
    cluster: Cluster, pod: Pod, constraint: Constraint, inclusion: NodeInclusion, templates: Sequence[Node]
) -> Spread:
    column, eligible = cluster.nodes.label(constraint.topology_key), inclusion.of(constraint)
    counts: Counter[str] = Counter(dict.fromkeys(_possible(pod, constraint, templates), 0))
    counts.update({column.values[code]: 0 for code in set(column.codes[eligible].tolist()) if code != ABSENT})
    arrived = cluster.arrivals(counted_kinds(cluster, constraint, pod.metadata.namespace))
    codes = column.codes[arrived.node[eligible[arrived.node]]]
    counts.update(column.values[code] for code in codes.tolist() if code != ABSENT)
    return Spread(constraint, counts, _minimum(pod, constraint, counts))


def _possible(pod: Pod, constraint: Constraint, templates: Sequence[Node]) -> Iterator[str]:
    """The domains of nodes that could be made; with nodeTaintsPolicy Honor the pod has to tolerate their taints."""
    for node in templates:
        domain = node.metadata.labels.get(constraint.topology_key)
        is_left_out = constraint.honors_taints and untolerated(
            node.spec.taints, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS
        )
        if domain is not None and not is_left_out:
            yield domain


def _minimum(pod: Pod, constraint: Constraint, counts: Counter[str]) -> int:
    """Over the domains that the pod's own requirements allow. A new host is always possible, and is empty."""
    if constraint.topology_key == HOSTNAME:
        return 0
    requirements = list(_requirements(pod, constraint.topology_key))
    allowed = [
        count for domain, count in counts.items() if all(requirement.admits(domain) for requirement in requirements)
    ]
    return 0 if len(allowed) < (constraint.min_domains or 1) else min(allowed)


def _requirements(pod: Pod, key: str) -> Iterator[Requirement]:
    """The pod's requirements on one node label; of several required terms the first."""
    yield from (requirement for requirement in from_map(pod.spec.node_selector).requirements if requirement.key == key)
    required = required_node_selector(pod)
    for term in [] if required is None else required.node_selector_terms[:1]:
        yield from (label for label in parse_term(term).labels if label.key == key)
