"""The sheets of an answer as kubectl-style columns for pipes, one block a sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kubespread.views.aligned import NONE, columns
from kubespread.views.look import Look, RowOf
from kubespread.views.registry import view_of
from kubespread.views.sheet import Readers, Sheet
from kubespread.views.view import sheets_in

if TYPE_CHECKING:
    from kubespread.views.documents import Answer


def write(answer: Answer, look: Look) -> str:
    """A blank line between blocks; a sheet without rows is left out, unless it is the answer."""
    view, readers = view_of(answer), Readers.COLUMNS | Readers.WIDE if look.wide else Readers.COLUMNS
    if look.in_sentences and view.sentences is not None:
        return view.sentences()
    sheets = [sheet for sheet in sheets_in(view) if sheet.readers & readers and (sheet.rows or sheet.is_answer)]
    rows_of = look.by or RowOf.NODE
    return "\n".join(_block(sheet, look, readers) for sheet in sheets if sheet.row_of in (None, rows_of))


def _block(sheet: Sheet[Any], look: Look, readers: Readers) -> str:
    shown = sheet.records(readers)
    values = ([column.raw(row, in_full=look.in_full) for column in shown] for row in sheet.rows)
    rows = [[NONE if value is None else value for value in row] for row in values]
    return columns([column.header for column in shown], rows, headers=look.headers)
