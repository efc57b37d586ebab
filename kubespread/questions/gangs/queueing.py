"""One queue in which some workloads are gangs: each gang is placed whole or not at all, by priority, then in the order
given.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from msgspec.structs import replace

from kubespread.questions.gangs.attempting import Choosing
from kubespread.questions.gangs.gang import Asked, Gang
from kubespread.questions.gangs.units import PodGroupMembers, SingleWorkload, Unit, WhatIfGangs
from kubespread.questions.queue.entries import Entry, Outcome
from kubespread.questions.queue.queue import run
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.placing import Tiebreaker


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
