"""Validation of topologySpreadConstraints.

Source: pkg/apis/core/validation/validation.go, validateTopologySpreadConstraints, validateMinDomains,
    ValidateTopologyKey, ValidateWhenUnsatisfiable
Source: pkg/apis/core/validation/validation.go, ValidateSpreadConstraintNotRepeat, validateNodeInclusionPolicy,
    ValidateMatchLabelKeysInTopologySpread
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.name_rules import label_key_faults
from kubespread.kube.validation.faults import (
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    required,
    unsupported,
)
from kubespread.kube.validation.labels import merged_key_faults, selector_faults
from kubespread.kube.well_known import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY

ACTIONS = (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
POLICIES = ("Honor", "Ignore")
MIN_DOMAINS_IF_HARD = f"can only use minDomains if whenUnsatisfiable={DO_NOT_SCHEDULE}"
_POSITIVE = "must be greater than zero"


def spread_faults(constraints: Sequence[TopologySpreadConstraint], path: str) -> Iterator[FieldFault]:
    """Every fault of the list at ``path``; of two constraints with one key and action the earlier is the duplicate."""
    pairs = [(constraint.topology_key, constraint.when_unsatisfiable) for constraint in constraints]
    for position, constraint in enumerate(constraints):
        yield from _constraint_faults(
            constraint, f"{path}[{position}]", is_duplicate=pairs[position] in pairs[position + 1 :]
        )


def _constraint_faults(constraint: TopologySpreadConstraint, path: str, *, is_duplicate: bool) -> Iterator[FieldFault]:
    action = constraint.when_unsatisfiable
    if constraint.max_skew <= 0:
        yield invalid(f"{path}.maxSkew", constraint.max_skew, _POSITIVE)
    if not constraint.topology_key:
        yield required(f"{path}.topologyKey", "can not be empty")
    if action not in ACTIONS:
        yield unsupported(f"{path}.whenUnsatisfiable", action, ACTIONS)
    if is_duplicate:
        yield duplicate(f"{path}.{{topologyKey, whenUnsatisfiable}}", f"{{{constraint.topology_key}, {action}}}")
    if constraint.min_domains is not None:
        if constraint.min_domains <= 0:
            yield invalid(f"{path}.minDomains", constraint.min_domains, _POSITIVE)
        if action != DO_NOT_SCHEDULE:
            detail = f"{MIN_DOMAINS_IF_HARD}, not {action}"
            yield invalid(f"{path}.minDomains", constraint.min_domains, detail)
    for field, policy in (
        ("nodeAffinityPolicy", constraint.node_affinity_policy),
        ("nodeTaintsPolicy", constraint.node_taints_policy),
    ):
        if policy is not None and policy not in POLICIES:
            yield unsupported(f"{path}.{field}", policy, POLICIES)
    yield from _match_label_keys_faults(constraint, path)
    yield from selector_faults(constraint.label_selector, f"{path}.labelSelector")


def _match_label_keys_faults(constraint: TopologySpreadConstraint, path: str) -> Iterator[FieldFault]:
    keys = constraint.match_label_keys
    if keys and constraint.label_selector is None:
        yield forbidden(f"{path}.matchLabelKeys", "must not be specified when labelSelector is not set")
        return
    for position, key in enumerate(keys):
        yield from invalid_each(f"{path}.matchLabelKeys[{position}]", key, label_key_faults(key))
    yield from merged_key_faults(constraint.label_selector, keys, path)
