"""The cells that differ between the rows of two answers to one question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubespread.reports.parts import Report

Cell = str | int | bool | None
Rows = Mapping[str, Mapping[str, Cell]]
"""Cells by column, by key."""


class CellChange(Report, frozen=True):
    """A cell that differs."""

    key: str
    """The row: a node, or NAMESPACE/Kind/name of a workload."""
    column: str
    """The name of the cell."""
    before: Cell
    """Null where there was no such row or cell."""
    after: Cell
    """Null where there is no such row or cell."""

    def __str__(self) -> str:
        return f"{self.key} {self.cell}"

    @property
    def cell(self) -> str:
        """``pending 3 → 5``."""
        return f"{self.column} {self.values}"

    @property
    def values(self) -> str:
        """``3 → 5``."""
        return f"{_text(self.before)} → {_text(self.after)}"


def _text(cell: Cell) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return "–" if cell is None else f"{cell:,}" if isinstance(cell, int) else cell


def changes_between(before: Rows, after: Rows) -> Iterator[CellChange]:
    """Cells that differ, in the order of the later rows; rows that are gone come last."""
    for key in dict.fromkeys((*after, *before)):
        was, now = before.get(key, {}), after.get(key, {})
        for column in dict.fromkeys((*now, *was)):
            if was.get(column) != now.get(column):
                yield CellChange(key=key, column=column, before=was.get(column), after=now.get(column))
