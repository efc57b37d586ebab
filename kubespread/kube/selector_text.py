"""Label selectors as people type them for ``-l``: ``app=web,tier in (a,b),!canary``.

Source of the rules: labels.Parse of k8s.io/apimachinery/pkg/labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kubespread.kube.selector import Requirement, Selector, SelectorError

_COMMA = re.compile(r",(?![^()]*\))")
_EXISTS = re.compile(r"(?P<absent>!?)\s*(?P<key>[^\s=!<>(),]+)")
_EQUALS = re.compile(r"(?P<key>[^\s=!<>(),]+)\s*(?P<operator>==?|!=)\s*(?P<value>[^\s=!<>(),]*)")
_IN = re.compile(r"(?P<key>[^\s=!<>(),]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_COMPARES = re.compile(r"(?P<key>[^\s=!<>(),]+)\s*(?P<operator>[<>])\s*(?P<value>[^\s=!<>(),]+)")


def parse_selector(text: str) -> Selector:
    """The selector that ``text`` stands for; an empty one matches everything. Raises SelectorError."""
    return Selector(tuple(_requirements(text)) if text.strip() else ())


def _requirements(text: str) -> Iterator[Requirement]:
    for part in _COMMA.split(text):
        requirement = _requirement(part.strip())
        if requirement is None:
            raise SelectorError(f"expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found {part.strip()!r}")
        if faults := requirement.faults():
            raise SelectorError(faults[0])
        yield requirement


def _requirement(text: str) -> Requirement | None:
    if match := _EXISTS.fullmatch(text):
        return Requirement(match["key"], "DoesNotExist" if match["absent"] else "Exists")
    if match := _EQUALS.fullmatch(text):
        return Requirement(match["key"], "NotIn" if match["operator"] == "!=" else "In", (match["value"],))
    if match := _IN.fullmatch(text):
        values = tuple(value.strip() for value in match["values"].split(","))
        return Requirement(match["key"], "In" if match["operator"] == "in" else "NotIn", values)
    if match := _COMPARES.fullmatch(text):
        return Requirement(match["key"], "Gt" if match["operator"] == ">" else "Lt", (match["value"],))
    return None
