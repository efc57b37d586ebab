"""One row an eviction, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.rebalance import RebalanceReport
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look
from kubespread.render.rebalance.plain import STEP_HEADER, step_rows


def write(report: RebalanceReport, look: Look) -> str:
    """The same rows as in a pipe."""
    header = [name.lower().replace("-", "_") for name in STEP_HEADER]
    rows = list(step_rows(report))
    return separated_by_commas([header, *rows] if look.headers else rows)
