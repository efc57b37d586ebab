"""One queue over one living cluster: pods of several workloads placed in kube-scheduler's order, each seeing the ones
before it.

Pods wait by priority, then by time. A workload's pods are created together, so they stand together, workload after
workload in the order given. A pod that fits nowhere waits, and is tried again when something has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from kubespread.candidate.replicas import Replicas
from kubespread.controllers.daemonset import pinned_to
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.reports.gang import GangReport
from kubespread.reports.judged_nodes import constraint_reports, domain_counts
from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.cluster.nodes import Search
from kubespread.scheduler.evaluation import Evaluation, Preemption, evaluate, outranks_any, preempt
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Batch, Choice, Placing, Tiebreaker, first_in_heap
from kubespread.scheduler.plugin import SchedulingError, Status
from kubespread.scheduler.profile.profile import Profile, post_filters
from kubespread.wording import some_of
from kubespread.world.store.claims import creation
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Applicant, LivingCluster

if TYPE_CHECKING:
    from kubespread.world.events.world import World


class Victim(Struct, frozen=True):
    """A preempted pod."""

    pod: Pod
    node: int
    """Position of the node it ran on."""
    broken_budgets: tuple[str, ...]
    """Names of the disruption budgets that its preemption violates."""


class Preemptions:
    """Preemption in one living cluster, with current disruption budgets."""

    def __init__(self, living: LivingCluster, make_world: Callable[[], World]) -> None:
        """``make_world`` makes the world of the cluster on demand: only a world knows budgets."""
        self._living, self._make_world = living, make_world
        self._world: World | None = None
        self.preemption: Preemption | None = None
        """The last preemption that helped."""
        self.on_lost: Mapping[PodKey, Callable[[int], None]] = {}
        """Callbacks by pod, called with the node where it was preempted."""

    def make_room(
        self, pod: Pod, evaluate: Callable[[], Evaluation], profile: Profile
    ) -> tuple[int, list[Victim]] | None:
        """Preempt pods for ``pod``, which fits nowhere: the position of the freed node and its victims; None if that
        does not help.
        """
        if not outranks_any(self._living.cluster, pod):
            return None
        evaluation = evaluate()
        world = self._world = self._world or self._make_world()
        budgets = world.budgets
        preemption = preempt(evaluation, post_filters(profile), budgets=budgets.current(world.time))
        candidate = preemption.candidate
        if candidate is None:
            return None
        self.preemption = preemption
        node = self._living.nodes.index[candidate.node]
        self._living.change(removed_pods=[(pod, node) for pod in candidate.victims])
        for pod in candidate.victims:
            budgets.note_removal(pod)
            if (on_lost := self.on_lost.get(key_of(pod))) is not None:
                on_lost(node)
        victims = zip(candidate.victims, candidate.violated_budgets, strict=True)
        return node, [Victim(pod, node, broken) for pod, broken in victims]


MAX_REPLICAS = 1_000_000
_MAX_NAMED = 3


class Entry(Struct, frozen=True):
    """One workload in the queue."""

    pod: Pod
    plugins: Framework
    count: int | None
    """Number of copies to place; None for as many as fit."""
    per_node: bool = False
    """True for a DaemonSet: one pod, pinned by its controller, on every node that affinity and tolerations allow."""
    running_on: frozenset[int] = frozenset()
    """Nodes that already run the DaemonSet's pod."""
    own: frozenset[PodKey] = frozenset()
    """Its existing pods: when one is preempted, another is created."""
    replicas: Replicas | None = None
    """Its pods, if they differ; else all are copies of ``pod``."""
    existing: int | None = None
    """Number of existing pods, if another is created only once these have a node; None if all are created at once."""
    binds: bool = True
    """True if a pod's pending claims are bound once it has a node."""
    candidates: Mask | None = None
    """Nodes that may be chosen; None for all."""
    preempts_as: Profile | None = None
    """Profile by which its pods preempt others; None if they never do."""


class ScheduleResult(Struct):
    """Outcome of one entry."""

    count: int | None
    choices: list[Choice] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    """Names of the placed pods, if they differ."""
    before: Sequence[Sequence[int]] | None = None
    """Matching pods of every domain of each constraint before the first copy was placed."""
    listed: int = 0
    """Number of nodes that PreFilter plugins leave."""
    after: Sequence[ConstraintReport] = ()
    """Constraints after the whole queue."""
    unplaced: Evaluation | None = None
    """Verdicts of every plugin on the stuck copy."""
    stopped: str | None = None
    """Reason the next copy found no node; None if all are placed."""
    stuck: bool = False
    """True if it fits nowhere; False for an error."""
    gang: GangReport | None = None
    """Its report as a gang; None for other pods."""
    preempted: list[tuple[int, Victim]] = field(default_factory=list)
    """Preempted pods, each with the number of the copy that replaced it, from 0."""
    preemption: Preemption | None = None
    """Preemption for the first of these copies."""
    vacated_nodes: list[int] = field(default_factory=list)
    """Positions of nodes where existing pods of the entry were preempted."""


class Cycles(Struct, frozen=True):
    """State that scheduling cycles of one queue pass to later ones."""

    search: Search
    batch: Batch | None = None
    """None if ties are not broken as by kube-scheduler."""
    preemptions: Preemptions | None = None
    """None if nothing is preempted."""


class WaitingEntry:
    """An entry while it is placed."""

    def __init__(self, entry: Entry, living: LivingCluster, cycles: Cycles) -> None:
        self.entry = entry
        self.outcome = ScheduleResult(entry.count)
        self._living, self._search, self._batch = living, cycles.search, cycles.batch
        self._preemptions = cycles.preemptions
        self.applicant = self._applicant(entry.pod)
        self._replicas = entry.replicas() if entry.replicas is not None else iter(())
        self._come_forward()
        self.is_waiting = True

    def _come_forward(self) -> None:
        """Prepare the next pod; its claims are created first."""
        replica = next(self._replicas, None)
        if replica is not None:
            created = creation(replica.claims, self._living.cluster.storage)
            if created.claims:
                self._living.change_storage(created)
            self.applicant = self._applicant(replica.pod)

    def _applicant(self, pod: Pod) -> Applicant:
        entry = self.entry
        return Applicant(self._living, pod, entry.plugins, binds=entry.binds, candidates=entry.candidates)

    def _start(self) -> Placing:
        """The placing of the next pod; before the first one the constraints are recorded."""
        placing = self.applicant.placing()
        if self.outcome.before is None:
            self.outcome.before = domain_counts(placing.states)
            self.outcome.listed = 0 if self.entry.per_node else placing.listed_count
        return placing

    def place(self, break_tie: Tiebreaker) -> bool:
        """Place the next pod; True if it found a node."""
        raise NotImplementedError

    @property
    def lacks_some(self) -> bool:
        """True if some pod of the entry has no node yet."""
        raise NotImplementedError

    def lose(self, node: int) -> None:
        """Note that an existing pod of the entry was preempted, so that another one waits."""
        self.outcome.vacated_nodes.append(node)

    def _freed_node(self, evaluate: Callable[[], Evaluation]) -> int | None:
        """Node where others were preempted for the next pod, which fits nowhere; None without a preemption."""
        if self._preemptions is None or self.entry.preempts_as is None:
            return None
        freed = self._preemptions.make_room(self.applicant.pod, evaluate, self.entry.preempts_as)
        if freed is None:
            return None
        node, victims = freed
        self.outcome.preemption = self.outcome.preemption or self._preemptions.preemption
        self.outcome.preempted += ((len(self.outcome.choices), victim) for victim in victims)
        return node

    def resume(self) -> None:
        """Retry pods that did not fit, without preemption, which did not help before."""
        self.is_waiting, self._preemptions = True, None
        self.outcome.stopped, self.outcome.stuck = None, False

    def conclude(self) -> None:
        """Record the outcome after the whole queue."""
        try:
            placing = self._start()
            self.outcome.after = constraint_reports(placing.states, placing.feasible())
            if self.outcome.stopped is None:
                self._conclude(placing)
        except SchedulingError as error:
            self.outcome.stopped = self.outcome.stopped or str(error)
        self.applicant.release()

    def _conclude(self, placing: Placing) -> None:
        """Record why the next pod found no node, if one is left."""
        raise NotImplementedError

    def _take(self, choice: Choice) -> None:
        self.applicant.take(choice)
        self.outcome.choices.append(choice)
        if self.entry.replicas is not None:
            self.outcome.names.append(self.applicant.pod.metadata.name)
            self._come_forward()


class _Copies(WaitingEntry):
    """Copies of one pod: once one finds no node, the others are not tried."""

    def __init__(self, entry: Entry, living: LivingCluster, cycles: Cycles) -> None:
        self._most = MAX_REPLICAS if entry.count is None else entry.count
        super().__init__(entry, living, cycles)
        self.is_waiting = self._most > 0

    def place(self, break_tie: Tiebreaker) -> bool:
        try:
            placing = self._start()
            choice = placing.choose(break_tie, self._search, self._batch)
            if choice is None and (freed := self._freed_node(placing.evaluation)) is not None:
                choice = self.applicant.placing().choose_on(freed)
        except SchedulingError as error:
            self.outcome.stopped, self.is_waiting = str(error), False
            return False
        if choice is None:
            self._record_stuck()
            return False
        self._take(choice)
        if not self.lacks_some:
            self.is_waiting = False
            self.applicant.release()
        return True

    def _record_stuck(self) -> None:
        self.outcome.stuck, self.is_waiting = True, False

    @property
    def lacks_some(self) -> bool:
        return len(self.outcome.choices) < self._most

    def lose(self, node: int) -> None:
        super().lose(node)
        self._most += 1
        self.is_waiting = True

    def _conclude(self, placing: Placing) -> None:
        if self.outcome.stuck:
            unplaced, among = placing.evaluation(), self.entry.candidates
            self.outcome.unplaced = unplaced
            self.outcome.stopped = unplaced.message if among is None else unplaced.message_among(among)


class _Replicas(_Copies):
    """Replicas that differ: each is tried on its own."""

    def __init__(self, entry: Entry, living: LivingCluster, cycles: Cycles) -> None:
        self._stuck: list[Applicant] = []
        """Replicas that found no node."""
        self._again: list[Applicant] = []
        """Replicas among them that are tried again."""
        super().__init__(entry, living, cycles)

    def _come_forward(self) -> None:
        """Prepare the next replica; after the last, the first that found no node stands for all others."""
        if self._again:
            self.applicant = self._again.pop(0)
        elif self._makes_another():
            super()._come_forward()
        elif self._stuck:
            self.applicant, self.outcome.stuck, self.is_waiting = self._stuck[0], True, False
        elif self.entry.pod.spec.has_scheduled_volumes:
            super()._come_forward()
        else:
            self.applicant = self._applicant(self.entry.pod)

    def _makes_another(self) -> bool:
        tried = len(self.outcome.choices) + len(self._stuck)
        is_blocked = self._stuck and (
            self.entry.count is None or (self.entry.existing is not None and tried >= self.entry.existing)
        )
        return tried < self._most and not is_blocked

    def _record_stuck(self) -> None:
        self.applicant.release()
        self._stuck.append(self.applicant)
        self._come_forward()

    def lose(self, node: int) -> None:
        was_waiting = self.is_waiting
        super().lose(node)
        if not was_waiting:
            self._come_forward()

    def resume(self) -> None:
        super().resume()
        self._again, self._stuck = self._stuck, []
        self._come_forward()


class _Daemons(WaitingEntry):
    """A DaemonSet's pods, each for one node only."""

    def __init__(self, entry: Entry, living: LivingCluster, cycles: Cycles) -> None:
        super().__init__(entry, living, cycles)
        self._failed: dict[int, Status] = {}
        self._counts_domains = any(
            constraint.when_unsatisfiable == DO_NOT_SCHEDULE
            for constraint in entry.pod.spec.topology_spread_constraints
        )
        try:
            self._targets = iter(self._nodes())
        except SchedulingError as error:
            self._targets, self.outcome.stopped, self.is_waiting = iter(()), str(error), False
        self._next = next(self._targets, None)
        self.is_waiting = self.is_waiting and self._next is not None

    def _nodes(self) -> list[int]:
        """Positions of the nodes where the controller creates pods, by name."""
        cluster = self._living.cluster
        verdicts = self._start().evaluation().verdicts
        allowed = np.ones(len(cluster), dtype=np.bool_)
        for name in ("NodeAffinity", "TaintToleration"):
            if name in verdicts:
                allowed &= verdicts[name].passes
        targets = np.flatnonzero(allowed)
        targets = targets[cluster.nodes.name_rank[targets].argsort()]
        nodes = [node for node in targets.tolist() if node not in self.entry.running_on]
        self.outcome.count = len(nodes)
        return nodes

    def place(self, break_tie: Tiebreaker) -> bool:
        node = self._next
        assert node is not None
        placing = self.applicant.placing()
        # Its pin leaves one node to look at, which advances the search for all later pods.
        self._search.move_on(1, len(placing))
        choice = self._choice(placing, node) or self._choice_by_force(node)
        self._next = next(self._targets, None)
        self.is_waiting = self._next is not None
        if choice is None:
            return False
        self._take(choice)
        return True

    def _choice(self, placing: Placing, node: int) -> Choice | None:
        """The pinned pod's own choice: for hard constraints, a pin hides the domains of all other nodes."""
        try:
            if self._counts_domains:
                pinned = self._pin(node)
                if pinned.feasible[node]:
                    return Choice(node, int(pinned.total[node]), 1)
                self._failed[node] = pinned.verdict(node)
                return None
            choice = placing.choose_on(node)
        except SchedulingError as error:
            self.outcome.stopped = str(error)
            return None
        if choice is None:
            self._failed[node] = placing.evaluation().verdict(node)
        return choice

    def _pin(self, node: int) -> Evaluation:
        cluster = self._living.cluster
        return evaluate(self.entry.plugins, cluster, pinned_to(self.applicant.pod, cluster.nodes.names[node]))

    def _choice_by_force(self, node: int) -> Choice | None:
        """The choice after preempting pods on the node, None where that does not help."""
        try:
            if self._freed_node(lambda: self._pin(node)) is None:
                return None
        except SchedulingError:
            return None
        choice = self._choice(self.applicant.placing(), node)
        if choice is not None:
            self._failed.pop(node, None)
        return choice

    def resume(self) -> None:
        super().resume()
        self._targets, self._failed = iter(list(self._failed)), {}
        self._next = next(self._targets, None)
        self.is_waiting = self._next is not None

    @property
    def lacks_some(self) -> bool:
        return bool(self._failed)

    def _conclude(self, placing: Placing) -> None:
        if self._failed:
            status, names = next(iter(self._failed.values())), self._living.cluster.nodes.names
            named = some_of([names[node] for node in self._failed], _MAX_NAMED)
            self.outcome.stopped = f"no room on {named}: {', '.join(status.reasons)}"


def waiting_for(living: LivingCluster, entries: Iterable[Entry], cycles: Cycles) -> Sequence[WaitingEntry]:
    """Waiting state of each of ``entries`` in ``living``, in order."""
    return [_kind_of(entry)(entry, living, cycles) for entry in entries]


def _kind_of(entry: Entry) -> type[WaitingEntry]:
    if entry.per_node:
        return _Daemons
    return _Copies if entry.replicas is None else _Replicas


_NOW_AND_THEN = 200


def run(
    cluster: Cluster,
    entries: Sequence[Entry],
    break_tie: Tiebreaker,
    *,
    search: Search | None = None,
    again: bool = True,
    on_progress: Callable[[int], None] | None = None,
    make_world: Callable[[], World] | None = None,
) -> tuple[list[ScheduleResult], Cluster]:
    """Place every entry's copies on ``cluster``; outcomes in the given order, and the resulting cluster.

    ``search`` scores no more nodes than kube-scheduler does; without it all that fit are scored. ``again``: pods that
    fit nowhere are tried again after others are placed. ``make_world`` makes the world of ``cluster`` for entries that
    preempt others.
    """
    living = LivingCluster(cluster)
    preemptions = None if make_world is None else Preemptions(living, make_world)
    batch = Batch() if break_tie is first_in_heap else None
    waiting = waiting_for(living, entries, Cycles(search or Search(samples=False), batch, preemptions))
    if preemptions is not None:
        preemptions.on_lost = {key: unit.lose for unit in waiting for key in unit.entry.own}
    _place_all(waiting, break_tie, again=again, on_progress=on_progress)
    for unit in waiting:
        unit.conclude()
    return [unit.outcome for unit in waiting], living.cluster


def place(cluster: Cluster, entries: Sequence[Entry], break_tie: Tiebreaker) -> list[ScheduleResult]:
    """Place copies as `run` does, recording constraints only if a copy finds no node."""
    waiting = waiting_for(LivingCluster(cluster), entries, Cycles(Search(samples=False)))
    _place_all(waiting, break_tie)
    for unit in waiting:
        if unit.outcome.stuck or unit.lacks_some:
            unit.conclude()
    return [unit.outcome for unit in waiting]


def _place_all(
    waiting: Sequence[WaitingEntry],
    break_tie: Tiebreaker,
    *,
    again: bool = True,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    placed, stuck = 0, dict[WaitingEntry, None]()
    for unit in _in_order(waiting):
        if not unit.place(break_tie):
            stuck[unit] = None
            continue
        placed += 1
        if on_progress is not None and placed % _NOW_AND_THEN == 0:
            on_progress(placed)
    if again:
        _try_again(stuck, break_tie)


def _in_order(waiting: Sequence[WaitingEntry]) -> Iterator[WaitingEntry]:
    """Yield the entry of the next pod, by priority and then by time, until all are placed or stuck."""
    for unit in sorted(waiting, key=lambda unit: -priority_of(unit.entry.pod)):
        while unit.is_waiting:
            yield unit


def _try_again(stuck: Iterable[WaitingEntry], break_tie: Tiebreaker) -> None:
    """Retry pods that found no node, as long as others were placed since."""
    progress = True
    while progress:
        progress = False
        for unit in stuck:
            if unit.lacks_some and unit.applicant.is_outdated:
                unit.resume()
                while unit.is_waiting:
                    progress |= unit.place(break_tie)
