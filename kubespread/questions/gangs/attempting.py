"""Trying a gang once: its members in kube-scheduler's order on a cluster that stays as it is unless enough fit.

Every pending pod of the group is tried once, in a fixed order, and each sees those before it; with a topology key that
is done for every domain, and the scores of the placements decide among those where enough pods fit.

Source: pkg/scheduler/schedule_one_podgroup.go, podGroupSchedulingDefaultAlgorithm,
    podGroupSchedulingPlacementAlgorithm, findBestPlacement
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.questions.gangs.domains import DomainTrial, trials
from kubespread.questions.gangs.gang import Attempt, Gang
from kubespread.questions.queue.entries import Entry
from kubespread.questions.queue.queue import run
from kubespread.reports.gang import GangDomain
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.placing import Tiebreaker
from kubespread.scheduler.plugin import MAX_NODE_SCORE
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit, scored_requests
from kubespread.scheduler.plugins.noderesources.placement_scoring import allocation_of_domains

NO_PLACEMENTS = "no feasible placements found"


class Choosing(Struct, frozen=True):
    """How ties are broken."""

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
        # Members beyond the quorum keep waiting, and are tried again in later cycles.
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
    # Where none fits, the one with the most members explains why.
    shown = choosing.chance.choice(equals) if equals and choosing.chance is not None else domains[0].value
    candidates = column.codes == column.index[shown]
    confined = [replace(entry, candidates=candidates) for entry in entries]
    outcomes, after = run(cluster, confined, choosing.break_tie, again=bool(equals))
    return Attempt(outcomes, after, bool(equals), domains, shown if equals else None, len(equals))


def scored(
    cluster: Cluster, entries: Sequence[Entry], gang: Gang, tried: Sequence[DomainTrial]
) -> tuple[GangDomain, ...]:
    """The best first, equals by name; then those where the gang does not fit, by how many members do."""
    fitting = {trial.value for trial in tried if trial.members and trial.members >= gang.needed}
    most = max((trial.members + gang.scheduled for trial in tried if trial.value in fitting), default=0)
    allocated = _allocated(cluster, entries, gang, tried) if fitting else {}
    domains = []
    for trial in tried:
        fits = trial.value in fitting
        pods = (trial.members + gang.scheduled) * MAX_NODE_SCORE // most if fits else None
        resources = allocated.get(trial.value) if fits else None
        domains.append(
            GangDomain(
                value=trial.value,
                nodes=trial.nodes,
                members=trial.members,
                fits=fits,
                stopped=trial.stopped,
                pods_score=pods,
                resources_score=resources,
                total=None if pods is None else pods + (resources or 0),
            )
        )
    return tuple(sorted(domains, key=lambda domain: (-(domain.total or -1), -domain.members, domain.value)))


def _allocated(cluster: Cluster, entries: Sequence[Entry], gang: Gang, tried: Sequence[DomainTrial]) -> dict[str, int]:
    """By domain; empty where the profile does not run NodeResourcesFit."""
    plugin = next((plugin for plugin in entries[0].plugins.running if isinstance(plugin, NodeResourcesFit)), None)
    if plugin is None:
        return {}
    column = cluster.nodes.label(gang.topology_key)
    requested: dict[str, Counts] = {}
    for position, entry in enumerate(entries):
        placed = np.zeros(len(column.values), dtype=np.int64)
        for trial in tried:
            placed[column.index[trial.value]] = trial.placed[position]
        for name, amount in scored_requests(entry.pod).items():
            requested[name] = requested.get(name, np.zeros(len(placed), dtype=np.int64)) + placed * amount
    points = allocation_of_domains(plugin.scoring, cluster, column, requested)
    return {trial.value: int(points[column.index[trial.value]]) for trial in tried}
