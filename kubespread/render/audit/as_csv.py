"""One row a workload, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.audit import AuditReport
from kubespread.render.audit.plain import HEADER, rows
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look


def write(report: AuditReport, look: Look) -> str:
    """The same rows as in a pipe."""
    header = [name.lower().replace("-", "_") for name in HEADER]
    return separated_by_commas([header, *rows(report)] if look.headers else rows(report))
