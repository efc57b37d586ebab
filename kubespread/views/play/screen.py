"""Scenarios for people: one row a step, what went wrong below it, and rollouts pass by pass."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.happened import BlockedPod, eviction_order
from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.planner.reports.rollout import rollout_sentence
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
    cut_end,
    cut_middle,
    tabulated,
    width_of,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.phrases import cluster_phrase
from kubespread.views.play.rows import autoscaling_sentence, newly_lacking, unmade, worst_skew
from kubespread.views.rollouts import passes
from kubespread.views.screen import concluded, room_beside, screen
from kubespread.wording import count_of, range_of, workload_name

_LEAST_TEXT = 12
_MAX_DETAILS = 3
_DETAIL = len(INDENT) + 3


@screen
def write(report: PlayReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds."""
    if look.headers:
        yield from wrapped(_title(report), look.width, HANGING)
    yield from _steps(report, look)
    rolled = [(step.number, each) for step in report.steps for each in step.rollouts if each.passes]
    for number, rollout in rolled:
        yield ()
        yield from passes(f"Step {number}: {workload_name(rollout.workload)}", rollout, look)
    if rolled:
        yield ()
    style = GOOD if report.verdict == "yes" else BAD
    yield from concluded(report.answer, look, style, others="")


def _title(report: PlayReport) -> Line:
    name = report.scenario or "Scenario"
    about = [count_of(report.nodes, "node"), cluster_phrase(report.cluster), f"kube-scheduler v{report.kube_version}"]
    said = " · ".join(part for part in (*about, "" if report.preemption else "no preemption") if part)
    return [cell(name, HEAD), cell(f": {count_of(len(report.steps), 'step')}"), cell(f" · {said}", DIM)]


def _steps(report: PlayReport, look: Look) -> Iterator[Line]:
    """The table of steps, each with its details below it."""
    columns = _columns(report, look)
    head, *rows = tabulated(columns, headers=True)
    if look.headers:
        yield head
    yield from _details_of(_start_details(report), look)
    for row, (step, lacking) in zip(rows, newly_lacking(report), strict=True):
        yield row
        details = [*_details(step)]
        if look.in_full and step.happened.evictions:
            details.append([cell(f"evicted: {eviction_order(step.happened.evictions)}")])
        for each in lacking:
            who = f"{workload_name(each.workload)}: {each.count} {each.what}: "
            details.append([cell(who, BAD), cell(each.message)])
        yield from _details_of(details, look)


def _details_of(details: list[Line], look: Look) -> Iterator[Line]:
    shown = details if look.in_full else details[:_MAX_DETAILS]
    for detail in shown:
        yield from wrapped([Cell(" " * _DETAIL), *detail], look.width, _DETAIL + 2)
    if len(details) > len(shown):
        yield [Cell(" " * _DETAIL), cell(f"and {len(details) - len(shown)} more, with -v", DIM)]


def _start_details(report: PlayReport) -> list[Line]:
    """What was pending, or was placed, before anything was done."""
    start = report.start
    details: list[Line] = []
    if start.placed:
        details.append([cell(f"before the first step {count_of(len(start.placed), 'waiting pod')} placed")])
    for each in start.pending:
        who = f"{workload_name(each.workload)}: {len(each.pods)} pending from the start: "
        details.append([cell(who), cell(each.message)])
    for lacking in unmade(start):
        who = f"{workload_name(lacking.workload)}: {lacking.count} {lacking.what} from the start: "
        details.append([cell(who), cell(lacking.message)])
    return details


def _columns(report: PlayReport, look: Look) -> list[Column]:
    steps = report.steps
    figures = [
        Column("PLACED", [Cell(str(len(step.happened.placed))) for step in steps], is_number=True),
        Column("GONE", [Cell(str(len(step.happened.gone))) for step in steps], is_number=True),
        Column("BLOCKED", [_alarming(len(step.happened.blocked)) for step in steps], is_number=True),
        Column("PENDING", list(map(_pending, steps)), is_number=True),
    ]
    unmade_pods = {
        "NOT CREATED": [step.not_created for step in steps],
        "NOT MADE": [step.not_made_yet for step in steps],
    }
    figures += (
        Column(header, list(map(_alarming, counts)), is_number=True)
        for header, counts in unmade_pods.items()
        if any(counts)
    )
    number = Column("", [Cell(str(step.number)) for step in steps], is_number=True)
    texts = [_text(step) for step in steps]
    widest = max((width_of(text) for text in texts), default=0)
    skews = [_skew(report, step) for step in steps]
    wanted = max(len("SKEW"), *(width_of(each.text) for each in skews), 0)
    room = room_beside((number, *figures), look) - GAP
    text_width = max(_LEAST_TEXT, min(widest, room - min(wanted, max(len("SKEW"), room // 2))))
    skew_width = max(len("SKEW"), room - text_width)
    return [
        number,
        Column("STEP", [cell(cut_middle(text, text_width)) for text in texts]),
        *figures,
        Column("SKEW", [Cell(cut_end(each.text, skew_width), each.style) for each in skews]),
    ]


def _alarming(number: int) -> Cell:
    return Cell(str(number), BAD if number else "")


def _pending(step: StepReport) -> Cell:
    """``0–2`` where it depends on chance."""
    most = step.pending if step.pending_dealt is None else step.pending_dealt.most
    return Cell(range_of(step.pending, step.pending_dealt), BAD if most else "")


def _text(step: StepReport) -> str:
    return f"{step.name}: {step.text}" if step.name else step.text


def _skew(report: PlayReport, step: StepReport) -> Cell:
    """``web zone 1 → 3 > 1``, of the constraint that is furthest off."""
    worst = worst_skew(report, step)
    if worst is None:
        return Cell("")
    change = worst.change
    key = change.topology_key.rpartition("/")[2]
    exceeds = f" > {change.max_skew}" if worst.exceeds else ""
    after = change.range_after
    moved = after if str(change.before) == after else f"{change.before} → {after}"
    return cell(f"{worst.workload} {key} {moved}{exceeds}", BAD if change.is_violated else "")


def _details(step: StepReport) -> Iterator[Line]:
    if step.failed is not None:
        for line in step.failed.split("\n"):
            yield [cell("not done: ", BAD), cell(line)]
    reasons: dict[tuple[str, str], list[BlockedPod]] = {}
    for each in step.happened.blocked:
        reasons.setdefault((each.budget, f"{each.message} {each.cause}".strip()), []).append(each)
    for (_, message), pods in reasons.items():
        stay = f"{count_of(len(pods), 'pod')} cannot be evicted: "
        yield [cell(stay, BAD), cell(message)]
    for upgrade in step.upgrades:
        said = f"{upgrade.replaced} of {count_of(len(upgrade.nodes), 'node')} replaced"
        stuck = upgrade.blocked
        at = f", stuck at {', '.join(stuck.nodes)}: {stuck.refusal or 'budgets refuse'}" if stuck is not None else ""
        yield [cell(f"{said}{at}", BAD if at else GOOD)]
    if step.autoscaling is not None:
        yield [cell(autoscaling_sentence(step.autoscaling))]
    for rollout in step.rollouts:
        style = GOOD if rollout.complete else BAD
        yield [cell(f"{workload_name(rollout.workload)}: ", style), cell(rollout_sentence(rollout))]
