"""Changes of the pod's own hard constraints: a larger maxSkew, other policies, fewer domains, ScheduleAnyway.

All are tried whatever rejects the pod now: a hard constraint also says which nodes the others count.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.stuck import OwnConstraint, Stuck

MAX_SKEW, POLICY, MIN_DOMAINS, SCHEDULE_ANYWAY = "maxSkew", "policy", "minDomains", "ScheduleAnyway"
_GATE = "NodeInclusionPolicyInPodTopologySpread"
_MOST_SKEW = 1000


def max_skews(stuck: Stuck) -> Iterator[Ladder]:
    """maxSkew 1 more, 2 more ...; for one pod just what it would be on some node."""
    for own in stuck.own_constraints:
        now, skews = own.counted.constraint.max_skew, _skews(stuck, own)

        def change(place: int, own: OwnConstraint = own, skews: Sequence[int] = skews, now: int = now) -> Change:
            skew = skews[place]
            settings = (f"maxSkew[{own.key}]={skew}",)
            return Change(MAX_SKEW, f"maxSkew {skew}", 10 * (skew - now), settings, letter=own.letter)

        if skews:
            yield Ladder(MAX_SKEW, f"{own.letter} maxSkew up to {skews[-1]}", len(skews), change, own.letter)


def _skews(stuck: Stuck, own: OwnConstraint) -> Sequence[int]:
    """Each maxSkew worth trying, the least first."""
    counted = own.counted
    now = counted.constraint.max_skew
    if stuck.lacking is not None:
        highest = int(counted.counts.max(initial=0)) + stuck.lacking
        return range(now + 1, min(highest, now + _MOST_SKEW) + 1)
    skews = counted.around() + counted.constraint.self_match - counted.global_minimum
    return sorted({skew for skew in skews[counted.column.present].tolist() if skew > now})


def policies(stuck: Stuck) -> Iterator[Ladder]:
    """nodeTaintsPolicy and nodeAffinityPolicy, each with its other value: then different domains count."""
    if not stuck.version.has(_GATE):
        return
    for own in stuck.own_constraints:
        constraint = own.counted.constraint
        now = {"nodeTaintsPolicy": constraint.honors_taints, "nodeAffinityPolicy": constraint.honors_affinity}
        for name, honors in now.items():
            policy = "Ignore" if honors else "Honor"
            change = Change(POLICY, f"{name} {policy}", 15, (f"{name}[{own.key}]={policy}",), letter=own.letter)
            yield Ladder.of(change, change.said)


def min_domains(stuck: Stuck) -> Iterator[Ladder]:
    """Fewer minDomains, down to 1: with enough domains the minimum is the actual one.

    All reductions cost the same, and give up no spread that is possible.
    """
    for own in stuck.own_constraints:
        now = own.counted.constraint.min_domains or 1

        def change(place: int, own: OwnConstraint = own, now: int = now) -> Change:
            fewer = now - 1 - place
            return Change(MIN_DOMAINS, f"minDomains {fewer}", 9, (f"minDomains[{own.key}]={fewer}",), letter=own.letter)

        if now > 1:
            yield Ladder(MIN_DOMAINS, f"{own.letter} minDomains down to 1", now - 1, change, own.letter)


def relaxed(stuck: Stuck) -> Iterator[Ladder]:
    """ScheduleAnyway, which allows no minDomains."""
    for own in stuck.own_constraints:
        dropped = (f"minDomains[{own.key}]=null",) if own.counted.constraint.min_domains is not None else ()
        settings = (*dropped, f"whenUnsatisfiable[{own.key}]=ScheduleAnyway")
        change = Change(SCHEDULE_ANYWAY, "ScheduleAnyway", 50, settings, letter=own.letter)
        yield Ladder.of(change, f"relaxing {own.letter}")
