"""Node selectors: ORed terms of requirements on a node's labels and its name.

Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go, NewNodeSelector, Match,
    isEmptyNodeSelectorTerm
Source: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go,
    nodeSelectorRequirementsAsSelector
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from kubespread.kube.api.core import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, Pod
from kubespread.kube.gotext import compact_json, quoted_list
from kubespread.kube.selector import Requirement

NODE_NAME_FIELD = "metadata.name"
OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_FIELD_OPERATORS = ("In", "NotIn")


class Term(Struct, frozen=True):
    """One parsed term. A term with ``faults`` or without any condition matches no node."""

    labels: tuple[Requirement, ...]
    fields: tuple[Requirement, ...]
    faults: tuple[str, ...] = ()

    @property
    def can_match(self) -> bool:
        return not self.faults and bool(self.labels or self.fields)

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether a node with these labels and this name meets every condition."""
        # The only field is the node's name; any other reads as empty.
        return (
            self.can_match
            and all(requirement.matches(labels) for requirement in self.labels)
            and all(field.admits(name if field.key == NODE_NAME_FIELD else "") for field in self.fields)
        )


def required_node_selector(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    node_affinity = affinity.node_affinity if affinity is not None else None
    return node_affinity.required_during_scheduling_ignored_during_execution if node_affinity is not None else None


def parse_term(term: NodeSelectorTerm, prefix: str = "") -> Term:
    """``term`` with every fault it has, in the scheduler's words, paths below ``prefix``."""
    faults: list[str] = []
    labels, fields = [], []
    for position, expression in enumerate(term.match_expressions):
        path = f"{prefix}.matchExpressions[{position}]"
        requirement = _requirement(expression)
        if expression.operator not in OPERATORS:
            faults.append(_unsupported(path, expression.operator, OPERATORS))
        else:
            faults += requirement.faults(f"{path}.", absent_values="[]")
            labels.append(requirement)
    for position, expression in enumerate(term.match_fields):
        path = f"{prefix}.matchFields[{position}]"
        if expression.operator not in _FIELD_OPERATORS:
            faults.append(_unsupported(path, expression.operator, _FIELD_OPERATORS))
        elif len(expression.values) != 1:
            faults.append(f"{path}.values: Invalid value: {compact_json(expression.values)}: must have one element")
        else:
            fields.append(_requirement(expression))
    return Term(tuple(labels), tuple(fields), tuple(faults))


def pinned_names(terms: Sequence[NodeSelectorTerm]) -> frozenset[str] | None:
    """The node names that ``metadata.name In`` narrows the terms to, or None when some term may match anywhere.

    Validity is not looked at and an empty term counts as one that may match anywhere, as in NodeAffinity's PreFilter.
    """
    names: frozenset[str] = frozenset()
    for term in terms:
        pinned: frozenset[str] | None = None
        for field in term.match_fields:
            if field.key == NODE_NAME_FIELD and field.operator == "In":
                values = frozenset(field.values)
                pinned = values if pinned is None else pinned & values
        if pinned is None:
            return None
        names |= pinned
    return names


def _requirement(expression: NodeSelectorRequirement) -> Requirement:
    return Requirement(expression.key, expression.operator, tuple(expression.values))


def _unsupported(path: str, operator: str, supported: tuple[str, ...]) -> str:
    return f"{path}.operator: Unsupported value: {compact_json(operator)}: supported values: {quoted_list(supported)}"
