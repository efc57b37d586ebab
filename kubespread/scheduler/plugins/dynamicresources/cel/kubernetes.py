"""Quantities and versions.

Source: staging/src/k8s.io/apiserver/pkg/cel/library/quantity.go
Source: staging/src/k8s.io/apiserver/pkg/cel/library/semverlib.go
"""

from __future__ import annotations

import re
from collections.abc import Callable

from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse
from kubespread.scheduler.plugins.dynamicresources.cel.declaring import declare
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    EvaluationError,
    Semver,
    Sum,
    parse_semver,
    quantity_of,
)


def _quantity(text: str) -> Quantity:
    try:
        return parse(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _is_quantity(text: str) -> bool:
    try:
        parse(text)
    except QuantityError:
        return False
    return True


def _nano(quantity: Quantity | Sum) -> int:
    return quantity_of(quantity).nano


def _compare(left: Quantity | Sum, right: Quantity | Sum) -> int:
    return int(_nano(left) > _nano(right)) - int(_nano(left) < _nano(right))


def _adder(sign: int) -> Callable[[Quantity | Sum, Quantity | Sum | int], Sum]:
    def add(quantity: Quantity | Sum, other: Quantity | Sum | int) -> Sum:
        nano = other * NANO if isinstance(other, int) else _nano(other)
        return Sum(Quantity(_nano(quantity) + sign * nano))

    return add


def _is_integer(quantity: Quantity | Sum) -> bool:
    return _nano(quantity) % NANO == 0 and -(2**63) <= _nano(quantity) // NANO < 2**63


def _integer(quantity: Quantity | Sum) -> int:
    if not _is_integer(quantity):
        raise EvaluationError("cannot convert value to integer")
    return _nano(quantity) // NANO


def _float(quantity: Quantity | Sum) -> float:
    try:
        return _nano(quantity) / NANO
    except OverflowError:
        return float("inf") if _nano(quantity) > 0 else float("-inf")


def _semver(text: str, normalize: bool = False) -> Semver:
    if not normalize:
        return parse_semver(text)
    parts = text.removeprefix("v").split(".", 2)
    if len(parts) < 3 and re.search("[+-]", parts[-1]):
        raise EvaluationError("short version cannot contain PreRelease/Build meta data")
    parts = [_without_zeros(part) for part in parts]
    return parse_semver(".".join([*parts, "0", "0"][: max(3, len(parts))]))


def _without_zeros(part: str) -> str:
    if len(part) <= 1:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isdecimal() else f"0{stripped}"


def _is_semver(text: str, normalize: bool = False) -> bool:
    try:
        _semver(text, normalize)
    except EvaluationError:
        return False
    return True


def _order(left: Semver, right: Semver) -> int:
    return int(left > right) - int(left < right)


FUNCTIONS = [
    declare("quantity", {"string -> Quantity": _quantity}),
    declare("isQuantity", {"string -> bool": _is_quantity}),
    declare("sign", {"Quantity -> int": lambda quantity: _compare(quantity, Quantity(0))}),
    declare("isInteger", {"Quantity | -> bool": _is_integer}),
    declare("asInteger", {"Quantity | -> int": _integer}),
    declare("asApproximateFloat", {"Quantity | -> double": _float}),
    declare("add", {"Quantity | Quantity -> Quantity": _adder(1), "Quantity | int -> Quantity": _adder(1)}),
    declare("sub", {"Quantity | Quantity -> Quantity": _adder(-1), "Quantity | int -> Quantity": _adder(-1)}),
    declare("compareTo", {"Quantity | Quantity -> int": _compare, "Semver | Semver -> int": _order}),
    declare(
        "isGreaterThan",
        {
            "Quantity | Quantity -> bool": lambda left, right: _compare(left, right) > 0,
            "Semver | Semver -> bool": lambda left, right: left > right,
        },
    ),
    declare(
        "isLessThan",
        {
            "Quantity | Quantity -> bool": lambda left, right: _compare(left, right) < 0,
            "Semver | Semver -> bool": lambda left, right: left < right,
        },
    ),
    declare("semver", {"string -> Semver": _semver, "string, bool -> Semver": _semver}),
    declare("isSemver", {"string -> bool": _is_semver, "string, bool -> bool": _is_semver}),
    declare("major", {"Semver | -> int": lambda version: version.release[0]}),
    declare("minor", {"Semver | -> int": lambda version: version.release[1]}),
    declare("patch", {"Semver | -> int": lambda version: version.release[2]}),
]
