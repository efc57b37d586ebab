"""One queue over one living cluster: the pods of several workloads placed in kube-scheduler's order, each seeing those
before it.

Pods wait by priority, then by time. A workload's pods are created together, so they stand together, workload after
workload in the order given; ``in_turn`` has them created one of each, round and round. A pod that fits nowhere waits,
and is tried again when something has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kubespread.kube.owners import priority_of
from kubespread.questions.queue.entries import Cycles, Entry, Outcome, Preemptions, Waiting, waiting_for
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.nodes import Search
from kubespread.scheduler.placing import Batch, Tiebreaker, first_in_heap
from kubespread.world.store.waiting import LivingCluster

if TYPE_CHECKING:
    from kubespread.world.events.world import World

_NOW_AND_THEN = 200


def run(
    cluster: Cluster,
    entries: Sequence[Entry],
    break_tie: Tiebreaker,
    *,
    search: Search | None = None,
    in_turn: bool = False,
    again: bool = True,
    on_progress: Callable[[int], None] | None = None,
    make_world: Callable[[], World] | None = None,
) -> tuple[list[Outcome], Cluster]:
    """Place every entry's copies on ``cluster``. Returns the outcomes in the order given, and the resulting cluster.

    ``search`` scores no more nodes than kube-scheduler does; without it all that fit are scored. ``again``: pods that
    fit nowhere are tried again once others are placed. ``make_world`` makes the world of ``cluster`` for entries that
    preempt others.
    """
    living = LivingCluster(cluster)
    preemptions = None if make_world is None else Preemptions(living, make_world)
    batch = Batch() if break_tie is first_in_heap else None
    waiting = waiting_for(living, entries, Cycles(search or Search(samples=False), batch, preemptions))
    if preemptions is not None:
        preemptions.on_lost = {key: unit.lose for unit in waiting for key in unit.entry.own}
    _place_all(waiting, break_tie, in_turn=in_turn, again=again, on_progress=on_progress)
    for unit in waiting:
        unit.conclude()
    return [unit.outcome for unit in waiting], living.cluster


def place(cluster: Cluster, entries: Sequence[Entry], break_tie: Tiebreaker) -> list[Outcome]:
    """The same without reports: constraints are not recorded once all copies have a node."""
    waiting = waiting_for(LivingCluster(cluster), entries, Cycles(Search(samples=False)))
    _place_all(waiting, break_tie)
    for unit in waiting:
        if unit.outcome.stuck or unit.lacks_some:
            unit.conclude()
    return [unit.outcome for unit in waiting]


def _place_all(
    waiting: Sequence[Waiting],
    break_tie: Tiebreaker,
    *,
    in_turn: bool = False,
    again: bool = True,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    placed, stuck = 0, dict[Waiting, None]()
    for unit in _in_order(waiting, in_turn=in_turn):
        if not unit.place(break_tie):
            stuck[unit] = None
            continue
        placed += 1
        if on_progress is not None and placed % _NOW_AND_THEN == 0:
            on_progress(placed)
    if again:
        _try_again(stuck, break_tie)


def _in_order(waiting: Sequence[Waiting], *, in_turn: bool) -> Iterator[Waiting]:
    """The entry whose pod is next, by priority and then by time, until all are placed or stuck."""
    priorities = sorted({priority_of(unit.entry.pod) for unit in waiting}, reverse=True)
    for priority in priorities:
        group = [unit for unit in waiting if priority_of(unit.entry.pod) == priority]
        if not in_turn:
            for unit in group:
                while unit.is_waiting:
                    yield unit
            continue
        while group := [unit for unit in group if unit.is_waiting]:
            yield from group


def _try_again(stuck: Iterable[Waiting], break_tie: Tiebreaker) -> None:
    """Retry pods that found no node, as long as others were placed since."""
    progress = True
    while progress:
        progress = False
        for unit in stuck:
            if unit.lacks_some and unit.applicant.is_outdated:
                unit.resume()
                while unit.is_waiting:
                    progress |= unit.place(break_tie)
