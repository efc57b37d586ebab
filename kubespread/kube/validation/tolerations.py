"""Validation of tolerations."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.core import Toleration
from kubespread.kube.names import label_key_faults, label_value_faults
from kubespread.kube.taint import COMPARING_OPERATORS, EFFECTS, comparable
from kubespread.kube.validation.faults import FieldFault, invalid, invalid_each, unsupported

_OPERATORS = ("Equal", "Exists")


def toleration_faults(toleration: Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    """One toleration; ``compares`` is whether the gate TaintTolerationComparisonOperators is on."""
    if toleration.key:
        yield from invalid_each(f"{path}.key", toleration.key, label_key_faults(toleration.key))
    elif toleration.operator != "Exists":
        detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
        yield invalid(f"{path}.operator", toleration.operator, detail)
    if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
        yield invalid(f"{path}.effect", toleration.effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
    yield from _operator_faults(toleration, path, compares=compares)
    if toleration.effect and toleration.effect not in EFFECTS:
        yield unsupported(f"{path}.effect", toleration.effect, EFFECTS)


def _operator_faults(toleration: Toleration, path: str, *, compares: bool) -> Iterator[FieldFault]:
    operator, value = toleration.operator, toleration.value
    if operator in ("", "Equal"):
        if details := label_value_faults(value):
            yield invalid(f"{path}.operator", value, ";".join(details))
    elif operator == "Exists":
        if value:
            yield invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'")
    elif operator not in COMPARING_OPERATORS:
        yield unsupported(f"{path}.operator", operator, _OPERATORS)
    elif not compares:
        # Known to the API and switched off by default, hence a list that names what it refuses.
        yield unsupported(f"{path}.operator", operator, (*_OPERATORS, *COMPARING_OPERATORS))
    elif comparable(value) is None:
        yield invalid(
            f"{path}.value",
            value,
            "must be a valid decimal integer in canonical form" if value else "must be non-empty",
        )
