"""A CEL expression as a function of a device: its text is read into a tree, which is turned into closures once, and
these are called for every device.

The grammar is that of the CEL language definition (github.com/google/cel-spec, doc/langdef.md). The texts of errors are
those of the interpreter.

Source: staging/src/k8s.io/dynamic-resource-allocation/cel/compile.go, CompileCELExpression, DeviceMatches
Source: vendor/github.com/google/cel-go/interpreter/interpretable.go, Interpretable
Source: vendor/github.com/google/cel-go/parser/parser.go, Parse
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple

from msgspec import Struct

from kubespread.scheduler.plugins.dynamicresources.cel.functions import (
    FUNCTIONS,
    METHODS,
    NO_OVERLOAD,
    OPERATORS,
    EvaluationError,
    Function,
    UnsupportedExpressionError,
    Value,
    equals,
    keys_of,
    map_key,
)

MAX_DEPTH = 64
"""cel-go's own limit of nesting is larger; an expression of such depth selects no device."""


class Literal(Struct, frozen=True):
    value: Value


class Name(Struct, frozen=True):
    name: str


class Select(Struct, frozen=True):
    """``operand.name``."""

    operand: Expression
    name: str


class Index(Struct, frozen=True):
    operand: Expression
    key: Expression


class Call(Struct, frozen=True):
    """A function, a method where there is a ``target``, or an operator by its sign."""

    function: str
    target: Expression | None
    arguments: tuple[Expression, ...]


class ListOf(Struct, frozen=True):
    items: tuple[Expression, ...]


class MapOf(Struct, frozen=True):
    entries: tuple[tuple[Expression, Expression], ...]


Expression = Literal | Name | Select | Index | Call | ListOf | MapOf


class _Token(NamedTuple):
    kind: str
    text: str


_TOKENS = re.compile(
    r"""(?P<space>[\s]+|//[^\n]*)
      | (?P<string>[rRbB]{0,2}(?:
            \"\"\"(?:[^\\]|\\.)*?\"\"\" | '''(?:[^\\]|\\.)*?''' | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
        ))
      | (?P<float>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<int>0x[0-9a-fA-F]+|\d+)(?P<unsigned>[uU])?
      | (?P<name>[_a-zA-Z][_a-zA-Z0-9]*)
      | (?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_MAX_DIGITS = 64
_ESCAPES = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{2})|X([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL
)
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_BINARY = (("||",), ("&&",), ("==", "!=", "<=", ">=", "<", ">", "in"), ("+", "-"), ("*", "/", "%"))
"""The operators of two operands, those that bind least first."""


def parse(text: str) -> Expression:
    """The tree of an expression. Raises UnsupportedExpressionError for what cannot be read."""
    parser = _Parser(list(_tokens(text)))
    expression = parser.expression()
    parser.expect("end")
    return expression


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            raise UnsupportedExpressionError(f"{text[position]!r} at position {position}")
        position = match.end()
        if match["unsigned"]:
            raise UnsupportedExpressionError("an unsigned number")
        if match["space"] is None:
            yield _Token(str(match.lastgroup), match[0])
    yield _Token("end", "the end")


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens, self._at, self._depth = tokens, 0, 0

    def _next(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _take(self, *signs: str) -> str | None:
        """The next token where it is one of these."""
        token = self._tokens[self._at]
        return self._next().text if token.text in signs and token.kind in ("sign", "name") else None

    def expect(self, *expected: str) -> str:
        token = self._next()
        if token.kind not in expected and token.text not in expected:
            raise UnsupportedExpressionError(f"{token.text!r} where {' or '.join(expected)} is expected")
        return token.text

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise UnsupportedExpressionError("an expression nested too deeply")
        condition = self._binary(0)
        if self._take("?"):
            chosen = self._binary(0)
            self.expect(":")
            condition = Call("?:", None, (condition, chosen, self.expression()))
        self._depth -= 1
        return condition

    def _binary(self, level: int) -> Expression:
        if level == len(_BINARY):
            return self._unary()
        left = self._binary(level + 1)
        while operator := self._take(*_BINARY[level]):
            left = Call(operator, None, (left, self._binary(level + 1)))
        return left

    def _unary(self) -> Expression:
        sign, count = self._take("!", "-"), 0
        if sign is None:
            return self._member()
        while self._take(sign):
            count += 1
        operand = self._member()
        # As in cel-go's parser, double negations cancel out.
        if count % 2:
            return operand
        if sign == "-" and isinstance(operand, Literal) and type(operand.value) in (int, float):
            return Literal(-operand.value)
        return Call(f"{sign}_", None, (operand,))

    def _member(self) -> Expression:
        operand, depth = self._primary(), 0
        while sign := self._take(".", "["):
            depth += 1
            if depth > MAX_DEPTH:
                raise UnsupportedExpressionError("an expression nested too deeply")
            if sign == "[":
                operand = Index(operand, self.expression())
                self.expect("]")
                continue
            name = self.expect("name")
            operand = Call(name, operand, self._arguments(")")) if self._take("(") else Select(operand, name)
        return operand

    def _arguments(self, closing: str) -> tuple[Expression, ...]:
        arguments: list[Expression] = []
        while not self._take(closing):
            if arguments:
                self.expect(",")
                if self._take(closing):
                    break
            arguments.append(self.expression())
        return tuple(arguments)

    def _primary(self) -> Expression:
        token = self._next()
        match token.kind:
            case "string":
                return Literal(_unquoted(token.text))
            case "int":
                return Literal(_integer(token.text))
            case "float":
                return Literal(float(token.text))
            case "sign" if token.text == "-" and self._tokens[self._at].kind in ("int", "float"):
                number = self._primary()
                assert isinstance(number, Literal)
                return Literal(-number.value)
            case "name" if token.text in _WORDS:
                return Literal(_WORDS[token.text])
            case "name":
                return Call(token.text, None, self._arguments(")")) if self._take("(") else Name(token.text)
        match token.text:
            case "(":
                inner = self.expression()
                self.expect(")")
                return inner
            case "[":
                return ListOf(self._arguments("]"))
            case "{":
                return MapOf(tuple(self._entries()))
        raise UnsupportedExpressionError(f"{token.text!r} where a value is expected")

    def _entries(self) -> Iterator[tuple[Expression, Expression]]:
        while not self._take("}"):
            key = self.expression()
            self.expect(":")
            yield key, self.expression()
            if not self._take(","):
                self.expect("}")
                return


def _integer(text: str) -> int:
    digits, base = (text[2:], 16) if text.startswith("0x") else (text, 10)
    value = int(digits, base) if len(digits) <= _MAX_DIGITS else 2**64
    if value > 2**63:
        raise UnsupportedExpressionError("a number beyond 64 bits")
    return value


def _unquoted(text: str) -> str:
    quote = text.index(text[-1])
    prefix, width = text[:quote].lower(), 3 if text.endswith(("'''", '"""')) and len(text) - quote >= 6 else 1
    inner = text[quote + width : -width]
    if "b" in prefix:
        raise UnsupportedExpressionError("bytes")
    return inner if "r" in prefix else _ESCAPE.sub(_unescaped, inner)


def _unescaped(match: re.Match[str]) -> str:
    *codes, octal, letter = match.groups()
    if octal is not None:
        return chr(int(octal, 8))
    if letter is not None:
        if letter not in _ESCAPES:
            raise UnsupportedExpressionError(f"the escape {match[0]}")
        return _ESCAPES[letter]
    code = int(next(digits for digits in codes if digits is not None), 16)
    if code > 0x10FFFF:
        raise UnsupportedExpressionError(f"the escape {match[0]}")
    return chr(code)


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
            bound, inner = _compile(value, names), _compile(body, names | {variable})
            return lambda variables: inner({**variables, variable: bound(variables)})
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
