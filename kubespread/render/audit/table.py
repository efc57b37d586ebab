"""An audit for people: a row a workload, the worst first, then what is found and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.audit import AuditedWorkload, AuditReport, Cause, Level
from kubespread.render.audit.conclusion import conclusion
from kubespread.render.audit.words import constraint_text, counts_text, name_of, sentence, skew_text, trial_text, worst
from kubespread.render.flow import HANGING, INDENT, aim
from kubespread.render.layout import (
    BAD,
    DIM,
    GAP,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    cut_end,
    cut_middle,
    tabulated,
    wrapped,
)
from kubespread.render.look import Look
from kubespread.render.phrases import chosen_from, count_of, some_of, workload_name
from kubespread.render.screen import concluded, headline, left_out, room_beside, screen

_MAX_ROWS = 20
_MAX_NAMED = 3
_LEAST_NAME, _LEAST_STATE = 14, 8
_NARROW, _WIDE = 72, 100
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
    if look.headers and aim(look) >= _WIDE and any(row.left is not None for row in shown):
        yield [Cell(INDENT), cell(_LEGEND, DIM)]
    left = report.workloads[len(shown) :]
    if left:
        fine = sum(row.level == "ok" for row in left)
        said = "" if fine == len(left) else f", {len(left) - fine:,} of them with findings"
        yield from left_out(len(left), "workload", said)
    yield from _findings(shown, look)
    yield from concluded(conclusion(report), look)


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
    speaking = [worst(row) for row in rows]
    pods = [f"{row.placed}" if row.placed == row.replicas else f"{row.placed} of {row.replicas}" for row in rows]
    figures = [
        Column("PODS", list(map(Cell, pods)), True),
        Column("ZONES", [Cell(counts_text(row.zones)) for row in rows]),
        *([Column("LEFT", [_left(row) for row in rows], True)] if aim(look) >= _WIDE else []),
        *([Column("CONSTRAINT", list(map(_constraint, rows)))] if aim(look) >= _NARROW else []),
        Column(
            "SKEW",
            [
                Cell("" if each is None else skew_text(each), _style(row))
                for row, each in zip(rows, speaking, strict=True)
            ],
            True,
        ),
        Column("NEXT", [_next(row) for row in rows]),
    ]
    states = [_state(row) for row in rows]
    widest = max((len(text) for text, _ in states), default=0)
    room = max(room_beside(figures, look) - max(widest, _LEAST_STATE) - GAP, _LEAST_NAME)
    names = [Cell(cut_middle(escaped(name_of(row)), room)) for row in rows]
    name = Column("WORKLOAD", names)
    left = max(room_beside((name, *figures), look), _LEAST_STATE)
    yield name
    yield from figures
    yield Column("STATE", [Cell(cut_end(text, left), style) for text, style in states])


def _constraint(row: AuditedWorkload) -> Cell:
    speaking = worst(row)
    if speaking is not None:
        return cell(constraint_text(speaking))
    return Cell("?") if _has(row, "otherScheduler") else Cell("none", DIM)


def _has(row: AuditedWorkload, cause: Cause) -> bool:
    return any(each.cause == cause for each in row.findings)


def _left(row: AuditedWorkload) -> Cell:
    return Cell("-") if row.left is None else Cell(str(row.left), "" if row.left or row.placed < 2 else BAD)


def _style(row: AuditedWorkload) -> str:
    return BAD if row.level == "violated" else ""


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


def _findings(rows: Sequence[AuditedWorkload], look: Look) -> Iterator[Line]:
    """What is found, in the order of the rows: those of which the same is said together, unless all is wanted."""
    said: dict[str, list[str]] = {}
    for row in rows:
        name = escaped(name_of(row))
        for each in row.findings:
            text = escaped(sentence(row, each))
            if not look.in_full:
                said.setdefault(text, []).append(name)
                continue
            yield from wrapped([Cell(f"{INDENT}{name}: {text}")], look.width, HANGING)
            for trial in each.trials:
                tried = Cell(f"{INDENT * 2}{escaped(trial_text(trial, row.placed))}", DIM)
                yield from wrapped([tried], look.width, HANGING + 2)
    for text, names in said.items():
        yield from wrapped([Cell(f"{INDENT}{some_of(names, _MAX_NAMED)}: {text}")], look.width, HANGING)
