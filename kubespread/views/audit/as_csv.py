"""One row a workload, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.audit import AuditReport
from kubespread.views.audit.plain import HEADER, rows
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look


def write(report: AuditReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(HEADER, rows(report), look)
