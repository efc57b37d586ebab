"""The values of CEL and how they compare.

Booleans, integers, doubles, strings, lists, maps and null are Python's own; quantities and versions are Kubernetes'.

Source: staging/src/k8s.io/apiserver/pkg/cel/quantity.go, Quantity
Source: staging/src/k8s.io/apiserver/pkg/cel/semver.go, Semver
Source: vendor/github.com/google/cel-go/common/types/compare.go, compareDoubleInt
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, total_ordering
from typing import Any, TypeVar

from kubespread.kube.quantity import Quantity

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
