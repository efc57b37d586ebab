"""The text of an expression taken to pieces, and what is wrong with it said as cel-go does.

Source: vendor/github.com/google/cel-go/parser/gen/CEL.g4
Source: vendor/github.com/google/cel-go/parser/unescape.go, unescape
Source: vendor/github.com/google/cel-go/common/error.go, ToDisplayString
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kubespread.scheduler.plugins.dynamicresources.cel.values import Uint

MAX_FAULTS = 100
"""That are told; with one more that is about tokens cel-go gives up."""


class Faults:
    """What is wrong with an expression, and where."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._faults: list[tuple[int, str]] = []
        self._more = 0

    def __bool__(self) -> bool:
        return bool(self._faults)

    def add(self, position: int, message: str) -> None:
        """At -1 where it has no place."""
        if len(self._faults) < MAX_FAULTS:
            self._faults.append((position, message))
        else:
            self._more += 1

    def __str__(self) -> str:
        shown = [self._shown(position, message) for position, message in sorted(self._faults, key=_position)]
        return "\n".join([*shown, f"{self._more} more errors were truncated"] if self._more else shown)

    def _shown(self, position: int, message: str) -> str:
        if position < 0 or not self._text:
            return f"ERROR: <input>:{-1 if position < 0 else 1}:0: {message}"
        start = self._text.rfind("\n", 0, position) + 1
        line, column = self._text.count("\n", 0, position) + 1, position - start
        snippet = self._text[start:].partition("\n")[0].replace("\t", " ")
        dots = "".join("\uff0e" if ord(character) > 127 else "." for character in snippet[:column])
        mark = "\uff3e" if ord(snippet[column : column + 1] or " ") > 127 else "^"
        return f"ERROR: <input>:{line}:{column + 1}: {message}\n | {snippet}\n | {dots}{mark}"


def _position(fault: tuple[int, str]) -> int:
    return fault[0]


class Token(NamedTuple):
    kind: str
    """What the grammar calls it: a sign or a word is its own kind, in quotes."""
    text: str
    start: int
    before: str
    """Blanks and comments."""


_ESCAPED = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = rf"""(?:[rR](?:\"\"\".*?\"\"\"|'''.*?'''|"[^"\n\r]*"|'[^'\n\r]*')
    |\"\"\"(?:{_ESCAPED}|[^\\])*?\"\"\"|'''(?:{_ESCAPED}|[^\\])*?'''
    |"(?:{_ESCAPED}|[^\\"\n\r])*"|'(?:{_ESCAPED}|[^\\'\n\r])*')"""
_TOKENS = re.compile(
    rf"""(?P<hidden>[\t\ \r\n\f]+|//[^\n]*)
      | (?P<BYTES>[bB]{_STRING}) | (?P<STRING>{_STRING})
      | (?P<NUM_FLOAT>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
      | (?P<NUM_UINT>(?:0x[0-9a-fA-F]+|\d+)[uU]) | (?P<NUM_INT>0x[0-9a-fA-F]+|\d+)
      | (?P<IDENTIFIER>[_a-zA-Z][_a-zA-Z0-9]*) | (?P<ESC_IDENTIFIER>`[A-Za-z0-9_./\ -]+`)
      | (?P<sign>&&|\|\||==|!=|<=|>=|[-+*/%!<>?:.,()\[\]{{}}])
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_BROKEN = re.compile(
    rf"""(?P<quote>["'])(?:{_ESCAPED}|(?!(?P=quote))[^\\\n\r])*
        (?:\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{{0,3}}|U[0-9a-fA-F]{{0,7}}|[0-3][0-7]?)?)?.?
      | [=&|].? | `[A-Za-z0-9_./\ -]*.? | .""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
"""What the lexer skips where no token begins: up to the character that ends its hope."""


def tokens(text: str, faults: Faults) -> Iterator[Token]:
    """Up to the end, which is a token itself, unless there are too many faults."""
    position = count = 0
    before = ""
    while position < len(text):
        match = _TOKENS.match(text, position)
        if match is None:
            broken = _BROKEN.match(text, position)
            assert broken is not None
            faults.add(position, f"Syntax error: token recognition error at: '{escaped(broken[0])}'")
            position = broken.end()
            count += 1
            if count > MAX_FAULTS:
                return
            continue
        kind = str(match.lastgroup)
        if kind == "sign" or match[0] in ("true", "false", "null", "in"):
            kind = f"'{match[0]}'"
        if kind == "hidden":
            before += match[0]
        else:
            yield Token(kind, match[0], position, before)
            before = ""
        position = match.end()
    yield Token("<EOF>", "<EOF>", len(text), before)


def escaped(text: str) -> str:
    return text.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


_LETTERS = dict(zip("abfnrtv\\'\"`?", "\a\b\f\n\r\t\v\\'\"`?", strict=True))
_ESCAPE = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([0-3][0-7]{2})|(.))", re.DOTALL
)


def unquoted(text: str, *, is_bytes: bool) -> str | bytes | None:
    """What stands between the quotes of a token; None where a code point is none."""
    is_raw = text[0] in "rR"
    text = text.lstrip("rR").replace("\r\n", "\n").replace("\r", "\n")
    width = 3 if len(text) >= 6 and text.startswith(('"""', "'''")) else 1
    inner = text[width:-width]
    if is_bytes:
        # Octal and hexadecimal escapes are bytes, all else stands for its UTF-8.
        parts = [inner] if is_raw else re.split(rf"({_ESCAPED})", inner)
        return b"".join(
            bytes([ord(_unescaped(match))]) if (match := _ESCAPE.fullmatch(part)) and not is_raw else part.encode()
            for part in parts
        )
    try:
        unescaped = inner if is_raw else _ESCAPE.sub(_unescaped, inner)
    except ValueError:
        return None
    return None if any(0xD800 <= ord(character) < 0xE000 for character in unescaped) else unescaped


def _unescaped(match: re.Match[str]) -> str:
    *hexadecimal, octal, letter = match.groups()
    if letter is not None:
        return _LETTERS[letter]
    return chr(int(octal, 8) if octal is not None else int(next(filter(None, hexadecimal)), 16))


def number(token: Token, position: int, sign: str, faults: Faults) -> int | float:
    if token.kind == "NUM_FLOAT":
        double = float(sign + token.text)
        if abs(double) == float("inf"):
            faults.add(position, "invalid double literal")
        return double
    is_unsigned = token.kind == "NUM_UINT"
    digits = token.text.rstrip("uU")
    integer = int(digits, 16 if digits.startswith("0x") else 10) if len(digits.lstrip("0x")) < 21 else 2**65
    integer = -integer if sign else integer
    if not (0 <= integer < 2**64 if is_unsigned else -(2**63) <= integer < 2**63):
        faults.add(position, f"invalid {'u' if is_unsigned else ''}int literal")
    return Uint(integer) if is_unsigned else integer
