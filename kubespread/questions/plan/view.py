"""Steps, one row each with its details below it; the passes of rollouts, and a frame of the map per step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubespread.questions.plan import PlanReport, PlanStep
from kubespread.reports.columns import Readers
from kubespread.reports.rollout import RolloutReport, rollout_sentence
from kubespread.views.look import Cell, Line, Look, Part, Sentence, Text, Tone
from kubespread.views.outcomes import details, frame, passes, tone
from kubespread.views.sheet import Column, Sheet, columns_of, count
from kubespread.views.terminal import INDENT, lay_table
from kubespread.views.view import Frame, Tile, View, loads_before, shared_fields, unwanted_tile
from kubespread.wording import count_of

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap

_MAX_DETAILS = 2
_DETAIL = len(INDENT) + 3
_COLUMNS = columns_of(
    PlanStep,
    *("number", "text", "is_done", "gone", "placed", "joined", "preempted", "pending", "unmade", "lost", "degraded"),
    *("skew", "explanation"),
)
_Rollout = tuple[int, RolloutReport]
_ROLLOUT: Sequence[Column[_Rollout]] = (
    count("STEP", lambda row: row[0]),
    Column(header="WORKLOAD", value=lambda row: row[1].workload),
    Column(header="HOW-IT-WENT", value=lambda row: rollout_sentence(row[1])),
)


def view(report: PlanReport) -> View:
    frame_at = _frames_of(report)
    return View(
        **shared_fields(report),
        title=f"{report.name or 'Scenario'}: {count_of(report.step_count, 'step')} on "
        f"{count_of(report.node_count, 'node')}",
        tiles=_tiles(report),
        sheets=[
            Sheet(
                title="Steps", columns=_COLUMNS, rows=report.steps, tone=_tone, step=lambda step: frame_at[step.number]
            ),
            Sheet(
                title="Rollouts",
                columns=_ROLLOUT,
                readers=Readers.PAGES,
                rows=[*_rollouts(report)],
                step=lambda row: frame_at[row[0]],
                tone=lambda row: Tone.GOOD if row[1].complete else Tone.BAD,
            ),
            *(replace(sheet, step=lambda row: frame_at[row[0].number]) for sheet in details(report.steps)),
        ],
        parts=lambda look: _parts(report, look),
        frames=lambda drawn: _frames(report, drawn),
        names=report.worse,
        stand_ins=report.stand_ins,
    )


def _tone(step: PlanStep) -> Tone:
    return Tone.BAD if step.is_stuck or step.stuck_runs else tone(step)


def _rollouts(report: PlanReport) -> Iterator[_Rollout]:
    return ((step.number, rollout) for step in report.steps for rollout in step.rollouts)


def _tiles(report: PlanReport) -> list[Tile]:
    steps = report.steps
    full = sum(step.is_done for step in steps)
    tone = Tone.BAD if full < report.step_count else Tone.GOOD
    return [
        Tile("steps done in full", f"{full:,} of {report.step_count:,}", tone),
        unwanted_tile("pods left pending", steps[-1].pending if steps else 0),
        unwanted_tile("pods not created", steps[-1].unmade if steps else 0),
        unwanted_tile("pods lost for good", sum(len(step.lost) for step in steps)),
        Tile("pods placed", f"{sum(step.placed for step in steps):,}"),
    ]


def _moves_first(report: PlanReport) -> bool:
    """True if there is a frame before the first step: waiting pods that were placed, and pods that went."""
    return bool(report.start.placed or report.start.nodes.loads)


def _frames_of(report: PlanReport) -> Mapping[int, int]:
    """Map each step to the one of `_frames`, counted from 1, that shows the cluster after it."""
    return {step.number: place for place, step in enumerate(report.steps, start=1 + _moves_first(report))}


def _frames(report: PlanReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One frame per step, with the load of each node after it."""
    loads = loads_before(drawn)
    if _moves_first(report):
        yield frame(report.start, loads, drawn)
    for step in report.steps:
        yield replace(frame(step, loads, drawn), label=f"step {step.number}: {step.title or step.name}")


def _parts(report: PlanReport, look: Look) -> Iterator[Part]:
    steps = lay_table(_COLUMNS, report.steps, look)
    lines = [[line, *_indent([*_details(step)], look)] for step, (line,) in zip(report.steps, steps.rows, strict=True)]
    # Those that are not done come first, as others may be mended by the steps behind them.
    tones = [Tone.WARN if step.is_done and _tone(step) is Tone.BAD else _tone(step) for step in report.steps]
    yield replace(steps, rows=lines, noun="step", tones=tones)
    for number, rollout in _rollouts(report):
        if rollout.passes:
            yield passes(f"Step {number}: {rollout.workload.short_name}", rollout, look)


def _indent(details: Sequence[Line], look: Look) -> Iterator[Text]:
    shown = details if look.in_full else details[:_MAX_DETAILS]
    for detail in shown:
        yield Sentence([Cell(" " * _DETAIL), *detail], _DETAIL + 2)
    if len(details) > len(shown):
        yield [Cell(" " * _DETAIL), Cell(f"and {len(details) - len(shown)} more (-v)", Tone.FAINT)]


def _details(step: PlanStep) -> Iterator[Line]:
    """Yield the skews that the step leaves, and how its rollouts went; its troubles are among the sentences."""
    if step.skew:
        yield [Cell(step.skew, Tone.BAD)]
    for rollout in step.rollouts:
        style = Tone.GOOD if rollout.complete else Tone.BAD
        yield [Cell(f"{rollout.workload.short_name}: ", style), Cell(rollout_sentence(rollout))]
