"""Lines and columns that a terminal's width bounds: what is too long is cut within its cell, and no row folds.

Phrases that share a line if the terminal is wide enough. Which cluster an answer is about, and which release answered,
in one line. What the screens of all reports share: the question, the answer first, how much room there is, what is left
out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Protocol, TypeVar

from msgspec import Struct
from rich.cells import cell_len

from kubespread.escaping import escaped
from kubespread.reports.parts import ClusterReference, scheduler_phrase
from kubespread.views.look import Look
from kubespread.views.phrases import cluster_phrase
from kubespread.wording import count_of

R = TypeVar("R")


class Sourced(Protocol):
    """A report that says which cluster it is about, and how that is scheduled."""

    @property
    def cluster(self) -> ClusterReference | None: ...
    @property
    def kube_version(self) -> str: ...
    @property
    def manner(self) -> str: ...


def screen(lines: Callable[[R, Look], Iterable[Line]]) -> Callable[[R, Look], str]:
    """A writer of what ``lines`` yields, in the colors of ``look``."""

    @wraps(lines)
    def write(report: R, look: Look) -> str:
        return written(lines(report, look), color=look.color)

    return write


def headline(question: str, report: Sourced, look: Look, beside: str = "") -> Iterator[Line]:
    """The question, a text ``beside`` it, the cluster and the release that answers; nothing without headers."""
    if look.headers:
        source = source_line(report.cluster, report.kube_version, report.manner)
        yield from flowed([[cell(question, HEAD), cell(beside)], source], look, indent="")


def room_beside(columns: Iterable[Column], look: Look) -> int:
    """The width left beside ``columns``, including the gap after them."""
    return aim(look) - len(INDENT) - sum(column.width + GAP for column in columns)


def left_out(number: int, noun: str, note: str = "") -> Iterator[Line]:
    """How many rows are not shown, with a ``note`` on them; nothing where all are shown."""
    if number:
        yield [Cell(INDENT), cell(f"{count_of(number, f'more {noun}')}{note} (-v shows all)", DIM)]


def remarks(sentences: Sequence[str], look: Look, style: str = "") -> Iterator[Line]:
    """The others, below the rows that they are about."""
    for line in sentences[1:]:
        yield from wrapped([cell(line, style)], look.width, HANGING)


_HANGING = 4


def source_line(cluster: ClusterReference | None, kube_version: str, manner: str = "") -> Line:
    """``snapshot prod.json.gz, 2 h old · kube-scheduler v1.36``; empty where all of it goes without saying."""
    parts = (cluster_phrase(cluster), scheduler_phrase(kube_version, cluster), manner)
    return [cell(" · ".join(part for part in parts if part), DIM)]


def titled(
    line: Line, cluster: ClusterReference | None, kube_version: str, profile: str, width: int | None
) -> Iterator[Line]:
    """The question about a pod and what answers it, on one line, or on two if that is wider than ``width``."""
    source = " · ".join(
        part
        for part in (cluster_phrase(cluster), scheduler_phrase(kube_version, cluster), f"profile {profile}")
        if part
    )
    whole = [*line, Cell(" · "), cell(source)]
    if width is None or sum(width_of(part.text) for part in whole) <= width:
        yield whole
        return
    yield from wrapped(line, width, _HANGING)
    yield from wrapped([cell(source)], width, _HANGING)


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


GOOD, WARNED, BAD, DIM, HEAD = "32", "33", "31", "2", "1"
"""Styles, as terminals number them: green, red, dim and bold."""


def answered(sentences: Sequence[str], look: Look, style: str = HEAD) -> Iterator[Line]:
    """The first of ``sentences``, which is the answer: it stands right below the question."""
    yield from wrapped([cell(sentences[0], style)], look.width, HANGING)


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
