"""Which nodes a pod's node selector, node affinity and tolerations admit, as masks over all nodes.

For a single node: which parts of a node selector it does not meet.

Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, GetRequiredNodeAffinity,
    RequiredNodeAffinity
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.kube.api.core import NodeSelector, Pod, Taint, Toleration
from kubespread.kube.selector import NODE_NAME_FIELD, Requirement, Term, from_map, parse_term, required_node_selector
from kubespread.kube.taint import DO_NOT_SCHEDULE_EFFECTS, untolerated
from kubespread.scheduler.cluster.labels import Counts, Mask
from kubespread.scheduler.cluster.nodes import Nodes

T = TypeVar("T")


def everywhere(nodes: Nodes) -> Mask:
    return np.ones(len(nodes), dtype=np.bool_)


def nowhere(nodes: Nodes) -> Mask:
    return np.zeros(len(nodes), dtype=np.bool_)


def matches_requirements(nodes: Nodes, requirements: Iterable[Requirement]) -> Mask:
    """Nodes whose labels satisfy every requirement."""
    return _all(nodes, (nodes.label(requirement.key).admits(requirement) for requirement in requirements))


def matches_labels(nodes: Nodes, labels: Mapping[str, str]) -> Mask:
    """Nodes that carry every entry of a nodeSelector."""
    return matches_requirements(nodes, from_map(labels).requirements)


def matches_term(nodes: Nodes, term: Term) -> Mask:
    """Nodes one term matches; none when the term is malformed or empty."""
    if not term.can_match:
        return nowhere(nodes)
    fields = (_matches_field(nodes, requirement) for requirement in term.fields)
    return _all(nodes, (matches_requirements(nodes, term.labels), *fields))


def matches_node_selector(nodes: Nodes, selector: NodeSelector) -> Mask:
    """Nodes that some term matches; a malformed term only fails itself."""
    matching = nowhere(nodes)
    for term in selector.node_selector_terms:
        matching |= matches_term(nodes, parse_term(term))
    return matching


def matches_required_node_affinity(nodes: Nodes, pod: Pod) -> Mask:
    """Nodes that satisfy the pod's nodeSelector and required node affinity."""
    matching = matches_labels(nodes, pod.spec.node_selector)
    required = required_node_selector(pod)
    return matching if required is None else matching & matches_node_selector(nodes, required)


def tolerated(nodes: Nodes, pod: Pod, *, compares: bool) -> Mask:
    """Nodes whose NoSchedule and NoExecute taints the pod tolerates; ``compares``: the operators Gt and Lt count."""
    untolerated_taints: Mask = (
        count_untolerated(nodes, pod.spec.tolerations, DO_NOT_SCHEDULE_EFFECTS, compares=compares) > 0
    )
    return ~untolerated_taints


def count_untolerated(
    nodes: Nodes, tolerations: Sequence[Toleration], effects: frozenset[str], *, compares: bool
) -> Counts:
    """Per node, how many taints with one of ``effects`` no toleration covers."""
    return per_taint_list(nodes, lambda taints: len(untolerated(taints, tolerations, effects, compares=compares)))


def per_taint_list(nodes: Nodes, judge: Callable[[Sequence[Taint]], int]) -> Counts:
    return nodes.per_taint_list([judge(taints) for taints in nodes.taint_lists])


def _matches_field(nodes: Nodes, requirement: Requirement) -> Mask:
    """The only field is the node's name; any other reads as empty."""
    if requirement.key != NODE_NAME_FIELD:
        return np.full(len(nodes), requirement.admits(""), dtype=np.bool_)
    named = nowhere(nodes)
    position = nodes.index.get(requirement.values[0])
    if position is not None:
        named[position] = True
    return named if requirement.operator == "In" else ~named


class Unmet(Struct, frozen=True):
    """A requirement that a node does not meet."""

    term: int
    """The position of its term."""
    requirement: Requirement
    actual: str | None
    """What the node has; None where it lacks the key."""


def unmet_requirements(terms: Sequence[Term], labels: Mapping[str, str], name: str | None) -> list[Unmet]:
    """The requirements of ORed terms that a node with these labels does not meet; none if some term matches it.

    Terms that can never match are skipped. Without a ``name`` conditions on it count as met.
    """
    failed: list[Unmet] = []
    for position, term in enumerate(terms):
        if not term.can_match:
            continue
        read = [(requirement, labels.get(requirement.key)) for requirement in term.labels]
        if name is not None:
            read += [(field, name if field.key == NODE_NAME_FIELD else "") for field in term.fields]
        unmet = [Unmet(position, requirement, actual) for requirement, actual in read if not requirement.admits(actual)]
        if not unmet:
            return []
        failed += unmet
    return failed


def asked_once_per_alike(columns: Sequence[NDArray[np.integer[Any]]], judge: Callable[[int], T]) -> list[T]:
    """What ``judge`` says of each place, asked once for all places whose entries in every column are the same."""
    rows = np.stack(columns, axis=1)
    if not len(rows):
        return []
    _, first, group = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    answers = [judge(place) for place in first.tolist()]
    return [answers[number] for number in group.reshape(-1).tolist()]


def _all(nodes: Nodes, masks: Iterable[Mask]) -> Mask:
    matching = everywhere(nodes)
    for mask in masks:
        matching &= mask
    return matching
