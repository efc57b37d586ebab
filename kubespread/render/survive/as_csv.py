"""One row a domain, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.survive import SurviveReport
from kubespread.render.comma_separated import as_in_a_pipe
from kubespread.render.look import Look
from kubespread.render.survive.plain import LOSS_HEADER, loss_rows


def write(report: SurviveReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(LOSS_HEADER, loss_rows(report), look)
