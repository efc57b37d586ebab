"""Plain data as YAML that means the same to kubectl: every string its parser would retype is quoted.

Meaning of plain YAML scalars to kubectl, which is neither YAML 1.2 nor PyYAML's reading of YAML 1.1.
"""

from __future__ import annotations

import math
from typing import Any

import yaml

from kubespread.escaping import json_escaped
from kubespread.regex import regex

Scalar = str | int | float | bool | None

_NAMED: dict[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_NUMBER_START = frozenset("+-.0123456789")
# Go's ParseInt with base 0, after the underscores are gone: 010 and 0o10 are octal, 08 is no integer at all.
_INTEGER = regex(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = regex(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
# Any longer number is beyond what a float holds, and Go keeps its text.
_MAX_DIGITS = 400
_MAX_UINT64 = 2**64 - 1
_MIN_INT64 = -(2**63)


def resolve_plain(text: str) -> Scalar:
    """Value of an unquoted scalar without a tag.

    Sexagesimals (``12:30``), dates and ``=`` stay strings; ``y`` and ``n`` are booleans; ``6e10`` is a number.
    """
    if text in _NAMED:
        return _NAMED[text]
    if text[0] not in _NUMBER_START:
        return text
    digits = text.replace("_", "")
    if len(digits) <= _MAX_DIGITS and _INTEGER.fullmatch(digits):
        number = _go_integer(digits)
        if _MIN_INT64 <= number <= _MAX_UINT64:
            return number
    # Beyond 64 bits Go falls back to a float where the text is one: a decimal number, and never 0x or 0o.
    if _FLOAT.fullmatch(digits):
        value = float(digits)
        return text if math.isinf(value) else _json_number(value)
    return text


def _json_number(value: float) -> int | float:
    """Number as Go writes it to JSON: whole floats without a fraction, so ``1.0`` and ``08`` arrive as integers."""
    return int(value) if value.is_integer() and abs(value) < 1e21 else value


def _go_integer(digits: str) -> int:
    sign = -1 if digits[0] == "-" else 1
    body = digits.lstrip("+-")
    if len(body) > 1 and body[0] == "0" and body[1].isdigit():
        return sign * int(body, 8)
    return sign * int(body, 0)


def key_text(key: Scalar) -> str:
    """JSON object key for a YAML mapping key. Raises TypeError for null, as kubectl refuses it."""
    match key:
        case str():
            return key
        case bool():
            return "true" if key else "false"
        case int():
            return str(key)
        case float():
            return repr(key)
        case None:
            raise TypeError("unsupported map key: null")


_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _KubectlDumper(_Dumper):  # type: ignore[misc]  # the C dumper has no type when libyaml is absent
    """Quotes ``6e10``, ``y``, ``0o7`` and the like, which PyYAML would write plain."""


def _string(dumper: Any, text: str) -> Any:
    if not text.isprintable():
        # In double quotes every character can be escaped, except what no YAML text holds: half a surrogate pair.
        text = text.encode(errors="backslashreplace").decode()
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
    plain = bool(text) and isinstance(resolve_plain(text), str)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_KubectlDumper.add_representer(str, _string)


def to_yaml(data: Any, *, in_line: bool = False) -> str:
    """Write one YAML document, keys in order, every character printable; ``in_line`` as a value within another."""
    text = yaml.dump(
        data, Dumper=_KubectlDumper, sort_keys=False, allow_unicode=True, width=10_000, default_flow_style=in_line
    )
    assert isinstance(text, str)
    # A scalar by itself ends with what ends a document.
    text = text.removesuffix("\n...\n").rstrip("\n") if in_line else text
    # libyaml does not escape characters that reverse text. What it writes beyond 16 bits is printable.
    return json_escaped(text)
