"""The values of CEL, how they compare, and the functions and operators that selectors may call, by name and by what
they are called on.

Booleans, integers, doubles, strings, lists, maps and null are Python's own; quantities and versions are Kubernetes'.

Source: vendor/github.com/google/cel-go/ext/strings.go, Strings
Source: staging/src/k8s.io/apiserver/pkg/cel/library/quantity.go, Quantity
Source: staging/src/k8s.io/apiserver/pkg/cel/library/semverlib.go, SemverLib
Source: staging/src/k8s.io/apiserver/pkg/cel/quantity.go, Quantity
Source: staging/src/k8s.io/apiserver/pkg/cel/semver.go, Semver
Source: vendor/github.com/google/cel-go/common/types/compare.go, compareDoubleInt
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, total_ordering, wraps
from typing import Any, TypeVar

from kubespread.kube.quantity import NANO, Quantity, QuantityError, parse

Value = Any
"""bool, int, float, str, None, Quantity, Semver, list or dict."""
T = TypeVar("T", bound=Value)

NO_OVERLOAD = "no such overload"
_MIN_INT, _MAX_INT = -(2**63), 2**63 - 1


class UnsupportedExpressionError(Exception):
    """The expression uses what is not evaluated here; the text says what."""


class EvaluationError(Exception):
    """The expression ends in an error for this device; the text is cel-go's."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Semver:
    """A semantic version; what follows a ``+`` does not count."""

    release: tuple[int, int, int]
    prerelease: tuple[str, ...] = ()

    def __lt__(self, other: Semver) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[Any, ...]:
        # A release comes after all that led to it; numbers come before words.
        parts = tuple((0, len(part), part) if part.isdecimal() else (1, 0, part) for part in self.prerelease)
        return self.release, not self.prerelease, parts


_NUMBER = r"(0|[1-9]\d{0,19})"
_SEMVER = re.compile(
    rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?",
    re.ASCII,
)


@lru_cache(maxsize=4096)
def parse_semver(text: str) -> Semver | None:
    """The version a text stands for; None where it is none."""
    match = _SEMVER.fullmatch(text)
    if match is None:
        return None
    parts = tuple(match[4].split(".")) if match[4] else ()
    if any(part.isdecimal() and len(part) > 1 and part[0] == "0" for part in parts):
        return None
    return Semver((int(match[1]), int(match[2]), int(match[3])), parts)


def normalized_semver(text: str) -> str:
    """With a leading v, leading zeros and missing parts put right, as ``semver(text, true)`` reads it."""
    head, dash, tail = text.removeprefix("v").partition("-") if "+" not in text.split("-")[0] else (text, "", "")
    numbers = [(part.lstrip("0") or "0") if part else part for part in head.split(".")]
    return ".".join([*numbers, "0", "0"][: max(3, len(numbers))]) + dash + tail


def map_key(value: Value) -> Value:
    """A map's key, typed so that true differs from 1, unlike in Python."""
    return ("bool", value) if type(value) is bool else value


def keys_of(holder: dict[Value, Value]) -> list[Value]:
    """The keys of a map as they were written."""
    return [key[1] if isinstance(key, tuple) else key for key in holder]


def is_number(value: Value) -> bool:
    return type(value) in (int, float)


def _alike(left: Value, right: Value) -> tuple[Value, Value]:
    """Two numbers of one type: an integer beside a double is compared as a double, and loses digits as Go's does."""
    return (left, right) if type(left) is type(right) else (float(left), float(right))


def equals(left: Value, right: Value) -> bool:
    """Values of different types are never equal, except numbers."""
    if is_number(left) and is_number(right):
        return bool(operator.eq(*_alike(left, right)))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equals, left, right))
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return left.nano == right.nano
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equals(value, right[key]) for key, value in left.items())
    return type(left) is type(right) and bool(left == right)


def ordered(compare: Callable[[Value, Value], bool]) -> Callable[[Value, Value], bool]:
    """``<`` and its kin: of two numbers, two strings or two booleans."""

    def judge(left: Value, right: Value) -> bool:
        if is_number(left) and is_number(right):
            return compare(*_alike(left, right))
        if type(left) is type(right) and type(left) in (str, bool):
            return compare(left, right)
        raise EvaluationError(NO_OVERLOAD)

    return judge


def within_int64(value: int) -> int:
    if not _MIN_INT <= value <= _MAX_INT:
        raise EvaluationError("integer overflow")
    return value


Function = Callable[..., Value]

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|[+-]?inf(?:inity)?|nan", re.ASCII | re.IGNORECASE)
_HEXADECIMAL = re.compile(r"[+-]?0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)p[+-]?\d+", re.ASCII | re.IGNORECASE)


def _arithmetic(on_numbers: Callable[[Value, Value], Value]) -> Function:
    def calculate(left: Value, right: Value) -> Value:
        if not is_number(left) or type(left) is not type(right):
            raise EvaluationError(NO_OVERLOAD)
        result = on_numbers(left, right)
        return within_int64(result) if type(result) is int else result

    return calculate


def _add(left: Value, right: Value) -> Value:
    if type(left) in (str, list) and type(left) is type(right):
        return left + right
    return _numbers_added(left, right)


_numbers_added = _arithmetic(operator.add)


def _divide(left: Value, right: Value) -> Value:
    if type(left) is float:
        if right == 0:
            return left * float("inf") if left else float("nan")
        return left / right
    if right == 0:
        raise EvaluationError("division by zero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _modulo(left: Value, right: Value) -> Value:
    if type(left) is float:
        raise EvaluationError(NO_OVERLOAD)
    if right == 0:
        raise EvaluationError("modulus by zero")
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _negate(value: Value) -> Value:
    if not is_number(value):
        raise EvaluationError(NO_OVERLOAD)
    return within_int64(-value) if type(value) is int else -value


def _not(value: Value) -> bool:
    if type(value) is not bool:
        raise EvaluationError(NO_OVERLOAD)
    return not value


def _in(item: Value, holder: Value) -> bool:
    if isinstance(holder, dict):
        return type(item) in (str, int, bool, float) and map_key(item) in holder
    if isinstance(holder, list):
        return any(equals(item, member) for member in holder)
    raise EvaluationError(NO_OVERLOAD)


OPERATORS: Mapping[str, Function] = {
    "==": equals,
    "!=": lambda left, right: not equals(left, right),
    "<": ordered(operator.lt),
    "<=": ordered(operator.le),
    ">": ordered(operator.gt),
    ">=": ordered(operator.ge),
    "in": _in,
    "+": _add,
    "-": _arithmetic(operator.sub),
    "*": _arithmetic(operator.mul),
    "/": _arithmetic(_divide),
    "%": _arithmetic(_modulo),
    "-_": _negate,
    "!_": _not,
}


def _quantity(text: Value) -> Quantity:
    try:
        return parse(_text(text))
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _is_quantity(text: Value) -> bool:
    try:
        parse(_text(text))
    except QuantityError:
        return False
    return True


def _semver(text: Value, normalize: Value = False) -> Semver:
    version = parse_semver(normalized_semver(_text(text)) if normalize else _text(text))
    if version is None:
        raise EvaluationError("No Major.Minor.Patch elements found")
    return version


def _is_semver(text: Value, normalize: Value = False) -> bool:
    return parse_semver(normalized_semver(_text(text)) if normalize else _text(text)) is not None


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise EvaluationError(NO_OVERLOAD)
    return value


def _size(value: Value) -> int:
    if not isinstance(value, str | list | dict):
        raise EvaluationError(NO_OVERLOAD)
    return len(value)


def _matches(text: Value, pattern: Value) -> bool:
    """CEL's patterns are RE2's: any pattern takes time proportional to the text."""
    # Few clusters have a selector with a pattern.
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.search(_text(pattern), _text(text), options) is not None
    except re2.error as error:
        (message,) = error.args
        raise EvaluationError(
            f"error parsing regexp: {message.decode() if isinstance(message, bytes) else message}"
        ) from error


def _int(value: Value) -> int:
    if type(value) is float and abs(value) < 2**63:
        return int(value)
    if type(value) is int:
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,20}", value, re.ASCII):
        return within_int64(int(value))
    raise EvaluationError(NO_OVERLOAD if not isinstance(value, str | float) else "type conversion error")


def _string(value: Value) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    if isinstance(value, str | int):
        return str(value)
    if isinstance(value, float):
        return _exact(value)
    raise EvaluationError(NO_OVERLOAD)


def _exact(value: float) -> str:
    """The shortest text that reads back as the same number, never with an exponent (strconv.FormatFloat 'f', -1)."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    # Go writes no fraction where there is none.
    return f"{Decimal(repr(value)):f}".removesuffix(".0")


def _double(value: Value) -> float:
    """As Go's ParseFloat reads a text: no blanks, no underscores, nothing beyond the largest number."""
    if is_number(value):
        return float(value)
    text = _text(value)
    is_hexadecimal = _HEXADECIMAL.fullmatch(text) is not None
    if not is_hexadecimal and _DECIMAL.fullmatch(text) is None:
        raise EvaluationError("type conversion error")
    try:
        number = float.fromhex(text) if is_hexadecimal else float(text)
    except OverflowError as error:
        raise EvaluationError("type conversion error") from error
    if math.isinf(number) and "n" not in text.lower():
        raise EvaluationError("type conversion error")
    return number


def _bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    if value in ("1", "t", "true", "TRUE", "True", "T", "0", "f", "false", "FALSE", "False", "F"):
        return str(value)[0] in "1tT"
    raise EvaluationError(NO_OVERLOAD if not isinstance(value, str) else "type conversion error")


FUNCTIONS: Mapping[str, Function] = {
    "size": _size,
    "matches": _matches,
    "quantity": _quantity,
    "isQuantity": _is_quantity,
    "semver": _semver,
    "isSemver": _is_semver,
    "int": _int,
    "string": _string,
    "double": _double,
    "bool": _bool,
    "dyn": lambda value: value,
}


def _compared(left: Value, right: Value) -> int:
    """-1, 0 or 1, of two quantities or two versions."""
    if isinstance(left, Quantity) and isinstance(right, Quantity):
        return (left.nano > right.nano) - (left.nano < right.nano)
    if isinstance(left, Semver) and isinstance(right, Semver):
        return (left > right) - (left < right)
    raise EvaluationError(NO_OVERLOAD)


def _on(kind: type, function: Function) -> Function:
    """``function`` where it is called on a value of this kind."""

    @wraps(function)
    def method(target: Value, *arguments: Value) -> Value:
        if not isinstance(target, kind):
            raise EvaluationError(NO_OVERLOAD)
        return function(target, *arguments)

    return method


def _whole(quantity: Quantity) -> int:
    if quantity.nano % NANO:
        raise EvaluationError("cannot convert value to integer")
    return within_int64(quantity.nano // NANO)


def _float(quantity: Quantity) -> float:
    try:
        return quantity.nano / NANO
    except OverflowError:
        return float("inf") if quantity.nano > 0 else float("-inf")


def _plus(sign: int) -> Function:
    def add(quantity: Quantity, other: Value) -> Quantity:
        if type(other) is int:
            return Quantity(quantity.nano + sign * other * NANO)
        if isinstance(other, Quantity):
            return Quantity(quantity.nano + sign * other.nano)
        raise EvaluationError(NO_OVERLOAD)

    return add


def _split(text: str, separator: Value, limit: Value = -1) -> list[str]:
    if type(limit) is not int:
        raise EvaluationError(NO_OVERLOAD)
    if limit == 0:
        return []
    return text.split(_text(separator), -1 if limit < 0 else limit - 1) if separator else list(text)


def _substring(text: str, start: Value, end: Value = None) -> str:
    stop = len(text) if end is None else end
    if type(start) is not int or type(stop) is not int:
        raise EvaluationError(NO_OVERLOAD)
    if not 0 <= start <= stop <= len(text):
        raise EvaluationError(f"index out of range: {start if not 0 <= start <= len(text) else stop}")
    return text[start:stop]


METHODS: Mapping[str, Function] = {
    "size": _size,
    "matches": _matches,
    "startsWith": _on(str, lambda text, start: text.startswith(_text(start))),
    "endsWith": _on(str, lambda text, end: text.endswith(_text(end))),
    "contains": _on(str, lambda text, part: _text(part) in text),
    "lowerAscii": _on(str, lambda text: re.sub("[A-Z]+", lambda match: match[0].lower(), text)),
    "upperAscii": _on(str, lambda text: re.sub("[a-z]+", lambda match: match[0].upper(), text)),
    "trim": _on(str, str.strip),
    "split": _on(str, _split),
    "substring": _on(str, _substring),
    "replace": _on(str, lambda text, old, new: text.replace(_text(old), _text(new))),
    "indexOf": _on(str, lambda text, part: text.find(_text(part))),
    "compareTo": _compared,
    "isGreaterThan": lambda left, right: _compared(left, right) > 0,
    "isLessThan": lambda left, right: _compared(left, right) < 0,
    "isInteger": _on(Quantity, lambda quantity: quantity.nano % NANO == 0 and abs(quantity.nano // NANO) < 2**63),
    "asInteger": _on(Quantity, _whole),
    "asApproximateFloat": _on(Quantity, _float),
    "sign": _on(Quantity, lambda quantity: (quantity.nano > 0) - (quantity.nano < 0)),
    "add": _on(Quantity, _plus(1)),
    "sub": _on(Quantity, _plus(-1)),
    "major": _on(Semver, lambda version: version.release[0]),
    "minor": _on(Semver, lambda version: version.release[1]),
    "patch": _on(Semver, lambda version: version.release[2]),
}
