"""How many members of a gang find a node in each domain of a topology key, and what stops the next one.

Only nodes of the domain are candidates. All nodes are still counted: spreading and inter-pod affinity look at the whole
cluster.

There is one placement for each value of the key, and nodes without the label are in none; members that run fix the
domain.

Source: pkg/scheduler/framework/plugins/topologyaware/topology_placement.go, GeneratePlacements
Source: pkg/scheduler/backend/cache/snapshot.go, AssumePlacement
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.questions.gangs.gang import Gang
from kubespread.questions.queue.entries import Entry
from kubespread.questions.queue.queue import run
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, LabelColumn
from kubespread.scheduler.evaluation import evaluated
from kubespread.scheduler.framework import Prepared
from kubespread.scheduler.placing import Placing, Tiebreaker
from kubespread.scheduler.plugin import SchedulingError


class DomainTrial(Struct, frozen=True):
    """All members tried in one domain."""

    value: str
    nodes: int
    placed: tuple[int, ...]
    """How many members of each entry found a node."""
    stopped: str | None
    """kube-scheduler's message for the first that found none."""

    @property
    def members(self) -> int:
        return sum(self.placed)


def trials(cluster: Cluster, entries: Sequence[Entry], gang: Gang, break_tie: Tiebreaker) -> list[DomainTrial]:
    """One for each domain, in the order of their names."""
    column = cluster.nodes.label(gang.topology_key)
    codes = [code for code in column.sorted_codes.tolist() if gang.domain in (None, column.values[code])]
    if codes and len(entries) == 1 and _are_copies(entries[0]):
        try:
            return _of_copies(cluster, entries[0], column, codes, break_tie)
        except SchedulingError:
            pass  # Reported for each domain below.
    return list(_tried(cluster, entries, column, codes, break_tie))


def _are_copies(entry: Entry) -> bool:
    """Whether all members are identical, claims included."""
    return entry.count is not None and entry.replicas is None and not entry.pod.spec.has_scheduled_volumes


def _of_copies(
    cluster: Cluster, entry: Entry, column: LabelColumn, codes: Sequence[int], break_tie: Tiebreaker
) -> list[DomainTrial]:
    """Prepared once for all domains. Raises SchedulingError."""
    prepared = entry.plugins.prepare(cluster, entry.pod)
    start = Placing(prepared)
    if not start.order_matters and not prepared.nominated and prepared.rejection is None:
        return _counted(cluster, entry, start, column, codes)
    return [_placed(prepared, start, entry.count or 0, column, code, break_tie) for code in codes]


def _placed(
    prepared: Prepared, start: Placing, count: int, column: LabelColumn, code: int, break_tie: Tiebreaker
) -> DomainTrial:
    """By placing the members there, one after another."""
    candidates = column.codes == code
    placing, placed = Placing(prepared.fork(), start.answers.fork(), candidates), 0
    while placed < count and (choice := placing.choose(break_tie)) is not None:
        placing.place(choice.node)
        placed += 1
    stopped = placing.message() if placed < count else None
    return DomainTrial(column.values[code], int(np.count_nonzero(candidates)), (placed,), stopped)


def _tried(
    cluster: Cluster, entries: Sequence[Entry], column: LabelColumn, codes: Sequence[int], break_tie: Tiebreaker
) -> Iterator[DomainTrial]:
    """By placing members that differ, or bind claims."""
    for code in codes:
        candidates = column.codes == code
        confined = [replace(entry, candidates=candidates) for entry in entries]
        outcomes, _ = run(cluster, confined, break_tie, again=False)
        yield DomainTrial(
            column.values[code],
            int(np.count_nonzero(candidates)),
            tuple(len(outcome.choices) for outcome in outcomes),
            next((outcome.stopped for outcome in outcomes if outcome.stopped is not None), None),
        )


def _counted(
    cluster: Cluster, entry: Entry, start: Placing, column: LabelColumn, codes: Sequence[int]
) -> list[DomainTrial]:
    """By counting each node's room, where it does not matter which node a member takes.

    All domains are counted at once, and asked at once why nothing more fits.
    """
    count = entry.count or 0
    room = start.room(count)
    in_domain = sums_by_domain(column, room)
    nodes = np.bincount(column.codes[column.present], minlength=len(column.values))
    lacking = column.present & (in_domain[column.codes] < count)
    come = [(entry.pod, node) for node in np.flatnonzero(lacking).tolist() for _ in range(int(room[node]))]
    filled = entry.plugins.prepare(cluster.after(Change(come=come)) if come else cluster, entry.pod)
    full = evaluated(filled, is_scored=False)
    return [
        DomainTrial(
            column.values[code],
            int(nodes[code]),
            (min(count, int(in_domain[code])),),
            full.message_among(column.codes == code) if in_domain[code] < count else None,
        )
        for code in codes
    ]


def sums_by_domain(column: LabelColumn, amounts: Counts) -> Counts:
    """The sum over the nodes of each domain, by the domain's code."""
    sums = np.zeros(len(column.values), dtype=np.int64)
    np.add.at(sums, column.codes[column.present], amounts[column.present])
    return sums
