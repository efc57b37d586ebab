"""A plan: the workloads that change, and the steps in their order. Steps by themselves: one row each with what it
leaves below it, the passes of rollouts, and what each step moves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.plan.report import Comparison, PlannedWorkload, PlanReport, PlanStep
from kubespread.reports.columns import Fit, Readers
from kubespread.reports.outcome import Outcome, by_why, explained, phrase
from kubespread.reports.parts import SkewChange, range_of
from kubespread.reports.rollout import RolloutReport, rollout_sentence
from kubespread.views.look import Cell, Line, Look, Part, Sentence, Tone, Weight
from kubespread.views.outcomes import details, frame, pass_frames, passes
from kubespread.views.sheet import Column, Sheet, columns_of, count
from kubespread.views.terminal import GAP, HANGING, INDENT, remarks, room_beside_columns, tabled
from kubespread.views.view import Frame, Tile, View, about, held_before, source, unwanted
from kubespread.wording import count_of, short_key

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap

ARROW = " → "
_MAX_ROWS = 20
_MAX_DETAILS = 2
_DETAIL = len(INDENT) + 3


def view(report: PlanReport) -> View:
    return _of_steps(report) if report.before is None else _of_sides(report)


# Before and after.


_TONES: dict[Comparison, Tone] = {"worse": Tone.BAD, "better": Tone.GOOD, "gone": Tone.WARN}


def _called(row: PlannedWorkload) -> str:
    """Name the workload as the audit does."""
    audited = row.after or row.before
    return row.workload.called if audited is None else audited.called


def _skews(row: AuditedWorkload | None) -> list[tuple[str, str]]:
    """Pair the skew of each constraint with what it counts; those of one key may differ in whose pods they count."""
    return [] if row is None else [(short_key(each.topology_key), str(each.skew)) for each in row.constraints]


def _skew_change(row: PlannedWorkload) -> str:
    """``zone 0 → 1``: what differs, and all where nothing does."""
    before, after = _skews(row.before), _skews(row.after)
    if [key for key, _ in before] != [key for key, _ in after]:
        return _change(*(", ".join(" ".join(skew) for skew in side) for side in (before, after)))
    pairs = [(key, was, now) for (key, was), (_, now) in zip(before, after, strict=True)]
    told = [pair for pair in pairs if pair[1] != pair[2]] or pairs
    return ", ".join(f"{key} {_change(was, now)}" for key, was, now in told)


def _change(before: str, after: str) -> str:
    """Write what stays the same once."""
    return before if before == after else f"{before or '-'}{ARROW}{after or '-'}"


def _both(header: str, value: Callable[[AuditedWorkload], str], *, gives_way: bool = False) -> Column[PlannedWorkload]:
    """Show a value of either side, where there is one."""

    def change(row: PlannedWorkload) -> str:
        return _change(*("" if side is None else value(side) for side in (row.before, row.after)))

    return Column(header=header, value=change, nothing="-", gives_way=gives_way)


_WORKLOAD: Sequence[Column[PlannedWorkload]] = (
    Column(header="WORKLOAD", value=lambda row: row.workload, readers=Readers.RECORDS),
    Column(header="WORKLOAD", value=_called, readers=Readers.TERMINAL, fit=Fit.APART, least=14),
    Column(header="CHANGE", value=lambda row: row.change, tone=lambda row: _TONES.get(row.change, Tone.PLAIN)),
    _both("READY", lambda row: f"{row.ready:,}/{row.replicas:,}"),
    Column(header="SKEW", value=_skew_change, nothing="-", fit=Fit.END),
    _both("ZONES", lambda row: "/".join(str(zone.pods) for zone in row.zones), gives_way=True),
    _both("LEVEL", lambda row: row.level, gives_way=True),
)


def _of_sides(report: PlanReport) -> View:
    """Workloads first: they are the answer."""
    return View(
        **about(report),
        title=f"Plan: {count_of(report.step_count, 'step')} on {count_of(report.node_count, 'node')}",
        sheets=[*_sheets(report)],
        parts=lambda look: _parts(report, look),
        frames_on=lambda drawn: _frames(report, drawn),
        stand_ins=report.stand_ins,
        names=[row.workload for row in report.workloads],
        tiles=_tiles(report, len(report.steps)),
        tiles_before=_tiles(report, 0),
    )


def _sheets(report: PlanReport) -> Iterator[Sheet[Any]]:
    yield Sheet(
        title="Workloads that change",
        columns=_WORKLOAD,
        rows=report.workloads,
        is_answer=True,
        is_first=True,
        tone=lambda row: _TONES.get(row.change, Tone.PLAIN),
        legend="Before all steps → after all of them",
    )
    yield _steps(report)


def _parts(report: PlanReport, look: Look) -> Iterator[Sheet[Any] | Line]:
    for sheet, noun in zip(_sheets(report), ("workload", "step"), strict=True):
        if sheet.rows:
            shown = replace(sheet, most=_MAX_ROWS, noun=noun)
            yield replace(shown, columns=_columns(shown.on_screen(look), look)) if noun == "step" else shown
            yield ()


# Step by step.


class _Row(Struct, frozen=True):
    """A step, and which of its constraints is furthest above its maxSkew."""

    step: PlanStep
    workload: str
    """The name of the workload whose constraint that is, of those that the step touched."""
    skew: SkewChange | None

    @property
    def text(self) -> str:
        return f"{self.step.title}: {self.step.name}" if self.step.title else self.step.name

    @property
    def skew_text(self) -> str:
        """``web: zone skew 1 → 3, above 1``."""
        skew = self.skew
        return "" if skew is None else f"{self.workload}: {short_key(skew.topology_key)} skew {skew.figures}"

    @property
    def skew_tone(self) -> Tone:
        return Tone.BAD if self.skew is not None and self.skew.is_violated else Tone.PLAIN

    @property
    def tone(self) -> Tone:
        """Red for a step that is not done: what others leave may be mended by those behind them."""
        if not self.step.is_done:
            return Tone.BAD
        return Tone.WARN if self.step.troubles or self.step.stuck_runs else Tone.GOOD


def _rows(report: PlanReport) -> list[_Row]:
    return [_Row(step, *_worst_skew(step)) for step in report.steps]


def _worst_skew(step: PlanStep) -> tuple[str, SkewChange | None]:
    """The constraint furthest above its maxSkew: a hard one before soft ones, then the one whose skew grew most.

    Of all workloads whose pods the step moved.
    """
    return max(
        ((row.workload.name, change) for row in step.workloads if row.is_moved for change in row.skew),
        key=lambda skew: (
            skew[1].is_violated,
            skew[1].most_after - skew[1].max_skew,
            skew[1].most_after - skew[1].before,
            skew[1].most_after,
        ),
        default=("", None),
    )


def _of_step(column: Column[Any]) -> Column[Any]:
    """A column of every outcome."""
    judged = column.tone
    return replace(
        column, value=lambda row: column.value(row.step), tone=None if judged is None else lambda row: judged(row.step)
    )


_BY_HEADER: Mapping[str, Column[Any]] = {column.header: _of_step(column) for column in columns_of(Outcome)}
_STEP: Sequence[Column[_Row]] = (
    Column(header="STEP", value=lambda row: row.step.number, is_number=True, readers=Readers.RECORDS),
    Column(header="", value=lambda row: row.step.number, is_number=True, readers=Readers.TERMINAL),
    Column(header="WHAT", value=lambda row: row.text, readers=Readers.RECORDS),
    Column(header="STEP", value=lambda row: row.text, readers=Readers.TERMINAL, fit=Fit.APART),
    Column(
        header="DONE", value=lambda row: row.step.is_done, tone=lambda row: Tone.GOOD if row.step.is_done else Tone.BAD
    ),
    *(_BY_HEADER[header] for header in ("GONE", "PLACED", "JOINED", "PREEMPTED")),
    replace(
        _BY_HEADER["PENDING"],
        text=lambda row: range_of(row.step.pending, row.step.pending_runs),
        tone=lambda row: Tone.BAD if row.step.pending or row.step.pending_runs else Tone.GOOD,
    ),
    *(_BY_HEADER[header] for header in ("NOT-MADE", "LOST-FOR-GOOD", "DEGRADED")),
    Column(
        header="SKEW", value=lambda row: row.skew_text, nothing="", hides_empty=True, tone=lambda row: row.skew_tone
    ),
    replace(_BY_HEADER["WHY"], value=lambda row: "; ".join(_left(row.step))),
)


def _left(step: PlanStep) -> Iterator[str]:
    if step.failed is not None:
        yield from (f"not done: {line}" for line in step.failed.split("\n"))
    yield from dict.fromkeys(
        phrase(step, kind) if kind == "short" else explained(alike)
        for (kind, _), alike in by_why(step.troubles).items()
    )


def _steps(report: PlanReport) -> Sheet[_Row]:
    at = _frames_of(report)
    return Sheet(
        title="Steps",
        columns=_STEP,
        rows=_rows(report),
        tone=lambda row: row.tone,
        frames=lambda row: (at[row.step.number], None),
    )


_Rollout = tuple[int, RolloutReport]
_ROLLOUT: Sequence[Column[_Rollout]] = (
    count("STEP", lambda row: row[0]),
    Column(header="WORKLOAD", value=lambda row: row[1].workload),
    Column(header="HOW-IT-WENT", value=lambda row: rollout_sentence(row[1])),
)


def _of_steps(report: PlanReport) -> View:
    """Steps, their rollouts, and what they leave."""
    at = _frames_of(report)
    return View(
        **about(report),
        title=f"{report.name or 'Scenario'}: {count_of(report.step_count, 'step')} on "
        f"{count_of(report.node_count, 'node')}",
        tiles=_tiles(report, len(report.steps)),
        tiles_before=_tiles(report, 0),
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
            *(replace(sheet, frames=lambda row: (at[row[0].number], None)) for sheet in details(report.steps)),
        ],
        heading=lambda look: [Sentence(_heading(report), HANGING, Weight.SUBJECT)] if look.headers else (),
        answer_tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        parts=lambda look: _parts_of_steps(report, look),
        remarks="among",
        frames_on=lambda drawn: _frames(report, drawn),
        names=report.worse,
        stand_ins=report.stand_ins,
    )


def _rollouts(report: PlanReport) -> Iterator[_Rollout]:
    return ((step.number, rollout) for step in report.steps for rollout in step.rollouts)


def _tiles(report: PlanReport, past: int) -> list[Tile]:
    """After so many steps."""
    steps = report.steps[:past]
    done = sum(step.is_done for step in steps)
    is_bad = done < past or (past == len(report.steps) and done < report.step_count)
    return [
        Tile("steps done in full", f"{done:,} of {report.step_count:,}", Tone.BAD if is_bad else Tone.GOOD),
        unwanted("pods left pending", steps[-1].pending if steps else 0),
        unwanted("pods not made", steps[-1].unmade if steps else 0),
        unwanted("pods lost for good", sum(len(step.lost) for step in steps)),
        Tile("pods placed", f"{sum(step.placed for step in steps):,}"),
    ]


def _moves_first(report: PlanReport) -> bool:
    """True if there is a frame before the first step: waiting pods that were placed, and pods that went."""
    return bool(report.start.placed or report.start.nodes.loads)


def _frames_of(report: PlanReport) -> Mapping[int, int]:
    """Map each step to the one of `_frames`, counted from 1, that shows the cluster after it."""
    each = (1 + sum(len(rollout.passes) for rollout in step.rollouts) for step in report.steps)
    past = islice(accumulate(each, initial=int(_moves_first(report))), 1, None)
    return dict(zip((step.number for step in report.steps), past, strict=True))


def _frames(report: PlanReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One frame per step, with what each node holds after it, behind those of the passes of its rollouts."""
    held = held_before(drawn)
    if _moves_first(report):
        yield frame(report.start, held, drawn)
    for past, step in enumerate(report.steps, 1):
        label = f"step {step.number}: {step.title or step.name}"
        pods = Counter({name: now[0] or 0 for name, now in held.items()})
        for rollout in step.rollouts:
            # The step's own frame repeats all of it, and tells more than the passes of one workload.
            yield from pass_frames(f"{label}:", rollout, Counter(pods), tells_old=False)
        yield replace(frame(step, held, drawn), label=label, tiles=_tiles(report, past))


def _heading(report: PlanReport) -> Line:
    where = source(report.cluster, report.kube_version, report.manner)
    beside = f" · {count_of(report.node_count, 'node')}{f' · {where}' if where else ''}"
    steps = Cell(f": {count_of(report.step_count, 'step')}")
    return [Cell(report.name or "Scenario", Tone.STRONG), steps, Cell(beside, Tone.FAINT)]


def _parts_of_steps(report: PlanReport, look: Look) -> Iterator[Part]:
    rows = _rows(report)
    columns = _columns(rows, look)
    steps = tabled(columns, rows, look)
    before = [None, *report.steps]
    lines = [
        [line, *_skew_below(row, columns), *_indented([*_details(row.step, before[place])], look)]
        for place, (row, (line,)) in enumerate(zip(rows, steps.rows, strict=True))
    ]
    yield replace(steps, rows=lines, noun="step", tones=[row.tone for row in rows])
    told = {*report.of_steps}
    yield from remarks([text for text in report.answer if text not in told])
    rolled = [(number, rollout) for number, rollout in _rollouts(report) if rollout.passes]
    for number, rollout in rolled:
        yield ()
        yield passes(f"Step {number}: {rollout.workload.called}", rollout, look)
    if rolled:
        yield ()


def _columns(rows: Sequence[_Row], look: Look) -> Sequence[Column[_Row]]:
    """Choose the columns for which a terminal has room: texts of steps are not cut for skews, which may stand below."""
    columns = [column for column in _STEP if Readers.TERMINAL in column.readers]
    for header in ("SKEW", "DONE"):
        if room_beside_columns(columns, rows, look) < -GAP:
            columns = [column for column in columns if column.header != header]
    return columns


def _skew_below(row: _Row, columns: Sequence[Column[_Row]]) -> Iterator[Line]:
    if row.skew is not None and all(column.header != "SKEW" for column in columns):
        skew = Cell(row.skew_text, row.skew_tone)
        yield Sentence([Cell(" " * _DETAIL), skew], _DETAIL + 2)


def _indented(details: Sequence[Line], look: Look) -> Iterator[Line]:
    shown = details if look.in_full else details[:_MAX_DETAILS]
    for detail in shown:
        yield Sentence([Cell(" " * _DETAIL), *detail], _DETAIL + 2)
    if len(details) > len(shown):
        yield [Cell(" " * _DETAIL), Cell(f"and {len(details) - len(shown)} more (-v)", Tone.FAINT)]


def _details(step: PlanStep, before: PlanStep | None) -> Iterator[Line]:
    """Yield what the step leaves, unless that is what the one ``before`` left, and how its rollouts went."""
    left = [*_left(step)]
    if before is None or left != [*_left(before)]:
        yield from ([Cell(text, Tone.BAD)] for text in left)
    for rollout in step.rollouts:
        style = Tone.GOOD if rollout.complete else Tone.BAD
        yield [Cell(f"{rollout.workload.called}: ", style), Cell(rollout_sentence(rollout))]
