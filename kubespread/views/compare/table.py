"""The comparison for people: what was asked otherwise, nodes, replicas, messages, and the answer last."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.compare import CompareReport, NodeChange, SideReport
from kubespread.views.compare.heading import heading
from kubespread.views.compare.node_names import NodeNames
from kubespread.views.compare.placements import placements
from kubespread.views.compare.reasons import signed
from kubespread.views.compare.rows import Row, rows_of
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
from kubespread.views.screen import screen

_FITS = "nothing pending"
_ARROW = " → "
_MAX_NAMED = 3
_NAMES_PER_WIDTH = 3
_STYLES = {NodeChange.GONE: BAD, NodeChange.STOPS: BAD, NodeChange.NEW: GOOD, NodeChange.STARTS: GOOD}


@screen
def write(report: CompareReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds."""
    names = NodeNames.of(report, look)
    if look.headers:
        yield from heading(report, names, look)
    yield from _nodes(report, names, look)
    yield from placements(report, names, look)
    yield from _messages(report, look)
    yield from wrapped([cell(report.answer[0], GOOD if report.same else BAD)], look.width)


def _nodes(report: CompareReport, names: NodeNames, look: Look) -> Iterator[Line]:
    before, after = report.before, report.after
    yield from wrapped([cell("NODES", HEAD), cell(f"  {_fitting(before, after)}")], look.width, HANGING)
    rows = rows_of(report.nodes, in_full=look.in_full)
    columns = [
        Column("", [Cell(row.change.value, _STYLES.get(row.change, "")) for row in rows.rows]),
        Column("", [Cell(_names(row, names, aim(look) // _NAMES_PER_WIDTH)) for row in rows.rows]),
        Column("", [cell(row.said) for row in rows.rows]),
    ]
    for line in tabulated(columns, headers=False) if rows.rows else ():
        yield from wrapped(line, look.width, HANGING)
    phrases = [[cell(said, DIM)] for said in _left_out(rows.left_out)]
    if report.unchanged_nodes:
        phrases.append([cell(f"{_count(report.unchanged_nodes)} as before" if report.nodes else "all as before", DIM)])
    if rows.left_out or any(len(row.nodes) > 1 for row in rows.rows):
        phrases.append([cell("-v: node by node", DIM)])
    yield from flowed(phrases, look, gutter=" · ")
    if before.first != after.first and before.first and after.first:
        yield from flowed([[cell(f"first choice {_first(before, names)}{_ARROW}{_first(after, names)}")]], look)


def _fitting(before: SideReport, after: SideReport) -> str:
    """``12 → 8 of 12 fit``."""
    fit = f"{after.fitting:,} of {after.nodes:,} fit{'s' if after.fitting == 1 else ''}"
    if before.nodes != after.nodes:
        return f"{before.fitting:,} of {before.nodes:,}{_ARROW}{fit}"
    return fit if before.fitting == after.fitting else f"{before.fitting:,}{_ARROW}{fit}"


def _count(nodes: int) -> str:
    return f"{nodes} node{'' if nodes == 1 else 's'}"


def _names(row: Row, names: NodeNames, width: int) -> str:
    called = [names.short(node.name) for node in row.nodes]
    if len(called) == 1:
        return cut_middle(called[0], width)
    listed = ", ".join(called)
    return listed if len(called) <= _MAX_NAMED and width_of(listed) <= width else _count(len(called))


def _left_out(rows: Sequence[Row]) -> Iterator[str]:
    """How many nodes have no row, by what differs; -v has them all."""
    for change in NodeChange:
        nodes = [node for row in rows if row.change is change for node in row.nodes]
        if not nodes:
            continue
        totals = [sum(node.score_changes.values()) for node in nodes]
        span = f", {signed(min(totals))} to {signed(max(totals))}" if change is NodeChange.SCORE else ""
        yield f"{change.value}: {len(nodes):,} more{span}"


def _first(side: SideReport, names: NodeNames) -> str:
    return names.short(side.first[0]) if len(side.first) == 1 else f"any of {len(side.first):,}"


def _messages(report: CompareReport, look: Look) -> Iterator[Line]:
    """What kube-scheduler says of the pod now and of the first replica that stays pending, where the sides differ."""
    before, after = report.before, report.after
    if (before.message, before.stopped) == (after.message, after.stopped):
        return
    yield [cell("MESSAGE", HEAD)]
    for when, side in (("before", before), ("after", after)):
        said = list(dict.fromkeys(filter(None, (side.message, side.conclusion, side.stopped)))) or [_FITS]
        for message in said:
            yield from wrapped([cell(f"{INDENT}{when}: {message}")], look.width, HANGING)
