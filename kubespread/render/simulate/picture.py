"""Where one workload's replicas land: domains with the nodes inside them, what a loss leaves, and the cause last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from kubespread.escaping import escaped
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import short_key
from kubespread.render.flow import INDENT, flowed, folded, styled, width_of
from kubespread.render.look import Look
from kubespread.render.simulate.conclusion import alternatives, cause
from kubespread.render.simulate.constraints import constraint_phrases
from kubespread.render.simulate.node_names import most_first, node_column
from kubespread.render.simulate.provenance import provenance
from kubespread.render.simulate.rows import DomainRow, nodes_by_domain, rows_of_key

_MAX_DOMAINS, _MAX_NODES = 12, 20
_THERE, _ADDED = "▒", "█"
_MAX_BAR, _BARS_PER_WIDTH = 30, 6
_GUTTER = 2
_TIE_ORDER = {"scheduler": "kube-scheduler's own order", "name": "the order of names"}
_GOOD, _BAD, _DIM, _HEAD = "green", "red", "dim", "bold"


def picture(report: SimulateReport, look: Look) -> Iterator[RenderableType]:
    """Lines that ``look.width`` bounds."""
    yield from flowed([_headline(report), provenance([report])], look, indent="")
    yield from flowed(constraint_phrases(report), look)
    if report.grouping is not None:
        yield from _domains(report, report.grouping, look)
    else:
        yield from _nodes(report, look)
    yield from flowed(_losses(report), look, gutter=" · ")
    ties = sum(placement.ties > 1 for placement in report.placements)
    if ties and report.seed is None:
        said = f"{ties} of {report.placed} placements were ties, taken in {_TIE_ORDER[report.ties]}"
        yield from flowed([styled(said, _DIM)], look)
    for line in (*alternatives(report), *cause(report)):
        yield from folded(styled(f"{INDENT}{line}"), look)


def _headline(report: SimulateReport) -> Text:
    grown = f"{report.present} → {report.running}" if report.present else f"{report.running}"
    if report.replicas is None:
        outcome = f"{grown} fit"
    else:
        outcome = f"{grown} of {report.replicas} replica{'' if report.replicas == 1 else 's'} placed"
    pending = f", {report.pending} pending" if report.pending else ""
    return Text.assemble(
        (escaped(report.subject), _HEAD),
        styled(f" in {report.pod.namespace}: "),
        styled(f"{outcome}{pending}", _BAD if pending or not report.running else _GOOD),
    )


def _domains(report: SimulateReport, key: str, look: Look) -> Iterator[RenderableType]:
    rows, between = _extremes(rows_of_key(report, key))
    if between and (said := _all_equal(report, key)):
        yield from flowed([styled(said)], look)
        return
    by_domain = nodes_by_domain(report, key)
    names = [escaped(row.change.value) or EMPTY for row in rows]
    runs = [_runs(row) for row in rows]
    bar = min(_MAX_BAR, width_of(look) // _BARS_PER_WIDTH)
    figures = max((len(f"{row.change.before}{row.change.after}") for row in rows), default=0) + len(" → ")
    taken = [len(INDENT), max(map(cell_len, names), default=0), figures, bar, max(map(len, runs), default=0)]
    column = node_column(
        {row.change.value: by_domain.get(row.change.value, ()) for row in rows},
        width_of(look) - sum(taken) - (len(taken) + 1) * _GUTTER,
    )
    grid = Table.grid(padding=(0, _GUTTER, 0, 0))
    for number in range(5):
        grid.add_column(justify="right" if number == 1 else "left", no_wrap=True)
    scale = min(1.0, bar / max((row.change.after for row in rows), default=1)) if rows else 0.0
    for row, name, outcome in zip(rows, names, runs, strict=True):
        change = row.change
        grid.add_row(
            styled(f"{INDENT}{name}"),
            styled(f"{change.before} → {change.after}"),
            _bar(change.before, change.after, scale),
            styled(column.cells[change.value]),
            styled(outcome),
        )
    if rows:
        yield grid
    if between:
        yield styled(f"{INDENT}and {between} domains between these")
    if column.left_out:
        yield from flowed([styled(f"nodes are {column.left_out}", _DIM)], look)


def _extremes(rows: Sequence[DomainRow]) -> tuple[Sequence[DomainRow], int]:
    """All rows of a few; of many those that tell most about how even it is, and how many are left out."""
    if len(rows) <= _MAX_DOMAINS:
        return rows, 0
    ordered = sorted(rows, key=lambda row: (-row.change.after, row.change.value))
    return [*ordered[: _MAX_DOMAINS // 2], *ordered[-_MAX_DOMAINS // 2 :]], len(rows) - _MAX_DOMAINS


def _all_equal(report: SimulateReport, key: str) -> str | None:
    rows = rows_of_key(report, key)
    alike = {(row.change.before, row.change.after, row.after_runs) for row in rows}
    if len(alike) > 1:
        return None
    change = rows[0].change
    return f"{len(rows)} domains of {short_key(key)}, each {change.before} → {change.after}"


def _bar(before: int, after: int, scale: float) -> Text:
    there, all_ = round(before * scale), round(after * scale)
    return Text.assemble((_THERE * there, _DIM), (_ADDED * (all_ - there), _GOOD))


def _runs(row: DomainRow) -> str:
    runs = row.after_runs
    return f"({runs.minimum} to {runs.maximum}, median {runs.median})" if runs is not None else ""


def _nodes(report: SimulateReport, look: Look) -> Iterator[Text]:
    """Where no label groups them."""
    nodes = most_first(report.nodes)
    shown, rest = nodes[:_MAX_NODES], [node.placed for node in nodes[_MAX_NODES:]]
    phrases = [styled(f"{node.name} +{node.placed}") for node in shown]
    if rest:
        each = f"+{min(rest)} each" if min(rest) == max(rest) else f"+{min(rest)} to +{max(rest)}"
        phrases.append(styled(f"and {len(rest)} more nodes {each}"))
    yield from flowed(phrases, look, gutter=" · ")


def _losses(report: SimulateReport) -> Iterator[Text]:
    """The key is said where the name of the domain stands nowhere else."""
    for key, loss in report.worst_loss.items() if report.running else ():
        is_named = key == report.grouping or report.is_about_nodes(key)
        what = f"{'' if is_named else f'{short_key(key)} '}{loss.domain or EMPTY}"
        yield styled(f"losing {what} leaves {loss.remaining} of {report.running}")
