"""Declarations of functions: a row per signature, with the function that computes it.

Source: vendor/github.com/google/cel-go/common/decls/decls.go, FunctionDecl, matchRuntimeArgType
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from kubespread.scheduler.plugins.dynamicresources.cel.types import Type, split_top_level
from kubespread.scheduler.plugins.dynamicresources.cel.types import type_of as written_type
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    NO_OVERLOAD,
    EvaluationError,
    Value,
    type_of,
    written_key,
)

Run = Callable[..., Value]


class Overload(Struct, frozen=True, eq=False):
    is_member: bool
    arguments: tuple[Type, ...]
    """Types of the arguments, the target first."""
    run: Run | None
    """None if the function has one for all."""

    def takes(self, values: tuple[Value, ...]) -> bool:
        return len(values) == len(self.arguments) and all(map(_is_of, self.arguments, values))


class Function(Struct, frozen=True, eq=False):
    name: str
    overloads: tuple[Overload, ...]
    for_all: Run | None = None
    """Implementation of all overloads at once."""
    first: tuple[type, ...] = ()
    """Types allowed for the first value of ``for_all``."""
    is_guarded: bool = True
    """True if the types of values are checked before it is called."""
    iterates: bool = True
    """True if it iterates over items of lists."""
    squares: bool = False
    """True if it compares each item with every other."""

    def taking(self, number: int, *, is_member: bool) -> tuple[Overload, ...]:
        """Overloads with this number of arguments, including a target."""
        return tuple(row for row in self.overloads if (row.is_member, len(row.arguments)) == (is_member, number))

    def bind(self, overloads: tuple[Overload, ...]) -> Run:
        """Implementation with the possible overloads."""
        if self.for_all is not None:
            return self._on_first(self.for_all) if self.first else self.for_all
        if len(overloads) == 1 and not self.is_guarded and overloads[0].run is not None:
            return overloads[0].run
        possible = overloads if len(overloads) == 1 else self.overloads

        def run(*values: Value) -> Value:
            for overload in possible:
                if overload.run is not None and overload.takes(values):
                    return overload.run(*values)
            kinds = ", ".join(type_of(value).name for value in values)
            raise EvaluationError(f"{NO_OVERLOAD}: {self.name}({kinds})")

        return run

    def _on_first(self, for_all: Run) -> Run:
        first, takes_bool = self.first, bool in self.first

        def run(*values: Value) -> Value:
            if not isinstance(values[0], first) or (type(values[0]) is bool and not takes_bool):
                # Texts answer for functions that they do not have.
                raise EvaluationError(NO_OVERLOAD if isinstance(values[0], str) else f"{NO_OVERLOAD}: {self.name}")
            return for_all(*values)

        return run


def _is_of(type_: Type, value: Value) -> bool:
    """Compare a value's type with the declared one, looking only at the first item of lists and maps."""
    if type_.is_variable or type_.is_dynamic:
        return True
    if type_.name != type_of(value).name:
        return False
    if type_.name == "list" and value:
        return _is_of(type_.parameters[0], value[0])
    if type_.name == "map" and value:
        key, mapped_value = next(iter(value.items()))
        return _is_of(type_.parameters[0], written_key(key)) and _is_of(type_.parameters[1], mapped_value)
    return True


def declare(
    name: str,
    signatures: Mapping[str, Run | None] | Iterable[str],
    for_all: Run | None = None,
    first: tuple[type, ...] = (),
    *,
    is_guarded: bool = True,
    iterates: bool = True,
    squares: bool = False,
) -> Function:
    """Declare a function by ``target | arguments -> result`` or ``arguments -> result``."""
    rows = signatures if isinstance(signatures, Mapping) else dict.fromkeys(signatures)
    overloads = tuple(_overload(signature, row) for signature, row in rows.items())
    return Function(name, overloads, for_all, first, is_guarded, iterates, squares)


def _overload(signature: str, run: Run | None) -> Overload:
    arguments = signature.partition("-> ")[0]
    target, bar, rest = arguments.rpartition("|")
    types = [target.strip()] if bar else []
    types += split_top_level(rest.strip())
    return Overload(bool(bar), tuple(map(written_type, types)), run)
