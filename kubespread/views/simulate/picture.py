"""Where one workload's replicas land: domains with the nodes inside them, what a loss leaves, and the cause last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.gang import gang_outcome
from kubespread.planner.reports.rollout import rollout_sentence
from kubespread.planner.reports.simulate import (
    SimulateReport,
    alternatives,
    beside_placed,
    cause,
    deleted,
    nothing_to_place,
)
from kubespread.views.flow import HANGING, INDENT, aim, flowed
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    HEAD,
    Cell,
    Column,
    Line,
    cell,
    cut_middle,
    tabulated,
    width_of,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.rollouts import passes
from kubespread.views.screen import room_beside
from kubespread.views.simulate.constraints import constraint_phrases
from kubespread.views.simulate.gangs import domain_verdicts
from kubespread.views.simulate.node_names import CUT, most_first, node_column, shared
from kubespread.views.simulate.provenance import provenance
from kubespread.views.simulate.rows import DomainRow, nodes_by_domain, rows_of_key
from kubespread.views.simulate.runs import run_rows, sampling_sentence
from kubespread.wording import EMPTY, short_key

_MAX_DOMAINS, _MAX_NODES = 12, 20
_THERE, _ADDED, _GONE = "▒", "█", "░"
_MAX_BAR, _BARS_PER_WIDTH = 30, 6
_NAMES_PER_WIDTH = 3
_TIE_ORDER = {"scheduler": "kube-scheduler's own order", "name": "the order of names"}


def picture(report: SimulateReport, look: Look) -> Iterator[Line]:
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
        were = "placements was a tie" if ties == 1 else "placements were ties"
        said = f"{ties:,} of {report.placed:,} {were}, taken in {_TIE_ORDER[report.ties]}"
        yield from flowed([[cell(said, DIM)]], look)
    if (sampled := sampling_sentence(report)) is not None:
        yield from flowed([[cell(sampled, DIM)]], look)
    yield from run_rows(report, look)
    yield from flowed([[cell(said)] for said in deleted(report)], look)
    if report.rollout is not None:
        yield from flowed([[cell(rollout_sentence(report.rollout))]], look)
        yield from passes("Rollout", report.rollout, look)
    if report.gang is not None:
        yield from domain_verdicts(report.gang, look)
    for sentence in (*alternatives(report), *cause(report)):
        yield from flowed([[cell(sentence)]], look)


def _headline(report: SimulateReport) -> Line:
    grown = f"{report.present:,} → {report.running:,}" if report.present else f"{report.running:,}"
    if report.rollout is not None:
        outcome = f"rolled out, {report.running:,} of {report.replicas:,} new replicas placed"
    elif report.deleted:
        before = report.running + len(report.deleted)
        outcome = f"{before:,} → {report.running:,} replica{'' if report.running == 1 else 's'}"
    elif report.gang is not None:
        outcome = gang_outcome(report.gang, report.running, report.replicas)
    elif report.replicas is None:
        outcome = f"{grown} fit"
    elif (said := nothing_to_place(report)) is not None:
        outcome = said
    else:
        outcome = f"{grown} of {report.replicas:,} replica{'' if report.replicas == 1 else 's'} placed"
    pending = f", {report.pending:,} pending" if report.pending and report.gang is None else ""
    is_bad = report.lacking or (report.replicas is None and not report.running)
    return [
        cell(report.subject, HEAD),
        cell(f" in {report.pod.namespace}: "),
        cell(f"{outcome}{pending}{beside_placed(report)}", BAD if is_bad else GOOD),
    ]


def _domains(report: SimulateReport, key: str, look: Look) -> Iterator[Line]:
    """A row a domain with the nodes in it; many that are all alike as one phrase."""
    rows, between = _extremes(rows_of_key(report, key))
    if not any(row.change.after for row in rows):
        return
    if between and (said := _all_equal(report, key)):
        yield from flowed([[cell(said)]], look)
        return
    width = aim(look)
    columns = [
        Column("", [Cell(cut_middle(escaped(row.change.value) or EMPTY, width // _NAMES_PER_WIDTH)) for row in rows]),
        Column("", [Cell(f"{row.change.before:,} → {row.change.after:,}") for row in rows], is_number=True),
        Column("", _bars(rows, min(_MAX_BAR, width // _BARS_PER_WIDTH))),
        *([Column("", [Cell(_runs(row)) for row in rows])] if report.runs is not None else []),
    ]
    by_domain = nodes_by_domain(report, key)
    nodes = node_column(
        {row.change.value: by_domain.get(row.change.value, ()) for row in rows},
        room_beside(columns, look),
    )
    columns.append(Column("", [Cell(nodes.cells[row.change.value]) for row in rows]))
    for line in tabulated(columns, headers=False):
        yield from wrapped(line, look.width, HANGING)
    if between:
        yield [cell(f"{INDENT}and {between:,} domain{'' if between == 1 else 's'} between these")]
    if nodes.left_out:
        yield from flowed([[Cell(f"node names: {nodes.left_out}", DIM)]], look)


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
    return f"{len(rows):,} domains of {short_key(key)}, each {change.before:,} → {change.after:,}"


def _bars(rows: Sequence[DomainRow], width: int) -> list[Cell]:
    """What was there already, what came and what went, to one scale."""
    most = max(max(row.change.before, row.change.after) for row in rows)
    scale = min(1.0, width / most) if most else 0.0
    there = [round(row.change.before * scale) for row in rows]
    all_ = [round(row.change.after * scale) for row in rows]
    return [
        Cell(_THERE * min(was, now) + _ADDED * (now - was) + _GONE * (was - now), GOOD)
        for was, now in zip(there, all_, strict=True)
    ]


def _runs(row: DomainRow) -> str:
    runs = row.after_runs
    return f"({runs.minimum} to {runs.maximum}, median {runs.median})" if runs is not None else ""


def _nodes(report: SimulateReport, look: Look) -> Iterator[Line]:
    """Where no label groups them: as one line, or as many as their shortened names take."""
    nodes = most_first(report.nodes)
    shown, rest = nodes[:_MAX_NODES], [node.placed for node in nodes[_MAX_NODES:]]
    prefix, suffix = shared([escaped(node.name) for node in shown])
    names = [escaped(node.name) for node in shown]
    if sum(map(width_of, names)) > aim(look) and (prefix or suffix):
        names = [f"{CUT if prefix else ''}{name.removeprefix(prefix).removesuffix(suffix)}" for name in names]
    phrases = [[Cell(f"{name} +{node.placed:,}")] for name, node in zip(names, shown, strict=True)]
    if rest:
        each = f"+{min(rest):,} each" if min(rest) == max(rest) else f"+{min(rest):,} to +{max(rest):,}"
        phrases.append([cell(f"and {len(rest):,} more node{'' if len(rest) == 1 else 's'} {each}")])
    yield from flowed(phrases, look, gutter=" · ")
    if names != [escaped(node.name) for node in shown]:
        yield from flowed([[Cell(f"node names: {prefix}{CUT}{suffix}", DIM)]], look)


def _losses(report: SimulateReport) -> Iterator[Line]:
    """The key is said where the name of the domain stands nowhere else."""
    for key, loss in report.worst_loss.items() if report.running else ():
        is_named = key == report.grouping or report.is_about_nodes(key)
        what = f"{'' if is_named else f'{short_key(key)} '}{loss.domain or EMPTY}"
        yield [cell(f"losing {what} leaves {loss.remaining:,} of {report.running:,}")]
