"""Values as Go prints them inside Kubernetes' messages, and integers as it parses them.

Source: staging/src/k8s.io/apimachinery/pkg/util/errors/errors.go, NewAggregate, Error
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from kubespread.regex import regex

_ESCAPES = {char: f"\\{letter}" for char, letter in zip('"\\\a\b\f\n\r\t\v', '"\\abfnrtv', strict=True)}


def quote(text: str) -> str:
    """Go's %q: double quotes, printable characters as they are."""
    return f'"{"".join(map(_escape, text))}"'


def _escape(char: str) -> str:
    if char in _ESCAPES or char.isprintable():
        return _ESCAPES.get(char, char)
    code = ord(char)
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


INTEGER = regex(r"[+-]?[0-9]+", re.ASCII)


def parse_int64(text: str) -> int | None:
    """strconv.ParseInt(text, 10, 64): a sign, digits, nothing else; None when it does not parse."""
    if not INTEGER.fullmatch(text) or len(text) > 4096:
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def compact_json(value: object) -> str:
    """Go's encoding/json: without blanks, the three characters HTML cares about escaped.

    Keys of maps must be sorted, unlike those of structs.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def quoted_list(values: Iterable[str]) -> str:
    return ", ".join(quote(value) for value in values)


def aggregate(messages: Iterable[str]) -> str:
    """Several errors as one text: a single one as it is, more in brackets, without repetition."""
    distinct = list(dict.fromkeys(messages))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
