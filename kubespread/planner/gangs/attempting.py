"""Trying a gang once: its members in kube-scheduler's order on a cluster that stays as it is unless enough fit.

Source of the rules: kube-scheduler 1.36, schedule_one_podgroup.go: every pending pod of the group is tried once, in a
fixed order, and each sees those before it; with a topology key that is done for every domain, and the scores of the
placements decide among those where enough pods fit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kubespread.planner.entries import Entry
from kubespread.planner.gangs.domain_scoring import scored
from kubespread.planner.gangs.domains import trials
from kubespread.planner.gangs.gang import Attempt, Gang
from kubespread.planner.queue import run
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.placing import Tiebreaker

NO_PLACEMENTS = "no feasible placements found"


@dataclass(frozen=True, slots=True)
class Choosing:
    """How equals are told apart."""

    break_tie: Tiebreaker
    """Nodes of equal totals."""
    chance: random.Random | None = None
    """Topology domains of equal totals, which kube-scheduler takes at random; None: the first by name."""


def attempt(cluster: Cluster, entries: Sequence[Entry], gang: Gang, choosing: Choosing) -> Attempt:
    """Try to place the ``entries`` as one gang; ``cluster`` is as it was."""
    return (
        _in_one_domain(cluster, entries, gang, choosing)
        if gang.topology_key
        else _anywhere(cluster, entries, gang, choosing)
    )


def _anywhere(cluster: Cluster, entries: Sequence[Entry], gang: Gang, choosing: Choosing) -> Attempt:
    outcomes, after = run(cluster, entries, choosing.break_tie, again=False)
    fits = sum(len(outcome.choices) for outcome in outcomes) >= gang.needed
    if fits and len(entries) > 1:
        # Members beyond the quorum wait on, and are tried again in later cycles.
        outcomes, after = run(cluster, entries, choosing.break_tie)
    return Attempt(outcomes, after, fits)


def _in_one_domain(cluster: Cluster, entries: Sequence[Entry], gang: Gang, choosing: Choosing) -> Attempt:
    column = cluster.nodes.label(gang.topology_key)
    tried = trials(cluster, entries, gang, choosing.break_tie)
    domains = scored(cluster, entries, gang, tried)
    best = max((domain.total for domain in domains if domain.total is not None), default=None)
    equals = [domain.value for domain in domains if best is not None and domain.total == best]
    if not domains:
        outcomes, _ = run(cluster, [replace(entry, count=0) for entry in entries], choosing.break_tie)
        for outcome in outcomes:
            outcome.stopped, outcome.stuck = NO_PLACEMENTS, True
        return Attempt(outcomes, cluster, fits=False)
    # Where none fits, the one where most members do says what is wrong.
    shown = choosing.chance.choice(equals) if equals and choosing.chance is not None else domains[0].value
    candidates = column.codes == column.index[shown]
    there = [replace(entry, candidates=candidates) for entry in entries]
    outcomes, after = run(cluster, there, choosing.break_tie, again=bool(equals))
    return Attempt(outcomes, after, bool(equals), domains, shown if equals else None, len(equals))
