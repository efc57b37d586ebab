"""Rows that differ between two answers: cell by cell, on a terminal row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from kubespread.reports.changes import CellChange
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Readers, Sheet
from kubespread.views.terminal import folded

_MAX_ROWS = 12
_CHANGE: Sequence[Column[CellChange]] = (
    Column("KEY", lambda change: change.key),
    Column("COLUMN", lambda change: change.column),
    Column("CHANGE", lambda change: change.values, Readers.PAGES),
    Column("BEFORE", lambda change: change.before, Readers.PIPES),
    Column("AFTER", lambda change: change.after, Readers.PIPES),
)
Judge = Callable[[CellChange], Tone]


def changes_sheet(title: str, changes: Sequence[CellChange], tone: Judge | None = None) -> Sheet[CellChange]:
    return Sheet(
        title=title, columns=_CHANGE, rows=changes, tone=tone, readers=Readers.RECORDS, is_answer=tone is not None
    )


def changed_rows(changes: Sequence[CellChange], tone: Judge = lambda _: Tone.PLAIN) -> Sheet[Sequence[CellChange]]:
    """Line of a terminal: ``shop/Deployment/api  placed 3 → 2 · pending 0 → 1``."""

    def drawn(row: Sequence[CellChange], _look: Look) -> Iterator[Line]:
        cells = (Cell(f"{'  ' if change is row[0] else ' · '}{change.cell}", tone(change)) for change in row)
        yield folded(Cell(row[0].key, Tone.STRONG), *cells)

    rows = [tuple(row) for _, row in groupby(changes, lambda change: change.key)]
    return Sheet(title="", columns=(), rows=rows, most=_MAX_ROWS, noun="row", drawn=drawn)
