"""A scenario: one row per step with its problems below it, the passes of rollouts, and what each step moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubespread.kube.owners import WorkloadName
from kubespread.questions.map.report import TopologyMap
from kubespread.questions.play.report import PlayReport, StepReport
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.happened import (
    BlockedPod,
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
from kubespread.reports.parts import SkewChange, scheduler_phrase
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.rollouts import pass_frames, passes
from kubespread.views.sheet import Column, Readers, Sheet, count
from kubespread.views.terminal import GAP, HANGING, INDENT, Laid, cut_middle, room_beside, tabulated, width_of, wrapped
from kubespread.views.view import Frame, Tile, View, about, cluster_phrase, unwanted
from kubespread.wording import EMPTY, count_of, range_of, short_key

_LEAST_TEXT = 12
_MAX_DETAILS = 3
_DETAIL = len(INDENT) + 3


class _Lacking(Struct, frozen=True):
    """A workload that lacks pods."""

    workload: WorkloadName
    count: int
    what: str
    """``pending``, ``not created`` or ``not made yet``."""
    message: str


class _WorstSkew(Struct, frozen=True):
    """The constraint furthest above its maxSkew, of the workloads that a step touched."""

    workload: str
    """Its name alone."""
    change: SkewChange

    @property
    def exceeds(self) -> bool:
        return self.change.most_after > self.change.max_skew


def _worst_skew(report: PlayReport, step: StepReport) -> _WorstSkew | None:
    """The constraint furthest above its maxSkew: a hard one before soft ones, then the one whose skew grew most.

    Of the workload in question, else of all workloads whose pods the step moved.
    """
    skews = [
        _WorstSkew(workload.workload.name, change)
        for workload in step.happened.workloads
        if (workload.is_moved if report.workload is None else workload.workload == report.workload)
        for change in workload.skew
    ]
    return max(
        skews,
        key=lambda skew: (
            skew.change.is_violated,
            skew.change.most_after - skew.change.max_skew,
            skew.change.most_after - skew.change.before,
            skew.change.most_after,
        ),
        default=None,
    )


def _newly_lacking(report: PlayReport) -> Iterator[tuple[StepReport, list[_Lacking]]]:
    """Each step with the workloads that lack pods after it, and lacked fewer before."""
    before = report.start
    for step in report.steps:
        already = {pod for kind in before.pending for pod in kind.pods}
        pending = [
            _Lacking(kind.workload, len(kind.pods), "pending", kind.message)
            for kind in step.happened.pending
            if not already.issuperset(kind.pods)
        ]
        counts = Counter({(row.what, row.workload): row.count for row in _unmade(before)})
        more = [row for row in _unmade(step.happened) if row.count > counts[row.what, row.workload]]
        yield step, [*more, *pending]
        before = step.happened


def _unmade(happened: Happened) -> list[_Lacking]:
    """The workloads that lack pods which do not exist."""
    kinds = {"not created": happened.not_created, "not made yet": happened.not_made_yet}
    return [_Lacking(row.workload, row.count, what, row.message) for what, rows in kinds.items() for row in rows]


def _autoscaling_sentence(report: AutoscalingReport) -> str:
    """How many nodes were added, by group."""
    came = Counter[str]()
    for group in (group for loop in report.loops for group in loop.added):
        came[group.group] += len(group.nodes)
    nodes = ", ".join(f"{name} +{count}" for name, count in sorted(came.items()))
    if report.unknown_groups:
        nodes = f"{nodes or 'no node'}, instance types of {', '.join(report.unknown_groups)} unknown"
    nodes = nodes or "no node helps"
    return f"{report.autoscaler}: {nodes} in {count_of(len(report.loops), 'loop')}"


_Row = tuple[StepReport, _WorstSkew | None]
"""A step, with its worst constraint."""


def _of_change(header: str, value: Callable[[SkewChange], object]) -> Column[_Row]:
    """A column of that constraint for scripts."""
    return Column(
        header=header, readers=Readers.PIPES, value=lambda row: None if row[1] is None else value(row[1].change)
    )


def _text(step: StepReport) -> str:
    return f"{step.name}: {step.text}" if step.name else step.text


def _skew(worst: _WorstSkew | None) -> str:
    """``web zone 1 → 3 > 1``."""
    if worst is None:
        return ""
    change, after = worst.change, worst.change.range_after
    exceeds = f" > {change.max_skew}" if worst.exceeds else ""
    moved = after if str(change.before) == after else f"{change.before} → {after}"
    return f"{worst.workload} {short_key(change.topology_key)} {moved}{exceeds}"


def _went_wrong(row: _Row) -> str:
    step, _ = row
    blocked = [f"{pod.pod} cannot be evicted: {pod.message} {pod.cause}".strip() for pod in step.happened.blocked]
    lacking = [(kind.workload, kind.message) for kind in step.happened.pending]
    lacking += ((row.workload, row.message) for row in _unmade(step.happened))
    pending = [f"{workload.called}: {message}" for workload, message in lacking]
    return "; ".join([*([step.failed] if step.failed else ()), *dict.fromkeys(blocked), *pending])


_STEP: Sequence[Column[_Row]] = (
    count("STEP", lambda row: row[0].number),
    Column(header="WHAT", value=lambda row: _text(row[0]), readers=Readers.PAGES),
    count("PLACED", lambda row: len(row[0].happened.placed)),
    count("GONE", lambda row: len(row[0].happened.gone)),
    count("BLOCKED", lambda row: len(row[0].happened.blocked)),
    Column(
        header="PENDING", value=lambda row: row[0].pending, is_number=True,
        text=lambda row: range_of(row[0].pending, row[0].pending_dealt),
    ),
    Column(header="WORKLOAD", value=lambda row: row[1] and row[1].workload, readers=Readers.PIPES),
    _of_change("KEY", lambda change: change.topology_key),
    _of_change("MAX-SKEW", lambda change: change.max_skew),
    _of_change("BEFORE", lambda change: change.before),
    _of_change("AFTER", lambda change: change.after),
    count("NOT-CREATED", lambda row: row[0].not_created),
    count("NOT-MADE", lambda row: row[0].not_made_yet),
    Column(header="SKEW", value=lambda row: _skew(row[1]), readers=Readers.PAGES),
    Column(header="NAME", value=lambda row: row[0].name, readers=Readers.PIPES),
    Column(header="TEXT", value=lambda row: row[0].text, readers=Readers.PIPES),
    Column(header="WHY", value=lambda row: row[0].why, readers=Readers.PIPES),
    Column(header="WHY", value=_went_wrong, readers=Readers.PAGES),
)  # fmt: skip

_Rollout = tuple[int, RolloutReport]
_ROLLOUT: Sequence[Column[_Rollout]] = (
    count("STEP", lambda row: row[0]),
    Column(header="WORKLOAD", value=lambda row: row[1].workload),
    Column(header="HOW-IT-WENT", value=lambda row: rollout_sentence(row[1])),
)

_Pass = tuple[int, str, RolloutPass, tuple[KeyRevisions, DomainRevisions] | None]
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

_LACKING: Sequence[Column[_Lacking]] = (
    Column(header="WORKLOAD", value=lambda row: row.workload),
    count("PODS", lambda row: row.count),
    Column(header="WHAT", value=lambda row: row.what),
    Column(header="WHY", value=lambda row: row.message),
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


def view(report: PlayReport) -> View:
    """Steps, their rollouts, the pods lacking in the end, and the pods that moved."""
    last = report.steps[-1].happened if report.steps else report.start
    pending = [_Lacking(kind.workload, len(kind.pods), "pending", kind.message) for kind in last.pending]
    return View(
        **about(report),
        title=f"{report.scenario or 'Scenario'}: {count_of(len(report.steps), 'step')} on "
        f"{count_of(report.nodes, 'node')}",
        tiles=[
            unwanted("steps not done in full", len(report.blocked)),
            unwanted("pods left pending", report.pending),
            unwanted("pods not created, or not made yet", report.not_created + report.not_made_yet),
            Tile("pods placed", f"{sum(len(step.happened.placed) for step in report.steps):,}"),
        ],
        sheets=[
            Sheet(
                title="Steps", columns=_STEP, rows=[(step, _worst_skew(report, step)) for step in report.steps],
                tone=lambda row: Tone.BAD if _is_bad(row[0]) else Tone.GOOD,
            ),
            Sheet(
                title="Rollouts", columns=_ROLLOUT, readers=Readers.PAGES,
                rows=[(step.number, rollout) for step in report.steps for rollout in step.rollouts],
                tone=lambda row: Tone.GOOD if row[1].complete else Tone.BAD,
            ),
            Sheet(title="Passes of rollouts", columns=_PASS, rows=[*_passes(report)], readers=Readers.PIPES),
            Sheet(
                title="Lacking in the end", columns=_LACKING, rows=[*pending, *_unmade(last)], readers=Readers.PAGES,
                tone=lambda _: Tone.BAD,
            ),
            Sheet(
                title="Pods that moved", columns=_MOVED, readers=Readers.PAGES, is_detail=True,
                rows=[
                    (step.number, pod)
                    for step in report.steps
                    for pod in (*step.happened.gone, *step.happened.placed)
                ],
            ),
            Sheet(
                title="Evictions", columns=_ORDER, readers=Readers.WIDE,
                rows=[(step.number, eviction) for step in report.steps for eviction in step.happened.evictions],
            ),
        ],
        heading=lambda look: wrapped(_title(report), look.width, HANGING) if look.headers else (),
        answer_tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        parts=lambda look: _parts(report, look),
        frames_on=lambda drawn: frames(report, drawn),
    )  # fmt: skip


def _is_bad(step: StepReport) -> bool:
    return step.is_stuck or bool(step.stuck_deals or step.broken_budgets)


def _passes(report: PlayReport) -> Iterator[_Pass]:
    """One row per pass and domain with pods."""
    for step in report.steps:
        for rollout in step.rollouts:
            for at_pass in rollout.passes:
                held = [
                    (key, domain) for key in at_pass.constraints for domain in key.domains if domain.old + domain.new
                ]
                yield from ((step.number, rollout.workload, at_pass, counts) for counts in held)
                if not held:
                    yield step.number, rollout.workload, at_pass, None


def frames(report: PlayReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One frame per step, with what each node holds after it; first a frame for waiting pods that were placed."""
    now = Counter({node.name: node.pods for node in drawn.nodes})
    if report.start.placed:
        yield _frame("before the first step", report.start, now)
    for step in report.steps:
        label = f"step {step.number}: {step.name or step.text}"
        for rollout in step.rollouts:
            # The step's outcome repeats all of it, and tells more than the passes of one workload.
            yield from pass_frames(f"{label}:", rollout, Counter(now), tells_old=False)
        yield _frame(label, step.happened, now)


def _frame(label: str, happened: Happened, now: Counter[str]) -> Frame:
    touched = dict.fromkeys([*(pod.node for pod in happened.gone if pod.node), *(pod.node for pod in happened.placed)])
    now.subtract(pod.node for pod in happened.gone if pod.node)
    now.update(pod.node for pod in happened.placed)
    waiting = sum(len(kind.pods) for kind in happened.pending)
    text = f"{len(happened.placed):,} placed, {len(happened.gone):,} gone, {waiting} pending"
    pods = {node: max(0, now[node]) for node in touched}
    return Frame(label, text, pods, happened.nodes_left, happened.nodes_joined, happened.node_states)


def _parts(report: PlayReport, look: Look) -> Iterator[Line]:
    yield from _steps(report, look)
    rolled = [(step.number, rollout) for step in report.steps for rollout in step.rollouts if rollout.passes]
    for number, rollout in rolled:
        yield ()
        yield from passes(f"Step {number}: {rollout.workload.called}", rollout, look)
    if rolled:
        yield ()


def _title(report: PlayReport) -> Line:
    name = report.scenario or "Scenario"
    about = [
        count_of(report.nodes, "node"),
        cluster_phrase(report.cluster),
        scheduler_phrase(report.kube_version, report.cluster),
    ]
    text = " · ".join(part for part in (*about, "" if report.preemption else "no preemption") if part)
    return [Cell(name, Tone.STRONG), Cell(f": {count_of(len(report.steps), 'step')}"), Cell(f" · {text}", Tone.FAINT)]


def _steps(report: PlayReport, look: Look) -> Iterator[Line]:
    """The table of steps, each with its details below it."""
    columns = _columns(report, look)
    head, *rows = tabulated(columns, headers=True)
    if look.headers:
        yield head
    yield from _details_of(_start_details(report), look)
    for row, (step, lacking) in zip(rows, _newly_lacking(report), strict=True):
        yield row
        skew = _skew_cell(report, step)
        if skew.text and columns[-1].header != "SKEW":
            yield from wrapped([Cell(" " * _DETAIL), Cell("skew "), skew], look.width, _DETAIL + 2)
        details = [*_details(step)]
        if look.in_full and step.happened.evictions:
            details.append([Cell(f"evicted: {eviction_order(step.happened.evictions)}")])
        for short in lacking:
            who = f"{short.workload.called}: {short.count} {short.what}: "
            details.append([Cell(who, Tone.BAD), Cell(short.message)])
        yield from _details_of(details, look)


def _details_of(details: list[Line], look: Look) -> Iterator[Line]:
    shown = details if look.in_full else details[:_MAX_DETAILS]
    for detail in shown:
        yield from wrapped([Cell(" " * _DETAIL), *detail], look.width, _DETAIL + 2)
    if len(details) > len(shown):
        yield [Cell(" " * _DETAIL), Cell(f"and {len(details) - len(shown)} more, with -v", Tone.FAINT)]


def _start_details(report: PlayReport) -> list[Line]:
    """What was pending, or placed, before the first step."""
    start = report.start
    details: list[Line] = []
    if start.placed:
        details.append([Cell(f"before the first step {count_of(len(start.placed), 'waiting pod')} placed")])
    for kind in start.pending:
        who = f"{kind.workload.called}: {len(kind.pods)} pending from the start: "
        details.append([Cell(who), Cell(kind.message)])
    for lacking in _unmade(start):
        who = f"{lacking.workload.called}: {lacking.count} {lacking.what} from the start: "
        details.append([Cell(who), Cell(lacking.message)])
    return details


def _columns(report: PlayReport, look: Look) -> list[Laid]:
    steps = report.steps
    figures = [
        Laid("PLACED", [Cell(str(len(step.happened.placed))) for step in steps], is_number=True),
        Laid("GONE", [Cell(str(len(step.happened.gone))) for step in steps], is_number=True),
        Laid("BLOCKED", [_alarming(len(step.happened.blocked)) for step in steps], is_number=True),
        Laid("PENDING", list(map(_pending, steps)), is_number=True),
    ]
    unmade_pods = {
        "NOT CREATED": [step.not_created for step in steps],
        "NOT MADE": [step.not_made_yet for step in steps],
    }
    figures += (
        Laid(header, list(map(_alarming, counts)), is_number=True)
        for header, counts in unmade_pods.items()
        if any(counts)
    )
    number = Laid("", [Cell(str(step.number)) for step in steps], is_number=True)
    texts, skews = [_text(step) for step in steps], [_skew_cell(report, step) for step in steps]
    widest = max(map(width_of, ("STEP", *texts)))
    widest_skew = max(width_of("SKEW"), *(width_of(skew.text) for skew in skews), 0)
    if room_beside((number, *figures), look) - GAP < widest + widest_skew and not any(
        step.happened.blocked for step in steps
    ):
        figures = [figure for figure in figures if figure.header != "BLOCKED"]
    room = room_beside((number, *figures), look)
    is_beside = room - GAP >= widest + widest_skew
    text_width = max(_LEAST_TEXT, min(widest, room))
    return [
        number,
        Laid("STEP", [Cell(cut_middle(text, text_width)) for text in texts]),
        *figures,
        *([Laid("SKEW", skews)] if is_beside else []),
    ]


def _skew_cell(report: PlayReport, step: StepReport) -> Cell:
    worst = _worst_skew(report, step)
    return Cell(_skew(worst), Tone.BAD if worst is not None and worst.change.is_violated else Tone.PLAIN)


def _alarming(number: int) -> Cell:
    return Cell(str(number), Tone.BAD if number else Tone.PLAIN)


def _pending(step: StepReport) -> Cell:
    """``0–2`` where it depends on chance."""
    most = step.pending if step.pending_dealt is None else step.pending_dealt.most
    return Cell(range_of(step.pending, step.pending_dealt), Tone.BAD if most else Tone.PLAIN)


def _details(step: StepReport) -> Iterator[Line]:
    if step.failed is not None:
        for line in step.failed.split("\n"):
            yield [Cell("not done: ", Tone.BAD), Cell(line)]
    reasons: dict[tuple[str, str], list[BlockedPod]] = {}
    for pod in step.happened.blocked:
        reasons.setdefault((pod.budget, f"{pod.message} {pod.cause}".strip()), []).append(pod)
    for (_, message), pods in reasons.items():
        stay = f"{count_of(len(pods), 'pod')} cannot be evicted: "
        yield [Cell(stay, Tone.BAD), Cell(message)]
    for upgrade in step.upgrades:
        text = f"{upgrade.replaced} of {count_of(len(upgrade.nodes), 'node')} replaced"
        stuck = upgrade.blocked
        position = (
            f", stuck at {', '.join(stuck.nodes)}: {stuck.refusal or 'budgets refuse'}" if stuck is not None else ""
        )
        yield [Cell(f"{text}{position}", Tone.BAD if position else Tone.GOOD)]
    if step.autoscaling is not None:
        yield [Cell(_autoscaling_sentence(step.autoscaling))]
    for rollout in step.rollouts:
        style = Tone.GOOD if rollout.complete else Tone.BAD
        yield [Cell(f"{rollout.workload.called}: ", style), Cell(rollout_sentence(rollout))]
