"""One line a node, or a domain, as columns for pipes."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.explain import ExplainReport
from kubespread.views.aligned import NONE, aligned
from kubespread.views.arithmetic import ASCII, letter, score_steps
from kubespread.views.explain.counted import HEADER, counted_rows
from kubespread.views.explain.domain_rows import DomainRow, DomainRows, domain_rows
from kubespread.views.explain.rows import Row, Rows, rows_of
from kubespread.views.look import Look, RowOf
from kubespread.wording import EMPTY, short_key


def write(report: ExplainReport, look: Look) -> str:
    """The reasons last, since they hold blanks."""
    if look.by is RowOf.DOMAIN:
        groups = domain_rows(report, report.nodes)
        header, lines = _domain_header(groups), [_domain_cells(row) for row in groups.rows]
    else:
        rows = rows_of(report, report.nodes)
        header, lines = _header(rows, wide=look.wide), [_cells(row, wide=look.wide) for row in rows.rows]
    pods = list(counted_rows(report))
    blocks: list[tuple[Sequence[str], Sequence[Sequence[str]]]] = [(header, lines)]
    if pods:
        blocks.append((HEADER, pods))
    return "\n".join(aligned([above, *below] if look.headers else below) for above, below in blocks)


def _header(rows: Rows, *, wide: bool) -> list[str]:
    return [
        "NODE",
        *(short_key(key).upper() for key in rows.domains),
        "FITS",
        *_constraints(rows),
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


def _constraints(rows: Rows | DomainRows) -> list[str]:
    return [
        f"{letter(position)}:{short_key(constraint.topology_key)}<={constraint.max_skew}".upper()
        for position, constraint in enumerate(rows.arithmetic)
    ]


def _domain_header(rows: DomainRows) -> list[str]:
    return [*(short_key(key).upper() for key in rows.domains), "NODES", "FIT", "PODS", *_constraints(rows), "ALSO"]


def _domain_cells(row: DomainRow) -> list[str]:
    return [
        *(NONE if domain is None else domain or EMPTY for domain in row.domains),
        str(row.nodes),
        str(row.fitting),
        NONE if row.matching is None else str(row.matching),
        *(each.text(ASCII) for each in row.arithmetic),
        ", ".join(row.also) or NONE,
    ]
