"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.capacity import CapacityReport
from kubespread.views.capacity.plain import node_header, node_rows
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look


def write(report: CapacityReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(node_header(report), node_rows(report), look)
