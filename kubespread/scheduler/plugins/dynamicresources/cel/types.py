"""The types of values, and how a signature writes them.

Source: vendor/github.com/google/cel-go/common/types/types.go
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple


class CompileError(Exception):
    """Text that is no selector; the message says why, and where if ``position`` is known."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class UnsupportedExpressionError(Exception):
    """An expression that cannot be evaluated here; the message says why."""


class Type(NamedTuple):
    name: str
    parameters: tuple[Type, ...] = ()
    is_variable: bool = False

    def __str__(self) -> str:
        return self.name

    @property
    def is_dynamic(self) -> bool:
        return self.name in ("dyn", "google.protobuf.Any")


DYN, ANY, NULL = Type("dyn"), Type("google.protobuf.Any"), Type("null_type")
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES = Type("string"), Type("bytes")
QUANTITY, SEMVER = Type("kubernetes.Quantity"), Type("kubernetes.Semver")
_SHORT = {"any": ANY, "null": NULL} | {type_.name.rpartition(".")[2]: type_ for type_ in (QUANTITY, SEMVER)}


@lru_cache(maxsize=1024)
def type_of(text: str) -> Type:
    """Parse a type, ``list(map(string, A))``: a capital letter is a variable."""
    name, _, rest = text.partition("(")
    if rest:
        return Type({"optional": "optional_type"}.get(name, name), tuple(map(type_of, split_top_level(rest[:-1]))))
    return _SHORT.get(name) or Type(name, is_variable=len(name) == 1)


def split_top_level(text: str) -> list[str]:
    """Parts between the outer commas."""
    parts: list[str] = []
    depth = 0
    for part in text.split(", "):
        if depth:
            parts[-1] += f", {part}"
        elif part:
            parts.append(part)
        depth += part.count("(") - part.count(")")
    return parts
