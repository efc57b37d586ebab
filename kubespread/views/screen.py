"""What the screens of all reports share: the question, the answer first, how much room there is, what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Protocol, TypeVar

from kubespread.reports.parts import ClusterReference
from kubespread.views.flow import HANGING, INDENT, aim, flowed
from kubespread.views.layout import DIM, GAP, HEAD, Cell, Column, Line, cell, wrapped, written
from kubespread.views.look import Look
from kubespread.views.provenance import source_line
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


def answered(sentences: Sequence[str], look: Look, style: str = HEAD) -> Iterator[Line]:
    """The first of ``sentences``, which is the answer: it stands right below the question."""
    yield from wrapped([cell(sentences[0], style)], look.width, HANGING)


def remarks(sentences: Sequence[str], look: Look, style: str = "") -> Iterator[Line]:
    """The others, below the rows that they are about."""
    for line in sentences[1:]:
        yield from wrapped([cell(line, style)], look.width, HANGING)
