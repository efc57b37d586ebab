"""One row a node, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.explain import ExplainReport, NodeConstraint
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.views.arithmetic import letter
from kubespread.views.comma_separated import separated_by_commas
from kubespread.views.explain.rows import Row, rows_of
from kubespread.views.look import Look

_NUMBERS = ("matching", "self", "minimum", "skew", "maxSkew")


def write(report: ExplainReport, look: Look) -> str:
    """Numbers as numbers, five columns a constraint, everything else as text; a node outside a domain has none."""
    header = ["node", "feasible", "code", "plugin", "total", *_columns(report.constraints), "why_not"]
    lines = [_cells(row) for row in rows_of(report, report.nodes).rows]
    return separated_by_commas([header, *lines] if look.headers else lines)


def _columns(constraints: Sequence[ConstraintReport]) -> Iterator[str]:
    """``skew topology.kubernetes.io/zone``, with the constraint's letter where several are about one key."""
    keys = [constraint.topology_key for constraint in constraints]
    for position, key in enumerate(keys):
        prefix = f"{letter(position)} " if keys.count(key) > 1 else ""
        yield from (f"{prefix}{number} {key}" for number in _NUMBERS)


def _cells(row: Row) -> list[str | int]:
    return [
        row.node.name,
        "true" if row.node.feasible else "false",
        row.node.verdict.code,
        row.node.verdict.plugin or "",
        "" if row.node.total is None else row.node.total,
        *(number for constraint in row.node.constraints for number in _numbers(constraint)),
        row.why_not,
    ]


def _numbers(constraint: NodeConstraint) -> Iterator[str | int]:
    if constraint.matching is None:
        yield from ("", constraint.self_match, "", "", constraint.max_skew)
        return
    yield constraint.matching
    yield constraint.self_match
    yield constraint.global_minimum or 0
    yield "" if constraint.skew is None else constraint.skew
    yield constraint.max_skew
