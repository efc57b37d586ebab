"""The sheet that is the answer, else the first, for a spreadsheet: a row a line, an empty cell for nothing."""

from __future__ import annotations

from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.registry import view_of
from kubespread.views.sheet import Readers
from kubespread.views.view import sheets_in


def write(answer: Answer, look: Look) -> str:
    """With the same columns as in a pipe."""
    sheets = [each for each in sheets_in(view_of(answer)) if Readers.SPREADSHEET in each.readers]
    sheet = next((each for each in sheets if each.is_answer), sheets[0])
    shown = sheet.records(Readers.SPREADSHEET)
    rows = [["" if (value := column.raw(row)) is None else value for column in shown] for row in sheet.rows]
    return as_in_a_pipe([each.header for each in shown], rows, look)
