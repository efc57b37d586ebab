"""A comparison of all workloads: one block for each that differs, with what changes, and how many do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from kubespread.questions.compare.report import ConstraintDifference
from kubespread.questions.compare.view import ARROW, both, heading, question_differences, signed, sources
from kubespread.questions.compare.workloads.report import (
    ClusterSideReport,
    CompareWorkloadsReport,
    ScoreChange,
    WorkloadChange,
    WorkloadDifference,
    WorkloadSide,
)
from kubespread.reports.parts import release_phrase
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Readers, Sheet, count
from kubespread.views.terminal import INDENT, flowed, folded, remarks
from kubespread.views.view import Tile, View, beside, chosen_from
from kubespread.wording import EMPTY, count_of, says, short_key, some_of

_MAX_ROWS, _MAX_DOMAINS, _MAX_VICTIMS = 20, 6, 3
_NONE = "none"
_PIPES = Readers.PIPES
_TONES = {
    **dict.fromkeys((WorkloadChange.GONE, WorkloadChange.REFUSED, WorkloadChange.STOPS), Tone.BAD),
    **dict.fromkeys((WorkloadChange.NEW, WorkloadChange.ADMITTED, WorkloadChange.STARTS), Tone.GOOD),
}


def _tone(row: WorkloadDifference) -> Tone:
    return _TONES.get(row.changes[0], Tone.WARN)


def _first(side: WorkloadSide | None) -> str:
    """The node, or how many are tied."""
    if side is None or not side.first:
        return ""
    return side.first[0] if len(side.first) == 1 else f"any of {len(side.first):,}"


def _preempts(side: WorkloadSide | None) -> str:
    """``p1, p2 on n1``."""
    preemption = None if side is None else side.preemption
    if preemption is None or preemption.node is None:
        return ""
    violated = f" against {count_of(preemption.violations, 'disruption budget')}" if preemption.violations else ""
    return f"{some_of(preemption.victims, _MAX_VICTIMS)} on {preemption.node}{violated}"


def _message(side: WorkloadSide | None) -> str:
    return "" if side is None else side.refused or side.message or ""


def _score(change: ScoreChange) -> str:
    """``ImageLocality −11 to +25``."""
    least, most = signed(change.least), signed(change.most)
    return f"{change.plugin} {least}{f' to {most}' if most != least else ''}"


def _spread(constraint: ConstraintDifference) -> str:
    """``zone a 0 → 2 · b 0 → 1, skew 0 → 1``."""
    domains = [
        f"{domain.value or EMPTY} {_NONE if domain.before is None else domain.before}{ARROW}"
        f"{_NONE if domain.after is None else domain.after}"
        for domain in constraint.domains
    ]
    more = [f"and {len(domains) - _MAX_DOMAINS:,} more"] if len(domains) > _MAX_DOMAINS else []
    skews = both(*(_NONE if side is None else str(side.skew) for side in (constraint.before, constraint.after)))
    counts = " · ".join([*domains[:_MAX_DOMAINS], *more])
    return f"{short_key(constraint.topology_key)} {f'{counts}, ' if counts else ''}skew {skews}"


def _pair(
    header: str, value: Callable[[WorkloadSide | None], object], *, is_number: bool = False
) -> Iterator[Column[WorkloadDifference]]:
    yield Column(f"{header}-BEFORE", lambda row: value(row.before), is_number=is_number, readers=_PIPES)
    yield Column(f"{header}-AFTER", lambda row: value(row.after), is_number=is_number, readers=_PIPES)


def _beside(header: str, value: Callable[[WorkloadSide | None], object]) -> Column[WorkloadDifference]:
    """Both sides in one column, for pages."""
    return Column(header, lambda row: _change(value(row.before), value(row.after)), readers=Readers.PAGES)


def _change(before: object, after: object) -> str:
    """What stays the same once."""
    old, new = ("" if each is None else str(each) for each in (before, after))
    return old if old == new else f"{old or _NONE}{ARROW}{new or _NONE}"


def _fit(side: WorkloadSide | None) -> int | None:
    return None if side is None else side.fitting


_ROW: Sequence[Column[WorkloadDifference]] = (
    Column("WORKLOAD", lambda row: row.workload),
    Column(
        "CHANGES",
        lambda row: [change.replace(" ", "-") for change in row.changes],
        text=lambda row: ", ".join(row.changes),
    ),
    _beside("NODES-THAT-FIT", _fit),
    _beside("FIRST-CHOICE", _first),
    Column("DIFFERENCES", lambda row: "; ".join(_counts(row)), Readers.PAGES),
    *_pair("FIT", _fit, is_number=True),
    *_pair("FIRST", _first),
    Column("NODES", lambda row: [f"{number} {change}" for change, number in row.nodes.items()], readers=_PIPES),
    Column("SCORES", lambda row: [*map(_score, row.scores)], _PIPES),
    Column("SPREAD", lambda row: "; ".join(map(_spread, row.constraints)), _PIPES),
    *_pair("PREEMPTS", _preempts),
    *_pair("MESSAGE", _message),
)
_Side = tuple[str, ClusterSideReport]
_SIDE: Sequence[Column[_Side]] = (
    Column("SIDE", lambda row: row[0]),
    Column("RELEASE", lambda row: release_phrase(row[1].kube_version)),
    count("NODES", lambda row: row[1].nodes),
    count("WORKLOADS", lambda row: row[1].workloads),
)


def view(report: CompareWorkloadsReport) -> View:
    """The workloads that differ, and both sides."""
    before, after = report.before, report.after
    title = f"Workloads{chosen_from(report.namespace, report.selector)}, before → after"
    return View(
        title=title,
        provenance=sources(report),
        answer=[*report.said, *question_differences(before, after)],
        tone=Tone.GOOD if report.same else Tone.WARN,
        sheets=[
            Sheet(
                title="Workloads that differ",
                columns=_ROW,
                rows=report.workloads,
                is_answer=True,
                is_first=True,
                tone=_tone,
            ),
            Sheet(title="Sides", columns=_SIDE, rows=[("before", before), ("after", after)], readers=Readers.RECORDS),
        ],
        names=[row.workload for row in report.workloads],
        heading=lambda look: heading([Cell(title, Tone.STRONG)], report, "", look),
        answer_tone=Tone.GOOD if report.same else Tone.BAD,
        parts=lambda _: _parts(report),
        remarks="among",
        tiles=[
            Tile("workloads differ", f"{len(report.workloads):,}", Tone.WARN if report.workloads else Tone.GOOD),
            *(
                Tile(change, f"{number:,}", _TONES.get(change, Tone.WARN), change)
                for change, number in Counter(row.changes[0] for row in report.workloads).items()
            ),
            Tile("as before", f"{report.unchanged:,}"),
        ],
        beside=beside([before, after]),
    )


def _parts(report: CompareWorkloadsReport) -> Iterator[Sheet[WorkloadDifference] | Line]:
    yield Sheet(title="", columns=(), rows=report.workloads, most=_MAX_ROWS, noun="workload", drawn=_drawn)
    if report.workloads and report.unchanged:
        yield [Cell(f"{INDENT}{count_of(report.unchanged, 'workload')} as before", Tone.FAINT)]
    yield from remarks(report.answer)


def _drawn(row: WorkloadDifference, look: Look) -> Iterator[Line]:
    tone = _tone(row)
    changes = Cell(f"  {', '.join(row.changes)}", Tone.PLAIN if tone is Tone.WARN else tone)
    yield folded(Cell(row.workload.called, Tone.STRONG), changes)
    yield from flowed(_details(row), look, gutter=" · ", indent=INDENT * 2)


def _details(row: WorkloadDifference) -> Iterator[str]:
    """What is different, in figures."""
    before, after = row.before, row.after
    if before is not None and after is not None and before.fitting != after.fitting:
        yield f"{before.fitting:,}{ARROW}{says(after.fitting, 'node', 'fit')}"
    else:
        moved = {change: number for change, number in row.nodes.items() if change in ("no longer fits", "fits now")}
        yield from (f"{count_of(number, 'node')} {change}" for change, number in moved.items())
    firsts = _first(before), _first(after)
    if firsts[0] != firsts[1]:
        yield f"first choice {_change(*firsts)}"
    yield from _counts(row)


def _counts(row: WorkloadDifference) -> Iterator[str]:
    """What is different besides the nodes that fit and the first choice."""
    before, after = row.before, row.after
    if row.scores:
        yield f"{count_of(row.nodes.get('other score', 0), 'node')}: {', '.join(map(_score, row.scores))}"
    yield from map(_spread, row.constraints)
    if _preempts(before) != _preempts(after):
        yield f"preempts {_change(_preempts(before), _preempts(after))}"
    if _message(before) != _message(after):
        yield from (
            f"{when}: {message}" for when, side in (("before", before), ("after", after)) if (message := _message(side))
        )
