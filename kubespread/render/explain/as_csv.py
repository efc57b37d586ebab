"""One row a node, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.explain import ExplainReport
from kubespread.render.arithmetic import ASCII
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.explain.rows import Row, rows_of
from kubespread.render.look import Look


def write(report: ExplainReport, look: Look) -> str:
    """Numbers as numbers, everything else as text."""
    skews = [f"skew {constraint.topology_key}" for constraint in report.constraints]
    header = ["node", "feasible", "code", "plugin", "total", *skews, "why_not"]
    lines = [_cells(row) for row in rows_of(report, report.nodes).rows]
    return separated_by_commas([header, *lines] if look.headers else lines)


def _cells(row: Row) -> list[str | int]:
    return [
        row.node.name,
        "true" if row.node.feasible else "false",
        row.node.verdict.code,
        row.node.verdict.plugin or "",
        "" if row.node.total is None else row.node.total,
        *(each.text(ASCII) for each in row.arithmetic),
        row.why_not,
    ]
