"""Lines and columns that a terminal's width bounds: what is too long is cut within its cell, and no row folds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct
from rich.cells import cell_len

from kubespread.escaping import escaped

GOOD, WARNED, BAD, DIM, HEAD = "32", "33", "31", "2", "1"
"""Styles, as terminals number them: green, red, dim and bold."""
GAP = 2
"""How far columns are apart, unless a table says otherwise."""
_WIDEST = 2
"""Columns of the widest character."""
_CUT = "…"
_WORDS = re.compile(r"\s+|\S+")


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of text in one style, on one line and safe to show, whosever it is."""

    text: str
    style: str = ""

    def __post_init__(self) -> None:
        if not self.text.isprintable():
            object.__setattr__(self, "text", escaped(self.text))


Line = Sequence[Cell]


class Column(Struct, frozen=True, dict=True):
    header: str
    cells: Sequence[Cell]
    is_number: bool = False

    @cached_property
    def width(self) -> int:
        return max(map(width_of, (self.header, *{cell.text for cell in self.cells})))


def cell(text: str, style: str = "") -> Cell:
    """Foreign text, made safe to show."""
    return Cell(escaped(text), style)


def width_of(text: str) -> int:
    """In columns of a terminal: wide characters take two, combining ones none."""
    return len(text) if text.isascii() else cell_len(text)


def cut_end(text: str, width: int) -> str:
    """The beginning of ``text``, in at most ``width`` columns."""
    return text if width_of(text) <= width else _start(text, width - 1) + _CUT


def cut_middle(text: str, width: int, beginning: int | None = None) -> str:
    """Beginning and end, and more of the end, which is what tells the names of nodes and pods apart; or as much of the
    ``beginning`` as is said.
    """
    if width_of(text) <= width:
        return text
    start = _start(text, (width - 1) // 3 if beginning is None else beginning)
    end = _start(text[::-1], width - 1 - width_of(start))[::-1]
    while end and not width_of(end[0]):
        end = end[1:]
    return f"{start}{_CUT}{end}"


def _start(text: str, width: int) -> str:
    kept = text[:width]
    while width_of(kept) > width:
        kept = kept[:-1]
    return kept


def tabulated(columns: Sequence[Column], gap: int = GAP, *, headers: bool) -> Iterator[Line]:
    """The columns side by side after an indent of two, the last one unpadded."""
    widths = [column.width for column in columns]
    if headers:
        yield _row(columns, widths, [Cell(column.header, HEAD) for column in columns], gap)
    for cells in zip(*(column.cells for column in columns), strict=True):
        yield _row(columns, widths, cells, gap)


def _row(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[Cell], gap: int) -> Line:
    line, blanks = [], 2
    for column, width, cell in zip(columns, widths, cells, strict=True):
        room = width - width_of(cell.text)
        line.append(Cell(" " * (blanks + room if column.is_number else blanks)))
        line.append(cell)
        blanks = gap if column.is_number else gap + room
    return line


def wrapped(line: Line, width: int | None, indent: int = 0) -> Iterator[Line]:
    """``line`` in as many lines as its words need, those after the first indented; any width takes one character."""
    if width is None or sum(width_of(part.text) for part in line) <= width:
        yield line
        return
    width = max(width, indent + _WIDEST)
    current, used = list[Cell](), 0
    for part in line:
        for word in _WORDS.findall(part.text):
            size = width_of(word)
            if used + size > width and used > indent:
                yield current
                current, used = [Cell(" " * indent)], indent
                if word.isspace():
                    continue
            while used + size > width:
                fitting = _start(word, width - used)
                yield [*current, Cell(fitting, part.style)]
                word = word[len(fitting) :]
                current, used, size = [Cell(" " * indent)], indent, width_of(word)
            if current and current[-1].style == part.style:
                word = current.pop().text + word
            current.append(Cell(word, part.style))
            used += size
    yield current


def written(lines: Iterable[Line], *, color: bool) -> str:
    """``lines`` as text for a terminal, without blanks at their ends."""
    return "".join(f"{_written(line, color=color)}\n" for line in lines)


def _written(line: Line, *, color: bool) -> str:
    if not color:
        return "".join([part.text for part in line]).rstrip()
    last = next((place for place in range(len(line) - 1, -1, -1) if line[place].text.strip()), -1)
    return "".join(
        [f"\x1b[{part.style}m{part.text}\x1b[0m" if part.style else part.text for part in line[: last + 1]]
    ).rstrip()
