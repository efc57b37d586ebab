"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.removable import RemovableReport
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look
from kubespread.views.removable.plain import HEADER, rows


def write(report: RemovableReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(HEADER, rows(report), look)
