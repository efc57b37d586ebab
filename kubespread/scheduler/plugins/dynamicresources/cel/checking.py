"""The type checker: what type every part of an expression has, and which overload every call means.

Source: vendor/github.com/google/cel-go/checker/checker.go, Check
Source: vendor/github.com/google/cel-go/cel/validator.go
Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, newCompiler
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubespread.scheduler.plugins.dynamicresources.cel import (
    addresses,
    kubernetes,
    lists,
    standard,
    texts,
    times,
    types,
)
from kubespread.scheduler.plugins.dynamicresources.cel.declaring import Function
from kubespread.scheduler.plugins.dynamicresources.cel.lexing import Faults
from kubespread.scheduler.plugins.dynamicresources.cel.patterns import pattern
from kubespread.scheduler.plugins.dynamicresources.cel.standard import duration_of, timestamp_of
from kubespread.scheduler.plugins.dynamicresources.cel.syntax import (
    Call,
    Fold,
    ListOf,
    Literal,
    MapOf,
    Message,
    Name,
    Node,
    Select,
)
from kubespread.scheduler.plugins.dynamicresources.cel.texts import format_fault
from kubespread.scheduler.plugins.dynamicresources.cel.types import (
    ANY,
    BOOL,
    DYN,
    ERROR,
    INT,
    STRING,
    Substitutions,
    Type,
    UnsupportedExpressionError,
    is_as_general,
    is_dynamic_or_error,
    list_of,
    made,
    map_of,
    optional_of,
)
from kubespread.scheduler.plugins.dynamicresources.cel.values import EvaluationError, Value, type_of

FUNCTIONS: Mapping[str, Function] = {
    function.name: function
    for module in (standard, times, texts, lists, addresses, kubernetes)
    for function in module.FUNCTIONS
}
_TYPES = ["bool", "bytes", "double", "duration", "int", "list(A)", "map(A, B)", "null", "string", "timestamp", "uint"]
_NAMES = (
    {"device": types.DEVICE}
    | {
        type_.name: made("type", type_)
        for type_ in (*map(types.type_of, _TYPES), types.IP, types.CIDR, Type("optional_type"))
    }
    | {
        "type": made("type", Type("type")),
        "duration": made("type", types.DURATION),
        "timestamp": made("type", types.TIMESTAMP),
    }
)
DEVICE_FIELDS = {
    "driver": STRING,
    "allowMultipleAllocations": BOOL,
    "attributes": map_of(STRING, map_of(STRING, ANY)),
    "capacity": map_of(STRING, map_of(STRING, types.QUANTITY)),
}


def check(node: Node, faults: Faults) -> Type:
    """The type of the whole, with the types and the overloads of all parts noted in them."""
    checker = _Checker(faults)
    checker.check(node)
    checker.finish()
    assert node.type is not None
    return node.type


def qualified_name(node: Node) -> str | None:
    """``a.b`` where that may be a name."""
    if isinstance(node, Name):
        return node.name
    if isinstance(node, Select) and not node.is_test:
        prefix = qualified_name(node.operand)
        return None if prefix is None else f"{prefix}.{node.name}"
    return None


def _held(node: Node, *, is_optional: bool) -> Type | None:
    return node.type.parameters[0] if is_optional and node.type is not None else node.type


_LITERALS: dict[str, Callable[[Value], object]] = {
    "matches": pattern,
    "duration": duration_of,
    "timestamp": timestamp_of,
}
"""What must make sense where it is called on a literal."""


class _Checker:
    def __init__(self, faults: Faults) -> None:
        self._faults = faults
        self._substitutions = Substitutions()
        self._scopes: list[dict[str, Type]] = []
        self._formats = 0
        """How many calls of format() are around."""
        self._nodes: list[tuple[Node, bool]] = []
        """All, and whether the items of a list may differ in it."""

    def check(self, node: Node) -> Type:
        if node.type is None:
            # A part that stands in two places has the same type in both.
            node.type = self._type_of(node)
            self._nodes.append((node, self._formats > 0))
        return node.type

    def finish(self) -> None:
        """Replace variables of types by what they stand for, and judge what Kubernetes refuses besides."""
        for node, _ in self._nodes:
            assert node.type is not None
            node.type = self._substitutions.apply(node.type, unknown_is_dynamic=True)
        if self._faults:
            return
        for node, may_differ in self._nodes:
            match node:
                case Call():
                    self._judge_literal(node)
                case ListOf() if not may_differ:
                    self._judge_items(
                        [_held(item, is_optional=place in node.optional) for place, item in enumerate(node.items)],
                        node.items,
                    )
                case MapOf() if not may_differ:
                    self._judge_items([key.type for key, *_ in node.entries], [key for key, *_ in node.entries])
                    values = [_held(value, is_optional=is_optional) for _, value, is_optional in node.entries]
                    self._judge_items(values, [value for _, value, _ in node.entries], all_of_them=True)

    def _judge_items(self, types_: list[Type | None], nodes: list[Node], *, all_of_them: bool = False) -> None:
        for type_, node in zip(types_, nodes, strict=True):
            if type_ != types_[0]:
                assert type_ is not None
                assert types_[0] is not None
                self._mismatch(node, types_[0], type_)
                if not all_of_them:
                    return

    def _judge_literal(self, node: Call) -> None:
        first = node.arguments[0] if node.arguments else None
        if node.function in _LITERALS and isinstance(first, Literal):
            try:
                _LITERALS[node.function](first.value)
            except EvaluationError:
                self._faults.add(first.position, f"invalid {node.function} argument")
        if node.function == "format" and isinstance(node.target, Literal) and isinstance(first, ListOf):
            found = [item.type or DYN for item in first.items]
            place, fault = format_fault(node.target.value, found)
            if fault:
                self._faults.add(node.position if place is None else first.items[place].position, fault)

    def _type_of(self, node: Node) -> Type:
        match node:
            case Literal():
                return type_of(node.value)
            case Name():
                return self._variable(node.name) or self._undeclared(node, node.name)
            case Select():
                qualified = None if node.is_test else qualified_name(node)
                found = None if qualified is None else self._variable(qualified)
                if found is not None:
                    return found
                selected = self._selected(node, node.operand, node.name)
                return BOOL if node.is_test else self._substitutions.apply(selected)
            case Call():
                return self._called(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case Message():
                return self._message(node)
            case Fold():
                return self._fold(node)
        raise AssertionError(node)

    def _variable(self, name: str) -> Type | None:
        name = name.removeprefix(".")
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return _NAMES.get(name)

    def _undeclared(self, node: Node, name: str) -> Type:
        self._faults.add(node.position, f"undeclared reference to '{name}' (in container '')")
        return ERROR

    def _selected(self, node: Node, operand: Node, name: str) -> Type:
        type_ = self._substitutions.apply(self.check(operand))
        is_optional = type_.name == "optional_type"
        held = type_.parameters[0] if is_optional else type_
        result = DYN
        if held.name == "map":
            result = held.parameters[1]
        elif held.is_variable:
            self._substitutions.assign([DYN], [held])
        elif held == types.DEVICE and name in DEVICE_FIELDS:
            result = DEVICE_FIELDS[name]
        elif held.name.startswith("kubernetes."):
            is_known = held == types.DEVICE
            said = f"undefined field '{name}'" if is_known else f"unexpected failed resolution of '{held.name}'"
            self._faults.add(node.position, said)
            result = ERROR
        elif not is_dynamic_or_error(held):
            self._faults.add(node.position, f"type '{held.in_errors}' does not support field selection")
        return optional_of(result) if is_optional else result

    def _called(self, node: Call) -> Type:
        if node.function == "_?._":
            operand, name = node.arguments
            assert isinstance(name, Literal)
            name.type = STRING
            selected = self._selected(node, operand, name.value)
            is_optional = selected.name == "optional_type" and self._is_optional(operand)
            return self._substitutions.apply(selected if is_optional else optional_of(selected))
        self._formats += node.function == "format"
        for argument in node.arguments:
            self.check(argument)
        if node.target is not None:
            prefix = qualified_name(node.target)
            if prefix is not None and f"{prefix}.{node.function}" in FUNCTIONS:
                node.function, node.target = f"{prefix}.{node.function}", None
            else:
                self.check(node.target)
        self._formats -= node.function == "format"
        function = FUNCTIONS.get(node.function.removeprefix("."))
        return self._undeclared(node, node.function) if function is None else self._resolved(node, function)

    def _is_optional(self, operand: Node) -> bool:
        return self._substitutions.apply(self.check(operand)).name == "optional_type"

    def _resolved(self, node: Call, function: Function) -> Type:
        node.function = function.name
        if node.function in ("_&&_", "_||_"):
            return self._logical(node)
        operands = [*([] if node.target is None else [node.target]), *node.arguments]
        found = [self.check(operand) for operand in operands]
        result: Type | None = None
        possible = []
        for overload in function.overloads:
            if overload.is_member != (node.target is not None):
                continue
            fresh: dict[Type, Type] = {}
            declared = [self._instantiated(type_, fresh) for type_ in overload.arguments]
            returned = self._instantiated(overload.result, fresh)
            if not self._substitutions.assign(found, declared):
                continue
            possible.append(overload)
            returned = self._substitutions.apply(returned)
            if result is None:
                result = returned
            elif not result.is_dynamic and returned != result:
                result = DYN
        if result is None:
            shown = [self._substitutions.apply(type_, unknown_is_dynamic=True).in_errors for type_ in found]
            arguments = f"({', '.join(shown[node.target is not None :])})"
            signature = arguments if node.target is None else f"{shown[0]}.{arguments}"
            message = f"found no matching overload for '{function.name}' applied to '{signature}'"
            self._faults.add(node.position, message)
            return ERROR
        node.overloads = possible
        return result

    def _instantiated(self, type_: Type, fresh: dict[Type, Type]) -> Type:
        """With variables of its own."""
        if type_.is_variable:
            if type_ not in fresh:
                fresh[type_] = self._substitutions.variable()
            return fresh[type_]
        if not type_.parameters:
            return type_
        return made(type_.name, *(self._instantiated(part, fresh) for part in type_.parameters))

    def _logical(self, node: Call) -> Type:
        is_wrong = False
        for argument in node.arguments:
            found = self.check(argument)
            if not self._substitutions.assign([found], [BOOL]):
                is_wrong = True
                self._mismatch(argument, BOOL, found)
        return ERROR if is_wrong else BOOL

    def _mismatch(self, node: Node, expected: Type, found: Type) -> None:
        message = f"expected type '{expected.in_errors}' but found '{found.in_errors}'"
        self._faults.add(node.position, message)

    def _item(self, node: Node, *, is_optional: bool) -> Type:
        type_ = self.check(node)
        if not is_optional:
            return type_
        if type_.name == "optional_type":
            return type_.parameters[0]
        if not type_.is_dynamic:
            self._mismatch(node, optional_of(type_), type_)
        return type_

    def _joined(self, previous: Type | None, current: Type) -> Type:
        """What two items have in common."""
        if previous is None:
            return current
        if self._substitutions.assign([previous], [current]):
            return previous if is_as_general(previous, current) else current
        return DYN

    def _list(self, node: ListOf) -> Type:
        joined: Type | None = None
        for place, item in enumerate(node.items):
            joined = self._joined(joined, self._item(item, is_optional=place in node.optional))
        return list_of(joined or self._substitutions.variable())

    def _map(self, node: MapOf) -> Type:
        keys: Type | None = None
        values: Type | None = None
        for key, value, is_optional in node.entries:
            keys = self._joined(keys, self.check(key))
            values = self._joined(values, self._item(value, is_optional=is_optional))
        return map_of(keys or self._substitutions.variable(), values or self._substitutions.variable())

    def _message(self, node: Message) -> Type:
        found = self._variable(node.name)
        if found is None:
            return self._undeclared(node, node.name)
        if found.name != "type":
            self._faults.add(node.position, f"'{found.name}' is not a type")
            return ERROR
        made = found.parameters[0] if found.parameters else found
        if "." in made.name and not node.fields:
            raise UnsupportedExpressionError(f"{made.name}{{}}")
        self._faults.add(node.position, f"'{made.name}' is not a message type")
        return ERROR

    def _fold(self, node: Fold) -> Type:
        self.check(node.range)
        started = self.check(node.start)
        range_ = self._substitutions.apply(self.check(node.range))
        self._scopes.append({node.accumulator: started})
        held: tuple[Type, Type] = (ERROR, ERROR)
        if range_.name == "list":
            held = (INT, range_.parameters[0])
        elif range_.name == "map":
            held = (range_.parameters[0], range_.parameters[1])
        elif range_.is_variable or range_ in (DYN, ERROR):
            self._substitutions.assign([DYN], [range_])
            held = (DYN, DYN)
        else:
            message = f"expression of type '{range_.in_errors}' cannot be range of a comprehension"
            self._faults.add(node.range.position, f"{message} (must be list, map, or dynamic)")
        if len(node.variables) == 1:
            held = (held[1] if range_.name == "list" else held[0], DYN)
        self._scopes.append(dict(zip(node.variables, held, strict=False)))
        for part, expected in ((node.condition, BOOL), (node.step, started)):
            found = self.check(part)
            if not self._substitutions.assign([expected], [found]):
                self._mismatch(part, expected, found)
        self._scopes.pop()
        result = self.check(node.result)
        self._scopes.pop()
        return self._substitutions.apply(result)
