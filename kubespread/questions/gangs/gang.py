"""A gang of pods, and the result of trying to place it.

How many members of a gang find a node in each domain of a topology key, and what stops the next one. Only nodes of the
domain are candidates. All nodes are still counted: spreading and inter-pod affinity look at the whole cluster. There is
one placement for each value of the key, and nodes without the label are in none; members that run fix the domain.
Trying a gang once: its members in kube-scheduler's order on a cluster that stays as it is unless enough fit. Every
pending pod of the group is tried once, in a fixed order, and each sees those before it; with a topology key that is
done for every domain, and the scores of the placements decide among those where enough pods fit.

Source: pkg/scheduler/framework/plugins/topologyaware/topology_placement.go, GeneratePlacements
Source: pkg/scheduler/backend/cache/snapshot.go, AssumePlacement
Source: pkg/scheduler/schedule_one_podgroup.go, podGroupSchedulingDefaultAlgorithm,
    podGroupSchedulingPlacementAlgorithm, findBestPlacement
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.questions.queue.entries import Entry, Outcome
from kubespread.questions.queue.queue import run
from kubespread.reports.gang import GangDomain
from kubespread.scheduler.cluster.cluster import Change, Cluster
from kubespread.scheduler.cluster.columns import Counts, LabelColumn
from kubespread.scheduler.evaluation import evaluated
from kubespread.scheduler.framework import Prepared
from kubespread.scheduler.placing import Placing, Tiebreaker
from kubespread.scheduler.plugin import MAX_NODE_SCORE, SchedulingError
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit, scored_requests
from kubespread.scheduler.plugins.noderesources.scoring import allocation_of_domains

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


class Gang(Struct, frozen=True, eq=False):
    """One group; the workloads of its pods share this object."""

    size: int
    """How many members have to be scheduled for any of them to be: minCount."""
    scheduled: int = 0
    """How many members run already."""
    pod_group: str | None = None
    """The PodGroup that asks for it, whose pods may be more than ``size``. None for a what-if: then a workload with a
    multiple of ``size`` replicas is as many gangs, one after another.
    """
    topology_key: str = ""
    """The topology key whose value all members share, empty for none."""
    domain: str | None = None
    """The one that members run in."""
    fault: str = ""
    """Why its pods are not tried at all."""
    permit: str = ""
    """The message for members that find a node while too few others do."""
    refusal: str = ""
    """Admission's message for members that it refuses."""
    not_modelled: tuple[str, ...] = ()
    """What kube-scheduler considers for it and kubespread does not."""

    @property
    def needed(self) -> int:
        """How many members have to find a node."""
        return max(0, self.size - self.scheduled)


class Asked(Struct, frozen=True):
    """One workload to be placed, as part of a gang or not."""

    entry: Entry
    gang: Gang | None = None


class Attempt(Struct, frozen=True):
    """The result of trying all members of one gang once."""

    outcomes: Sequence[Outcome]
    """For each of its workloads, even where the gang does not fit and nothing is bound."""
    cluster: Cluster
    """With all members that found a node."""
    fits: bool
    domains: Sequence[GangDomain] = ()
    chosen: str | None = None
    ties: int = 0

    @property
    def fitted(self) -> int:
        """How many members found a node."""
        return sum(len(outcome.choices) for outcome in self.outcomes)
