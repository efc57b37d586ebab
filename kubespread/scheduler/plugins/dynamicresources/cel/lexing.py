"""The text of an expression taken to pieces.

Source: vendor/github.com/google/cel-go/parser/gen/CEL.g4
Source: vendor/github.com/google/cel-go/parser/unescape.go, unescape
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from kubespread.scheduler.plugins.dynamicresources.cel.types import CompileError
from kubespread.scheduler.plugins.dynamicresources.cel.values import Uint


class Token(NamedTuple):
    kind: str
    """What the grammar calls it: a sign or a word is its own kind, in quotes."""
    text: str
    start: int


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


def tokens(text: str) -> Iterator[Token]:
    """Up to the end, which is a token itself. Raises CompileError."""
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
_ESCAPE = re.compile(
    r"\\(?:[xX]([0-9a-fA-F]{2})|(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([0-3][0-7]{2})|(.))", re.DOTALL
)


def unquoted(token: Token) -> str | bytes:
    """What stands between the quotes. Raises CompileError."""
    text = token.text.lstrip("bB")
    is_raw = text[0] in "rR"
    text = text.lstrip("rR").replace("\r\n", "\n").replace("\r", "\n")
    width = 3 if len(text) >= 6 and text.startswith(('"""', "'''")) else 1
    inner = text[width:-width]
    if token.kind == "BYTES":
        # Octal and hexadecimal escapes are bytes, all else stands for its UTF-8.
        parts = [inner] if is_raw else re.split(rf"({_ESCAPED})", inner)
        return b"".join(
            bytes([ord(_unescaped(match))]) if (match := _ESCAPE.fullmatch(part)) and not is_raw else part.encode()
            for part in parts
        )
    try:
        unescaped = inner if is_raw else _ESCAPE.sub(_unescaped, inner)
    except ValueError:
        unescaped = "\ud800"
    if any(0xD800 <= ord(character) < 0xE000 for character in unescaped):
        raise CompileError("invalid code point", token.start)
    return unescaped


def _unescaped(match: re.Match[str]) -> str:
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
