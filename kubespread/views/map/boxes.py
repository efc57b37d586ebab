"""Boxes side by side, as many as the width has room for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from kubespread.views.layout import HEAD, Cell, Line, cut_end, cut_middle, width_of

FRAME = 4
"""How many columns a box takes besides what is in it."""
_GAP = 1
_DOT = len(" · ")


@dataclass(frozen=True, slots=True)
class Box:
    name: str
    said: Sequence[str]
    """What stands beside the name, in full and shorter."""
    style: str
    """Of that."""
    lines: Sequence[Line]


def columns_of(boxes: int, least: int, width: int) -> tuple[int, int]:
    """How many boxes stand side by side in ``width``, each at least ``least`` wide inside, and how wide they are
    inside.
    """
    fitting = max(1, min(boxes, (width + _GAP) // (least + FRAME + _GAP)))
    return fitting, max(1, (width - _GAP * (fitting - 1)) // fitting - FRAME)


def side_by_side(boxes: Sequence[Box], columns: int, inner: int) -> Iterator[Line]:
    """Rows of ``columns`` boxes, those of a row equally high."""
    for start in range(0, len(boxes), columns):
        row = boxes[start : start + columns]
        drawn = [list(_drawn(box, inner, max(len(each.lines) for each in row))) for box in row]
        for parts in zip_longest(*drawn):
            line = list[Cell]()
            for place, part in enumerate(parts):
                line += [*([Cell(" " * _GAP)] if place else []), *part]
            yield line


def _drawn(box: Box, inner: int, height: int) -> Iterator[Line]:
    said = next((each for each in box.said if width_of(box.name) + width_of(each) + _DOT <= inner), box.said[-1])
    said = cut_end(said, max(1, inner - _DOT - 1))
    name = cut_middle(box.name, max(1, inner - _DOT - width_of(said)))
    rule = "─" * (inner - _DOT - width_of(name) - width_of(said))
    yield [Cell("┌ "), Cell(name, HEAD), Cell(f" · {said}", box.style), Cell(f" {rule}┐")]
    for line in [*box.lines, *([()] * (height - len(box.lines)))]:
        room = inner - sum(width_of(cell.text) for cell in line)
        yield [Cell("│ "), *line, Cell(" " * room + " │")]
    yield [Cell(f"└{'─' * (inner + 2)}┘")]
