"""One row a suggestion, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.advise import AdviseReport
from kubespread.views.advise.plain import HEADER, suggestion_rows
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look


def write(report: AdviseReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(HEADER, suggestion_rows(report), look)
