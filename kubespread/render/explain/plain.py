"""One line a node, as columns for pipes."""

from __future__ import annotations

from kubespread.planner.reports.explain import ExplainReport
from kubespread.render.aligned import EMPTY, NONE, aligned
from kubespread.render.arithmetic import ASCII, letter, score_steps, short_key
from kubespread.render.explain.rows import Row, Rows, rows_of
from kubespread.render.look import Look


def write(report: ExplainReport, look: Look) -> str:
    """The reasons last, since they hold blanks."""
    rows = rows_of(report, report.nodes)
    lines = [_cells(row, wide=look.wide) for row in rows.rows]
    return aligned([_header(rows, wide=look.wide), *lines] if look.headers else lines)


def _header(rows: Rows, *, wide: bool) -> list[str]:
    return [
        "NODE",
        *(short_key(key).upper() for key in rows.domains),
        "FITS",
        *(
            f"{letter(position)}:{short_key(constraint.topology_key)}<={constraint.max_skew}".upper()
            for position, constraint in enumerate(rows.arithmetic)
        ),
        *(plugin.upper() for plugin in rows.scores if wide),
        "SCORE",
        "WHY-NOT",
    ]


def _cells(row: Row, *, wide: bool) -> list[str]:
    return [
        row.node.name,
        *(NONE if domain is None else domain or EMPTY for domain in row.domains),
        "yes" if row.node.feasible else "no",
        *(each.text(ASCII) for each in row.arithmetic),
        *(NONE if detail is None else score_steps(detail) for detail in row.scores if wide),
        NONE if row.node.total is None else str(row.node.total),
        row.why_not or NONE,
    ]
