"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.capacity import CapacityReport
from kubespread.render.capacity.plain import node_header, node_rows
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look


def write(report: CapacityReport, look: Look) -> str:
    """The same rows as in a pipe."""
    rows = list(node_rows(report))
    header = [name.lower().replace("-", "_") for name in node_header(report)]
    return separated_by_commas([header, *rows] if look.headers else rows)
