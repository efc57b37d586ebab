"""Answers for programs: the sheets as kubectl-style columns or comma-separated values, names alone, metrics."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from csv import writer
from typing import Any

from msgspec.structs import replace

from kubespread.escaping import escape
from kubespread.reports.columns import Readers
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.sheet import NONE, Sheet
from kubespread.views.view import sheets_in, view_of

_GUTTER = "   "
# The wide forms count too, where a spreadsheet is set to a language that writes them.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def plain(answer: Answer, look: Look) -> str:
    """Sheets with rows, with blank lines between them; only the first if none has any."""
    view, readers = view_of(answer), Readers.COLUMNS | Readers.WIDE if look.wide else Readers.COLUMNS
    if view.sentences is not None:
        return view.sentences()
    sheets = [sheet for sheet in sheets_in(view) if sheet.readers & readers]
    return "\n".join(_block(sheet, look, readers) for sheet in [sheet for sheet in sheets if sheet.rows] or sheets[:1])


def wide(answer: Answer, look: Look) -> str:
    """Columns as in a pipe, with sheets and columns for ``-o wide`` alone; on a terminal the answer's wide table, if it
    has one.
    """
    all_of_it = replace(look, wide=True)
    if look.width is None or not view_of(answer).is_wide_on_terminals:
        return plain(answer, all_of_it)
    from kubespread.views import terminal

    return terminal.table(answer, all_of_it)


def _block(sheet: Sheet[Any], look: Look, readers: Readers) -> str:
    shown = sheet.columns_for(readers)
    values = ([column.raw(row) for column in shown] for row in sheet.rows)
    rows = [[NONE if value is None else value for value in row] for row in values]
    return columns([column.header for column in shown], rows, headers=look.headers)


def columns(header: Sequence[str], rows: Iterable[Sequence[object]], *, headers: bool) -> str:
    """Rows below their header, if wanted, in columns three spaces apart; nothing is folded or cut."""
    texts = [[escape(str(value)) for value in row] for row in ([header, *rows] if headers else rows)]
    widths = [max(map(len, column)) for column in zip(*texts, strict=True)]
    lines = (_GUTTER.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in texts)
    return "".join(f"{line}\n" for line in lines)


def name(answer: Answer, _look: Look) -> str:
    """Names in an answer, one per line."""
    names = view_of(answer).names
    assert names is not None, "a view that has names"
    rows = ([name] if isinstance(name, str) else name for name in names)
    return "".join("\t".join(map(escape, row)) + "\n" for row in rows)


def csv(answer: Answer, look: Look) -> str:
    """First sheet for spreadsheets: columns as in a pipe, headers like ``max_skew``, empty cells for missing values."""
    sheet = next(sheet for sheet in sheets_in(view_of(answer)) if Readers.SPREADSHEET in sheet.readers)
    shown = sheet.columns_for(Readers.SPREADSHEET)
    headers = [column.header for column in shown]
    names = [name.lower().replace("-", "_") if name.isupper() else name for name in headers]
    rows = ([column.raw(row) for column in shown] for row in sheet.rows)
    return separated_by_commas([names, *rows] if look.headers else rows)


def separated_by_commas(rows: Iterable[Iterable[object]]) -> str:
    """Lines of rows. An apostrophe marks text that a spreadsheet would run as a formula."""
    out = io.StringIO()
    writer(out, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    # Tabs and line breaks at its beginning, which spreadsheets skip, are escapes by now.
    return f"'{escape(value)}" if value.startswith(_FORMULA_STARTS) else escape(value)


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def prometheus(answer: Answer, _look: Look) -> str:
    """Write metrics for node_exporter's textfile collector: each with its help and type, then one line per sample.

    Source of the format: the Prometheus documentation, "Exposition formats": in label values backslash, double quote
    and line feed are escaped.
    """
    return "".join(
        f"# HELP kubespread_{name} {text}\n# TYPE kubespread_{name} gauge\n"
        + "".join(_line(name, labels, value) for labels, value in samples)
        for name, text, samples in view_of(answer).metrics()
    )


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_value(text)}"' for key, text in labels.items())
    return f"kubespread_{name}{{{inside}}} {value}\n" if inside else f"kubespread_{name} {value}\n"


def _value(text: str) -> str:
    """Unprintable characters are spelled out, and their backslash escaped like any other: the format has no such
    escapes.
    """
    escapes = text.translate(_ESCAPES)
    if escapes.isprintable():
        return escapes
    return "".join(char if char.isprintable() else escape(char).translate(_ESCAPES) for char in escapes)
