"""The constraints that the descheduler balances in a namespace, each once.

Source: descheduler v0.36:
    pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/topologyspreadconstraint.go,
    newTopologySpreadConstraint
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from kubespread.kube.api.core import Pod, TopologySpreadConstraint
from kubespread.kube.node_selector import required_node_selector
from kubespread.kube.selector import Requirement, Selector, SelectorError, from_label_selector
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import everywhere, matches_required_node_affinity, tolerated

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
