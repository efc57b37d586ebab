"""One row a group, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.pending import PendingReport
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look
from kubespread.views.pending.plain import HEADER, group_rows


def write(report: PendingReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(HEADER, group_rows(report), look)
