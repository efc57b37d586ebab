"""One row a group, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.pending import PendingReport
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look
from kubespread.render.pending.plain import HEADER, group_rows


def write(report: PendingReport, look: Look) -> str:
    """The same rows as in a pipe."""
    header = [name.lower() for name in HEADER]
    rows = list(group_rows(report))
    return separated_by_commas([header, *rows] if look.headers else rows)
