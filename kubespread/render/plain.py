"""kubectl-style columns for pipes: upper-case headers, three blanks between columns, nothing folded or cut."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.explain import ExplainReport, NodeReport
from kubespread.render.arithmetic import ASCII, domain_columns, formula, letter, score_steps, short_key, why_not

_GUTTER = "   "
_NONE = "<none>"


def columns(report: ExplainReport, *, wide: bool, headers: bool) -> str:
    """One line a node, the reasons last since they hold blanks."""
    domains = domain_columns(report)
    plugins = score_columns(report) if wide else []
    header = [
        "NODE",
        *(short_key(report.constraints[at].topology_key).upper() for at in domains),
        "FITS",
        *(
            f"{letter(at)}:{short_key(constraint.topology_key)}<={constraint.max_skew}".upper()
            for at, constraint in enumerate(report.constraints)
        ),
        *(plugin.upper() for plugin in plugins),
        "SCORE",
        "WHY-NOT",
    ]
    rows = [_row(report, node, domains, plugins) for node in report.nodes]
    return align([header, *rows] if headers else rows)


def score_columns(report: ExplainReport) -> list[str]:
    """The score plugins that had a say, in profile order."""
    return list(dict.fromkeys(plugin for node in report.nodes for plugin in node.scores))


def _row(report: ExplainReport, node: NodeReport, domains: Sequence[int], plugins: Sequence[str]) -> list[str]:
    return [
        node.name,
        *(_or_none(node.constraints[at].domain) for at in domains),
        "yes" if node.feasible else "no",
        *(
            formula(constraint, hard=about.is_hard, style=ASCII)
            for constraint, about in zip(node.constraints, report.constraints, strict=True)
        ),
        *(score_steps(node.score_details.get(plugin)) or _NONE for plugin in plugins),
        _or_none(node.total),
        why_not(report, node) or _NONE,
    ]


def _or_none(value: object) -> str:
    return _NONE if value is None else str(value) or '""'


def align(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns as wide as their widest cell, every cell on its line."""
    if not rows:
        return ""
    rows = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (_GUTTER.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join(f"{line}\n" for line in lines)
