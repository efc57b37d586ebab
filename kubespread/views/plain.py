"""The sheets of an answer as kubectl-style columns for pipes, one block a sheet."""

from __future__ import annotations

from typing import Any

from kubespread.views.aligned import NONE, columns
from kubespread.views.documents import Answer
from kubespread.views.look import Look
from kubespread.views.registry import view_of
from kubespread.views.sheet import Readers, Sheet


def write(answer: Answer, look: Look) -> str:
    """A blank line between blocks; a sheet without rows is left out, unless it is the answer."""
    readers = Readers.PIPES | Readers.WIDE if look.wide else Readers.PIPES
    sheets = [each for each in view_of(answer).sheets if each.readers & readers and (each.rows or each.is_answer)]
    return "\n".join(_block(each, look) for each in sheets)


def _block(sheet: Sheet[Any], look: Look) -> str:
    shown = sheet.records()
    values = ([column.raw(row, in_full=look.in_full) for column in shown] for row in sheet.rows)
    rows = [[NONE if value is None else value for value in row] for row in values]
    return columns([each.header for each in shown], rows, headers=look.headers)
