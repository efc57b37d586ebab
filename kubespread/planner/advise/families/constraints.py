"""Changes of the pod's own hard constraints: a larger maxSkew, other policies, fewer domains, ScheduleAnyway.

A constraint that is changed rejects other nodes than before, and nothing else does: for one pod it can help only where
some node is rejected by this constraint alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kubespread.planner.advise.change import Change, Ladder
from kubespread.planner.advise.stuck import OwnConstraint, Stuck

MAX_SKEW, POLICY, MIN_DOMAINS, SCHEDULE_ANYWAY = "maxSkew", "policy", "minDomains", "ScheduleAnyway"
_GATE = "NodeInclusionPolicyInPodTopologySpread"
_MOST_SKEW = 1000


def max_skews(stuck: Stuck) -> Iterator[Ladder]:
    """maxSkew 1 more, 2 more ...; for one pod just what the least skew of a node that nothing else rejects takes."""
    for own in stuck.own_constraints:
        now = own.counted.constraint.max_skew
        least, most = _skews(stuck, own)

        def change(place: int, own: OwnConstraint = own, least: int = least, now: int = now) -> Change:
            skew = least + place
            return Change(MAX_SKEW, f"{own.letter} maxSkew {skew}", 10 * (skew - now), (f"maxSkew[{own.key}]={skew}",))

        yield Ladder(
            MAX_SKEW,
            f"{own.letter} maxSkew up to {most}",
            max(0, most - least + 1),
            change,
            own.letter,
            _can(stuck, own),
        )


def _skews(stuck: Stuck, own: OwnConstraint) -> tuple[int, int]:
    """The least and the largest maxSkew worth trying."""
    counted = own.counted
    now, minimum = counted.constraint.max_skew, counted.global_minimum
    present = counted.column.present
    if stuck.lacking is not None:
        highest = int(counted.counts.max(initial=0)) + stuck.lacking
        return now + 1, min(highest, now + _MOST_SKEW)
    skews = counted.matching() + counted.constraint.self_match - minimum
    fixable = own.alone & present
    least = int(skews[fixable].min()) if fixable.any() else now + 1
    return least, least


def policies(stuck: Stuck) -> Iterator[Ladder]:
    """nodeTaintsPolicy and nodeAffinityPolicy, each the other way round: other domains count then."""
    if not stuck.version.has(_GATE):
        return
    for own in stuck.own_constraints:
        constraint = own.counted.constraint
        now = {"nodeTaintsPolicy": constraint.honors_taints, "nodeAffinityPolicy": constraint.honors_affinity}
        for name, honors in now.items():
            policy = "Ignore" if honors else "Honor"
            said = f"{own.letter} {name} {policy}"
            change = Change(POLICY, said, 15, (f"{name}[{own.key}]={policy}",))
            yield Ladder.of(change, said, own.letter, can_help=_can(stuck, own))


def min_domains(stuck: Stuck) -> Iterator[Ladder]:
    """Fewer minDomains, down to 1: with enough domains the minimum is what they really have."""
    for own in stuck.own_constraints:
        now = own.counted.constraint.min_domains or 1

        def change(place: int, own: OwnConstraint = own, now: int = now) -> Change:
            fewer = now - 1 - place
            said = f"{own.letter} minDomains {fewer}"
            return Change(MIN_DOMAINS, said, 20 + 10 * place, (f"minDomains[{own.key}]={fewer}",))

        if now > 1:
            yield Ladder(
                MIN_DOMAINS, f"{own.letter} minDomains down to 1", now - 1, change, own.letter, _can(stuck, own)
            )


def relaxed(stuck: Stuck) -> Iterator[Ladder]:
    """ScheduleAnyway, which allows no minDomains."""
    for own in stuck.own_constraints:
        dropped = (f"minDomains[{own.key}]=null",) if own.counted.constraint.min_domains is not None else ()
        settings = (*dropped, f"whenUnsatisfiable[{own.key}]=ScheduleAnyway")
        change = Change(SCHEDULE_ANYWAY, f"{own.letter} ScheduleAnyway", 50, settings)
        yield Ladder.of(change, f"relaxing {own.letter}", own.letter, can_help=_can(stuck, own))


def _can(stuck: Stuck, own: OwnConstraint) -> bool:
    return not stuck.is_one or bool(np.any(own.alone))
