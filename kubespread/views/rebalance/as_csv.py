"""One row an eviction, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.rebalance import RebalanceReport
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look
from kubespread.views.rebalance.plain import STEP_HEADER, step_rows


def write(report: RebalanceReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(STEP_HEADER, step_rows(report), look)
