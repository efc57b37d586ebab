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

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.candidate.replicas import Replica, Replicas
from kubespread.kube.owners import priority_of
from kubespread.questions.causes.bars import bars
from kubespread.questions.queue import MAX_REPLICAS, Entry, ScheduleResult, run
from kubespread.reports.gang import BlockedMember, GangDomain, GangReport
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, LabelColumn
from kubespread.scheduler.framework import PreparedPod
from kubespread.scheduler.placing import Placing, Tiebreaker
from kubespread.scheduler.plugin import MAX_NODE_SCORE, SchedulingError
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit, scored_requests
from kubespread.scheduler.plugins.noderesources.scoring import allocation_of_domains
from kubespread.world.store.chance import Chance

NO_PLACEMENTS = "no feasible placements found"


def attempt(cluster: Cluster, entries: Sequence[Entry], gang: Gang, chance: Chance) -> GangAttempt:
    """Try to place the ``entries`` as one gang; ``cluster`` is not changed."""
    if gang.topology_key:
        return _in_one_domain(cluster, entries, gang, chance)
    outcomes, after = run(cluster, entries, chance.tiebreaker, again=False)
    fits = sum(len(outcome.choices) for outcome in outcomes) >= gang.pods_needed
    if fits and len(entries) > 1:
        # Members beyond the quorum keep waiting, and are tried again in later cycles.
        outcomes, after = run(cluster, entries, chance.tiebreaker)
    return GangAttempt(outcomes, after, fits)


def _in_one_domain(cluster: Cluster, entries: Sequence[Entry], gang: Gang, chance: Chance) -> GangAttempt:
    column = cluster.nodes.label(gang.topology_key)
    tried = trials(cluster, entries, gang, chance.tiebreaker)
    domains = score_domains(cluster, entries, gang, tried)
    best = max((domain.total for domain in domains if domain.total is not None), default=None)
    equals = [domain.value for domain in domains if best is not None and domain.total == best]
    if not domains:
        outcomes, _ = run(cluster, [replace(entry, count=0) for entry in entries], chance.tiebreaker)
        for entry, outcome in zip(entries, outcomes, strict=True):
            outcome.count, outcome.stopped, outcome.stuck = entry.count, NO_PLACEMENTS, True
        return GangAttempt(outcomes, cluster, fits=False)
    # Where none fits, the one with the most members explains why.
    shown = chance.order(equals)[0] if equals else domains[0].value
    candidates = column.codes == column.index[shown]
    confined = [replace(entry, candidates=candidates) for entry in entries]
    outcomes, after = run(cluster, confined, chance.tiebreaker, again=bool(equals))
    return GangAttempt(outcomes, after, bool(equals), domains, shown if equals else None, len(equals))


def score_domains(
    cluster: Cluster, entries: Sequence[Entry], gang: Gang, tried: Sequence[DomainTrial]
) -> tuple[GangDomain, ...]:
    """Domains with their scores, the best first; domains where the gang does not fit come last, by fitting members."""
    fitting = {trial.value for trial in tried if trial.members and trial.members >= gang.pods_needed}
    most = max((trial.members + gang.scheduled for trial in tried if trial.value in fitting), default=0)
    allocated = _allocation(cluster, entries, gang, tried) if fitting else {}
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


def _allocation(cluster: Cluster, entries: Sequence[Entry], gang: Gang, tried: Sequence[DomainTrial]) -> dict[str, int]:
    """Percentage allocated by domain; empty where the profile does not run NodeResourcesFit."""
    plugin = next((plugin for plugin in entries[0].plugins.evaluators if isinstance(plugin, NodeResourcesFit)), None)
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
    """Result of placing all members in one domain."""

    value: str
    nodes: int
    placed: tuple[int, ...]
    """Number of members of each entry that found a node."""
    stopped: str | None
    """kube-scheduler's message for the first member without a node."""

    @property
    def members(self) -> int:
        return sum(self.placed)


def trials(cluster: Cluster, entries: Sequence[Entry], gang: Gang, break_tie: Tiebreaker) -> list[DomainTrial]:
    """Try the gang in each domain, by name."""
    column = cluster.nodes.label(gang.topology_key)
    codes = [code for code in column.sorted_codes.tolist() if gang.domain in (None, column.values[code])]
    if codes and len(entries) == 1 and _are_copies(entries[0]):
        (entry,) = entries
        try:
            # Prepared once for all domains.
            prepared = entry.plugins.prepare(cluster, entry.pod)
            start = Placing(prepared)
            return [_place(prepared, start, entry.count or 0, column, code, break_tie) for code in codes]
        except SchedulingError:
            pass  # Reported for each domain below.
    return list(_try_domains(cluster, entries, column, codes, break_tie))


def _are_copies(entry: Entry) -> bool:
    """True if all members are identical, claims included."""
    return entry.count is not None and entry.replicas is None and not entry.pod.spec.has_scheduled_volumes


def _place(
    prepared: PreparedPod, start: Placing, count: int, column: LabelColumn, code: int, break_tie: Tiebreaker
) -> DomainTrial:
    """Try a domain by placing the members there, one after another."""
    candidates = column.codes == code
    placing, placed = Placing(prepared.fork(), start.answers.fork(), candidates), 0
    while placed < count and (choice := placing.choose(break_tie)) is not None:
        placing.place(choice.node)
        placed += 1
    stopped = placing.message() if placed < count else None
    return DomainTrial(column.values[code], int(np.count_nonzero(candidates)), (placed,), stopped)


def _try_domains(
    cluster: Cluster, entries: Sequence[Entry], column: LabelColumn, codes: Sequence[int], break_tie: Tiebreaker
) -> Iterator[DomainTrial]:
    """Try domains by placing members that differ, or bind claims."""
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


class Gang(Struct, frozen=True, eq=False):
    """Pods that are placed all or none; their workloads share this object."""

    size: int
    """Number of members that must be scheduled for any of them to be: minCount."""
    scheduled: int = 0
    """Number of members already running."""
    pod_group: str | None = None
    """Name of the PodGroup, which may have more pods than ``size``; None for a what-if, which places one gang of
    ``size`` after another.
    """
    topology_key: str = ""
    """Topology key with one value for all members; empty for none."""
    domain: str | None = None
    """The domain of members that already run."""
    fault: str = ""
    """Reason its pods are not tried at all."""
    permit: str = ""
    """Message for members that find a node while too few others do."""
    refusal: str = ""
    """Message of admission for the members it refuses."""
    not_modelled: tuple[str, ...] = ()
    """Names of the group's settings that kube-scheduler reads and kubespread does not."""

    @property
    def pods_needed(self) -> int:
        """Number of further members that must find a node."""
        return max(0, self.size - self.scheduled)


class GangAttempt(Struct, frozen=True):
    """The result of trying all members of one gang once."""

    outcomes: Sequence[ScheduleResult]
    """Outcomes of its workloads, even if the gang does not fit and nothing is bound."""
    cluster: Cluster
    """Cluster with all members that found a node."""
    fits: bool
    domains: Sequence[GangDomain] = ()
    chosen: str | None = None
    ties: int = 0

    @property
    def fitting(self) -> int:
        """Number of members that found a node."""
        return sum(len(outcome.choices) for outcome in self.outcomes)


class Unit:
    """Workloads placed together."""

    def __init__(self, positions: Sequence[int], entries: Sequence[Entry]) -> None:
        """Group the ``entries``, which have these ``positions`` in the queue."""
        self.positions, self.entries = positions, entries
        self.outcomes = [ScheduleResult(entry.count) for entry in entries]
        """Results that are bound, per entry."""

    @property
    def priority(self) -> int:
        return max(priority_of(entry.pod) for entry in self.entries)

    @property
    def count(self) -> int:
        """Number of pods placed so far."""
        return sum(len(outcome.choices) for outcome in self.outcomes)

    @property
    def lacks_some(self) -> bool:
        """True if some pod has no node yet."""
        pairs = zip(self.entries, self.outcomes, strict=True)
        return any(entry.count is not None and len(outcome.choices) < entry.count for entry, outcome in pairs)

    def place(self, cluster: Cluster, chance: Chance) -> Cluster:
        """Bind all pods that can be bound now; the resulting cluster."""
        raise NotImplementedError

    def complete_outcome(self, place: int) -> None:
        """Complete the outcome of the entry at ``place`` with the reason pods are pending and its gang's result."""
        raise NotImplementedError

    def _rest(self) -> list[Entry]:
        """Entries for the pods that are not placed yet."""
        return [_remaining_entry(entry, outcome) for entry, outcome in zip(self.entries, self.outcomes, strict=True)]

    def _bind(self, outcomes: Sequence[ScheduleResult]) -> None:
        for bound, outcome in zip(self.outcomes, outcomes, strict=True):
            bound.choices += outcome.choices
            bound.names += outcome.names
            bound.before = outcome.before if bound.before is None else bound.before


class SingleWorkload(Unit):
    """Pods placed one at a time."""

    _last: ScheduleResult

    def place(self, cluster: Cluster, chance: Chance) -> Cluster:
        outcomes, cluster = run(cluster, self._rest(), chance.tiebreaker)
        self._bind(outcomes)
        (self._last,) = outcomes
        return cluster

    def complete_outcome(self, place: int) -> None:
        bound, last = self.outcomes[place], self._last
        bound.stopped, bound.stuck, bound.unplaced = last.stopped, last.stuck, last.unplaced
        if self.entries[place].per_node:
            bound.count = last.count if last.count is None else last.count + len(bound.choices) - len(last.choices)


class _Gang(Unit):
    """Workloads with pods that are bound together or not at all."""

    def __init__(self, positions: Sequence[int], entries: Sequence[Entry], gang: Gang) -> None:
        super().__init__(positions, entries)
        self.gang = gang
        self._placed: list[GangAttempt] = []
        """The gangs that are placed."""
        self._stuck: GangAttempt | None = None
        """The one that does not fit."""

    def _attempt(self, cluster: Cluster, members: Sequence[Entry], gang: Gang, chance: Chance) -> Cluster | None:
        """The cluster with the gang on it, None when it does not fit."""
        tried = attempt(cluster, members, gang, chance)
        if not tried.fits:
            self._stuck = tried
            return None
        self._stuck = None
        self._placed.append(tried)
        self._bind(tried.outcomes)
        return tried.cluster

    def complete_outcome(self, place: int) -> None:
        bound = self.outcomes[place]
        if self._stuck is not None:
            last = self._stuck.outcomes[place]
            others = (outcome.stopped for outcome in self._stuck.outcomes if outcome.stopped is not None)
            bound.stuck = True
            bound.stopped = last.stopped or self.gang.permit or next(others, None)
            bound.unplaced = None if self.gang.topology_key else last.unplaced
        elif self._refusal:
            bound.stuck, bound.stopped = True, self._refusal
        elif self._placed and self._placed[-1].outcomes[place].stopped is not None:
            # More members than have to be scheduled.
            last = self._placed[-1].outcomes[place]
            bound.stuck, bound.stopped, bound.unplaced = last.stuck, last.stopped, last.unplaced
        bound.gang = gang_report(self.gang, self.entries, self._placed, self._stuck, place)

    @property
    def _refusal(self) -> str:
        """The message for pods that are not tried."""
        return self.gang.fault


class WhatIfGangs(_Gang):
    """One workload as gangs of one size, one after another."""

    def place(self, cluster: Cluster, chance: Chance) -> Cluster:
        while not self.gang.fault and (members := self._next_gang()):
            after = self._attempt(cluster, members, self._as_it_stands, chance)
            if after is None:
                break
            cluster = after
        return cluster

    @property
    def _as_it_stands(self) -> Gang:
        """The gang to place next; running replicas are members of the first."""
        return replace(self.gang, scheduled=0, domain=None) if self._placed else self.gang

    def _next_gang(self) -> Sequence[Entry]:
        """The members of the next gang; none where too few are left."""
        (entry,), needed = self._rest(), self._as_it_stands.pods_needed
        remaining = MAX_REPLICAS if entry.count is None else entry.count
        return [replace(entry, count=needed)] if 0 < needed <= remaining else []

    @property
    def _refusal(self) -> str:
        return self.gang.fault or (self.gang.refusal if self.lacks_some else "")


class PodGroupMembers(_Gang):
    """All workloads with pods of one PodGroup. Once enough pods are scheduled, the others follow as they can."""

    def place(self, cluster: Cluster, chance: Chance) -> Cluster:
        if self.gang.fault or (self._placed and not self.lacks_some):
            return cluster
        chosen = self._placed[-1].chosen if self._placed else self.gang.domain
        gang = replace(self.gang, scheduled=self.gang.scheduled + self.count, domain=chosen)
        after = self._attempt(cluster, self._rest(), gang, chance)
        return cluster if after is None else after


def _remaining_entry(entry: Entry, outcome: ScheduleResult) -> Entry:
    """Entry for the copies that are not placed yet."""
    placed = len(outcome.choices)
    if not placed:
        return entry
    return replace(
        entry,
        count=None if entry.count is None else entry.count - placed,
        replicas=None if entry.replicas is None else _without_placed(outcome.names, entry.replicas),
        running_on=entry.running_on | {choice.node for choice in outcome.choices},
    )


def _without_placed(names: Iterable[str], replicas: Replicas) -> Replicas:
    placed = frozenset(names)

    def further() -> Iterator[Replica]:
        return (replica for replica in replicas() if replica.pod.metadata.name not in placed)

    return further


def gang_report(
    gang: Gang, entries: Sequence[Entry], placed: Sequence[GangAttempt], stuck: GangAttempt | None, place: int
) -> GangReport:
    """Report on the gang for its workload at ``place``: the result for all members, and the obstacle for its own.

    The caller fills in the name of the stuck member.
    """
    last = stuck or (placed[-1] if placed else None)
    requested = _requested_gangs(gang, entries)
    return GangReport(
        pod_group=gang.pod_group,
        size=gang.size,
        scheduled=gang.scheduled,
        members=_members(gang, entries, stuck) or (0 if last is None else last.fitting),
        gangs=requested,
        placed=_whole(gang, placed),
        fits=not gang.fault and _whole(gang, placed) >= (1 if requested is None else requested),
        fitted=0 if last is None else last.fitting,
        blocked=None if stuck is None else _block(gang, stuck.outcomes[place]),
        waiting=gang.fault or (gang.permit if stuck is not None and stuck.fitting else "") or None,
        topology_key=gang.topology_key or None,
        domains=tuple(last.domains) if last is not None else (),
        chosen=tuple(attempt.chosen for attempt in placed if attempt.chosen is not None),
        ties=placed[-1].ties if placed else 0,
    )


def _requested_gangs(gang: Gang, entries: Sequence[Entry]) -> int | None:
    """Number of gangs; replicas that run are part of the first, or all of it."""
    count = entries[0].count
    if gang.pod_group is not None or count is None:
        return None if gang.pod_group is None else 1
    return -(-(count + gang.scheduled) // gang.size) if count else 0


def _whole(gang: Gang, placed: Sequence[GangAttempt]) -> int:
    """Number of placed gangs; a PodGroup is one, however often its pods were tried."""
    return min(1, len(placed)) if gang.pod_group is not None else len(placed)


def _members(gang: Gang, entries: Sequence[Entry], stuck: GangAttempt | None) -> int:
    """Number of members to place, of several gangs in one; 0 for as many as fit."""
    if stuck is not None:
        return sum(outcome.count or 0 for outcome in stuck.outcomes)
    if gang.pod_group is not None:
        return sum(entry.count or 0 for entry in entries)
    return gang.pods_needed if _requested_gangs(gang, entries) == 1 else gang.size


def _block(gang: Gang, outcome: ScheduleResult) -> BlockedMember | None:
    if outcome.stopped is None:
        return None
    unplaced = None if gang.topology_key else outcome.unplaced
    return BlockedMember(
        member=len(outcome.choices) + 1,
        pod="",
        stopped=outcome.stopped,
        conclusion=None if unplaced is None else bars(unplaced),
    )


def run_with_gangs(
    cluster: Cluster,
    entries: Sequence[Entry],
    gangs: Sequence[Gang | None],
    chance: Chance,
    on_progress: Callable[[int], None] | None = None,
) -> list[ScheduleResult]:
    """Place the copies of every entry in one queue, by priority and then as given; members of a gang all or none.

    Outcomes are in the order given.
    """
    units = list(_units(entries, gangs))
    waiting, placed = sorted(units, key=lambda unit: (-unit.priority, unit.positions[0])), 0
    while waiting:
        newly_placed = []
        for unit in waiting:
            before = unit.count
            cluster = unit.place(cluster, chance)
            newly_placed.append(unit.count - before)
            placed += newly_placed[-1]
            if on_progress is not None:
                on_progress(placed)
        # What fits nowhere is tried again if others were placed after it.
        waiting = [unit for place, unit in enumerate(waiting) if unit.lacks_some and any(newly_placed[place + 1 :])]
    outcomes: dict[int, ScheduleResult] = {}
    for unit in units:
        outcomes.update(zip(unit.positions, _conclude(unit, cluster, chance.tiebreaker), strict=True))
    return [outcomes[position] for position in range(len(entries))]


def _units(entries: Sequence[Entry], gangs: Sequence[Gang | None]) -> Iterator[Unit]:
    """The workloads that are placed together."""
    members: dict[Gang, list[int]] = {}
    for position, (entry, gang) in enumerate(zip(entries, gangs, strict=True)):
        if gang is None:
            yield SingleWorkload([position], [entry])
        elif gang.pod_group is None:
            yield WhatIfGangs([position], [entry], gang)
        else:
            members.setdefault(gang, []).append(position)
    for gang, positions in members.items():
        yield PodGroupMembers(positions, [entries[position] for position in positions], gang)


def _conclude(unit: Unit, cluster: Cluster, break_tie: Tiebreaker) -> Iterator[ScheduleResult]:
    """The outcomes of its workloads, with the constraints as they are once the queue is done."""
    idle = [replace(entry, count=0, per_node=False) for entry in unit.entries]
    now, _ = run(cluster, idle, break_tie)
    for place, (outcome, after) in enumerate(zip(unit.outcomes, now, strict=True)):
        unit.complete_outcome(place)
        outcome.before = after.before if outcome.before is None else outcome.before
        outcome.after = after.after
        yield outcome
