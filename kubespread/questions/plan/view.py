"""A plan: the workloads that change, the nodes that do, and the steps in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.map.report import MapNode
from kubespread.questions.plan.report import Change, PlannedNode, PlannedWorkload, PlanReport
from kubespread.questions.play.report import StepReport
from kubespread.questions.play.view import frames
from kubespread.views.look import Line, Tone
from kubespread.views.sheet import Column, Fit, Readers, Sheet, count
from kubespread.views.view import Tile, View, about, unwanted
from kubespread.wording import count_of, short_key

_MAX_ROWS = 20
_ARROW = " → "
_TONES: dict[Change, Tone] = {"worse": Tone.BAD, "better": Tone.GOOD, "gone": Tone.WARN}


def _called(row: PlannedWorkload) -> str:
    """As the audit calls it."""
    audited = row.after or row.before
    return row.workload.called if audited is None else audited.called


def _ready(row: AuditedWorkload | None) -> str:
    return "" if row is None else f"{row.ready:,}/{row.replicas:,}"


def _skews(row: AuditedWorkload | None) -> list[tuple[str, str]]:
    """Of each constraint, with what it counts; those of one key may differ in whose pods they count."""
    return [] if row is None else [(short_key(each.topology_key), str(each.skew)) for each in row.constraints]


def _skew(row: PlannedWorkload) -> str:
    """``zone 0 → 1``: what differs, and all where nothing does."""
    before, after = _skews(row.before), _skews(row.after)
    if [key for key, _ in before] != [key for key, _ in after]:
        return _change(*(", ".join(" ".join(skew) for skew in side) for side in (before, after)))
    pairs = [(key, was, now) for (key, was), (_, now) in zip(before, after, strict=True)]
    told = [pair for pair in pairs if pair[1] != pair[2]] or pairs
    return ", ".join(f"{key} {_change(was, now)}" for key, was, now in told)


def _zones(row: AuditedWorkload | None) -> str:
    return "" if row is None else "/".join(str(zone.pods) for zone in row.zones)


def _survives(survives: bool | None) -> str:
    return "" if survives is None else "yes" if survives else "no"


def _change(before: str, after: str) -> str:
    """What stays the same once."""
    return before if before == after else f"{before or '-'}{_ARROW}{after or '-'}"


def _of_sides(
    header: str, value: Callable[[AuditedWorkload | None], str], *, gives_way: bool = False
) -> Column[PlannedWorkload]:
    return Column(
        header=header, value=lambda row: _change(value(row.before), value(row.after)), nothing="-", gives_way=gives_way,
    )  # fmt: skip


_WORKLOAD: Sequence[Column[PlannedWorkload]] = (
    Column(header="WORKLOAD", value=lambda row: row.workload, readers=Readers.RECORDS),
    Column(header="WORKLOAD", value=_called, readers=Readers.TERMINAL, fit=Fit.APART, least=14),
    Column(header="CHANGE", value=lambda row: row.change, tone=lambda row: _TONES.get(row.change, Tone.PLAIN)),
    _of_sides("READY", _ready),
    Column(header="SKEW", value=_skew, nothing="-", fit=Fit.END),
    _of_sides("ZONES", _zones, gives_way=True),
    Column(
        header="SURVIVES", nothing="-",
        value=lambda row: _change(_survives(row.survives_before), _survives(row.survives_after)),
    ),
    _of_sides("LEVEL", lambda row: "" if row is None else row.level, gives_way=True),
)  # fmt: skip


def _pods(node: MapNode | None) -> str:
    return "" if node is None else f"{node.pods:,}"


def _load(resource: str) -> Column[PlannedNode]:
    def percent(node: MapNode | None) -> str:
        load = next((load for load in node.load if load.resource == resource), None) if node else None
        return "" if load is None or load.percent is None else f"{load.percent}%"

    return Column(
        header=resource.upper(), value=lambda row: _change(percent(row.before), percent(row.after)),
        title="CPU" if resource == "cpu" else "",
    )  # fmt: skip


_NODE: Sequence[Column[PlannedNode]] = (
    Column(header="NODE", value=lambda row: row.name, fit=Fit.NAMES),
    Column(
        header="STATE",
        nothing="-",
        value=lambda row: (
            "joins" if row.before is None else "leaves" if row.after is None else ", ".join(row.after.closed)
        ),
        fit=Fit.END,
    ),
    Column(header="PODS", value=lambda row: _change(_pods(row.before), _pods(row.after))),
    _load("cpu"),
    _load("memory"),
)

_STEP: Sequence[Column[StepReport]] = (
    count("STEP", lambda row: row.number),
    Column(header="WHAT", value=lambda row: row.text, fit=Fit.APART),
    count("GONE", lambda row: len(row.happened.gone)),
    count("PLACED", lambda row: len(row.happened.placed)),
    count("BLOCKED", lambda row: len(row.happened.blocked), bad=True),
    count("PENDING", lambda row: row.pending, bad=True),
    Column(header="WHY", value=lambda row: row.why if row.is_stuck else None, readers=Readers.RECORDS),
)


def view(report: PlanReport) -> View:
    """Workloads first: they are the answer."""
    return View(
        **about(report),
        title=f"Plan: {count_of(len(report.played.steps), 'step')} on {count_of(report.before.nodes, 'node')}",
        sheets=[*_sheets(report)],
        parts=lambda look: _parts(report),
        frames_on=lambda drawn: frames(report.played, drawn),
        names=[row.workload for row in report.workloads],
        tiles=[
            unwanted("workloads worse", report.changes["worse"]),
            unwanted("pods left pending", report.played.pending),
            *(
                [Tile("ready pods", f"{report.before.ready:,}{_ARROW}{report.after.ready:,}")]
                if report.before.ready is not None and report.after.ready is not None
                else []
            ),
            Tile("nodes", f"{report.before.nodes:,}{_ARROW}{report.after.nodes:,}"),
            Tile("pods that leave their nodes", f"{sum(report.gone.values()):,}"),
        ],
    )


def _sheets(report: PlanReport) -> Iterator[Sheet[Any]]:
    lost = "any domain" if report.topology_key is None else f"any {short_key(report.topology_key)}"
    yield Sheet(
        title="Workloads that change", columns=_WORKLOAD, rows=report.workloads, is_answer=True, is_first=True,
        tone=lambda row: _TONES.get(row.change, Tone.PLAIN), legend=f"Survives: the loss of {lost}",
    )  # fmt: skip
    yield Sheet(title="Nodes that change", columns=_NODE, rows=report.nodes)
    yield Sheet(
        title="Steps", columns=_STEP, rows=report.played.steps,
        tone=lambda row: Tone.BAD if row.is_stuck else Tone.GOOD,
    )  # fmt: skip


def _parts(report: PlanReport) -> Iterator[Sheet[Any] | Line]:
    for sheet, noun in zip(_sheets(report), ("workload", "node", "step"), strict=True):
        if sheet.rows:
            yield replace(sheet, most=_MAX_ROWS, noun=noun)
            yield ()
