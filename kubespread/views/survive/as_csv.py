"""One row a domain, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.survive import SurviveReport
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look
from kubespread.views.survive.plain import LOSS_HEADER, loss_rows


def write(report: SurviveReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(LOSS_HEADER, loss_rows(report), look)
