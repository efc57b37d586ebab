"""The types of CEL expressions, and which may stand for which.

Source: vendor/github.com/google/cel-go/checker/types.go, internalIsAssignable, isValidTypeSubstitution, substitute
Source: vendor/github.com/google/cel-go/checker/format.go, FormatCELType
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

MAX_WEIGHT = 500
"""How many parts a type may have: ``{a: a}`` doubles that of ``a``."""


class CompileError(Exception):
    """The expression is no selector; the text is Kubernetes'."""


class UnsupportedExpressionError(Exception):
    """The expression cannot be evaluated here; the text says why."""


class Type(NamedTuple):
    name: str
    parameters: tuple[Type, ...] = ()
    is_variable: bool = False
    weight: int = 1

    def __str__(self) -> str:
        if not self.parameters:
            return self.name
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def in_errors(self) -> str:
        """As the type checker writes it."""
        if not self.parameters:
            return _IN_ERRORS.get(self.name, self.name)
        return f"{self.name}({', '.join(parameter.in_errors for parameter in self.parameters)})"

    @property
    def is_dynamic(self) -> bool:
        return self.name in ("dyn", "google.protobuf.Any")


_IN_ERRORS = {
    "google.protobuf.Any": "any",
    "google.protobuf.Duration": "duration",
    "google.protobuf.Timestamp": "timestamp",
    "null_type": "null",
}
DYN, ANY, NULL, ERROR = Type("dyn"), Type("google.protobuf.Any"), Type("null_type"), Type("!error!")
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES = Type("string"), Type("bytes")
DURATION, TIMESTAMP = Type("google.protobuf.Duration"), Type("google.protobuf.Timestamp")
QUANTITY, SEMVER, URL = Type("kubernetes.Quantity"), Type("kubernetes.Semver"), Type("kubernetes.URL")
IP, CIDR, FORMAT = Type("net.IP"), Type("net.CIDR"), Type("kubernetes.NamedFormat")
DEVICE = Type("kubernetes.DRADevice")
_SHORT = {"duration": DURATION, "timestamp": TIMESTAMP, "any": ANY, "null": NULL} | {
    type_.name.rpartition(".")[2]: type_ for type_ in (QUANTITY, SEMVER, URL, IP, CIDR, FORMAT)
}


def made(name: str, *parameters: Type) -> Type:
    """A type with parameters."""
    weight = 1 + sum(parameter.weight for parameter in parameters)
    if weight > MAX_WEIGHT:
        raise UnsupportedExpressionError(f"a type of more than {MAX_WEIGHT} parts")
    return Type(name, parameters, weight=weight)


def list_of(item: Type) -> Type:
    return made("list", item)


def map_of(key: Type, value: Type) -> Type:
    return made("map", key, value)


def optional_of(value: Type) -> Type:
    return made("optional_type", value)


@lru_cache(maxsize=1024)
def type_of(text: str) -> Type:
    """``list(map(string, A))``: a capital letter is a variable."""
    name, _, rest = text.partition("(")
    if rest:
        return made({"optional": "optional_type"}.get(name, name), *map(type_of, listed(rest[:-1])))
    return _SHORT.get(name) or Type(name, is_variable=len(name) == 1)


def listed(text: str) -> list[str]:
    """What stands between the outer commas."""
    parts: list[str] = []
    depth = 0
    for part in text.split(", "):
        if depth:
            parts[-1] += f", {part}"
        elif part:
            parts.append(part)
        depth += part.count("(") - part.count(")")
    return parts


def is_dynamic_or_error(type_: Type) -> bool:
    return type_ == ERROR or type_.is_dynamic


class Substitutions:
    """What the variables of types stand for; an attempt that fails leaves no trace."""

    def __init__(self) -> None:
        self._types: dict[Type, Type] = {}
        self._trail: list[tuple[Type, Type | None]] = []
        self._variables = 0

    def variable(self) -> Type:
        """One of its own."""
        self._variables += 1
        return Type(f"_var{self._variables - 1}", is_variable=True)

    def assign(self, types: Sequence[Type], others: Sequence[Type]) -> bool:
        """Whether each type may stand for its other; if so variables stand for what makes them."""
        if self._all_fit(types, others):
            self._trail.clear()
            return True
        while self._trail:
            variable, before = self._trail.pop()
            if before is None:
                del self._types[variable]
            else:
                self._types[variable] = before
        return False

    def _all_fit(self, types: Sequence[Type], others: Sequence[Type]) -> bool:
        return len(types) == len(others) and all(map(self._fits, types, others))

    def _fits(self, type_: Type, other: Type) -> bool:
        if other.is_variable:
            is_valid, is_known = self._may_be(other, type_)
            if is_valid or is_known:
                return is_valid
        if type_.is_variable:
            return self._may_be(type_, other)[0]
        if is_dynamic_or_error(type_) or is_dynamic_or_error(other):
            return True
        if type_ == NULL or other == NULL:
            # Only objects, timestamps and the like may be null.
            kept = other if type_ == NULL else type_
            return kept == NULL or "." in kept.name or kept.name == "optional_type"
        if type_.name == "type":
            return other.name == "type"
        return type_.name == other.name and self._all_fit(type_.parameters, other.parameters)

    def _may_be(self, variable: Type, type_: Type) -> tuple[bool, bool]:
        """Whether a variable may stand for a type, and whether it stands for one already."""
        if variable == type_:
            return True, True
        known = self._types.get(variable)
        if known is None:
            if self._occurs(variable, type_):
                return False, False
            self._set(variable, type_)
            return True, False
        if type_ == known:
            return True, True
        if not self._fits(type_, known):
            return False, True
        general = type_ if is_as_general(type_, known) else known
        if not self._occurs(variable, general):
            self._set(variable, general)
        return True, True

    def _set(self, variable: Type, type_: Type) -> None:
        self._trail.append((variable, self._types.get(variable)))
        self._types[variable] = type_

    def _occurs(self, variable: Type, type_: Type) -> bool:
        if type_ == variable:
            return True
        if type_.is_variable:
            known = self._types.get(type_)
            return known is not None and self._occurs(variable, known)
        return any(self._occurs(variable, parameter) for parameter in type_.parameters)

    def apply(self, type_: Type, *, unknown_is_dynamic: bool = False) -> Type:
        """The type with its variables replaced by what they stand for."""
        while (known := self._types.get(type_)) is not None:
            type_ = known
        if type_.is_variable:
            return DYN if unknown_is_dynamic else type_
        if not type_.parameters:
            return type_
        parameters = [self.apply(part, unknown_is_dynamic=unknown_is_dynamic) for part in type_.parameters]
        return made(type_.name, *parameters)


def is_as_general(type_: Type, other: Type) -> bool:
    """Whether a type is the other, or less specific."""
    if type_.is_dynamic or type_.is_variable:
        return True
    if other.is_dynamic or other.is_variable or type_.name != other.name:
        return False
    if type_.name == "type":
        return True
    return len(type_.parameters) == len(other.parameters) and all(
        map(is_as_general, type_.parameters, other.parameters)
    )
