"""An audit for people: a row a workload, the worst first, then what is found and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.audit import AuditReport, constraint_text, counts_text, sentence
from kubespread.planner.reports.audited import AuditedWorkload, Cause, Level
from kubespread.views.audit.words import skew_text, trial_text, worst
from kubespread.views.flow import HANGING, INDENT
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
    width_of,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.names import told_apart
from kubespread.views.phrases import chosen_from
from kubespread.views.screen import concluded, headline, left_out, room_beside, screen
from kubespread.wording import count_of, some_of, workload_name

_MAX_ROWS = 20
_MAX_NAMED = 3
_LEAST_NAME, _LEAST_STATE = 14, 8
_LONG_NAME = 20
_LEGEND = "LEFT: pods left without the zone that has most of them; NEXT: one pod more"
_STATES: dict[Level, str] = {
    "ok": "ok",
    "unjudged": "not judged",
    "risk": "at risk",
    "uneven": "uneven",
    "violated": "violated",
}


@screen
def write(report: AuditReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every workload, and every placing
    that was tried to find a cause.
    """
    yield from headline(_title(report), report, look)
    shown = _shown(report, look)
    yield from tabulated(list(_columns(shown, look)), headers=look.headers)
    if look.headers and any(row.left is not None for row in shown):
        yield from wrapped([Cell(INDENT), cell(_LEGEND, DIM)], look.width, HANGING)
    left = report.workloads[len(shown) :]
    if left:
        fine = sum(row.level == "ok" for row in left)
        said = "" if fine == len(left) else f", {len(left) - fine:,} of them with findings"
        yield from left_out(len(left), "workload", said)
    if look.in_full:
        yield from _in_full(shown, look)
    yield from concluded(report.answer[:1] if look.in_full else report.answer, look, others="")


def _title(report: AuditReport) -> str:
    if report.asked:
        whose = some_of(list(map(workload_name, report.asked)), _MAX_NAMED)
    else:
        whose = f"{count_of(len(report.workloads), 'workload')}{chosen_from(report.namespace, report.selector)}"
    return f"Audit of {whose}, {count_of(report.nodes, 'node')}"


def _shown(report: AuditReport, look: Look) -> Sequence[AuditedWorkload]:
    """All of few; of many those with findings, as far as they are not too many."""
    if look.in_full or len(report.workloads) <= _MAX_ROWS:
        return report.workloads
    return [row for row in report.workloads if row.level != "ok"][:_MAX_ROWS]


def _columns(rows: Sequence[AuditedWorkload], look: Look) -> Iterator[Column]:
    pods = [f"{row.placed}" if row.placed == row.replicas else f"{row.placed} of {row.replicas}" for row in rows]
    figures = [
        Column("PODS", list(map(Cell, pods)), True),
        Column("ZONES", [Cell(counts_text(row.zones)) for row in rows]),
        Column("LEFT", list(map(_left, rows)), True),
        Column("SKEW", list(map(_skew, rows)), True),
        Column("NEXT", list(map(_next, rows))),
    ]
    states = [_state(row) for row in rows]
    called = [escaped(row.called) for row in rows]
    widest = max((len(text) for text, _ in states), default=0)
    beside = max(widest, _LEAST_STATE) + GAP
    constraint = Column("CONSTRAINT", list(map(_constraint, rows)))
    if room_beside((*figures, constraint), look) - beside >= min(max(map(width_of, called), default=0), _LONG_NAME):
        # It is told of what is found, and names are told nowhere else.
        figures.insert(3, constraint)
    room = max(room_beside(figures, look) - beside, _LEAST_NAME)
    name = Column("WORKLOAD", list(map(Cell, told_apart(called, room))))
    left = max(room_beside((name, *figures), look), _LEAST_STATE)
    yield name
    yield from figures
    yield Column("STATE", [Cell(cut_end(text, left), style) for text, style in states])


def _skew(row: AuditedWorkload) -> Cell:
    speaking = worst(row)
    return Cell("" if speaking is None else skew_text(speaking), BAD if row.level == "violated" else "")


def _constraint(row: AuditedWorkload) -> Cell:
    speaking = worst(row)
    if speaking is not None:
        return cell(constraint_text(speaking))
    return Cell("?") if _has(row, "otherScheduler") else Cell("none", DIM)


def _has(row: AuditedWorkload, cause: Cause) -> bool:
    return any(each.cause == cause for each in row.findings)


def _left(row: AuditedWorkload) -> Cell:
    return Cell("-") if row.left is None else Cell(str(row.left), "" if row.left or row.placed < 2 else BAD)


def _next(row: AuditedWorkload) -> Cell:
    if row.next_fits is None:
        return Cell("?")
    if row.next_fits:
        return Cell("fits", GOOD)
    return Cell("gated") if _has(row, "gated") else Cell("no", BAD)


def _state(row: AuditedWorkload) -> tuple[str, str]:
    """In words; the causes are told below."""
    style = {"ok": GOOD, "violated": BAD}.get(row.level, "")
    return _STATES[row.level], style


def _in_full(rows: Sequence[AuditedWorkload], look: Look) -> Iterator[Line]:
    """What is found of each row, with what was tried, and which rollouts are under way."""
    for row in rows:
        if said := row.under_way:
            yield from wrapped([Cell(f"{INDENT}{escaped(f'{row.called}: {said}')}")], look.width, HANGING)
        for each in row.findings:
            text = escaped(f"{row.called}: {sentence(row, each)}")
            yield from wrapped([Cell(f"{INDENT}{text}")], look.width, HANGING)
            for trial in each.trials:
                tried = Cell(f"{INDENT * 2}{escaped(trial_text(trial, each, row.placed))}", DIM)
                yield from wrapped([tried], look.width, HANGING + 2)
