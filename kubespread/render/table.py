"""The table for people: the constraints on top, one line a node, the verdict at the bottom."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from kubespread.escaping import escaped
from kubespread.planner.reports.explain import ExplainReport, NodeReport
from kubespread.planner.reports.parts import ConstraintReport, Domain
from kubespread.render.arithmetic import (
    PRETTY,
    domain_columns,
    formula,
    letter,
    policies,
    preemption,
    sampling,
    score_steps,
    short_key,
    summary,
    why_not,
)
from kubespread.render.plain import score_columns

_MAX_ROWS = 25
_BEST_ROWS = 15
_MAX_DOMAINS = 6
_UNBOUNDED = 10_000
_GOOD, _BAD, _DIM, _HEAD = "green", "red", "dim", "bold"


def table(report: ExplainReport, *, width: int | None, color: bool, wide: bool, all_nodes: bool, headers: bool) -> str:
    """The whole answer as text for a terminal ``width`` columns wide."""
    shown, left_out = _choose(report, all_nodes=all_nodes)
    parts: list[RenderableType] = []
    if headers:
        parts += [_title(report), *([_constraints(report)] if report.constraints else [])]
    if report.nodes:
        parts.append(_nodes(report, shown, wide=wide, headers=headers))
    parts += _groups(report, left_out)
    parts += _verdict(report)
    return printed(parts, width=width, color=color)


def printed(parts: Sequence[RenderableType], *, width: int | None, color: bool) -> str:
    """``parts`` one below the other, as text for a terminal ``width`` columns wide; None never folds a line."""
    out = io.StringIO()
    console = Console(
        file=out,
        width=width or _UNBOUNDED,
        force_terminal=color,
        color_system="standard" if color else None,
        no_color=not color,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    console.print(Group(*parts))
    # Rich fills every line up to the width of its table.
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


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
    name = domain.value or '""'
    return f"{name} excluded" if hard and not domain.eligible_nodes else f"{name} {domain.matching}"


def _choose(report: ExplainReport, *, all_nodes: bool) -> tuple[Sequence[NodeReport], Sequence[NodeReport]]:
    """The nodes that get a line, and those that are summed up."""
    if all_nodes or len(report.nodes) <= _MAX_ROWS:
        return report.nodes, ()
    best = [node for node in report.nodes if node.feasible][:_BEST_ROWS]
    chosen = {node.name for node in best}
    return best, [node for node in report.nodes if node.name not in chosen]


def _nodes(report: ExplainReport, shown: Sequence[NodeReport], *, wide: bool, headers: bool) -> Table:
    domains = domain_columns(report)
    plugins = score_columns(report) if wide else []
    grid = Table(box=None, show_header=headers, pad_edge=False, padding=(0, 3, 0, 0), header_style=_HEAD)
    grid.add_column("  NODE", overflow="fold")
    for at in domains:
        grid.add_column(escaped(short_key(report.constraints[at].topology_key).upper()), overflow="fold")
    grid.add_column("FITS", no_wrap=True)
    for at, constraint in enumerate(report.constraints):
        grid.add_column(escaped(f"{letter(at)} {short_key(constraint.topology_key)}"), no_wrap=True)
    for plugin in plugins:
        grid.add_column(plugin, justify="right", no_wrap=True)
    grid.add_column("SCORE", justify="right", no_wrap=True)
    grid.add_column("WHY NOT", overflow="fold")
    for node in shown:
        grid.add_row(*_cells(report, node, domains, plugins))
    return grid


def _cells(report: ExplainReport, node: NodeReport, domains: Sequence[int], plugins: Sequence[str]) -> list[Text]:
    style = _GOOD if node.feasible else _BAD
    formulas = [
        _text(
            formula(constraint, hard=about.is_hard, style=PRETTY),
            style=_BAD if about.is_hard and not constraint.satisfied else "",
        )
        for constraint, about in zip(node.constraints, report.constraints, strict=True)
    ]
    return [
        _text(f"  {node.name}"),
        *(_text(_domain_name(node.constraints[at].domain)) for at in domains),
        _text("yes" if node.feasible else "no", style=style),
        *formulas,
        *(_text(score_steps(node.score_details.get(plugin))) for plugin in plugins),
        _text("" if node.total is None else str(node.total)),
        _text(why_not(report, node)),
    ]


def _domain_name(domain: str | None) -> str:
    return "" if domain is None else domain or '""'


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
    return lines + [_text(said) for said in (report.message, preemption(report.preemption), sampling(report)) if said]
