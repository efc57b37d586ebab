"""The text of an expression taken to pieces, and the tree of these, read by precedence climbing up to its first fault.

Source: vendor/github.com/google/cel-go/parser/gen/CEL.g4
Source: vendor/github.com/google/cel-go/parser/unescape.go, unescape
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple, NoReturn

from msgspec import Struct

from kubespread.regex import regex
from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError, UnsupportedExpressionError
from kubespread.scheduler.plugins.dynamicresources.cel.values import Uint, Value

MAX_DEPTH = 250


class Token(NamedTuple):
    kind: str
    """Name in the grammar; a sign or a word is its own kind, in quotes."""
    text: str
    start: int


_ESCAPED = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = rf"""(?:[rR](?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n\r]*"|'[^'\n\r]*')
    |\"\"\"(?:{_ESCAPED}|[^\\])*?\"\"\"|'''(?:{_ESCAPED}|[^\\])*?'''
    |"(?:{_ESCAPED}|[^\\"\n\r])*"|'(?:{_ESCAPED}|[^\\'\n\r])*')"""
_TOKENS = regex(
    rf"""(?P<hidden>[\t\ \r\n\f]+|//[^\n]*)
      | (?P<BYTES>[bB]{_STRING}) | (?P<STRING>{_STRING})
      | (?P<NUM_FLOAT>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<NUM_UINT>(?:0x[0-9a-fA-F]+|\d+)[uU]) | (?P<NUM_INT>0x[0-9a-fA-F]+|\d+)
      | (?P<IDENTIFIER>[_a-zA-Z][_a-zA-Z0-9]*) | (?P<ESC_IDENTIFIER>`[A-Za-z0-9_./\ -]+`)
      | (?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)


def tokens(text: str) -> Iterator[Token]:
    """Yield tokens, with the end as the last one. Raises CompileError."""
    position = 0
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            raise CompileError(f"no token begins with {text[position]!r}", position)
        kind = str(match.lastgroup)
        if kind == "sign" or match[0] in ("true", "false", "null", "in"):
            kind = f"'{match[0]}'"
        if kind != "hidden":
            yield Token(kind, match[0], position)
        position = match.end()
    yield Token("<EOF>", "<EOF>", len(text))


_LETTERS = dict(zip("abfnrtv\\'\"`?", "\a\b\f\n\r\t\v\\'\"`?", strict=True))
_ESCAPE = regex(r"\\(?:[xX]([0-9a-fA-F]{2})|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([0-3][0-7]{2})|(.))", re.DOTALL)


def unquote(token: Token) -> str | bytes:
    """Text between the quotes. Raises CompileError."""
    text = token.text.lstrip("bB")
    is_raw = text[0] in "rR"
    text = text.lstrip("rR").replace("\r\n", "\n").replace("\r", "\n")
    width = 3 if len(text) >= 6 and text.startswith(('"""', "'''")) else 1
    inner = text[width:-width]
    if token.kind == "BYTES":
        # Octal and hexadecimal escapes are bytes, all else is encoded as UTF-8.
        parts = [inner] if is_raw else re.split(rf"({_ESCAPED})", inner)
        return b"".join(
            bytes([ord(_unescape(match))]) if (match := _ESCAPE.fullmatch(part)) and not is_raw else part.encode()
            for part in parts
        )
    try:
        unescaped = inner if is_raw else _ESCAPE.sub(_unescape, inner)
    except ValueError:
        unescaped = "\ud800"
    if any(0xD800 <= ord(character) < 0xE000 for character in unescaped):
        raise CompileError("invalid code point", token.start)
    return unescaped


def _unescape(match: re.Match[str]) -> str:
    *hexadecimal, octal, letter = match.groups()
    if letter is not None:
        return _LETTERS[letter]
    return chr(int(octal, 8) if octal is not None else int(next(filter(None, hexadecimal)), 16))


def number(token: Token, sign: str = "") -> int | float:
    """Raises CompileError for one that is too large."""
    if token.kind == "NUM_FLOAT":
        double = float(sign + token.text)
        if abs(double) == float("inf"):
            raise CompileError("invalid double literal", token.start)
        return double
    is_unsigned = token.kind == "NUM_UINT"
    digits = token.text.rstrip("uU")
    integer = int(digits, 16 if digits.startswith("0x") else 10) if len(digits.lstrip("0x")) < 21 else 2**65
    integer = -integer if sign else integer
    if not (0 <= integer < 2**64 if is_unsigned else -(2**63) <= integer < 2**63):
        raise CompileError(f"invalid {'u' if is_unsigned else ''}int literal", token.start)
    return Uint(integer) if is_unsigned else integer


class Tree(Struct, eq=False):
    position: int


class Literal(Tree, eq=False):
    value: Value


class Name(Tree, eq=False):
    name: str


class Select(Tree, eq=False):
    """``operand.name``, or ``has(operand.name)``."""

    operand: Tree
    name: str
    is_test: bool = False


class Call(Tree, eq=False):
    """A function, a method if it has a ``target``, or an operator by its name (``_+_``)."""

    function: str
    target: Tree | None
    arguments: list[Tree]


class ListOf(Tree, eq=False):
    items: list[Tree]
    optional: frozenset[int] = frozenset()
    """Positions of items written with ``?``."""


class MapOf(Tree, eq=False):
    entries: list[tuple[Tree, Tree, bool]]
    """Key, value, and whether it is written with ``?``."""


class Fold(Tree, eq=False):
    """A loop over ``range``, to which all macros expand."""

    range: Tree
    variables: tuple[str, ...]
    """One variable, or two: index or key, and value."""
    accumulator: str
    start: Tree
    condition: Tree
    step: Tree
    result: Tree


_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    [
        "as",
        "break",
        "const",
        "continue",
        "else",
        "false",
        "for",
        "function",
        "if",
        "import",
        "in",
        "let",
        "loop",
        "package",
        "namespace",
        "null",
        "return",
        "true",
        "var",
        "void",
        "while",
    ]
)
_BINARY = {
    "'||'": (1, "_||_"),
    "'&&'": (2, "_&&_"),
    "'=='": (3, "_==_"),
    "'!='": (3, "_!=_"),
    "'<'": (3, "_<_"),
    "'<='": (3, "_<=_"),
    "'>'": (3, "_>_"),
    "'>='": (3, "_>=_"),
    "'in'": (3, "@in"),
    "'+'": (4, "_+_"),
    "'-'": (4, "_-_"),
    "'*'": (5, "_*_"),
    "'/'": (5, "_/_"),
    "'%'": (5, "_%_"),
}
"""The operators of two operands: how strongly they bind, and the function that each is."""
_RELATION = 3

Expand = Callable[[int, str, Tree | None, list[Tree]], Tree | None]


class Parser:
    """Parser of expressions; ``expand`` returns a macro call's tree, or None. Raises CompileError and
    UnsupportedExpressionError.
    """

    def __init__(self, text: str, expand: Expand) -> None:
        self._expand = expand
        self._tokens = list(tokens(text))
        self._index = self._depth = 0

    def parse(self) -> Tree:
        node = self._expression()
        self._expect("<EOF>")
        return node

    @property
    def _token(self) -> Token:
        return self._tokens[self._index]

    def _advance(self) -> Token:
        token = self._token
        self._index = min(self._index + 1, len(self._tokens) - 1)
        return token

    def _take(self, *kinds: str) -> Token | None:
        return self._advance() if self._token.kind in kinds else None

    def _expect(self, *kinds: str) -> Token:
        token = self._take(*kinds)
        return self._fail(self._token, *kinds) if token is None else token

    @staticmethod
    def _fail(token: Token, *expected: str) -> NoReturn:
        actual = "the end" if token.kind == "<EOF>" else f"'{token.text}'"
        alternatives = " or ".join(kind.strip("'") if kind != "<EOF>" else "the end" for kind in expected)
        raise CompileError(f"unexpected {actual}{f', expected {alternatives}' if expected else ''}", token.start)

    def _expression(self) -> Tree:
        self._deeper()
        node = self._binary(1)
        if sign := self._take("'?'"):
            chosen = self._binary(1)
            self._expect("':'")
            node = self._call(sign.start, "_?_:_", None, [node, chosen, self._expression()])
        self._depth -= 1
        return node

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise CompileError(f"nested more than {MAX_DEPTH} deep")

    def _binary(self, least: int) -> Tree:
        left = self._unary()
        last = 0
        while (binary := _BINARY.get(self._token.kind)) is not None and binary[0] >= least:
            rank, function = binary
            position = self._advance().start
            right = self._binary(rank + 1)
            if rank < _RELATION and last == rank and isinstance(left, Call):
                left.arguments.append(right)
            else:
                left = self._call(position, function, None, [left, right])
            last = rank
        return left

    def _unary(self) -> Tree:
        """Parse an expression with the signs before it."""
        sign, count = self._token, 0
        if sign.kind in ("'!'", "'-'"):
            while self._token.kind == sign.kind and not self._is_number():
                self._advance()
                count += 1
        operand = self._member()
        # As in cel-go's parser, double negations cancel out.
        return self._call(sign.start, f"{sign.kind[1]}_", None, [operand]) if count % 2 else operand

    def _is_number(self) -> bool:
        """True if a minus sign belongs to the number behind it."""
        following = self._tokens[min(self._index + 1, len(self._tokens) - 1)]
        return self._token.kind == "'-'" and following.kind in ("NUM_INT", "NUM_FLOAT")

    def _member(self) -> Tree:
        """Parse an expression with the selections, indexes and calls behind it."""
        node = self._primary()
        while sign := self._take("'.'", "'['"):
            is_optional = self._take("'?'") is not None
            if sign.kind == "'['":
                index = self._expression()
                self._expect("']'")
                node = self._call(sign.start, "_[?_]" if is_optional else "_[_]", None, [node, index])
                continue
            name = self._expect("IDENTIFIER")
            if is_optional:
                node = self._call(sign.start, "_?._", None, [node, Literal(name.start, name.text)])
            elif opening := self._take("'('"):
                node = self._call(opening.start, name.text, node, self._arguments())
            else:
                node = Select(sign.start, node, name.text)
        return node

    def _primary(self) -> Tree:
        dot = self._take("'.'")
        token = self._advance()
        if dot is not None and token.kind != "IDENTIFIER":
            self._fail(token, "IDENTIFIER")
        match token.kind:
            case "IDENTIFIER":
                return self._name(dot, token)
            case "'('":
                node = self._expression()
                self._expect("')'")
                return node
            case "'['":
                items = self._entries("']'")
                optional = frozenset(place for place, (*_, is_optional) in enumerate(items) if is_optional)
                return ListOf(token.start, [item for item, *_ in items], optional)
            case "'{'":
                return MapOf(token.start, self._entries("'}'"))
            case "'-'":
                return Literal(token.start, number(self._expect("NUM_INT", "NUM_FLOAT"), "-"))
            case "STRING" | "BYTES":
                return Literal(token.start, unquote(token))
            case "NUM_INT" | "NUM_UINT" | "NUM_FLOAT":
                return Literal(token.start, number(token))
        if token.text in _WORDS:
            return Literal(token.start, _WORDS[token.text])
        return self._fail(token)

    def _name(self, dot: Token | None, token: Token) -> Tree:
        """A variable or a call."""
        end = self._index
        while self._tokens[end].kind == "'.'" and self._tokens[end + 1].kind == "IDENTIFIER":
            end += 2
        if self._tokens[end].kind == "'{'":
            message = "".join(part.text for part in self._tokens[self._index - 1 : end])
            if message.startswith("google.protobuf.") and self._tokens[end + 1].kind == "'}'":
                raise UnsupportedExpressionError(f"{message}{{}}")
            raise CompileError(f"'{message}' is not a message type", token.start)
        if token.text in _RESERVED:
            raise CompileError(f"reserved identifier: {token.text}", token.start)
        name = ("." if dot else "") + token.text
        if opening := self._take("'('"):
            return self._call(opening.start, name, None, self._arguments())
        return Name(token.start, name)

    def _arguments(self) -> list[Tree]:
        """Parse the arguments of a call, up to and including the closing bracket."""
        arguments: list[Tree] = []
        if self._take("')'"):
            return arguments
        while True:
            arguments.append(self._expression())
            if self._expect("','", "')'").kind == "')'":
                return arguments

    def _entries(self, closing: str) -> list[tuple[Tree, Tree, bool]]:
        """Parse the entries of a list (each twice) or a map, with the closing bracket; True marks a leading ``?``."""
        entries: list[tuple[Tree, Tree, bool]] = []
        while not self._take(closing):
            is_optional = self._take("'?'") is not None
            key = value = self._expression()
            if closing == "'}'":
                self._expect("':'")
                value = self._expression()
            entries.append((key, value, is_optional))
            if not self._take("','"):
                self._expect(closing)
                break
        return entries

    def _call(self, position: int, function: str, target: Tree | None, arguments: list[Tree]) -> Tree:
        expanded = self._expand(position, function, target, arguments)
        return Call(position, function, target, arguments) if expanded is None else expanded
