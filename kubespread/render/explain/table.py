"""The table for people: the constraints on top, one line a node, the verdict at the bottom."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kubespread.escaping import escaped
from kubespread.planner.reports.explain import ExplainReport, NodeReport
from kubespread.planner.reports.parts import ConstraintReport, Domain
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import PRETTY, letter, score_steps, short_key
from kubespread.render.explain.conclusion import conclusion, summary
from kubespread.render.explain.reasons import why_not
from kubespread.render.explain.rows import Row, Rows, rows_of
from kubespread.render.look import Look
from kubespread.render.phrases import policies
from kubespread.render.rich_text import printed

_MAX_ROWS = 25
_BEST_ROWS = 15
_MAX_DOMAINS = 6
_GOOD, _BAD, _DIM, _HEAD = "green", "red", "dim", "bold"


def write(report: ExplainReport, look: Look) -> str:
    """The whole answer, in lines that ``look.width`` bounds."""
    shown, left_out = _choose(report, all_nodes=look.all_nodes)
    parts: list[RenderableType] = []
    if look.headers:
        parts += [_title(report), *([_constraints(report)] if report.constraints else [])]
    if report.nodes:
        parts.append(_nodes(rows_of(report, shown), look))
    parts += _groups(report, left_out)
    parts += _verdict(report)
    return printed(parts, look)


def _text(text: str, style: str = "") -> Text:
    return Text(escaped(text), style=style)


def _title(report: ExplainReport) -> Text:
    pod = f"{report.pod.namespace}/{report.pod.name}"
    nodes = f"{len(report.nodes)} node{'' if len(report.nodes) == 1 else 's'}"
    rest = f" against {nodes} · kube-scheduler v{report.kube_version} · profile {report.scheduler_name}"
    return Text.assemble("Pod ", (escaped(pod), _HEAD), escaped(rest))


def _constraints(report: ExplainReport) -> Table:
    grid = Table.grid(padding=(0, 2))
    for position, constraint in enumerate(report.constraints):
        minimum = "" if constraint.global_minimum is None else f"min {constraint.global_minimum}"
        grid.add_row(
            _text(f"  {letter(position)}", style=_HEAD),
            _text(f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew}"),
            _text(constraint.when_unsatisfiable),
            _text(constraint.selector),
            _text(_domains(constraint)),
            _text(minimum),
            _text(", ".join(policies(constraint)), style=_DIM),
        )
    return grid


def _domains(constraint: ConstraintReport) -> str:
    """Every domain with its count; of many only the extremes."""
    domains = constraint.domains
    if not domains:
        return f"no node has the label {constraint.topology_key}"
    if len(domains) <= _MAX_DOMAINS:
        return " · ".join(_domain(domain, hard=constraint.is_hard) for domain in domains)
    least = min(domains, key=lambda domain: (not domain.eligible_nodes, domain.matching))
    most = max(domains, key=lambda domain: domain.matching)
    return (
        f"{len(domains)} domains, {_domain(least, hard=constraint.is_hard)} … {_domain(most, hard=constraint.is_hard)}"
    )


def _domain(domain: Domain, *, hard: bool) -> str:
    name = domain.value or EMPTY
    return f"{name} excluded" if hard and not domain.eligible_nodes else f"{name} {domain.matching}"


def _choose(report: ExplainReport, *, all_nodes: bool) -> tuple[Sequence[NodeReport], Sequence[NodeReport]]:
    """The nodes that get a line, and those that are summed up."""
    if all_nodes or len(report.nodes) <= _MAX_ROWS:
        return report.nodes, ()
    best = [node for node in report.nodes if node.feasible][:_BEST_ROWS]
    chosen = {node.name for node in best}
    return best, [node for node in report.nodes if node.name not in chosen]


def _nodes(rows: Rows, look: Look) -> Table:
    grid = Table(box=None, show_header=look.headers, pad_edge=False, padding=(0, 3, 0, 0), header_style=_HEAD)
    grid.add_column("  NODE", overflow="fold")
    for key in rows.domains:
        grid.add_column(escaped(short_key(key).upper()), overflow="fold")
    grid.add_column("FITS", no_wrap=True)
    for position, constraint in enumerate(rows.arithmetic):
        grid.add_column(escaped(f"{letter(position)} {short_key(constraint.topology_key)}"), no_wrap=True)
    for plugin in rows.scores if look.wide else ():
        grid.add_column(plugin, justify="right", no_wrap=True)
    grid.add_column("SCORE", justify="right", no_wrap=True)
    grid.add_column("WHY NOT", overflow="fold")
    for row in rows.rows:
        grid.add_row(*_cells(row, wide=look.wide))
    return grid


def _cells(row: Row, *, wide: bool) -> list[Text]:
    node = row.node
    return [
        _text(f"  {node.name}"),
        *(_text("" if domain is None else domain or EMPTY) for domain in row.domains),
        _text("yes" if node.feasible else "no", style=_GOOD if node.feasible else _BAD),
        *(_text(each.text(PRETTY), style=_BAD if each.rejects else "") for each in row.arithmetic),
        *(_text("" if detail is None else score_steps(detail)) for detail in row.scores if wide),
        _text("" if node.total is None else str(node.total)),
        _text(row.why_not),
    ]


def _groups(report: ExplainReport, left_out: Sequence[NodeReport]) -> list[Text]:
    """What the table does not show: more nodes that fit, and the failures by reason."""
    fitting = sum(node.feasible for node in left_out)
    lines = [_text(f"  {fitting:>6} more fit", style=_GOOD)] if fitting else []
    failures = Counter(why_not(report, node, numbers=False) for node in left_out if not node.feasible)
    lines += [
        _text(f"  {count:>6} fail: {reason}")
        for reason, count in sorted(failures.items(), key=lambda item: (-item[1], item[0]))
    ]
    if left_out:
        lines.append(_text("  --all-nodes shows every node", style=_DIM))
    return lines


def _verdict(report: ExplainReport) -> list[Text]:
    lines = [_text(summary(report), style=_GOOD if report.schedulable else _BAD)] if report.nodes else []
    return lines + [_text(line) for line in conclusion(report)]
