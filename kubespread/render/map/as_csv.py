"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.topology_map import TopologyMap
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look
from kubespread.render.map.plain import header, node_rows


def write(report: TopologyMap, look: Look) -> str:
    """The same rows as in a pipe."""
    names = [name.lower().replace("-", "_") for name in header(report)]
    rows = list(node_rows(report))
    return separated_by_commas([names, *rows] if look.headers else rows)
