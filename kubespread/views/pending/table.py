"""What is stuck for people: a row a cause, with the least change that frees it, beside it or below."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.pending import PendingReport, StuckGroup
from kubespread.views.layout import (
    BAD,
    DIM,
    GAP,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    cut_end,
    tabulated,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.pending.words import change_of, frees, workloads_of
from kubespread.views.phrases import chosen_from
from kubespread.views.screen import concluded, headline, room_beside, screen
from kubespread.wording import count_of, some_of

_INSIDE = 4
_MAX_PODS = 10
_LEAST_CAUSE = 24


@screen
def write(report: PendingReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` names the pods and kubectl's commands."""
    yield from headline(_title(report), report, look)
    if report.groups:
        yield from _groups(report, look)
    yield from concluded(report.answer, look, BAD if report.groups else GOOD)


def _title(report: PendingReport) -> str:
    return f"Pending pods{chosen_from(report.namespace, report.selector)}, {count_of(report.nodes, 'node')}"


def _groups(report: PendingReport, look: Look) -> Iterator[Line]:
    """One table where it fits; else the change stands below its cause."""
    columns = [*_columns(report), *_changes(report)]
    is_wide = room_beside(columns, look) + GAP >= 0
    if is_wide and not look.in_full:
        yield from tabulated(columns, headers=look.headers)
        return
    cause, *counts = _columns(report)
    room = max(_LEAST_CAUSE, room_beside(counts, look))
    cause = Column(cause.header, [Cell(cut_end(each.text, room)) for each in cause.cells])
    lines = tabulated([cause, *counts], headers=look.headers)
    if look.headers:
        yield next(lines)
    for group, line in zip(report.groups, lines, strict=True):
        yield line
        yield from _below(group, look, cuts=len(group.why) > room)


def _columns(report: PendingReport) -> list[Column]:
    return [
        Column("CAUSE", [cell(group.why) for group in report.groups]),
        Column("PODS", [Cell(f"{len(group.pods):,}") for group in report.groups], True),
        Column("WORKLOADS", [cell(workloads_of(group, report)) for group in report.groups]),
    ]


def _changes(report: PendingReport) -> list[Column]:
    styles = [_style(group) for group in report.groups]
    changes = [cell(change_of(group), style) for group, style in zip(report.groups, styles, strict=True)]
    return [
        Column("SMALLEST CHANGE (proven)", changes),
        Column("FREES", [Cell(frees(group)) for group in report.groups], True),
    ]


def _style(group: StuckGroup) -> str:
    return DIM if group.change is None else GOOD


def _below(group: StuckGroup, look: Look, *, cuts: bool) -> Iterator[Line]:
    """The change, and in full also what kube-scheduler says, the pods, what becomes of others and the commands."""
    freed = f"   frees {frees(group)}" if group.change is not None else ""
    indent = Cell(" " * _INSIDE)
    if cuts:
        yield from wrapped([indent, cell(group.why, DIM)], look.width, _INSIDE)
    yield from wrapped([indent, cell(change_of(group), _style(group)), Cell(freed)], look.width, _INSIDE + 2)
    if not look.in_full:
        return
    consequences = group.change.consequences if group.change is not None else ()
    commands = group.change.commands if group.change is not None else ()
    for said in (group.message, some_of(group.pods, _MAX_PODS), *consequences, *commands):
        if said:
            yield from wrapped([indent, cell(said, DIM)], look.width, _INSIDE + 2)
