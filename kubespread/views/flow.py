"""Phrases that share a line if the terminal is wide enough."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.views.layout import Cell, Line, width_of, wrapped
from kubespread.views.look import Look

INDENT = "  "
HANGING = 4
"""How far what is folded is indented."""
_GUTTER = "      "
_USUAL_WIDTH = 120


def aim(look: Look) -> int:
    """How wide lines are meant to be; where there is no terminal, a sentence may be longer."""
    return look.width or _USUAL_WIDTH


def flowed(phrases: Iterable[Line], look: Look, *, gutter: str = _GUTTER, indent: str = INDENT) -> Iterator[Line]:
    """Lines of whole phrases, each indented, without empty ones. A phrase that is wider than the terminal is folded
    between words.
    """
    line = list[Cell]()
    for phrase in phrases:
        if not _width(phrase):
            continue
        if line and _width(line) + len(gutter) + _width(phrase) <= aim(look):
            line += [Cell(gutter), *phrase]
            continue
        if line:
            yield from wrapped(line, look.width, HANGING)
        line = [Cell(indent), *phrase]
    if line:
        yield from wrapped(line, look.width, HANGING)


def _width(line: Line) -> int:
    return sum(width_of(part.text) for part in line)
