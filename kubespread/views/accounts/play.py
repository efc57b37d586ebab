"""A scenario: its steps, and the pods of each node from one to the next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from kubespread.planner.reports.happened import GonePod, Happened
from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.planner.reports.rollout import rollout_sentence
from kubespread.questions.map.report import TopologyMap
from kubespread.views.accounts.rollouts import pass_frames
from kubespread.views.phrases import cluster_phrase
from kubespread.views.play.rows import unmade, worst_skew
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import Frame, View, beside, source
from kubespread.wording import count_of, range_of, short_key, workload_name


def account(report: PlayReport) -> View:
    no_preemption = "" if report.preemption else "no preemption"
    return View(
        title=f"{report.scenario or 'Scenario'}: {count_of(len(report.steps), 'step')} on "
        f"{count_of(report.nodes, 'node')}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, no_preemption),
        answer=report.answer,
        tone=Tone.GOOD if report.verdict == "yes" else Tone.BAD,
        tables=[_steps(report), *_rollouts(report), *_lacking(report), *_moves(report)],
        beside=beside([report]),
    )


def frames(report: PlayReport, drawn: TopologyMap) -> Iterator[Frame]:
    """One a step, with what each node holds after it; before the first what waited is placed."""
    now = Counter({node.name: node.pods for node in drawn.nodes})
    if report.start.placed:
        yield _frame("before the first step", report.start, now)
    for step in report.steps:
        label = f"step {step.number}: {step.name or step.text}"
        for rollout in step.rollouts:
            # What the step came to says all of it once more, and more than the passes of one workload.
            yield from pass_frames(f"{label}:", rollout, Counter(now), tells_old=False)
        yield _frame(label, step.happened, now)


def _frame(label: str, happened: Happened, now: Counter[str]) -> Frame:
    touched = dict.fromkeys(
        [*(each.node for each in happened.gone if each.node), *(each.node for each in happened.placed)]
    )
    now.subtract(each.node for each in happened.gone if each.node)
    now.update(each.node for each in happened.placed)
    waiting = sum(len(each.pods) for each in happened.pending)
    said = f"{len(happened.placed):,} placed, {len(happened.gone):,} gone, {waiting} pending"
    pods = {node: max(0, now[node]) for node in touched}
    return Frame(label, said, pods, happened.nodes_left, happened.nodes_joined, happened.node_states)


def _steps(report: PlayReport) -> Table:
    header = ("Step", "What", "Placed", "Gone", "Blocked", "Pending", "Not created", "Not made yet", "Skew", "Why")
    return Table("Steps", header, [_step(report, step) for step in report.steps])


def _step(report: PlayReport, step: StepReport) -> Row:
    happened, worst = step.happened, worst_skew(report, step)
    skew = ""
    if worst is not None:
        change = worst.change
        exceeds = f" > {change.max_skew}" if worst.exceeds else ""
        skew = f"{worst.workload} {short_key(change.topology_key)} {change.before:,} → {change.range_after}{exceeds}"
    moved = (len(happened.placed), len(happened.gone), len(happened.blocked))
    pending = range_of(step.pending, step.pending_dealt)
    figures = (*moved, pending, step.not_created, step.not_made_yet)
    is_bad = step.is_stuck or bool(step.stuck_deals or step.broken_budgets)
    text = f"{step.name}: {step.text}" if step.name else step.text
    return Row([str(step.number), text, *map(str, figures), skew, _why(step)], Tone.BAD if is_bad else Tone.GOOD)


def _why(step: StepReport) -> str:
    blocked = [f"{each.pod} cannot be evicted: {each.message} {each.cause}".strip() for each in step.happened.blocked]
    lacking = [(each.workload, each.message) for each in step.happened.pending]
    lacking += ((each.workload, each.message) for each in unmade(step.happened))
    pending = [f"{workload_name(workload)}: {message}" for workload, message in lacking]
    return "; ".join([*([step.failed] if step.failed else ()), *dict.fromkeys(blocked), *pending])


def _rollouts(report: PlayReport) -> Iterator[Table]:
    rows = [
        Row([str(step.number), each.workload, rollout_sentence(each)], Tone.GOOD if each.complete else Tone.BAD)
        for step in report.steps
        for each in step.rollouts
    ]
    if rows:
        yield Table("Rollouts", ("Step", "Workload", "How it went"), rows)


def _lacking(report: PlayReport) -> Iterator[Table]:
    last = report.steps[-1].happened if report.steps else report.start
    rows = [Row([each.workload, str(len(each.pods)), each.message], Tone.BAD) for each in last.pending]
    if rows:
        yield Table("Pending in the end", ("Workload", "Pods", "Why"), rows)
    unmade_rows = [Row([each.workload, str(each.count), each.what, each.message], Tone.BAD) for each in unmade(last)]
    if unmade_rows:
        yield Table("Not there in the end", ("Workload", "Pods", "What", "Why"), unmade_rows)


def _moves(report: PlayReport) -> Iterator[Table]:
    rows = [
        row
        for step in report.steps
        for row in (
            *(Row([str(step.number), each.pod, _why_gone(each), each.node or ""]) for each in step.happened.gone),
            *(Row([str(step.number), each.pod, "placed", each.node]) for each in step.happened.placed),
        )
    ]
    if rows:
        yield Table("Pods that moved", ("Step", "Pod", "What", "Node"), rows, is_detail=True)


def _why_gone(gone: GonePod) -> str:
    """``preempted for default/crit, breaking db``."""
    broken = f", breaking {', '.join(gone.broken_budgets)}" if gone.broken_budgets else ""
    return gone.why if gone.made_room_for is None else f"{gone.why} for {gone.made_room_for}{broken}"
