"""The sheet that is the answer, else the first, as comma-separated values that a spreadsheet shows and does not run:
one row per line, with empty cells for missing values.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from kubespread.escaping import escaped
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.registry import view_of
from kubespread.views.sheet import Readers
from kubespread.views.view import sheets_in

# The wide forms count too, where a spreadsheet is set to a language that writes them.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def write(answer: Answer, look: Look) -> str:
    """With the same columns as in a pipe, their header spelled as spreadsheets have it: ``max_skew`` for
    ``MAX-SKEW``.
    """
    sheets = [sheet for sheet in sheets_in(view_of(answer)) if Readers.SPREADSHEET in sheet.readers]
    sheet = next((sheet for sheet in sheets if sheet.is_answer), sheets[0])
    shown = sheet.records(Readers.SPREADSHEET)
    headers = [column.header for column in shown]
    names = [name.lower().replace("-", "_") if name.isupper() else name for name in headers]
    rows = ([column.raw(row) for column in shown] for row in sheet.rows)
    return separated_by_commas([names, *rows] if look.headers else rows)


def separated_by_commas(rows: Iterable[Iterable[object]]) -> str:
    """One line a row. Text that a spreadsheet would take for a formula is marked as text by an apostrophe before it."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: object) -> object:
    if not isinstance(value, str):
        return "" if value is None else value
    # Tabs and line breaks at its beginning, which spreadsheets skip, are escapes by now.
    return f"'{escaped(value)}" if value.startswith(_FORMULA_STARTS) else escaped(value)
