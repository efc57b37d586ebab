"""The text of a CEL expression as a tree.

The grammar is that of the CEL language definition (github.com/google/cel-spec, doc/langdef.md).

Source: vendor/github.com/google/cel-go/parser/parser.go, Parse
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from kubespread.scheduler.plugins.dynamicresources.cel.values import UnsupportedExpressionError, Value

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
