"""A scenario step by step, on the nodes of a map: what a page moves through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, islice

from msgspec.structs import replace

from kubespread.questions.map.report import TopologyMap
from kubespread.questions.plan.report import PlannedSide, PlanReport
from kubespread.reports.happened import Happened
from kubespread.views.rollouts import pass_frames
from kubespread.views.view import Frame, Held, Tile, held_after, held_before, unwanted

ARROW = " → "


def tiles_of_plan(report: PlanReport, before: PlannedSide, after: PlannedSide, past: int) -> list[Tile]:
    """After so many steps."""
    steps = report.steps[:past]
    if past == len(report.steps):
        worse, nodes, gone = report.changes["worse"], after.nodes, sum(report.gone.values())
    else:
        worse = len(steps[-1].worse) if steps else 0
        nodes = before.nodes + sum(len(step.happened.nodes_joined) - len(step.happened.nodes_left) for step in steps)
        gone = sum(pod.node is not None for step in steps for pod in step.happened.gone)
    return [
        unwanted("workloads worse", worse),
        unwanted("more pods pending", steps[-1].pending if steps else 0),
        *_ready(before.ready, {0: before.ready, len(report.steps): after.ready}.get(past, "?")),
        Tile("nodes", f"{before.nodes:,}{ARROW}{nodes:,}"),
        Tile("pods that leave their nodes", f"{gone:,}"),
    ]


def _ready(before: int | None, after: int | str | None) -> Iterator[Tile]:
    """Steps in between do not tell it; nothing where the audits were not finished."""
    if None not in (before, after):
        yield Tile("ready pods", f"{before:,}{ARROW}{after if isinstance(after, str) else f'{after:,}'}")


def tiles_of_steps(report: PlanReport, past: int) -> list[Tile]:
    """After so many steps."""
    steps = report.steps[:past]
    last = steps[-1] if steps else None
    return [
        unwanted("steps not done in full", sum(step.is_blocked for step in steps)),
        unwanted("pods left pending", 0 if last is None else last.pending),
        unwanted("pods not created, or not made yet", 0 if last is None else last.not_created + last.not_made_yet),
        Tile("pods placed", f"{sum(len(step.happened.placed) for step in steps):,}"),
    ]


def _moves_first(report: PlanReport) -> bool:
    """Whether there is a frame before the first step: waiting pods that were placed, and pods that went."""
    return bool(report.start.placed or report.start.loads)


def frames_of(report: PlanReport) -> Mapping[int, int]:
    """Which of `frames`, counted from 1, shows the cluster after each step."""
    each = (1 + sum(len(rollout.passes) for rollout in step.rollouts) for step in report.steps)
    past = islice(accumulate(each, initial=int(_moves_first(report))), 1, None)
    return dict(zip((step.number for step in report.steps), past, strict=True))


def frames(report: PlanReport, drawn: TopologyMap, tiles: Callable[[int], Sequence[Tile]]) -> Iterator[Frame]:
    """One frame per step, with what each node holds after it. ``tiles`` are those after so many steps."""
    now, held = Counter({node.name: node.pods for node in drawn.nodes}), held_before(drawn)
    if _moves_first(report):
        yield _frame(
            "before the first step", report.start, f"{report.start.waiting.total():,} pending already", now, held, drawn
        )
    for past, step in enumerate(report.steps, 1):
        label = f"step {step.number}: {step.name or step.text}"
        for rollout in step.rollouts:
            # The step's outcome repeats all of it, and tells more than the passes of one workload.
            yield from pass_frames(f"{label}:", rollout, Counter(now), tells_old=False)
        yield replace(_frame(label, step.happened, f"{step.pending:,} pending", now, held, drawn), tiles=tiles(past))


def _frame(
    label: str, happened: Happened, waits: str, now: Counter[str], held: dict[str, Held], drawn: TopologyMap
) -> Frame:
    """``now`` are the pods of each node, and ``held`` what it holds; both are updated."""
    touched = dict.fromkeys([*(pod.node for pod in happened.gone if pod.node), *(pod.node for pod in happened.placed)])
    now.subtract(pod.node for pod in happened.gone if pod.node)
    now.update(pod.node for pod in happened.placed)
    text = f"{len(happened.placed):,} placed, {len(happened.gone):,} gone, {waits}"
    pods = {node: max(0, now[node]) for node in touched}
    loads = held_after(happened.loads, held, drawn)
    held |= loads
    # Passes of a rollout do not tell it, so that it has to be told even where it is as before.
    holding = {name: held[name] for name in dict.fromkeys((*touched, *loads)) if name in held}
    return Frame(label, text, pods, happened.nodes_left, happened.nodes_joined, happened.node_states, held=holding)
