"""How many members some nodes can hold at most, whichever they take and in whatever order.

A hard spread constraint bounds more than the nodes' own room does: no domain gets more than maxSkew above what the
emptiest one has in the end, and that is at most what it has room for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kubespread.planner.gangs.domains import sums_by_domain
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState


@dataclass(frozen=True, slots=True)
class Bound:
    """At most so many members, none of which may be reached."""

    members: int
    constraint: str = ""
    """``zone maxSkew 1``, where that is what keeps it so low."""


def bound(start: Placing, room: Counts) -> Bound:
    """``room`` is how many members each node has room for if topology domains did not matter."""
    state = start.states.get(PodTopologySpread.name)
    least = Bound(int(room.sum()))
    for counted in state.hard if isinstance(state, SpreadState) else ():
        members = _spread(counted, room)
        if members < least.members:
            least = Bound(members, f"{counted.constraint.topology_key} maxSkew {counted.constraint.max_skew}")
    return least


def _spread(counted: HardConstraint, room: Counts) -> int:
    constraint, column = counted.constraint, counted.column
    if not constraint.self_match or not counted.is_domain.any():
        return int(room.sum())
    there = sums_by_domain(column, np.where(counted.counts_on, room, 0))
    full = counted.fork()
    full.counts = counted.counts + there
    most = constraint.max_skew + full.global_minimum - counted.counts
    uncounted = int(room[column.present & ~counted.counts_on].sum())
    return int(np.minimum(there, np.maximum(most, 0)).sum()) + uncounted
