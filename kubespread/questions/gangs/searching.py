"""Whether a stuck gang would fit if its members took other nodes, or another topology domain.

kube-scheduler tries the members once, each on the node it prefers, and takes none back. Another choice is shown, or
ruled out, only where it is certain: a found one was placed step by step, and an impossible one has too little room or
was tried in every way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from kubespread.questions.gangs.domains import sums_by_domain
from kubespread.questions.gangs.gang import Gang
from kubespread.questions.queue.entries import Entry
from kubespread.questions.queue.look_ahead import MAX_STEPS, Search, look_ahead
from kubespread.reports.gang import GangSearch
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.framework import Prepared
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.dynamicresources.state import DynamicResourcesState
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread, SpreadState
from kubespread.world.store import claims


def search(cluster: Cluster, members: Sequence[Entry], gang: Gang) -> GangSearch | None:
    """Another choice for the needed members, or what rules one out; None where placing ends in an error."""
    if len(members) > 1:
        return _not_searched("its members are of several workloads")
    (entry,) = members
    if entry.replicas is not None or claims.unbound_claims(cluster, entry.pod):
        return _not_searched("its members bind claims")
    try:
        prepared = entry.plugins.prepare(cluster, entry.pod)
        start = Placing(prepared)
        room = start.room(gang.needed) if prepared.rejection is None else np.zeros(len(cluster), dtype=np.int64)
        if gang.topology_key:
            return _by_domain(cluster, gang, prepared, start, room)
        return _anywhere(cluster, entry, gang, start, bound(start, room))
    except SchedulingError:
        return None


def _not_searched(reason: str) -> GangSearch:
    return GangSearch(nodes=None, domain=None, impossible=False, room=None, steps=0, reason=reason)


def _too_small(most: Bound) -> GangSearch:
    blocking = (most.constraint,) if most.constraint else ()
    return GangSearch(nodes=None, domain=None, impossible=True, room=most.members, steps=0, blocking=blocking)


def _anywhere(cluster: Cluster, entry: Entry, gang: Gang, start: Placing, most: Bound) -> GangSearch | None:
    if most.members < gang.needed:
        return _too_small(most)
    outlook = look_ahead(entry.plugins, cluster, entry.pod, gang.needed)
    if outlook is None:
        return None
    return GangSearch(
        nodes=outlook.nodes,
        domain=None,
        impossible=outlook.exhausted and not _takes_devices(start),
        room=None,
        steps=outlook.steps,
        blocking=outlook.blocking,
    )


def _by_domain(cluster: Cluster, gang: Gang, prepared: Prepared, start: Placing, room: Counts) -> GangSearch:
    """Domain by domain, the roomiest first, within one limit on steps."""
    column, names = cluster.nodes.label(gang.topology_key), cluster.nodes.names
    bounds = {
        code: bound(start, np.where(column.codes == code, room, 0))
        for code in column.sorted_codes.tolist()
        if gang.domain in (None, column.values[code])
    }
    roomiest = max(bounds.values(), key=lambda most: most.members, default=Bound(0))
    if roomiest.members < gang.needed:
        return _too_small(roomiest)
    steps, is_open = 0, False
    for code, most in sorted(bounds.items(), key=lambda pair: -pair[1].members):
        if most.members < gang.needed:
            break
        confined = Placing(prepared.fork(), start.answers.fork(), column.codes == code)
        tried = Search(gang.needed, MAX_STEPS - steps)
        order = tried.order_from(confined)
        steps += tried.steps
        if order is not None:
            nodes = tuple(names[node] for node in order)
            return GangSearch(nodes=nodes, domain=column.values[code], impossible=False, room=None, steps=steps)
        is_open |= not tried.exhausted
    impossible = not is_open and not _takes_devices(start)
    return GangSearch(nodes=None, domain=None, impossible=impossible, room=None, steps=steps)


def _takes_devices(start: Placing) -> bool:
    """Whether members take devices: not every choice of these is tried."""
    return any(isinstance(state, DynamicResourcesState) for state in start.states.values())


class Bound(Struct, frozen=True):
    """An upper bound on members, possibly not reachable."""

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
    room_there = sums_by_domain(column, np.where(counted.counts_on, room, 0))
    full = counted.fork()
    full.counts = counted.counts + room_there
    most = constraint.max_skew + full.global_minimum - counted.counts
    uncounted = int(room[column.present & ~counted.counts_on].sum())
    return int(np.minimum(room_there, np.maximum(most, 0)).sum()) + uncounted
