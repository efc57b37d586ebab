"""A gang as a report tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.questions.causes.bars import bars
from kubespread.questions.gangs.gang import Attempt, Gang
from kubespread.questions.gangs.searching import search
from kubespread.questions.queue.entries import Entry
from kubespread.reports.gang import BlockedMember, GangReport
from kubespread.scheduler.cluster.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Tried:
    """A gang that does not fit, and what it was tried on."""

    cluster: Cluster
    members: Sequence[Entry]
    gang: Gang
    attempt: Attempt


def gang_report(
    gang: Gang, entries: Sequence[Entry], placed: Sequence[Attempt], stuck: Tried | None, place: int
) -> GangReport:
    """What the workload at ``place`` of a gang is told: what became of all, and what stops its own members.

    The name of the member that is stuck is for whoever knows the names.
    """
    last = stuck.attempt if stuck is not None else placed[-1] if placed else None
    asked = _asked(gang, entries)
    return GangReport(
        pod_group=gang.pod_group,
        size=gang.size,
        scheduled=gang.scheduled,
        members=_members(gang, entries, stuck) or (0 if last is None else last.fitted),
        gangs=asked,
        placed=_whole(gang, placed),
        fits=not gang.fault and _whole(gang, placed) >= (1 if asked is None else asked),
        fitted=0 if last is None else last.fitted,
        blocked=None if stuck is None else _blocked(stuck, place),
        waiting=gang.fault or (gang.permit if stuck is not None and stuck.attempt.fitted else "") or None,
        topology_key=gang.topology_key or None,
        domains=tuple(last.domains) if last is not None else (),
        chosen=tuple(attempt.chosen for attempt in placed if attempt.chosen is not None),
        ties=placed[-1].ties if placed else 0,
        search=None if stuck is None else search(stuck.cluster, stuck.members, stuck.gang),
    )


def _asked(gang: Gang, entries: Sequence[Entry]) -> int | None:
    """How many gangs; replicas that run are part of the first, or all of it."""
    count = entries[0].count
    if gang.pod_group is not None or count is None:
        return None if gang.pod_group is None else 1
    return -(-(count + gang.scheduled) // gang.size) if count else 0


def _whole(gang: Gang, placed: Sequence[Attempt]) -> int:
    """A PodGroup is one gang, however often its pods were tried."""
    return min(1, len(placed)) if gang.pod_group is not None else len(placed)


def _members(gang: Gang, entries: Sequence[Entry], stuck: Tried | None) -> int:
    """How many are to be placed, of several gangs in one; 0 for as many as fit."""
    if stuck is not None:
        return sum(entry.count or 0 for entry in stuck.members)
    if gang.pod_group is not None:
        return sum(entry.count or 0 for entry in entries)
    return gang.needed if _asked(gang, entries) == 1 else gang.size


def _blocked(stuck: Tried, place: int) -> BlockedMember | None:
    outcome = stuck.attempt.outcomes[place]
    if outcome.stopped is None:
        return None
    unplaced = None if stuck.gang.topology_key else outcome.unplaced
    return BlockedMember(
        member=len(outcome.choices) + 1,
        pod="",
        stopped=outcome.stopped,
        conclusion=None if unplaced is None else bars(unplaced),
    )
