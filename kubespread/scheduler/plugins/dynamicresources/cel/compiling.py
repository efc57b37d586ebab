"""A CEL expression as a function of a device: its tree is turned into closures once, and called for every device.

The texts of errors are those of the interpreter.

Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, CompileCELExpression, DeviceMatches
Source: vendor/github.com/google/cel-go/interpreter/interpretable.go, Interpretable
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import repeat

from kubespread.scheduler.plugins.dynamicresources.cel.functions import FUNCTIONS, METHODS, OPERATORS, Function
from kubespread.scheduler.plugins.dynamicresources.cel.syntax import (
    Call,
    Expression,
    Index,
    ListOf,
    Literal,
    MapOf,
    Name,
    Select,
    parse,
)
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    NO_OVERLOAD,
    EvaluationError,
    UnsupportedExpressionError,
    Value,
    equals,
    keys_of,
    map_key,
)

Variables = dict[str, Value]
Evaluate = Callable[[Variables], Value]
Selector = Callable[[Mapping[str, Value]], bool]

_MACROS = ("all", "exists", "exists_one", "filter", "map")
_NATIVE = {str: "string", int: "int", float: "double", list: "list", type(None): "null_type"}


@lru_cache(maxsize=1024)
def compiled(expression: str) -> Selector:
    """Whether ``expression`` selects a device, given as the fields of CEL's variable ``device``.

    Raises UnsupportedExpressionError at once; the selector raises EvaluationError.
    """
    evaluate = _compile(parse(expression), frozenset({"device"}))

    def selects(device: Mapping[str, Value]) -> bool:
        result = evaluate({"device": device})
        if type(result) is not bool:
            kind = _NATIVE.get(type(result), "map")
            unconverted = f"unsupported native conversion from {kind} to 'bool'"
            raise EvaluationError(f"CEL result of type {kind} could not be converted to bool: {unconverted}")
        return result

    return selects


def _compile(expression: Expression, names: frozenset[str]) -> Evaluate:
    match expression:
        case Literal(int() as value) if not -(2**63) <= value < 2**63:
            return _failing(f"invalid int literal {value}")
        case Literal(value):
            return lambda variables: value
        case Name(name):
            if name not in names:
                raise UnsupportedExpressionError(f"{name}, which is no variable")
            return lambda variables: variables[name]
        case Select(operand, name):
            return _element(_compile(operand, names), lambda variables: name)
        case Index(operand, key):
            return _element(_compile(operand, names), _compile(key, names))
        case ListOf(items):
            values = [_compile(item, names) for item in items]
            return lambda variables: [value(variables) for value in values]
        case MapOf(entries):
            pairs = [(_compile(key, names), _compile(value, names)) for key, value in entries]
            return lambda variables: {_key(key(variables)): value(variables) for key, value in pairs}
        case Call():
            return _call(expression, names)


def _key(value: Value) -> Value:
    if type(value) not in (str, int, bool):
        raise EvaluationError("unsupported key type")
    return map_key(value)


def _failing(error: str) -> Evaluate:
    """An expression that always ends in an error."""

    def fail(_variables: Variables) -> Value:
        raise EvaluationError(error)

    return fail


def _element(operand: Evaluate, key: Evaluate) -> Evaluate:
    def look_up(variables: Variables) -> Value:
        holder, looked_up = operand(variables), key(variables)
        if isinstance(holder, dict):
            try:
                return holder[map_key(looked_up)]
            except (KeyError, TypeError):
                raise EvaluationError(f"no such key: {looked_up}") from None
        if isinstance(holder, list) and type(looked_up) is int:
            if 0 <= looked_up < len(holder):
                return holder[looked_up]
            raise EvaluationError(f"index out of bounds: {looked_up}")
        raise EvaluationError(NO_OVERLOAD)

    return look_up


def _call(call: Call, names: frozenset[str]) -> Evaluate:
    match call:
        case Call("&&" | "||", None, _):
            sides = [_compile(side, names) for side in _chained(call, call.function)]
            return lambda variables: _settled(sides, repeat(variables), decisive=call.function == "||")
        case Call(function, None, (_, _)) if function in OPERATORS:
            return _applied_in_turn(call, names)
        case Call("?:", None, (condition, chosen, other)):
            return _choice(_compile(condition, names), _compile(chosen, names), _compile(other, names))
        case Call("has", None, (Select(operand, name),)):
            return _presence(_compile(operand, names), name)
        case Call("bind", Name("cel"), (Name(variable), value, body)):
            return _binding(variable, _compile(value, names), _compile(body, names | {variable}))
        case Call(macro, target, (Name(variable), body)) if target is not None and macro in _MACROS:
            return _comprehension(macro, _compile(target, names), variable, _compile(body, names | {variable}))
    table = METHODS if call.target is not None else {**OPERATORS, **FUNCTIONS}
    if call.function not in table:
        raise UnsupportedExpressionError(f"{call.function}()")
    values = [_compile(argument, names) for argument in (call.target, *call.arguments) if argument is not None]
    return _applied(table[call.function], call.function, values, len(call.arguments))


def _applied(function: Function, name: str, values: list[Evaluate], arguments: int) -> Evaluate:
    try:
        inspect.signature(function).bind(*values)
    except TypeError:
        raise UnsupportedExpressionError(f"{name}() with {arguments} arguments") from None
    if len(values) == 2:
        first, second = values
        return lambda variables: function(first(variables), second(variables))
    return lambda variables: function(*(value(variables) for value in values))


def _chained(expression: Expression, function: str) -> list[Expression]:
    """``a || b || c`` side by side; a chain may be longer than Python nests calls."""
    sides = []
    while isinstance(expression, Call) and expression.function == function and expression.target is None:
        expression, right = expression.arguments
        sides.append(right)
    return [expression, *reversed(sides)]


def _applied_in_turn(expression: Expression, names: frozenset[str]) -> Evaluate:
    """``a + b - c``: operators that bind alike, from the left."""
    steps: list[tuple[Function, Evaluate]] = []
    while isinstance(expression, Call) and expression.function in OPERATORS and len(expression.arguments) == 2:
        function = OPERATORS[expression.function]
        expression, right = expression.arguments
        steps.append((function, _compile(right, names)))
    first = _compile(expression, names)
    steps.reverse()

    def evaluate(variables: Variables) -> Value:
        value = first(variables)
        for function, right in steps:
            value = function(value, right(variables))
        return value

    return evaluate


def _settled(sides: Iterable[Evaluate], variables: Iterable[Variables], *, decisive: bool) -> bool:
    """``||`` (True decides) and ``&&`` (False does): one side may decide regardless of the others, errors included."""
    error: EvaluationError | None = None
    for side, scope in zip(sides, variables, strict=False):
        try:
            value = side(scope)
        except EvaluationError as raised:
            error = error or raised
            continue
        if type(value) is bool and value == decisive:
            return decisive
        if type(value) is not bool:
            error = error or EvaluationError(NO_OVERLOAD)
    if error is not None:
        raise error
    return not decisive


def _choice(condition: Evaluate, chosen: Evaluate, other: Evaluate) -> Evaluate:
    def choose(variables: Variables) -> Value:
        value = condition(variables)
        if type(value) is not bool:
            raise EvaluationError(NO_OVERLOAD)
        return chosen(variables) if value else other(variables)

    return choose


def _presence(operand: Evaluate, name: str) -> Evaluate:
    def has(variables: Variables) -> bool:
        holder = operand(variables)
        if not isinstance(holder, dict):
            raise EvaluationError(NO_OVERLOAD)
        return name in holder

    return has


def _binding(variable: str, value: Evaluate, body: Evaluate) -> Evaluate:
    return lambda variables: body({**variables, variable: value(variables)})


def _comprehension(macro: str, target: Evaluate, variable: str, body: Evaluate) -> Evaluate:
    def items(variables: Variables) -> list[Value]:
        holder = target(variables)
        if not isinstance(holder, list | dict):
            raise EvaluationError(NO_OVERLOAD)
        return keys_of(holder) if isinstance(holder, dict) else holder

    def each(variables: Variables) -> Iterator[Variables]:
        return ({**variables, variable: item} for item in items(variables))

    def answers(variables: Variables) -> list[Value]:
        return [body(scope) for scope in each(variables)]

    match macro:
        case "all" | "exists":
            return lambda variables: _settled(repeat(body), each(variables), decisive=macro == "exists")
        case "map":
            return answers
        case "filter":
            return lambda variables: [
                item for item, answer in zip(items(variables), answers(variables), strict=True) if equals(answer, True)
            ]
    return lambda variables: sum(equals(answer, True) for answer in answers(variables)) == 1
