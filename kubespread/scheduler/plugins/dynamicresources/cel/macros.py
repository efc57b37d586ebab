"""The calls that stand for something else: has(), loops, cel.bind().

Source: vendor/github.com/google/cel-go/parser/macro.go
Source: vendor/github.com/google/cel-go/ext/comprehensions.go, TwoVarComprehensions
Source: vendor/github.com/google/cel-go/ext/bindings.go, celBind
Source: vendor/github.com/google/cel-go/ext/lists.go, sortByMacro
Source: vendor/github.com/google/cel-go/cel/library.go, optMap, optFlatMap
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubespread.scheduler.plugins.dynamicresources.cel.syntax import (
    Call,
    Fold,
    ListOf,
    Literal,
    MapOf,
    Name,
    Select,
    Tree,
)
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError
from kubespread.scheduler.plugins.dynamicresources.cel.values import Value

RESULT = "@result"
"""Variable that collects a loop's result; no text can name it."""
_UNUSED, _SORTED = "#unused", "@__sortBy_input__"


def expand(position: int, function: str, target: Tree | None, arguments: list[Tree]) -> Tree | None:
    """Expansion of a macro's call; None for any other call."""
    if function == "has" and target is None and len(arguments) == 1:
        return _has(position, arguments[0])
    macro = _MACROS.get((function, len(arguments)))
    if macro is None or target is None or (function == "bind" and not _is_cel(target)):
        return None
    return macro(_Writer(position), target, arguments)


def _is_cel(target: Tree) -> bool:
    return isinstance(target, Name) and target.name == "cel"


def _has(position: int, tested: Tree) -> Tree:
    if isinstance(tested, Select):
        return Select(position, tested.operand, tested.name, is_test=True)
    raise CompileError("invalid argument to has() macro", tested.position)


class _Writer:
    """Writer of nodes at the position of a macro."""

    def __init__(self, position: int) -> None:
        self._position = position

    def name(self, node: Tree) -> str:
        """Name of the variable that an argument names."""
        if not isinstance(node, Name):
            raise CompileError("argument must be a simple name", node.position)
        if node.name == "__result__":
            raise CompileError("iteration variable overwrites accumulator variable", node.position)
        return node.name

    def names(self, arguments: Sequence[Tree]) -> tuple[str, ...]:
        first, second = map(self.name, arguments[:2])
        if first == second:
            raise CompileError(f"duplicate variable name: {first}", arguments[1].position)
        return first, second

    def literal(self, value: Value) -> Tree:
        return Literal(self._position, value)

    def variable(self, name: str = RESULT) -> Tree:
        return Name(self._position, name)

    def call(self, function: str, *arguments: Tree) -> Tree:
        return Call(self._position, function, None, list(arguments))

    def method(self, target: Tree, function: str, *arguments: Tree) -> Tree:
        return Call(self._position, function, target, list(arguments))

    def list_of(self, *items: Tree) -> Tree:
        return ListOf(self._position, list(items))

    def map_of(self) -> Tree:
        return MapOf(self._position, [])

    def fold(
        self, range_: Tree, names: tuple[str, ...], start: Tree, condition: Tree, step: Tree, result: Tree
    ) -> Tree:
        return Fold(self._position, range_, names, RESULT, start, condition, step, result)

    def gather(
        self, range_: Tree, names: tuple[str, ...], start: Tree, step: Tree, condition: Tree | None = None
    ) -> Tree:
        """Loop that gathers a result, from all items or from ones that meet a condition."""
        if condition is not None:
            step = self.call("_?_:_", condition, step, self.variable())
        return self.fold(range_, names, start, self.literal(value=True), step, self.variable())

    def bind(self, name: str, value: Tree, body: Tree) -> Tree:
        """A loop over nothing with a body that sees its start."""
        nothing, false = self.list_of(), self.literal(value=False)
        return Fold(self._position, nothing, (_UNUSED,), name, value, false, self.variable(name), body)


_Macro = Callable[[_Writer, Tree, list[Tree]], Tree]


def _one_or_two(writer: _Writer, arguments: list[Tree]) -> tuple[tuple[str, ...], Tree]:
    if len(arguments) == 2:
        return (writer.name(arguments[0]),), arguments[1]
    return writer.names(arguments), arguments[2]


def _all(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    names, predicate = _one_or_two(writer, arguments)
    condition = writer.call("@not_strictly_false", writer.variable())
    step = writer.call("_&&_", writer.variable(), predicate)
    return writer.fold(target, names, writer.literal(value=True), condition, step, writer.variable())


def _exists(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    names, predicate = _one_or_two(writer, arguments)
    condition = writer.call("@not_strictly_false", writer.call("!_", writer.variable()))
    step = writer.call("_||_", writer.variable(), predicate)
    return writer.fold(target, names, writer.literal(value=False), condition, step, writer.variable())


def _exists_one(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    names, predicate = _one_or_two(writer, arguments)
    one_more = writer.call("_+_", writer.variable(), writer.literal(1))
    step = writer.call("_?_:_", predicate, one_more, writer.variable())
    result = writer.call("_==_", writer.variable(), writer.literal(1))
    return writer.fold(target, names, writer.literal(0), writer.literal(value=True), step, result)


def _map(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    names = (writer.name(arguments[0]),)
    condition = arguments[1] if len(arguments) == 3 else None
    step = writer.call("_+_", writer.variable(), writer.list_of(arguments[-1]))
    return writer.gather(target, names, writer.list_of(), step, condition)


def _filter(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    names = (writer.name(arguments[0]),)
    step = writer.call("_+_", writer.variable(), writer.list_of(arguments[0]))
    return writer.gather(target, names, writer.list_of(), step, arguments[1])


def _transform_list(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    step = writer.call("_+_", writer.variable(), writer.list_of(arguments[-1]))
    condition = arguments[2] if len(arguments) == 4 else None
    return writer.gather(target, writer.names(arguments), writer.list_of(), step, condition)


def _transform_map(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    names = writer.names(arguments)
    step = writer.call("cel.@mapInsert", writer.variable(), writer.variable(names[0]), arguments[-1])
    condition = arguments[2] if len(arguments) == 4 else None
    return writer.gather(target, names, writer.map_of(), step, condition)


def _transform_map_entry(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    step = writer.call("cel.@mapInsert", writer.variable(), arguments[-1])
    condition = arguments[2] if len(arguments) == 4 else None
    return writer.gather(target, writer.names(arguments), writer.map_of(), step, condition)


def _sort_by(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    keys = _map(writer, writer.variable(_SORTED), arguments)
    body = writer.method(writer.variable(_SORTED), "@sortByAssociatedKeys", keys)
    return writer.bind(_SORTED, target, body)


def _bind(writer: _Writer, _target: Tree, arguments: list[Tree]) -> Tree:
    variable, value, body = arguments
    return writer.bind(writer.name(variable), value, body)


def _opt_map(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    return _if_set(writer, target, arguments, lambda body: writer.call("optional.of", body))


def _opt_flat_map(writer: _Writer, target: Tree, arguments: list[Tree]) -> Tree:
    return _if_set(writer, target, arguments, lambda body: body)


def _if_set(writer: _Writer, target: Tree, arguments: list[Tree], wrapped: Callable[[Tree], Tree]) -> Tree:
    """Expression that evaluates the target twice, as cel-go's does."""
    variable, body = arguments
    bound = writer.bind(writer.name(variable), writer.method(target, "value"), body)
    return writer.call("_?_:_", writer.method(target, "hasValue"), wrapped(bound), writer.call("optional.none"))


_MACROS: dict[tuple[str, int], _Macro] = {
    ("all", 2): _all,
    ("all", 3): _all,
    ("exists", 2): _exists,
    ("exists", 3): _exists,
    ("exists_one", 2): _exists_one,
    ("exists_one", 3): _exists_one,
    ("existsOne", 3): _exists_one,
    ("map", 2): _map,
    ("map", 3): _map,
    ("filter", 2): _filter,
    ("transformList", 3): _transform_list,
    ("transformList", 4): _transform_list,
    ("transformMap", 3): _transform_map,
    ("transformMap", 4): _transform_map,
    ("transformMapEntry", 3): _transform_map_entry,
    ("transformMapEntry", 4): _transform_map_entry,
    ("sortBy", 2): _sort_by,
    ("bind", 3): _bind,
    ("optMap", 2): _opt_map,
    ("optFlatMap", 2): _opt_flat_map,
}
