"""The shapes of the API server's validation errors.

Validation of label maps and label selectors.

Source: staging/src/k8s.io/apimachinery/pkg/util/validation/field/errors.go, Error, ErrorBody, Invalid, Required,
    Forbidden, NotSupported, Duplicate
Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateLabels,
    ValidateLabelSelector, ValidateLabelSelectorRequirement
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from kubespread.kube.api.core import NodeSelectorRequirement
from kubespread.kube.api.meta import LabelSelector, LabelSelectorRequirement
from kubespread.kube.gotext import compact_json, quote, quoted_list
from kubespread.kube.name_rules import label_key_faults, label_value_faults

_ANNOTATIONS_SIZE = 256 * 1024
IN_BOTH = "exists in both matchLabelKeys and labelSelector"
BAD_OPERATOR = "not a valid selector operator"


def labels_faults(labels: Mapping[str, str], path: str) -> Iterator[FieldFault]:
    """Yield faults of labels, by key, as the API server's own order is random."""
    for key, value in sorted(labels.items()):
        yield from invalid_each(path, key, label_key_faults(key))
        yield from invalid_each(path, value, label_value_faults(value))


def annotations_faults(annotations: Mapping[str, str], path: str) -> Iterator[FieldFault]:
    """Yield faults of annotations; prefixes of keys may have capitals."""
    for key in sorted(annotations):
        yield from invalid_each(path, key, label_key_faults(key.lower()))
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > _ANNOTATIONS_SIZE:
        yield FieldFault(path, f"Too long: may not be more than {_ANNOTATIONS_SIZE} bytes")


def selector_faults(selector: LabelSelector | None, path: str) -> Iterator[FieldFault]:
    """Yield faults of a LabelSelector; an absent one is valid."""
    if selector is None:
        return
    yield from labels_faults(selector.match_labels, f"{path}.matchLabels")
    for position, expression in enumerate(selector.match_expressions):
        yield from requirement_faults(expression, f"{path}.matchExpressions[{position}]")


def requirement_faults(
    expression: LabelSelectorRequirement | NodeSelectorRequirement, path: str, *, check_values: bool = True
) -> Iterator[FieldFault]:
    """Yield faults of a requirement on a label; only one on a node's labels may compare numbers."""
    match expression.operator:
        case "In" | "NotIn":
            if not expression.values:
                yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
        case "Exists" | "DoesNotExist":
            if expression.values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                yield forbidden(f"{path}.values", detail)
        case "Gt" | "Lt" if isinstance(expression, NodeSelectorRequirement):
            if len(expression.values) != 1:
                yield required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
        case _:
            yield invalid(f"{path}.operator", expression.operator, BAD_OPERATOR)
    yield from invalid_each(f"{path}.key", expression.key, label_key_faults(expression.key))
    for position, value in enumerate(expression.values if check_values else ()):
        yield from invalid_each(f"{path}.values[{position}]", value, label_value_faults(value))


def merged_key_faults(selector: LabelSelector | None, keys: list[str], path: str) -> Iterator[FieldFault]:
    """Yield faults of matchLabelKeys that the merged selector names twice.

    The index is directly on the constraint or term (``...[0][1]``) because that is the path the API server prints.
    """
    if selector is None:
        return
    last_index = {key: position for position, key in enumerate(keys)}
    selector_keys = set(selector.match_labels)
    for expression in selector.match_expressions:
        if expression.key in selector_keys and expression.key in last_index:
            yield invalid(f"{path}[{last_index[expression.key]}]", expression.key, IN_BOTH)
        selector_keys.add(expression.key)


class FieldFault(NamedTuple):
    """A validation error of the field at ``path``."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def _print(value: object) -> str:
    return quote(value) if isinstance(value, str) else compact_json(value)


def invalid(path: str, value: object, detail: str) -> FieldFault:
    return FieldFault(path, f"Invalid value: {_print(value)}: {detail}")


def invalid_each(path: str, value: object, details: Iterable[str]) -> list[FieldFault]:
    return [invalid(path, value, detail) for detail in details]


def required(path: str, detail: str = "") -> FieldFault:
    return FieldFault(path, f"Required value: {detail}" if detail else "Required value")


def not_supported(path: str, value: object, supported: Iterable[str]) -> FieldFault:
    return FieldFault(path, f"Unsupported value: {_print(value)}: supported values: {quoted_list(supported)}")


def one_of(path: str, value: str | None, supported: Collection[str]) -> list[FieldFault]:
    """Faults of a value that is not supported; none for an absent one."""
    return [] if value is None or value in supported else [not_supported(path, value, supported)]


def range_faults(value: int, low: int, high: int, path: str) -> list[FieldFault]:
    return [] if low <= value <= high else [invalid(path, value, f"must be between {low} and {high}, inclusive")]


def duplicate(path: str, value: object) -> FieldFault:
    return FieldFault(path, f"Duplicate value: {_print(value)}")


def forbidden(path: str, detail: str) -> FieldFault:
    return FieldFault(path, f"Forbidden: {detail}")


def not_found(path: str, value: object, detail: str = "") -> FieldFault:
    return FieldFault(path, f"Not found: {_print(value)}{detail and f': {detail}'}")
