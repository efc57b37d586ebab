"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.removable import RemovableReport
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look
from kubespread.render.removable.plain import HEADER, rows


def write(report: RemovableReport, look: Look) -> str:
    """The same rows as in a pipe."""
    header = [name.lower().replace("-", "_") for name in HEADER]
    return separated_by_commas([header, *rows(report)] if look.headers else rows(report))
