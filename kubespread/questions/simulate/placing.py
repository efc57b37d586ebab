"""N replicas of pods placed one after another: where they land, what stops them, how evenly they are spread."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kubespread.questions.gangs.gang import Asked, Choosing, Gang, PodGroupMembers, SingleWorkload, Unit, WhatIfGangs
from kubespread.questions.queue.look_ahead import look_ahead
from kubespread.questions.queue.manner import Manner, Way
from kubespread.questions.queue.queue import Entry, Outcome, run
from kubespread.questions.simulate.report import SimulateReport
from kubespread.questions.simulate.reporting import Question, Ran, ran, report_of
from kubespread.reports.parts import LookAhead
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Tiebreaker
from kubespread.world.store import claims

if TYPE_CHECKING:
    from kubespread.world.events.world import World

# One queue in which some workloads are gangs: each gang is placed whole or not at all, by priority, then in the order
# given.


def run_with_gangs(
    cluster: Cluster,
    workloads: Sequence[Asked],
    break_tie: Tiebreaker,
    *,
    seed: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> tuple[list[Outcome], Cluster]:
    """Place every entry's copies on ``cluster``, those of one gang all or none. Returns each entry's outcome, in the
    order given, and the resulting cluster.

    ``seed`` chooses among domains of equal scores; None takes the first by name.
    """
    choosing = Choosing(break_tie, None if seed is None else random.Random(seed))
    units = list(_units(workloads))
    waiting, placed = sorted(units, key=lambda unit: (-unit.priority, unit.positions[0])), 0
    while waiting:
        newly_placed = []
        for unit in waiting:
            before = unit.count
            cluster = unit.place(cluster, choosing)
            newly_placed.append(unit.count - before)
            placed += newly_placed[-1]
            if on_progress is not None:
                on_progress(placed)
        # What fits nowhere is tried again if others were placed after it.
        waiting = [unit for place, unit in enumerate(waiting) if unit.lacks_some and any(newly_placed[place + 1 :])]
    outcomes: dict[int, Outcome] = {}
    for unit in units:
        outcomes.update(zip(unit.positions, _concluded(unit, cluster, break_tie), strict=True))
    return [outcomes[position] for position in range(len(workloads))], cluster


def _units(workloads: Sequence[Asked]) -> Iterator[Unit]:
    """The workloads that are placed together."""
    members: dict[Gang, list[int]] = {}
    for position, workload in enumerate(workloads):
        if workload.gang is None:
            yield SingleWorkload([position], [workload.entry])
        elif workload.gang.pod_group is None:
            yield WhatIfGangs([position], [workload.entry], workload.gang)
        else:
            members.setdefault(workload.gang, []).append(position)
    for gang, positions in members.items():
        yield PodGroupMembers(positions, [workloads[position].entry for position in positions], gang)


def _concluded(unit: Unit, cluster: Cluster, break_tie: Tiebreaker) -> Iterator[Outcome]:
    """The outcomes of its workloads, with the constraints as they are once the queue is done."""
    idle = [_placing_nothing(entry) for entry in unit.entries]
    now, _ = run(cluster, idle, break_tie)
    for place, (outcome, after) in enumerate(zip(unit.outcomes, now, strict=True)):
        unit.tell(place)
        outcome.before = after.before if outcome.before is None else outcome.before
        outcome.after = after.after
        yield outcome


def _placing_nothing(entry: Entry) -> Entry:
    return replace(entry, count=0, per_node=False)


class Queue:
    """Pods of several workloads that are placed in one queue, as kube-scheduler would; ``make_world`` makes the
    cluster's world, for replicas that preempt others.
    """

    def __init__(
        self, cluster: Cluster, questions: Sequence[Question], manner: Manner, make_world: Callable[[], World]
    ) -> None:
        if any(question.gang is not None for question in questions):
            manner = replace(manner, preempts=False)
        self._cluster, self._questions, self._manner, self._make_world = cluster, questions, manner, make_world
        self._frameworks = _frameworks(questions)

    def reports(self, run_besides: Callable[[Sequence[Way]], Iterable[Sequence[Ran]]]) -> tuple[SimulateReport, ...]:
        """One for each workload, in the order given: how the first run ends, and beside it what ``run_besides`` gives
        for the ways of the others.
        """
        first, *others = self._manner.ways(len(self._cluster))
        shown, full = self._placed(first)
        runs = [list(map(ran, shown)), *(run_besides(others) if others else ())]
        return tuple(
            report_of(
                self._cluster,
                question,
                plugins,
                self._manner,
                shown[place],
                [each[place] for each in runs],
                full,
                _look_ahead(self._cluster, self._questions, shown, place, plugins),
            )
            for place, (question, plugins) in enumerate(zip(self._questions, self._frameworks, strict=True))
        )

    def run(self, way: Way) -> list[Ran]:
        """What one run of each workload comes to."""
        return list(map(ran, self._placed(way)[0]))

    def _placed(self, way: Way) -> tuple[list[Outcome], Cluster]:
        return _placed(self._cluster, self._questions, self._frameworks, self._manner, way, self._make_world)


def outcomes(
    cluster: Cluster, questions: Sequence[Question], manner: Manner, make_world: Callable[[], World] | None = None
) -> list[Outcome]:
    """The outcome of each of ``questions`` in one queue, without reports.

    ``make_world`` makes the world of the cluster; without it nothing is preempted.
    """
    (way, *_) = manner.ways(len(cluster))
    return _placed(cluster, questions, _frameworks(questions), manner, way, make_world)[0]


def _placed(
    cluster: Cluster,
    questions: Sequence[Question],
    frameworks: Sequence[Framework],
    manner: Manner,
    way: Way,
    make_world: Callable[[], World] | None = None,
) -> tuple[list[Outcome], Cluster]:
    entries = [
        Entry(
            question.pod,
            plugins,
            question.count,
            question.is_daemon,
            frozenset(question.present.values()),
            frozenset(question.present),
            question.claimants,
            # Claims of a single pod are not bound: it is judged in the cluster as it is.
            binds=question.workload is not None,
            # As many as fit means as many as fit besides the others.
            preempts_as=question.profile if manner.preempts and question.replicas is not None else None,
        )  # fmt: skip
        for question, plugins in zip(questions, frameworks, strict=True)
        if question.played is None
    ]
    gangs = [question.gang for question in questions if question.played is None]
    placed, full = _run(cluster, entries, gangs, way, manner, make_world)
    return _with_played(questions, placed), full


def _run(
    cluster: Cluster,
    entries: Sequence[Entry],
    gangs: Sequence[Gang | None],
    way: Way,
    manner: Manner,
    make_world: Callable[[], World] | None,
) -> tuple[list[Outcome], Cluster]:
    break_tie, on_progress = way.tiebreaker(), manner.on_progress
    if not any(gangs):
        return run(cluster, entries, break_tie, search=way.search(), on_progress=on_progress, make_world=make_world)
    return run_with_gangs(cluster, list(map(Asked, entries, gangs)), break_tie, seed=way.seed, on_progress=on_progress)


def _with_played(questions: Sequence[Question], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """All outcomes, with those played before in their positions."""
    rest = iter(outcomes)
    return [next(rest) if question.played is None else question.played.outcome for question in questions]


def _frameworks(questions: Sequence[Question]) -> list[Framework]:
    """One framework per profile: pods of one framework share what its plugins prepare."""
    made = {id(question.profile): framework(question.profile) for question in questions}
    return [made[id(question.profile)] for question in questions]


def _look_ahead(
    cluster: Cluster, questions: Sequence[Question], outcomes: Sequence[Outcome], place: int, plugins: Framework
) -> LookAhead | None:
    question, outcome = questions[place], outcomes[place]
    if (
        question.played is not None
        or question.is_daemon
        or question.gang is not None
        or question.count is None
        or len(outcome.choices) >= question.count
        or not outcome.stuck
        # Each placement would bind claims.
        or question.claimants is not None
        or claims.unbound_claims(cluster, question.pod)
    ):
        return None
    return look_ahead(plugins, _beside(cluster, questions, outcomes, place), question.pod, question.count)


def _beside(cluster: Cluster, questions: Sequence[Question], outcomes: Sequence[Outcome], place: int) -> Cluster:
    """The cluster with the placed pods of all workloads except the one at ``place``."""
    others = [
        (question.pod, choice.node)
        for position, (question, outcome) in enumerate(zip(questions, outcomes, strict=True))
        if position != place
        for choice in outcome.choices
    ]
    gone = [(victim.pod, victim.node) for outcome in outcomes for _, victim in outcome.preempted]
    return cluster.after(Change(come=others, gone=gone)) if others or gone else cluster
