"""A plan for people: constraints before and after, a row an eviction, the commands, and what else there is to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.planner.reports.rebalance import DeschedulerReport, EvictionStep, RebalanceReport
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import (
    BAD,
    DIM,
    GAP,
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
from kubespread.views.names import fitted
from kubespread.views.phrases import chosen_from
from kubespread.views.rebalance.commands import deletion_costs, evictions
from kubespread.views.rebalance.constraints import constraint_lines
from kubespread.views.screen import concluded, headline, left_out, room_beside, screen
from kubespread.wording import count_of, short_key, some_of, workload_name

_MAX_STEPS = 20
_MAX_ASKED = 3
_LEAST_NAME = 12
_HOSTNAME = "hostname"


@screen
def write(report: RebalanceReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every step and command."""
    yield from headline(_title(report), report, look)
    yield from constraint_lines(report, look)
    if report.steps:
        yield from _steps(report, look)
        yield from evictions(report, look)
    yield from deletion_costs(report, look)
    if report.descheduler is not None:
        yield from _rounds(report.descheduler, report, look)
    yield from concluded(report.answer, look, GOOD if report.holds else BAD, others="")


def _title(report: RebalanceReport) -> str:
    if report.asked:
        whose = some_of(list(map(workload_name, report.asked)), _MAX_ASKED)
    else:
        whose = f"{count_of(report.workloads, 'workload')}{chosen_from(report.namespace, report.selector)}"
    kinds = "hard and soft" if report.soft else "hard"
    violated = f"{report.violated_before} of {count_of(report.constraints_in_force, f'{kinds} constraint')} violated"
    return f"Rebalancing {whose}, {count_of(report.nodes, 'node')}: {violated}"


def _steps(report: RebalanceReport, look: Look) -> Iterator[Line]:
    shown = report.steps if look.in_full else report.steps[:_MAX_STEPS]
    yield from tabulated(_columns(shown, look), headers=look.headers)
    yield from left_out(len(report.steps) - len(shown), "eviction")


def _columns(steps: Sequence[EvictionStep], look: Look) -> list[Column]:
    keys = dict.fromkeys(change.topology_key for step in steps for change in step.domains)
    # The node's own name says already what its hostname is.
    moves = [_moves(key, steps) for key in keys if short_key(key) != _HOSTNAME]
    waits = [Cell(step.waits_for or "") for step in steps]
    others = [*moves, *([Column("WAITS FOR", waits)] if any(each.text for each in waits) else ())]
    number = Column("STEP", [Cell(str(step.number)) for step in steps], True)
    room = room_beside((number, *others), look) - 3 * GAP
    names = (
        ("EVICT", [_pod_name(step) for step in steps]),
        ("FROM", [step.node for step in steps]),
        ("LANDS ON", [step.lands_on for step in steps]),
    )
    widths = _shared([max(map(width_of, (header, *texts))) for header, texts in names], room)
    named = [
        Column(header, [cell(name) for name in fitted(texts, max(width, _LEAST_NAME))])
        for (header, texts), width in zip(names, widths, strict=True)
    ]
    return [number, *named, *others]


def _shared(widths: Sequence[int], room: int) -> list[int]:
    """The room for columns that would be so wide: what the narrow ones leave is for the others."""
    shares, left = [0] * len(widths), room
    for done, place in enumerate(sorted(range(len(widths)), key=widths.__getitem__)):
        shares[place] = min(widths[place], left // (len(widths) - done))
        left -= shares[place]
    return shares


def _pod_name(step: EvictionStep) -> str:
    namespace, _, name = step.pod.partition("/")
    return name if namespace == "default" else step.pod


def _moves(key: str, steps: Sequence[EvictionStep]) -> Column:
    cells = []
    for step in steps:
        change = next((each for each in step.domains if each.topology_key == key), None)
        domains = () if change is None else (change.before, change.after)
        cells.append(cell(" → ".join("none" if each is None else cut_middle(each, 14) for each in domains)))
    return Column(short_key(key).upper(), cells)


def _rounds(found: DeschedulerReport, report: RebalanceReport, look: Look) -> Iterator[Line]:
    yield from wrapped([cell(f"The descheduler with {found.policy}, round by round:", HEAD)], look.width, HANGING)
    held = [sum(staying.pods for staying in each.held) for each in found.rounds]
    columns = [
        Column("ROUND", [Cell(str(each.number)) for each in found.rounds], True),
        Column("EVICTED", [Cell(str(len(each.evicted))) for each in found.rounds], True),
        Column("HELD", [Cell(str(number)) for number in held], True),
        Column("PENDING", [Cell(str(each.pending), BAD if each.pending else "") for each in found.rounds], True),
        Column(
            "VIOLATED",
            [
                Cell(f"{each.violated} of {report.constraints_in_force}", BAD if each.violated else GOOD)
                for each in found.rounds
            ],
        ),
    ]
    yield from tabulated(columns, headers=look.headers)
    reasons = dict.fromkeys(staying.why for each in found.rounds for staying in each.held)
    if reasons:
        yield from wrapped([Cell(INDENT), cell(f"held: {', '.join(reasons)}", DIM)], look.width, HANGING)
