"""Rows described once: terminal, pipe, spreadsheet, markdown and page each make their own form of a `Sheet`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.regex import regex
from kubespread.reports.columns import DeclaredColumn, Fit, Readers, declared_columns
from kubespread.views.look import Look, Tone
from kubespread.wording import short_key

if TYPE_CHECKING:
    from kubespread.views.look import Text

NONE = "<none>"
"""Text of a cell without a value."""
R = TypeVar("R")
R_contra = TypeVar("R_contra", contravariant=True)
"""Row type of a column: one that describes any place describes a node too."""


class BarCell(Struct, frozen=True):
    """A cell with a bar behind its text."""

    percent: int
    tone: Tone = Tone.PLAIN


class Row(Struct, frozen=True):
    cells: Sequence[str]
    tone: Tone = Tone.PLAIN
    drawn: Sequence[BarCell | None] = ()
    """Bars in the cells of a page."""
    step: int | None = None
    """Frame of the row."""


class Table(Struct, frozen=True):
    caption: str
    header: Sequence[str]
    rows: Sequence[Row]
    legend: str = ""
    commands: frozenset[int] = frozenset()
    """Columns with commands to copy."""


_NUMBER = regex(r"[−-]?[\d,.]+(?:%|[kMGTPE]i?|m)?(?: (?:of|>|→) [\d,.]+%?)*")
_NOTHING = ("", "-", "–")


def is_numeric(cells: Iterable[str]) -> bool:
    """True for a column of numbers alone, aligned to the right."""
    filled = [cell for cell in cells if cell not in _NOTHING]
    return bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled)


class Column(Struct, Generic[R_contra], frozen=True):
    """One column: its header, its value in a row, and its layout on a terminal."""

    header: str
    """Header in pipes: upper case, words joined by dashes. Other formats derive their spelling from it."""
    value: Callable[[R_contra], Any]
    """Function for a row's value: a text, a number, a bool, several texts, or None for nothing."""
    readers: Readers = Readers.ALL
    text: Callable[[R_contra], str] | None = None
    """Function for a row's text for people, if it is not the value."""
    tone: Callable[[R_contra], Tone] | None = None
    is_number: bool = False
    short: str = ""
    """Header on a terminal too narrow for the whole one."""
    title: str = ""
    """Header on a page, if not derived from ``header``."""
    fit: Fit = Fit.WHOLE
    hides_empty: bool = False
    """True if a terminal hides it when it is empty in all rows."""
    is_command: bool = False
    """True if its cells are commands, which a page offers to copy."""

    def raw(self, row: R_contra) -> object:
        """Value for scripts: numbers without separators, texts joined by commas; None for nothing."""
        value = self.value(row)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, list | tuple):
            return ",".join(map(str, value)) or None
        return None if value == "" else value

    def display(self, row: R_contra) -> str:
        """Text for people; empty for nothing."""
        return _show(self.value(row)) if self.text is None else self.text(row)

    def on_screen(self, row: R_contra) -> str:
        """Text on a terminal."""
        return self.display(row) or ("" if self.fit is Fit.SENTENCE else "-")

    def is_empty(self, rows: Iterable[R_contra]) -> bool:
        """True if it is hidden because it is empty in all ``rows``."""
        return self.hides_empty and not any(map(self.value, rows))


def _show(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def count(
    header: str, value: Callable[[R], int | None], *, bad: bool = False, short: str = "", hides_empty: bool = False
) -> Column[R]:
    """Column of numbers; a ``bad`` one is red, or green at 0."""
    judged: Callable[[R], Tone] = lambda row: Tone.BAD if value(row) else Tone.GOOD  # noqa: E731 - the tone of one value
    return Column(header, value, is_number=True, tone=judged if bad else None, short=short, hides_empty=hides_empty)


@cache
def columns_of(row: type, *names: str) -> Sequence[Column[Any]]:
    """Columns that a type of rows declares: all, or the named ones."""
    every = declared_columns(row)
    return [_column(column) for column in (map(every.__getitem__, names) if names else every.values())]


def _column(declared: DeclaredColumn) -> Column[Any]:
    col, value, text = declared.col, declared.value, declared.col.text
    tone_if_any, tone_if_none = (Tone.GOOD, Tone.BAD) if col.good else (Tone.BAD, Tone.GOOD)
    return Column(
        declared.header,
        value,
        col.readers,
        text=None if text is None else lambda row: text(value(row)),
        tone=(lambda row: tone_if_any if value(row) else tone_if_none) if col.good or col.bad else None,
        is_number=declared.is_number,
        short=col.short,
        fit=col.fit,
        hides_empty=col.hide_empty,
        is_command=col.is_command,
    )


def named_by_key(columns: Sequence[Column[R]], key: str) -> Sequence[Column[R]]:
    """Columns with DOMAIN renamed, on a terminal, to the noun of the topology key: ZONE."""
    short = short_key(key).upper()
    return [replace(column, short=short) if column.header == "DOMAIN" else column for column in columns]


_WORST_FIRST = (Tone.BAD, Tone.WARN)
_MOST_ROWS = 20
"""Rows of a table that no terminal bounds, unless all are requested."""


def worst_first(tones: Sequence[Tone]) -> list[int]:
    """Positions of rows by priority for limited room: bad ones first."""
    rank = {tone: place for place, tone in enumerate(_WORST_FIRST)}
    return sorted(range(len(tones)), key=lambda place: rank.get(tones[place], len(rank)))


class Sheet(Struct, Generic[R], frozen=True, kw_only=True):
    """Rows of one type, with their columns."""

    title: str
    """Title on a page."""
    columns: Sequence[Column[R]]
    rows: Sequence[R]
    tone: Callable[[R], Tone] | None = None
    """Function for the tone of a whole row."""
    readers: Readers = Readers.ALL
    noun: str = "row"
    """Noun for a row, if some are left out."""
    legend: str = ""
    """Meaning of its headers and cells."""
    drawn: Callable[[R, Look], Iterable[Text]] | None = None
    """Function that draws a row as lines on a terminal, instead of in a table."""
    step: Callable[[R], int | None] = lambda _: None
    """Function for the frame of a row, on a page with frames."""

    def on_screen(self, look: Look) -> Sequence[R]:
        """Rows to show on a terminal, the worst if room is limited, in order."""
        most = None if look.in_full else look.rows or _MOST_ROWS
        return [self.rows[place] for place in sorted(worst_first(self._tones)[:most])]

    @property
    def _tones(self) -> Sequence[Tone]:
        return [Tone.PLAIN if self.tone is None else self.tone(row) for row in self.rows]

    def table(self) -> Table:
        """Layout for pages and comments."""
        columns = [
            column for column in self.columns if Readers.PAGES in column.readers and not column.is_empty(self.rows)
        ]
        return Table(
            self.title,
            [column.title or column.header.replace("-", " ").capitalize() for column in columns],
            [
                Row([column.display(row) for column in columns], tone, step=self.step(row))
                for row, tone in zip(self.rows, self._tones, strict=True)
            ],
            self.legend,
            frozenset(place for place, column in enumerate(columns) if column.is_command),
        )

    def columns_for(self, readers: Readers) -> Sequence[Column[R]]:
        """Columns that any of ``readers`` gets."""
        return [column for column in self.columns if column.readers & readers]
