"""Validation of node affinity, pod affinity and pod anti-affinity.

Source: pkg/apis/core/validation/validation.go, validateAffinity, validateNodeAffinity, ValidateNodeSelectorTerm,
    ValidatePreferredSchedulingTerms
Source: pkg/apis/core/validation/validation.go, validatePodAffinity, validatePodAntiAffinity, validatePodAffinityTerm,
    ValidatePodAffinityTermSelector
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.core import (
    Affinity,
    NodeAffinity,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
)
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, label_value_faults, subdomain_faults
from kubespread.kube.node_selector import NODE_NAME_FIELD
from kubespread.kube.validation.faults import FieldFault, forbidden, invalid, invalid_each, required
from kubespread.kube.validation.labels import (
    BAD_OPERATOR,
    VALUES_FORBIDDEN,
    VALUES_REQUIRED,
    merged_key_faults,
    selector_faults,
)

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_WEIGHT_RANGE = "must be in the range 1-100"


def affinity_faults(affinity: Affinity | None, path: str) -> Iterator[FieldFault]:
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_affinity_faults(affinity.node_affinity, f"{path}.nodeAffinity")
    if affinity.pod_affinity is not None:
        yield from _pod_affinity_faults(affinity.pod_affinity, f"{path}.podAffinity")
    if affinity.pod_anti_affinity is not None:
        yield from _pod_affinity_faults(affinity.pod_anti_affinity, f"{path}.podAntiAffinity")


def _node_affinity_faults(affinity: NodeAffinity, path: str) -> Iterator[FieldFault]:
    required_terms = affinity.required_during_scheduling_ignored_during_execution
    if required_terms is not None:
        terms_path = f"{path}.{_REQUIRED}.nodeSelectorTerms"
        if not required_terms.node_selector_terms:
            yield required(terms_path, "must have at least one node selector term")
        for position, term in enumerate(required_terms.node_selector_terms):
            yield from _term_faults(term, f"{terms_path}[{position}]", check_values=True)
    for position, preferred in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        preferred_path = f"{path}.{_PREFERRED}[{position}]"
        if not 1 <= preferred.weight <= 100:
            yield invalid(f"{preferred_path}.weight", preferred.weight, _WEIGHT_RANGE)
        # The values of preferred terms are not checked; the scheduler may stumble over them later.
        yield from _term_faults(preferred.preference, f"{preferred_path}.preference", check_values=False)


def _term_faults(term: NodeSelectorTerm, path: str, *, check_values: bool) -> Iterator[FieldFault]:
    for position, expression in enumerate(term.match_expressions):
        yield from _label_requirement_faults(
            expression, f"{path}.matchExpressions[{position}]", check_values=check_values
        )
    for position, expression in enumerate(term.match_fields):
        yield from _field_requirement_faults(expression, f"{path}.matchFields[{position}]")


def _label_requirement_faults(
    expression: NodeSelectorRequirement, path: str, *, check_values: bool
) -> Iterator[FieldFault]:
    match expression.operator:
        case "In" | "NotIn":
            if not expression.values:
                yield required(f"{path}.values", VALUES_REQUIRED)
        case "Exists" | "DoesNotExist":
            if expression.values:
                yield forbidden(f"{path}.values", VALUES_FORBIDDEN)
        case "Gt" | "Lt":
            if len(expression.values) != 1:
                yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            yield invalid(f"{path}.operator", expression.operator, BAD_OPERATOR)
    yield from invalid_each(f"{path}.key", expression.key, label_key_faults(expression.key))
    if check_values:
        for position, value in enumerate(expression.values):
            yield from invalid_each(f"{path}.values[{position}]", value, label_value_faults(value))


def _field_requirement_faults(expression: NodeSelectorRequirement, path: str) -> Iterator[FieldFault]:
    if expression.operator not in ("In", "NotIn"):
        yield invalid(f"{path}.operator", expression.operator, BAD_OPERATOR)
    elif len(expression.values) != 1:
        yield required(
            f"{path}.values", "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        )
    if expression.key != NODE_NAME_FIELD:
        yield invalid(f"{path}.key", expression.key, "not a valid field selector key")
        return
    for position, value in enumerate(expression.values):
        yield from invalid_each(f"{path}.values[{position}]", value, subdomain_faults(value))


def _pod_affinity_faults(affinity: PodAffinity, path: str) -> Iterator[FieldFault]:
    for position, term in enumerate(affinity.required_during_scheduling_ignored_during_execution):
        yield from _pod_term_faults(term, f"{path}.{_REQUIRED}[{position}]")
    for position, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        weighted_path = f"{path}.{_PREFERRED}[{position}]"
        if not 1 <= weighted.weight <= 100:
            yield invalid(f"{weighted_path}.weight", weighted.weight, _WEIGHT_RANGE)
        yield from _pod_term_faults(weighted.pod_affinity_term, f"{weighted_path}.podAffinityTerm")


def _pod_term_faults(term: PodAffinityTerm, path: str) -> Iterator[FieldFault]:
    yield from selector_faults(term.label_selector, f"{path}.labelSelector")
    yield from selector_faults(term.namespace_selector, f"{path}.namespaceSelector")
    for namespace in term.namespaces:
        yield from invalid_each(f"{path}.namespace", namespace, dns_label_faults(namespace))
    yield from _label_keys_faults(term, path)
    if not term.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    yield from invalid_each(f"{path}.topologyKey", term.topology_key, label_key_faults(term.topology_key))


def _label_keys_faults(term: PodAffinityTerm, path: str) -> Iterator[FieldFault]:
    lists = (("matchLabelKeys", term.match_label_keys), ("mismatchLabelKeys", term.mismatch_label_keys))
    for field, keys in lists:
        if keys and term.label_selector is None:
            yield forbidden(f"{path}.{field}", "must not be specified when labelSelector is not set")
    if term.label_selector is None:
        return
    for field, keys in lists:
        for position, key in enumerate(keys):
            yield from invalid_each(f"{path}.{field}[{position}]", key, label_key_faults(key))
    for position, key in enumerate(term.match_label_keys):
        if key in term.mismatch_label_keys:
            yield invalid(
                f"{path}.matchLabelKeys[{position}]", key, "exists in both matchLabelKeys and mismatchLabelKeys"
            )
    yield from merged_key_faults(term.label_selector, term.match_label_keys, path)
