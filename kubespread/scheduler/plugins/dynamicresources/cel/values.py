"""The values of expressions: how they are made, compared, converted and written.

A boolean, a number, a text, bytes, null, a list and a map are Python's own; the rest are the classes below.

Source: vendor/github.com/google/cel-go/common/types
Source: staging/src/k8s.io/apiserver/pkg/cel/quantity.go, Quantity
Source: staging/src/k8s.io/apiserver/pkg/cel/semver.go, Semver
Source: vendor/github.com/google/cel-go/common/types/compare.go, compareDoubleInt
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import lru_cache, total_ordering
from typing import Any

from msgspec import Struct

from kubespread.kube.quantity import Quantity
from kubespread.regex import regex
from kubespread.scheduler.plugins.dynamicresources.cel import types
from kubespread.scheduler.plugins.dynamicresources.cel.types import Type

Value = Any
MAX_WEIGHT = 100_000
"""Most values in a list, including the values of nested lists."""
LONGEST = 10 * MAX_WEIGHT
"""Longest text that a function may create."""
TOO_MUCH = "not evaluated: it takes more steps or holds more values than kubespread follows"
"""Message for work that usually exceeds Kubernetes' cost limit, or takes kube-scheduler seconds, or never ends."""
NO_OVERLOAD = "no such overload"


class EvaluationError(Exception):
    """An error for this device; the text is cel-go's."""


class Uint(int):
    __slots__ = ()


class Sum(Struct, frozen=True):
    """A sum of quantities: cel-go compares it with no other."""

    quantity: Quantity


class Optional(Struct, frozen=True):
    value: Value = None
    is_set: bool = True


NONE = Optional(is_set=False)


@total_ordering
class Semver(Struct, frozen=True):
    """A semantic version; a part after ``+`` does not count."""

    release: tuple[int, int, int]
    prerelease: tuple[str, ...] = ()

    def __lt__(self, other: Semver) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[Any, ...]:
        # A release comes after all that led to it; numbers come before words.
        parts = tuple((0, len(part), part) if part.isdecimal() else (1, 0, part) for part in self.prerelease)
        return self.release, not self.prerelease, parts


_ESCAPES = {
    "\a": r"\a",
    "\b": r"\b",
    "\f": r"\f",
    "\n": r"\n",
    "\r": r"\r",
    "\t": r"\t",
    "\v": r"\v",
    "\\": r"\\",
    '"': r"\"",
}


def quote(text: str) -> str:
    """``strings.quote()``, and text in Go's errors."""
    return f'"{"".join(_ESCAPES.get(character, character) for character in text)}"'


_NUMBERS, _WORDS = regex(r"[0-9]+"), regex(r"[0-9A-Za-z-]*")


def _version_number(which: str, text: str) -> int:
    if not text:
        raise EvaluationError('strconv.ParseUint: parsing "": invalid syntax')
    if not _NUMBERS.fullmatch(text):
        raise EvaluationError(f"Invalid character(s) found in {which} number {quote(text)}")
    if len(text) > 1 and text[0] == "0":
        raise EvaluationError(f"{which.capitalize()} number must not contain leading zeroes {quote(text)}")
    if len(text) > 20 or int(text) >= 2**64:
        raise EvaluationError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


@lru_cache(maxsize=4096)
def parse_semver(text: str) -> Semver:
    """Parse a version. Raises EvaluationError with the words of blang/semver."""
    if not text:
        raise EvaluationError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise EvaluationError("No Major.Minor.Patch elements found")
    rest, plus, build = parts[2].partition("+")
    patch, dash, prerelease = rest.partition("-")
    numbers = zip(("major", "minor", "patch"), (*parts[:2], patch), strict=True)
    release = tuple(_version_number(which, number) for which, number in numbers)
    words = prerelease.split(".") if dash else []
    for word in words:
        if not word:
            raise EvaluationError("Prerelease is empty")
        if not _WORDS.fullmatch(word):
            raise EvaluationError(f"Invalid character(s) found in prerelease {quote(word)}")
        if _NUMBERS.fullmatch(word) and len(word) > 1 and word[0] == "0":
            raise EvaluationError(f"Numeric PreRelease version must not contain leading zeroes {quote(word)}")
    for word in build.split(".") if plus else []:
        if not word:
            raise EvaluationError("Build meta data is empty")
        if not _WORDS.fullmatch(word):
            raise EvaluationError(f"Invalid character(s) found in build meta data {quote(word)}")
    return Semver((release[0], release[1], release[2]), tuple(words))


class List(list[Value]):
    """List that counts all values in it, including the values of nested lists."""

    __slots__ = ("weight",)

    def __init__(self, items: Iterable[Value] = ()) -> None:
        super().__init__(items)
        self.weight = _check_weight(sum(map(_weight, self)))

    def join(self, other: List) -> List:
        both = List()
        both.extend(self)
        both.extend(other)
        both.weight = _check_weight(self.weight + other.weight)
        return both


class Growing(List):
    """List that a loop extends; nothing else refers to it before the loop ends."""

    __slots__ = ()

    def grow(self, other: List) -> None:
        self.extend(other)
        self.weight = _check_weight(self.weight + other.weight)

    def freeze(self) -> List:
        return List().join(self)


class Map(dict[Value, Value]):
    __slots__ = ("weight",)

    def __init__(self, entries: Iterable[tuple[Value, Value]] = ()) -> None:
        super().__init__((map_key(key), value) for key, value in entries)
        self.weight = _check_weight(sum(1 + _weight(value) for value in self.values()))


class GrowingMap(Map):
    """Map that a loop extends."""

    __slots__ = ()

    def insert(self, key: Value, value: Value) -> None:
        self[map_key(key)] = value
        self.weight = _check_weight(self.weight + 1 + _weight(value))

    def freeze(self) -> Map:
        return Map(zip(keys_of(self), self.values(), strict=True))


def _weight(value: Value) -> int:
    return 1 + value.weight if isinstance(value, List | Map) else 1


def _check_weight(weight: int) -> int:
    if weight > MAX_WEIGHT:
        raise EvaluationError(TOO_MUCH)
    return weight


class _Key(Struct, eq=False):
    """A key that Python would take for another: true for 1. Lists and maps are keys by themselves, as in Go."""

    value: Value


_TRUE, _FALSE = _Key(value=True), _Key(value=False)


def map_key(value: Value) -> Value:
    if type(value) is bool:
        return _TRUE if value else _FALSE
    return _Key(value) if isinstance(value, list | dict) else value


def keys_of(holder: Mapping[Value, Value]) -> list[Value]:
    """Keys of a map as written."""
    return list(map(written_key, holder))


def written_key(key: Value) -> Value:
    return key.value if isinstance(key, _Key) else key


_TYPES: dict[type, Type] = {
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
    type(None): types.NULL,
    Quantity: types.QUANTITY,
    Sum: types.QUANTITY,
    Semver: types.SEMVER,
    Optional: Type("optional_type"),
    Type: Type("type"),
}


def type_of(value: Value) -> Type:
    """Type of a value, without parameters."""
    cel_type = _TYPES.get(type(value))
    if cel_type is not None:
        return cel_type
    return Type("list") if isinstance(value, list) else Type("map")


def is_number(value: Value) -> bool:
    return type(value) in (int, float, Uint)


def _same_type(left: Value, right: Value) -> tuple[Value, Value]:
    """Two numbers of one type: an integer beside a double is compared as a double, and loses digits as Go's does."""
    if isinstance(left, float) == isinstance(right, float):
        return left, right
    return float(left), float(right)


def equals(left: Value, right: Value) -> bool:
    """Equality of values: different types are never equal, except numbers; Kubernetes' own are compared with their like
    alone.
    """
    if is_number(left) and is_number(right):
        left, right = _same_type(left, right)
        return bool(left == right)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_may_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_may_equal(value, right[key]) for key, value in left.items())
    if left is None or right is None:
        return left is right
    if isinstance(left, Optional) and isinstance(right, Optional):
        return left.is_set == right.is_set and (not left.is_set or equals(left.value, right.value))
    if isinstance(left, Quantity | Sum):
        if not isinstance(right, Quantity):
            raise EvaluationError(NO_OVERLOAD)
        return quantity_of(left).nano == right.nano
    if type_of(left) == types.SEMVER:
        if type_of(left) != type_of(right):
            raise EvaluationError(NO_OVERLOAD)
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _may_equal(left: Value, right: Value) -> bool:
    """True if both are equal, or cannot be compared, which counts as equal in cel-go."""
    try:
        return equals(left, right)
    except EvaluationError:
        return True


def is_same(left: Value, right: Value) -> bool:
    """True if both are equal; False if they cannot be compared, so that a search continues."""
    try:
        return equals(left, right)
    except EvaluationError:
        return False


def quantity_of(value: Quantity | Sum) -> Quantity:
    return value.quantity if isinstance(value, Sum) else value


_ORDERED = (bool, str, bytes)


def compare(left: Value, right: Value) -> int:
    """-1, 0 or 1, of two values that have an order."""
    if is_number(left) and is_number(right):
        if left != left or right != right:
            raise EvaluationError("NaN values cannot be ordered")
        left, right = _same_type(left, right)
    elif type(left) not in _ORDERED or type(left) is not type(right):
        raise EvaluationError(NO_OVERLOAD)
    elif isinstance(left, str):
        # Go compares bytes: the order of code points.
        left, right = left.encode("utf-8", "surrogatepass"), right.encode("utf-8", "surrogatepass")
    return int(left > right) - int(left < right)


def is_comparable(value: Value) -> bool:
    return is_number(value) or type(value) in _ORDERED


def key_text(value: Value) -> str:
    if type(value) is bool:
        return "true" if value else "false"
    return format_general(value) if isinstance(value, float) else str(value)


def format_general(value: float) -> str:
    """Number in Go's ``%g`` format: with an exponent below -4 and from 6 on."""
    if not math.isfinite(value) or value == 0 or -5 < math.floor(math.log10(abs(value))) < 6:
        return format_exact(value)
    digits, _, exponent = f"{Decimal(repr(value)).normalize():e}".partition("e")
    return f"{digits}e{int(exponent):+03d}"


def format_exact(value: float) -> str:
    """Shortest text that reads back as the same number, never with an exponent (strconv.FormatFloat 'f', -1)."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    # Go writes no fraction where there is none.
    return f"{Decimal(repr(value)):f}".removesuffix(".0")
