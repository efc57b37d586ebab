"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look
from kubespread.views.map.plain import header, node_rows


def write(report: TopologyMap, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(header(report), node_rows(report), look)
