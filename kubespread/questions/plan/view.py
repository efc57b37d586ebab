"""A plan: the workloads that change, the nodes that do, and the steps in their order. Steps by themselves: one row each
with its problems below it, the passes of rollouts, and what each step moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.map.report import MapNode
from kubespread.questions.plan.frames import ARROW, frames, frames_of, tiles_of_plan, tiles_of_steps
from kubespread.questions.plan.report import Change, PlannedNode, PlannedSide, PlannedWorkload, PlanReport, StepReport
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.happened import (
    DomainRevisions,
    GonePod,
    Happened,
    KeyRevisions,
    NodeEviction,
    PlacedPod,
    RolloutPass,
    RolloutReport,
    eviction_order,
    rollout_sentence,
)
from kubespread.reports.parts import SkewChange, range_of
from kubespread.views.look import Cell, Line, Look, Part, Sentence, Tone, Weight
from kubespread.views.rollouts import passes
from kubespread.views.sheet import Column, Fit, Readers, Sheet, Span, count
from kubespread.views.terminal import GAP, HANGING, INDENT, room_beside_columns, tabled
from kubespread.views.view import View, about, source
from kubespread.wording import EMPTY, count_of, short_key

_MAX_ROWS = 20
_MAX_DETAILS = 3
_DETAIL = len(INDENT) + 3


def view(report: PlanReport) -> View:
    before, after = report.before, report.after
    return _of_steps(report) if before is None or after is None else _of_sides(report, before, after)


# Before and after.


_TONES: dict[Change, Tone] = {"worse": Tone.BAD, "better": Tone.GOOD, "gone": Tone.WARN}


def _called(row: PlannedWorkload) -> str:
    """As the audit calls it."""
    audited = row.after or row.before
    return row.workload.called if audited is None else audited.called


def _skews(row: AuditedWorkload | None) -> list[tuple[str, str]]:
    """Of each constraint, with what it counts; those of one key may differ in whose pods they count."""
    return [] if row is None else [(short_key(each.topology_key), str(each.skew)) for each in row.constraints]


def _skew_change(row: PlannedWorkload) -> str:
    """``zone 0 → 1``: what differs, and all where nothing does."""
    before, after = _skews(row.before), _skews(row.after)
    if [key for key, _ in before] != [key for key, _ in after]:
        return _change(*(", ".join(" ".join(skew) for skew in side) for side in (before, after)))
    pairs = [(key, was, now) for (key, was), (_, now) in zip(before, after, strict=True)]
    told = [pair for pair in pairs if pair[1] != pair[2]] or pairs
    return ", ".join(f"{key} {_change(was, now)}" for key, was, now in told)


def _survives(survives: bool | None) -> str:
    return "" if survives is None else "yes" if survives else "no"


def _change(before: str, after: str) -> str:
    """What stays the same once."""
    return before if before == after else f"{before or '-'}{ARROW}{after or '-'}"


def _both(header: str, value: Callable[[Any], str], *, gives_way: bool = False, title: str = "") -> Column[Any]:
    """What is said of either side, where there is one."""

    def change(row: PlannedWorkload | PlannedNode) -> str:
        return _change(*("" if side is None else value(side) for side in (row.before, row.after)))

    return Column(header=header, value=change, nothing="-", gives_way=gives_way, title=title)


_WORKLOAD: Sequence[Column[PlannedWorkload]] = (
    Column(header="WORKLOAD", value=lambda row: row.workload, readers=Readers.RECORDS),
    Column(header="WORKLOAD", value=_called, readers=Readers.TERMINAL, fit=Fit.APART, least=14),
    Column(header="CHANGE", value=lambda row: row.change, tone=lambda row: _TONES.get(row.change, Tone.PLAIN)),
    _both("READY", lambda row: f"{row.ready:,}/{row.replicas:,}"),
    Column(header="SKEW", value=_skew_change, nothing="-", fit=Fit.END),
    _both("ZONES", lambda row: "/".join(str(zone.pods) for zone in row.zones), gives_way=True),
    Column(
        header="SURVIVES",
        nothing="-",
        value=lambda row: _change(_survives(row.survives_before), _survives(row.survives_after)),
    ),
    _both("LEVEL", lambda row: row.level, gives_way=True),
)


def _load(resource: str) -> Callable[[MapNode], str]:
    def percent(node: MapNode) -> str:
        load = next((load for load in node.load if load.resource == resource), None)
        return "" if load is None or load.percent is None else f"{load.percent}%"

    return percent


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
    _both("PODS", lambda node: f"{node.pods:,}"),
    _both("CPU", _load("cpu"), title="CPU"),
    _both("MEMORY", _load("memory")),
)


def _of_sides(report: PlanReport, before: PlannedSide, after: PlannedSide) -> View:
    """Workloads first: they are the answer."""
    return View(
        **about(report),
        title=f"Plan: {count_of(len(report.steps), 'step')} on {count_of(report.node_count, 'node')}",
        sheets=[*_sheets(report)],
        parts=lambda look: _parts(report, look),
        frames_on=lambda drawn: frames(report, drawn, partial(tiles_of_plan, report, before, after)),
        stand_ins=report.stand_ins,
        names=[row.workload for row in report.workloads],
        tiles=tiles_of_plan(report, before, after, len(report.steps)),
        tiles_before=tiles_of_plan(report, before, after, 0),
    )


def _sheets(report: PlanReport) -> Iterator[Sheet[Any]]:
    lost = "any domain" if report.topology_key is None else f"any {short_key(report.topology_key)}"
    yield Sheet(
        title="Workloads that change",
        columns=_WORKLOAD,
        rows=report.workloads,
        is_answer=True,
        is_first=True,
        tone=lambda row: _TONES.get(row.change, Tone.PLAIN),
        legend=f"Before all steps → after all of them; survives: the loss of {lost}",
    )
    yield Sheet(
        title="Nodes that change", columns=_NODE, rows=report.nodes, legend="Before all steps → after all of them"
    )
    yield _steps(report)


def _parts(report: PlanReport, look: Look) -> Iterator[Sheet[Any] | Line]:
    for sheet, noun in zip(_sheets(report), ("workload", "node", "step"), strict=True):
        if sheet.rows:
            shown = replace(sheet, most=_MAX_ROWS, noun=noun)
            yield replace(shown, columns=_columns(shown.on_screen(look), look)) if noun == "step" else shown
            yield ()


# Step by step.


class _Lacking(Struct, frozen=True):
    """A workload that lacks pods."""

    workload: WorkloadName
    count: int
    what: str
    """``pending``, ``not created`` or ``not made yet``."""
    message: str
    pods: Sequence[NamespacedName] = ()
    """Those that exist."""


def _lacking(happened: Happened) -> list[_Lacking]:
    unmade = {"not created": happened.not_created, "not made yet": happened.not_made_yet}
    return [
        *(_Lacking(kind.workload, len(kind.pods), "pending", kind.message, kind.pods) for kind in happened.pending),
        *(_Lacking(row.workload, row.count, what, row.message) for what, rows in unmade.items() for row in rows),
    ]


class _Step(Struct, frozen=True):
    """A row of the steps."""

    step: StepReport
    lacking: Sequence[_Lacking]
    """What lacks pods after it, and lacked fewer before."""
    workload: str
    """The name of the workload whose constraint is furthest above its maxSkew, of those that the step touched."""
    skew: SkewChange | None
    """Of that constraint."""

    @property
    def is_bad(self) -> bool:
        return self.step.is_stuck or bool(self.step.stuck_runs or self.step.broken_budgets)

    @property
    def text(self) -> str:
        return f"{self.step.name}: {self.step.text}" if self.step.name else self.step.text

    @property
    def skew_text(self) -> str:
        """``web zone 1 → 3 > 1``."""
        if self.skew is None:
            return ""
        before, after = str(self.skew.before), self.skew.range_after
        moved = after if before == after else f"{before} → {after}"
        return f"{self.workload} {short_key(self.skew.topology_key)} {moved}{self.skew.exceeds}"

    @property
    def skew_tone(self) -> Tone:
        return Tone.BAD if self.skew is not None and self.skew.is_violated else Tone.PLAIN

    @property
    def went_wrong(self) -> str:
        failed = [] if self.step.failed is None else [self.step.failed]
        blocked = [f"{pod.pod} {pod.fate}: {pod.refusal}" for pod in self.step.happened.blocked]
        lacking = [f"{row.workload.called}: {row.message}" for row in _lacking(self.step.happened)]
        return "; ".join([*failed, *dict.fromkeys(blocked), *lacking])


def _rows(report: PlanReport) -> Iterator[_Step]:
    before = report.start
    for step in report.steps:
        waited = {pod for kind in before.pending for pod in kind.pods}
        counts = {(row.what, row.workload): row.count for row in _lacking(before)}
        more = [
            row
            for row in _lacking(step.happened)
            if (not waited.issuperset(row.pods) if row.pods else row.count > counts.get((row.what, row.workload), 0))
        ]
        yield _Step(step, sorted(more, key=lambda row: bool(row.pods)), *_worst_skew(step))
        before = step.happened


def _worst_skew(step: StepReport) -> tuple[str, SkewChange | None]:
    """The constraint furthest above its maxSkew: a hard one before soft ones, then the one whose skew grew most.

    Of all workloads whose pods the step moved.
    """
    skews = [
        (workload.workload.name, change)
        for workload in step.happened.workloads
        if workload.is_moved
        for change in workload.skew
    ]
    return max(
        skews,
        key=lambda skew: (
            skew[1].is_violated,
            skew[1].most_after - skew[1].max_skew,
            skew[1].most_after - skew[1].before,
            skew[1].most_after,
        ),
        default=("", None),
    )


def _of_change(header: str, value: Callable[[SkewChange], object]) -> Column[_Step]:
    """A column of that constraint for scripts."""
    return Column(header=header, readers=Readers.PIPES, value=lambda row: None if row.skew is None else value(row.skew))


_STEP: Sequence[Column[_Step]] = (
    Column(header="STEP", value=lambda row: row.step.number, is_number=True, readers=Readers.RECORDS),
    Column(header="", value=lambda row: row.step.number, is_number=True, readers=Readers.TERMINAL),
    Column(header="WHAT", value=lambda row: row.text, readers=Readers.PAGES),
    Column(header="STEP", value=lambda row: row.text, readers=Readers.TERMINAL, fit=Fit.APART),
    count("PLACED", lambda row: len(row.step.happened.placed)),
    count("GONE", lambda row: len(row.step.happened.gone)),
    count("BLOCKED", lambda row: len(row.step.happened.blocked), bad=True),
    Column(
        header="PENDING",
        value=lambda row: row.step.pending,
        is_number=True,
        text=lambda row: range_of(row.step.pending, row.step.pending_runs),
        tone=lambda row: Tone.BAD if row.step.pending or row.step.pending_runs else Tone.GOOD,
    ),
    Column(header="WORKLOAD", value=lambda row: row.workload, readers=Readers.PIPES),
    _of_change("KEY", lambda change: change.topology_key),
    _of_change("MAX-SKEW", lambda change: change.max_skew),
    _of_change("BEFORE", lambda change: change.before),
    _of_change("AFTER", lambda change: change.after),
    count("NOT-CREATED", lambda row: row.step.not_created, bad=True, hides_empty=True),
    count("NOT-MADE", lambda row: row.step.not_made_yet, bad=True, hides_empty=True),
    Column(
        header="SKEW",
        value=lambda row: row.skew_text,
        nothing="",
        hides_empty=True,
        tone=lambda row: row.skew_tone,
        readers=Readers.PAGES | Readers.TERMINAL,
    ),
    Column(header="NAME", value=lambda row: row.step.name, readers=Readers.PIPES),
    Column(header="TEXT", value=lambda row: row.step.text, readers=Readers.PIPES),
    Column(header="WHY", value=lambda row: row.step.why, readers=Readers.PIPES),
    Column(header="WHY", value=lambda row: row.went_wrong, readers=Readers.PAGES),
)


def _steps(report: PlanReport) -> Sheet[_Step]:
    at = frames_of(report)
    return Sheet(
        title="Steps",
        columns=_STEP,
        rows=[*_rows(report)],
        tone=lambda row: Tone.BAD if row.is_bad else Tone.GOOD,
        frames=lambda row: (at[row.step.number], None),
    )


_Rollout = tuple[int, RolloutReport]
_ROLLOUT: Sequence[Column[_Rollout]] = (
    count("STEP", lambda row: row[0]),
    Column(header="WORKLOAD", value=lambda row: row[1].workload),
    Column(header="HOW-IT-WENT", value=lambda row: rollout_sentence(row[1])),
)

_Pass = tuple[int, WorkloadName, RolloutPass, tuple[KeyRevisions, DomainRevisions] | None]
_PASS: Sequence[Column[_Pass]] = (
    count("STEP", lambda row: row[0]),
    Column(header="WORKLOAD", value=lambda row: row[1]),
    count("PASS", lambda row: row[2].number),
    count("OLD", lambda row: row[2].running.old),
    count("NEW", lambda row: row[2].running.new),
    count("READY", lambda row: row[2].ready.old + row[2].ready.new),
    Column(header="KEY", value=lambda row: row[3] and row[3][0].topology_key),
    Column(header="DOMAIN", value=lambda row: row[3] and (row[3][1].value or EMPTY)),
    count("OLD-PODS", lambda row: None if row[3] is None else row[3][1].old),
    count("NEW-PODS", lambda row: None if row[3] is None else row[3][1].new),
    count("SKEW", lambda row: None if row[3] is None else row[3][0].skew),
)

_LACKING: Sequence[Column[tuple[Span, _Lacking]]] = (
    Column(header="WORKLOAD", value=lambda row: row[1].workload),
    count("PODS", lambda row: row[1].count),
    Column(header="WHAT", value=lambda row: row[1].what),
    Column(header="WHY", value=lambda row: row[1].message),
)

_Moved = tuple[int, GonePod | PlacedPod]
_MOVED: Sequence[Column[_Moved]] = (
    count("STEP", lambda row: row[0]),
    Column(header="POD", value=lambda row: row[1].pod),
    Column(header="WHAT", value=lambda row: _why_gone(row[1]) if isinstance(row[1], GonePod) else "placed"),
    Column(header="NODE", value=lambda row: row[1].node),
)

_Evicted = tuple[int, NodeEviction]
_ORDER: Sequence[Column[_Evicted]] = (
    count("STEP", lambda row: row[0]),
    Column(header="NODE", value=lambda row: row[1].node),
    count("SECONDS", lambda row: row[1].seconds),
    count("PODS", lambda row: row[1].pods),
)


def _why_gone(gone: GonePod) -> str:
    """``preempted for default/crit, breaking db``."""
    broken = f", breaking {', '.join(gone.broken_budgets)}" if gone.broken_budgets else ""
    return gone.why if gone.made_room_for is None else f"{gone.why} for {gone.made_room_for}{broken}"


def _of_steps(report: PlanReport) -> View:
    """Steps, their rollouts, the pods lacking in the end, and the pods that moved."""
    at = frames_of(report)
    return View(
        **about(report),
        title=f"{report.name or 'Scenario'}: {count_of(len(report.steps), 'step')} on "
        f"{count_of(report.node_count, 'node')}",
        tiles=tiles_of_steps(report, len(report.steps)),
        tiles_before=tiles_of_steps(report, 0),
        sheets=[
            _steps(report),
            Sheet(
                title="Rollouts",
                columns=_ROLLOUT,
                readers=Readers.PAGES,
                rows=[*_rollouts(report)],
                frames=lambda row: (at[row[0]], None),
                tone=lambda row: Tone.GOOD if row[1].complete else Tone.BAD,
            ),
            Sheet(title="Passes of rollouts", columns=_PASS, rows=[*_passes(report)], readers=Readers.PIPES),
            Sheet(
                title="Lacking",
                columns=_LACKING,
                rows=[*_lacking_over_time(report)],
                readers=Readers.PAGES,
                tone=lambda _: Tone.BAD,
                frames=lambda row: row[0],
            ),
            Sheet(
                title="Pods that moved",
                columns=_MOVED,
                readers=Readers.PAGES,
                is_detail=True,
                frames=lambda row: (at[row[0]], None),
                rows=[
                    (step.number, pod) for step in report.steps for pod in (*step.happened.gone, *step.happened.placed)
                ],
            ),
            Sheet(
                title="Evictions",
                columns=_ORDER,
                readers=Readers.WIDE,
                rows=[(step.number, eviction) for step in report.steps for eviction in step.happened.evictions],
            ),
        ],
        heading=lambda look: [Sentence(_heading(report), HANGING, Weight.SUBJECT)] if look.headers else (),
        answer_tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        parts=lambda look: _parts_of_steps(report, look),
        frames_on=lambda drawn: frames(report, drawn, partial(tiles_of_steps, report)),
        names=report.worse,
        stand_ins=report.stand_ins,
    )


def _rollouts(report: PlanReport) -> Iterator[_Rollout]:
    return ((step.number, rollout) for step in report.steps for rollout in step.rollouts)


def _passes(report: PlanReport) -> Iterator[_Pass]:
    """One row per pass and domain with pods."""
    for number, rollout in _rollouts(report):
        for at_pass in rollout.passes:
            held: list[Any] = [
                (key, domain) for key in at_pass.constraints for domain in key.domains if domain.old + domain.new
            ]
            yield from ((number, rollout.workload, at_pass, counts) for counts in held or [None])


def _lacking_over_time(report: PlanReport) -> Iterator[tuple[Span, _Lacking]]:
    """What lacks pods before the first step and after each, and between which frames."""
    moments, since = [report.start, *(step.happened for step in report.steps)], [0, *frames_of(report).values()]
    for happened, first, last in zip(moments, since, [*since[1:], None], strict=True):
        yield from (((first, last), row) for row in _lacking(happened))


def _heading(report: PlanReport) -> Line:
    where = source(report.cluster, report.kube_version, report.manner)
    beside = f" · {count_of(report.node_count, 'node')}{f' · {where}' if where else ''}"
    steps = Cell(f": {count_of(len(report.steps), 'step')}")
    return [Cell(report.name or "Scenario", Tone.STRONG), steps, Cell(beside, Tone.FAINT)]


def _parts_of_steps(report: PlanReport, look: Look) -> Iterator[Part]:
    rows = [*_rows(report)]
    columns = _columns(rows, look)
    yield from _indented(_at_first(report.start), look)
    steps = tabled(columns, rows, look)
    lines = [
        [line, *_skew_below(row, columns), *_indented([*_details(row, look)], look)]
        for row, (line,) in zip(rows, steps.rows, strict=True)
    ]
    yield replace(steps, rows=lines, noun="step")
    rolled = [(number, rollout) for number, rollout in _rollouts(report) if rollout.passes]
    for number, rollout in rolled:
        yield ()
        yield passes(f"Step {number}: {rollout.workload.called}", rollout, look)
    if rolled:
        yield ()


def _columns(rows: Sequence[_Step], look: Look) -> Sequence[Column[_Step]]:
    """Those for which a terminal has room: texts of steps are not cut for skews, which may stand below."""
    columns = [column for column in _STEP if Readers.TERMINAL in column.readers]
    for header in ("BLOCKED", "SKEW"):
        is_needed = header == "BLOCKED" and any(row.step.happened.blocked for row in rows)
        if room_beside_columns(columns, rows, look) < -GAP and not is_needed:
            columns = [column for column in columns if column.header != header]
    return columns


def _skew_below(row: _Step, columns: Sequence[Column[_Step]]) -> Iterator[Line]:
    if row.skew is not None and all(column.header != "SKEW" for column in columns):
        skew = Cell(row.skew_text, row.skew_tone)
        yield Sentence([Cell(" " * _DETAIL), Cell("skew "), skew], _DETAIL + 2)


def _indented(details: Sequence[Line], look: Look) -> Iterator[Line]:
    shown = details if look.in_full else details[:_MAX_DETAILS]
    for detail in shown:
        yield Sentence([Cell(" " * _DETAIL), *detail], _DETAIL + 2)
    if len(details) > len(shown):
        yield [Cell(" " * _DETAIL), Cell(f"and {len(details) - len(shown)} more (-v)", Tone.FAINT)]


def _at_first(start: Happened) -> list[Line]:
    """What was pending, or placed, before the first step."""
    placed = f"before the first step {count_of(len(start.placed), 'waiting pod')} placed"
    lacking = (
        [Cell(f"{row.workload.called}: {row.count} {row.what} from the start: "), Cell(row.message)]
        for row in _lacking(start)
    )
    return [*([[Cell(placed)]] if start.placed else []), *lacking]


def _details(row: _Step, look: Look) -> Iterator[Line]:
    step = row.step
    for line in step.failed.split("\n") if step.failed is not None else ():
        yield [Cell("not done: ", Tone.BAD), Cell(line)]
    refused = Counter((pod.budget, pod.fate, pod.refusal) for pod in step.happened.blocked)
    for (_, fate, message), number in refused.items():
        yield [Cell(f"{count_of(number, 'pod')} {fate}: ", Tone.BAD), Cell(message)]
    for upgrade in step.upgrades:
        text, stuck = f"{upgrade.replaced} of {count_of(len(upgrade.nodes), 'node')} replaced", upgrade.blocked
        if stuck is not None:
            text += f", stuck at {', '.join(stuck.nodes)}: {stuck.refusal or 'budgets refuse'}"
        yield [Cell(text, Tone.GOOD if stuck is None else Tone.BAD)]
    if step.autoscaling is not None:
        yield [Cell(_nodes_added(step.autoscaling))]
    for rollout in step.rollouts:
        style = Tone.GOOD if rollout.complete else Tone.BAD
        yield [Cell(f"{rollout.workload.called}: ", style), Cell(rollout_sentence(rollout))]
    if look.in_full and step.happened.evictions:
        yield [Cell(f"evicted: {eviction_order(step.happened.evictions)}")]
    for short in row.lacking:
        yield [Cell(f"{short.workload.called}: {short.count} {short.what}: ", Tone.BAD), Cell(short.message)]


def _nodes_added(report: AutoscalingReport) -> str:
    """How many nodes were added, by group."""
    came = Counter[str]()
    for group in (group for loop in report.loops for group in loop.added):
        came[group.group] += len(group.nodes)
    nodes = ", ".join(f"{name} +{number}" for name, number in sorted(came.items()))
    if report.unknown_groups:
        nodes = f"{nodes or 'no node'}, instance types of {', '.join(report.unknown_groups)} unknown"
    return f"{report.autoscaler}: {nodes or 'no node helps'} in {count_of(len(report.loops), 'loop')}"
