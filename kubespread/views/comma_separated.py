"""Comma-separated values that a spreadsheet shows and does not run."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from kubespread.escaping import escaped
from kubespread.views.look import Look

# The wide forms count too, where a spreadsheet is set to a language that writes them.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def separated_by_commas(rows: Iterable[Iterable[object]]) -> str:
    """One line a row. Text that a spreadsheet would take for a formula is marked as text by an apostrophe before it."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def as_in_a_pipe(header: Iterable[str], rows: Iterable[Iterable[object]], look: Look) -> str:
    """The rows that a pipe gets, their header spelled as spreadsheets have it: ``max_skew`` for ``MAX-SKEW``."""
    names = [name.lower().replace("-", "_") if name.isupper() else name for name in header]
    return separated_by_commas([names, *rows] if look.headers else rows)


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return value
    # Tabs and line breaks at its beginning, which spreadsheets skip, are escapes by now.
    return f"'{escaped(value)}" if value.startswith(_FORMULA_STARTS) else escaped(value)
