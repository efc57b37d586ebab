"""How many members of a gang find a node in each domain of a topology key, and what stops the next one.

Only nodes of the domain are candidates. All nodes count all the same: spreading and inter-pod affinity look at the
whole cluster.

Source of the rules: kube-scheduler 1.36, plugins/topologyaware (one placement for each value of the key, nodes without
the label in none; members that run fix the domain) and backend/cache/snapshot.go (AssumePlacement).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kubespread.planner.gangs.gang import Gang
from kubespread.planner.queue import Entry, run
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, LabelColumn
from kubespread.scheduler.placing import Placing, Tiebreaker
from kubespread.scheduler.plugin import SchedulingError


@dataclass(frozen=True, slots=True)
class DomainTrial:
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
    codes = [code for code in column.sorted_codes.tolist() if gang.domain is None or column.values[code] == gang.domain]
    alone = _counted(cluster, entries[0], column, codes) if len(entries) == 1 else None
    return list(_tried(cluster, entries, column, codes, break_tie)) if alone is None else alone


def _tried(
    cluster: Cluster, entries: Sequence[Entry], column: LabelColumn, codes: Sequence[int], break_tie: Tiebreaker
) -> Iterator[DomainTrial]:
    """By placing the members there, one after another."""
    for code in codes:
        candidates = column.codes == code
        there = [replace(entry, candidates=candidates) for entry in entries]
        outcomes, _ = run(cluster, there, break_tie, again=False)
        yield DomainTrial(
            column.values[code],
            int(np.count_nonzero(candidates)),
            tuple(len(outcome.choices) for outcome in outcomes),
            next((outcome.stopped for outcome in outcomes if outcome.stopped is not None), None),
        )


def _counted(cluster: Cluster, entry: Entry, column: LabelColumn, codes: Sequence[int]) -> list[DomainTrial] | None:
    """By counting what each node has room for, where it does not matter which node a member takes; None where it does.

    All domains are counted at once, and asked at once why nothing more fits.
    """
    count = entry.count
    if count is None or entry.replicas is not None or entry.pod.spec.has_scheduled_volumes:
        return None
    try:
        prepared = entry.plugins.prepare(cluster, entry.pod)
        start = Placing(prepared)
        if start.order_matters or prepared.nominated:
            return None
        room = start.room(count) if prepared.rejection is None else np.zeros(len(cluster), dtype=np.int64)
        in_domain = sums_by_domain(column, room)
        nodes = np.bincount(column.codes[column.present], minlength=len(column.values))
        lacking = column.present & (in_domain[column.codes] < count)
        come = [(entry.pod, node) for node in np.flatnonzero(lacking).tolist() for _ in range(int(room[node]))]
        evaluation = entry.plugins.evaluate(cluster.after(Change(come=come)) if come else cluster, entry.pod)
    except SchedulingError:
        return None
    return [
        DomainTrial(
            column.values[code],
            int(nodes[code]),
            (min(count, int(in_domain[code])),),
            evaluation.message_among(column.codes == code) if in_domain[code] < count else None,
        )
        for code in codes
    ]


def sums_by_domain(column: LabelColumn, amounts: Counts) -> Counts:
    """What the nodes of each domain have together, by the domain's code."""
    sums = np.zeros(len(column.values), dtype=np.int64)
    np.add.at(sums, column.codes[column.present], amounts[column.present])
    return sums
