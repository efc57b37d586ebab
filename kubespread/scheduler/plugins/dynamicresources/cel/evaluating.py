"""An expression as closures, which are made once and called for every device.

Names and the number of arguments are checked when they are made, types when they are called.

Source: vendor/github.com/google/cel-go/interpreter/planner.go, Plan
Source: vendor/github.com/google/cel-go/interpreter/interpretable.go
Source: vendor/github.com/google/cel-go/interpreter/attributes.go, applyQualifiers, refQualify
Source: vendor/github.com/google/cel-go/interpreter/decorators.go, decOptimize
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from msgspec import Struct

from kubespread.kube.quantity import Quantity
from kubespread.scheduler.plugins.dynamicresources.cel import kubernetes, lists, standard, texts
from kubespread.scheduler.plugins.dynamicresources.cel.declaring import Function, Overload
from kubespread.scheduler.plugins.dynamicresources.cel.patterns import pattern
from kubespread.scheduler.plugins.dynamicresources.cel.syntax import (
    MAX_DEPTH,
    Call,
    Fold,
    ListOf,
    Literal,
    MapOf,
    Name,
    Select,
    Tree,
)
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, Type, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    NO_OVERLOAD,
    NONE,
    TOO_MUCH,
    EvaluationError,
    Growing,
    GrowingMap,
    List,
    Map,
    Optional,
    Semver,
    Sum,
    Uint,
    Value,
    key_text,
    keys_of,
    map_key,
    type_of,
)

FUNCTIONS: Mapping[str, Function] = {
    function.name: function for module in (standard, texts, lists, kubernetes) for function in module.FUNCTIONS
}
NOT_MODELLED = frozenset(
    {
        "url",
        "isURL",
        "ip",
        "isIP",
        "ip.isCanonical",
        "cidr",
        "isCIDR",
        "timestamp",
        "duration",
        "format",
        "getFullYear",
        "getMonth",
        "getDayOfYear",
        "getDayOfMonth",
        "getDate",
        "getDayOfWeek",
        "getHours",
        "getMinutes",
        "getSeconds",
        "getMilliseconds",
        "family",
        "isUnspecified",
        "isLoopback",
        "isLinkLocalMulticast",
        "isLinkLocalUnicast",
        "isGlobalUnicast",
        "containsIP",
        "containsCIDR",
        "prefixLength",
        "masked",
        "getScheme",
        "getHost",
        "getHostname",
        "getPort",
        "getEscapedPath",
        "getQuery",
        "validate",
    }
)
"""Functions for values that no device has (URLs, addresses, times), and ``format``."""
_TYPES = frozenset(
    [
        "bool",
        "bytes",
        "double",
        "google.protobuf.Duration",
        "int",
        "list",
        "map",
        "null_type",
        "string",
        "google.protobuf.Timestamp",
        "uint",
        "net.IP",
        "net.CIDR",
        "optional_type",
        "type",
    ]
)
"""Names that stand for types."""
_FLAT = frozenset({"_&&_", "_||_", "_?_:_", "@not_strictly_false"})
"""Calls that do not count in how deep an expression is nested."""
_DEVICE_FIELDS = ("driver", "allowMultipleAllocations", "attributes", "capacity")
_MOST_WORK, _STEP, _ITEM, _CHARACTERS = 2_000_000, 10, 2, 100
"""Most work of an evaluation, which bounds its time: a call or a round of a loop costs 10, an item of a list 2, as do
100 characters.
"""


class Run(Struct):
    """One evaluation of an expression."""

    variables: list[Value]
    """Values of the variables, by place; one may be an error."""
    work: int = 0

    def check(self) -> None:
        if self.work > _MOST_WORK:
            raise EvaluationError(TOO_MUCH)


Evaluate = Callable[[Run], Value]
_UNSET = object()
"""Mark of a variable that has not been read yet."""
_CONVERSIONS = frozenset({"bool", "bytes", "double", "dyn", "int", "string", "type", "uint"})
_SEARCHES = frozenset({"matches", "find", "findAll"})


class _Plan(NamedTuple):
    evaluate: Evaluate
    constant: tuple[Value] | None = None
    """Value, where that is known without a device."""


def _constant(value: Value) -> _Plan:
    return _Plan(lambda run: value, (value,))


class Planner:
    """Planner of evaluations. Raises CompileError and UnsupportedExpressionError."""

    def __init__(self) -> None:
        self._places: dict[str, list[tuple[int, Evaluate | None]]] = {"device": [(0, None)]}
        """Places of each variable, innermost loop last, each with its initial value."""
        self.count = 1
        self.has_patterns = False
        """True if some part planned so far matches a pattern."""
        self._planned: dict[int, _Plan] = {}
        self._depth = 0

    def plan(self, node: Tree) -> _Plan:
        if id(node) not in self._planned:
            is_nested = isinstance(node, Select) or (isinstance(node, Call) and node.function not in _FLAT)
            self._depth += is_nested
            if self._depth > MAX_DEPTH:
                raise CompileError(f"nested more than {MAX_DEPTH} deep")
            self._planned[id(node)] = self._plan(node)
            self._depth -= is_nested
        return self._planned[id(node)]

    def _plan(self, node: Tree) -> _Plan:
        match node:
            case Literal():
                return _constant(node.value)
            case Name():
                return self._variable(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case ListOf():
                return self._list(node)
            case MapOf():
                return self._map(node)
            case Fold():
                return self._fold(node)
        raise AssertionError(node)

    def _variable(self, node: Name) -> _Plan:
        name = node.name.removeprefix(".")
        places = self._places.get(name)
        if not places:
            if name in _TYPES:
                return _constant(Type(name))
            raise CompileError(f"undeclared reference to '{name}'", node.position)
        place, start = places[-1]

        def resolve(run: Run) -> Value:
            value = run.variables[place]
            if value is _UNSET:
                assert start is not None
                value = run.variables[place] = _caught(start, run)
            if isinstance(value, EvaluationError):
                raise value
            return value

        return _Plan(resolve)

    def _select(self, node: Select) -> _Plan:
        name = None if node.is_test else qualified_name(node)
        if name in _TYPES:
            return _constant(Type(name))
        self._check_field(node.operand, node.name, node.position)
        holder = self.plan(node.operand)
        if not node.is_test:
            return _element(holder, _constant(node.name), is_optional=False)
        inner, field_name = holder.evaluate, node.name

        def has(run: Run) -> bool:
            value = inner(run)
            if isinstance(value, Optional):
                return value.is_set and bool(_present(value.value, field_name))
            return bool(_present(value, field_name))

        return _Plan(has)

    def _check_field(self, holder: Tree, name: str, position: int) -> None:
        is_device = isinstance(holder, Name) and self._places.get(holder.name.removeprefix(".")) == [(0, None)]
        if is_device and name not in _DEVICE_FIELDS:
            raise CompileError(f"undefined field '{name}'", position)

    def _call(self, node: Call) -> _Plan:
        match node.function:
            case "_&&_" | "_||_":
                sides = [self.plan(side).evaluate for side in node.arguments]
                return _Plan(_settle(sides, decisive=node.function == "_||_"))
            case "_?_:_":
                condition, chosen, other = map(self.plan, node.arguments)
                return _Plan(_choice(condition.evaluate, chosen.evaluate, other.evaluate))
            case "_[_]" | "_[?_]" | "_?._":
                holder, key = map(self.plan, node.arguments)
                if node.function == "_?._" and key.constant is not None:
                    self._check_field(node.arguments[0], key.constant[0], node.position)
                return _element(holder, key, is_optional=node.function != "_[_]")
            case "@not_strictly_false":
                return _Plan(_not_strictly_false(self.plan(node.arguments[0]).evaluate))
        return self._function(node)

    def _function(self, node: Call) -> _Plan:
        name, parts = (
            node.function.removeprefix("."),
            [*([] if node.target is None else [node.target]), *node.arguments],
        )
        prefix = None if node.target is None else qualified_name(node.target)
        if prefix is not None and (f"{prefix}.{name}" in FUNCTIONS.keys() | NOT_MODELLED or prefix == "format"):
            name, parts = f"{prefix}.{name}", node.arguments
        is_member = len(parts) > len(node.arguments)
        if name in NOT_MODELLED or prefix == "format":
            raise UnsupportedExpressionError(f"the function {name}()")
        operands = [self.plan(part) for part in parts]
        if name not in FUNCTIONS:
            raise CompileError(f"undeclared reference to '{name}'", node.position)
        overloads = FUNCTIONS[name].taking(len(parts), is_member=is_member)
        if not overloads:
            raise CompileError(f"'{name}' does not take so many arguments", node.position)
        return self._planned_call(node, FUNCTIONS[name], overloads, operands)

    def _planned_call(
        self, node: Call, function: Function, overloads: tuple[Overload, ...], operands: list[_Plan]
    ) -> _Plan:
        name = function.name
        if name in ("or", "orValue"):
            return _Plan(_alternative(operands[0].evaluate, operands[1].evaluate, keeps=name == "or"))
        if name == "@in" and operands[1].constant is not None:
            members = operands[1].constant[0]
            return _constant(value=False) if members == [] else _Plan(_membership(operands[0].evaluate, members))
        self.has_patterns |= name in _SEARCHES
        constant_pattern = operands[1].constant if name in _SEARCHES else None
        has_pattern = constant_pattern is not None and isinstance(constant_pattern[0], str)
        evaluated = [operand.evaluate for operand in operands]
        called = _call(function, overloads, evaluated, has_pattern=has_pattern)
        try:
            if constant_pattern is not None and has_pattern:
                pattern(constant_pattern[0])
            # cel-go looks for the pattern where methods have it.
            if name == "matches" and isinstance(node.arguments[0], Literal):
                pattern(node.arguments[0].value)
            if name in _CONVERSIONS and operands[0].constant is not None:
                return _constant(called(Run([])))
        except EvaluationError as error:
            raise CompileError(str(error), node.position) from error
        return _Plan(called)

    def _list(self, node: ListOf) -> _Plan:
        items = [self.plan(item) for item in node.items]
        optional = node.optional

        def evaluate(run: Run) -> List:
            values = [item.evaluate(run) for item in items]
            if not optional:
                return List(values)
            return List(
                _unwrap(value, f"list element from non-optional value {key_text(value)}")
                if place in optional
                else value
                for place, value in enumerate(values)
                if place not in optional or value is not NONE
            )

        return self._fold_constants(evaluate, items)

    def _map(self, node: MapOf) -> _Plan:
        entries = [(self.plan(key), self.plan(value), is_optional) for key, value, is_optional in node.entries]

        def evaluate(run: Run) -> Map:
            pairs: dict[Value, tuple[Value, Value]] = {}
            for key_of, value_of, is_optional in entries:
                key, value = key_of.evaluate(run), value_of.evaluate(run)
                if is_optional and value is NONE:
                    pairs.pop(map_key(key), None)
                    continue
                if is_optional:
                    value = _unwrap(value, f"entry '{key_text(key)}' from non-optional value {key_text(value)}")
                pairs[map_key(key)] = key, value
            return Map(pairs.values())

        return self._fold_constants(evaluate, [part for key, value, _ in entries for part in (key, value)])

    @staticmethod
    def _fold_constants(evaluate: Evaluate, parts: list[_Plan]) -> _Plan:
        """Evaluate a list or map of constants at once."""
        if any(part.constant is None for part in parts):
            return _Plan(evaluate)
        try:
            return _constant(evaluate(Run([])))
        except EvaluationError as error:
            raise CompileError(str(error)) from error

    def _fold(self, node: Fold) -> _Plan:
        holder, start = self.plan(node.range).evaluate, self.plan(node.start).evaluate
        accumulator = self._declare(node.accumulator, _growing(start))
        places = [self._declare(name, None) for name in node.variables]
        condition, step = self.plan(node.condition).evaluate, self.plan(node.step).evaluate
        for name in node.variables:
            self._places[name].pop()
        result = self.plan(node.result).evaluate
        self._places[node.accumulator].pop()
        takes_two = len(places) == 2
        goes_on = self.plan(node.condition).constant

        def fold(run: Run) -> Value:
            run.work += _STEP
            range_ = holder(run)
            if not isinstance(range_, list | dict):
                text = "unsupported comprehension range type: {}" if takes_two else "got '{}', expected iterable type"
                raise EvaluationError(text.format(_go_type(range_)))
            variables = run.variables
            variables[accumulator] = _UNSET
            for item in _pairs(range_) if takes_two else keys_of(range_) if isinstance(range_, dict) else range_:
                run.work += _STEP
                run.check()
                if takes_two:
                    variables[places[0]], variables[places[1]] = item
                else:
                    variables[places[0]] = item
                if goes_on is None and _caught(condition, run) is False:
                    break
                try:
                    variables[accumulator] = step(run)
                except EvaluationError as error:
                    run.check()
                    variables[accumulator] = error
            value = result(run)
            return value.freeze() if isinstance(value, Growing | GrowingMap) else value

        return _Plan(fold)

    def _declare(self, name: str, start: Evaluate | None) -> int:
        self._places.setdefault(name, []).append((self.count, start))
        self.count += 1
        return self.count - 1


def qualified_name(node: Tree) -> str | None:
    """``a.b``, if it may be a name; else None."""
    if isinstance(node, Name):
        return node.name.removeprefix(".")
    if isinstance(node, Select) and not node.is_test:
        prefix = qualified_name(node.operand)
        return None if prefix is None else f"{prefix}.{node.name}"
    return None


def _growing(start: Evaluate) -> Evaluate:
    """Wrap the evaluation of an accumulator so that one that starts empty can grow."""

    def start_growing(run: Run) -> Value:
        value = start(run)
        if isinstance(value, list | dict) and not value:
            return Growing() if isinstance(value, list) else GrowingMap()
        return value

    return start_growing


def _caught(evaluate: Evaluate, run: Run) -> Value:
    """Value or error of an evaluation; raises EvaluationError if there was too much work."""
    try:
        return evaluate(run)
    except EvaluationError as error:
        run.check()
        return error


def _pairs(holder: Value) -> Iterator[tuple[Value, Value]]:
    if isinstance(holder, dict):
        return zip(keys_of(holder), holder.values(), strict=True)
    return iter(enumerate(holder))


def _unwrap(value: Value, target: str) -> Value:
    if not isinstance(value, Optional):
        raise EvaluationError(f"cannot initialize optional {target}")
    return value.value


def _element(holder: _Plan, key: _Plan, *, is_optional: bool) -> _Plan:
    """``holder[key]``; all that is selected from an optional value is optional."""
    evaluate_holder, evaluate_key = holder.evaluate, key.evaluate
    if key.constant is not None:
        try:
            _check_key(key.constant[0])
        except EvaluationError as error:
            raise CompileError(str(error)) from error

    def resolve(run: Run) -> Value:
        value = evaluate_holder(run)
        if value is NONE:
            return NONE
        may_miss = is_optional or isinstance(value, Optional)
        if isinstance(value, Optional):
            value = value.value
        qualifier = evaluate_key(run)
        _check_key(qualifier)
        if not may_miss:
            return _look_up(value, qualifier)
        present = _present(value, qualifier)
        return NONE if present is None else Optional(present[0])

    return _Plan(resolve)


def _check_key(key: Value) -> None:
    if type(key) not in (str, int, Uint, bool, float):
        raise EvaluationError(f"invalid qualifier type: {_go_type(key)}")


def _look_up(holder: Value, key: Value) -> Value:
    present = _present(holder, key)
    if present is not None:
        return present[0]
    if isinstance(holder, list):
        raise EvaluationError(f"index out of bounds: {key_text(key)}")
    raise EvaluationError(f"no such key: {key_text(key)}")


def _present(holder: Value, key: Value) -> tuple[Value] | None:
    if isinstance(holder, dict):
        if not isinstance(holder, Map) and not isinstance(key, str):
            if hasattr(holder, "__missing__"):
                return (holder[""],)
            raise EvaluationError(NO_OVERLOAD)
        try:
            return (holder[map_key(key)],)
        except KeyError:
            return None
    if isinstance(holder, list):
        if type(key) not in (int, Uint, float):
            raise EvaluationError(f"unsupported index type '{type_of(key).name}' in list")
        if not -(2**63) <= key < 2**63 or key != int(key):
            raise EvaluationError(f"unsupported index value {key_text(key)} in list")
        return (holder[int(key)],) if 0 <= key < len(holder) else None
    return None


_GO_TYPES: Mapping[type, str] = {
    type(None): "types.Null",
    bool: "types.Bool",
    int: "types.Int",
    Uint: "types.Uint",
    float: "types.Double",
    str: "types.String",
    bytes: "types.Bytes",
    List: "*types.baseList",
    Optional: "*types.Optional",
    Type: "*types.Type",
    Quantity: "cel.Quantity",
    Sum: "*cel.Quantity",
    Semver: "cel.Semver",
}


def _go_type(value: Value) -> str:
    return _GO_TYPES.get(type(value), "*types.baseMap")


def _call(
    function: Function, overloads: tuple[Overload, ...], operands: list[Evaluate], *, has_pattern: bool
) -> Evaluate:
    bound = function.bind(overloads)
    # If cel-go knows the function to call, with one or two operands, it evaluates both even if one is an error.
    is_known = function.for_all is not None or len(overloads) == 1 or len(function.overloads) == 1
    stops = len(operands) > 2 or has_pattern or not is_known

    def call(run: Run) -> Value:
        values: list[Value] = []
        error: EvaluationError | None = None
        for operand in operands:
            try:
                values.append(operand(run))
            except EvaluationError as raised:
                run.check()
                if stops and operand is not operands[-1]:
                    raise
                error = error or raised
                values.append(raised)
        if error is not None:
            raise error
        weights = map(_weight, values) if function.iterates else ()
        run.work += _STEP + _ITEM * (prod(weights) ** (3 - len(values)) if function.squares else sum(weights))
        run.check()
        if has_pattern and not isinstance(values[0], str):
            raise EvaluationError(NO_OVERLOAD)
        return bound(*values)

    return call


def _weight(value: Value) -> int:
    if isinstance(value, str | bytes):
        return len(value) // _CHARACTERS
    return value.weight if isinstance(value, List | Map) and type(value) is not Growing else 0


def _settle(sides: list[Evaluate], *, decisive: bool) -> Evaluate:
    """``||`` (True decides) and ``&&`` (False does): one side may decide regardless of the others, errors included."""

    def settle(run: Run) -> bool:
        error: EvaluationError | None = None
        for side in sides:
            value = _caught(side, run)
            if value is decisive:
                return bool(value)
            if type(value) is not bool and error is None:
                error = value if isinstance(value, EvaluationError) else EvaluationError(NO_OVERLOAD)
        if error is not None:
            raise error
        return not decisive

    return settle


def _choice(condition: Evaluate, chosen: Evaluate, other: Evaluate) -> Evaluate:
    def choose(run: Run) -> Value:
        value = condition(run)
        if type(value) is not bool:
            raise EvaluationError(NO_OVERLOAD)
        return chosen(run) if value else other(run)

    return choose


def _not_strictly_false(operand: Evaluate) -> Evaluate:
    def judge(run: Run) -> bool:
        return _caught(operand, run) is not False

    return judge


def _alternative(operand: Evaluate, other: Evaluate, *, keeps: bool) -> Evaluate:
    """``or``, which keeps the value optional, and ``orValue``: the value if it is set, else the other."""

    def choose(run: Run) -> Value:
        value = operand(run)
        if not isinstance(value, Optional) or (keeps and value.is_set):
            return value
        return value.value if value.is_set else other(run)

    return choose


def _membership(operand: Evaluate, members: Value) -> Evaluate:
    """``in`` with a constant list or map, which cel-go hashes."""

    def judge(run: Run) -> Value:
        value = operand(run)
        if isinstance(value, Semver | bytes):
            raise EvaluationError(f"hash of unhashable type {_go_type(value)}")
        return standard.is_in(value, members)

    return judge
