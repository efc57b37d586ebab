"""Workloads in the queue: what is asked of each, what came of it, and how its pods take their turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kubespread.controllers.daemon_nodes import pinned_to
from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.planner.claims import Replicas, to_create
from kubespread.planner.explain import constraint_reports, domain_counts
from kubespread.planner.living import Applicant, LivingCluster
from kubespread.planner.reports.gang import GangReport
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.change import StorageChange
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Choice, Placing, Tiebreaker
from kubespread.scheduler.plugin import SchedulingError, Status
from kubespread.scheduler.sampling import Search

MAX_REPLICAS = 1_000_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One workload in the queue."""

    pod: Pod
    plugins: Framework
    count: int | None
    """How many copies to place; None for as many as fit."""
    per_node: bool = False
    """A DaemonSet: one on every node that the pod's affinity and tolerations allow, pinned to it as its controller pins
    it.
    """
    running_on: frozenset[int] = frozenset()
    """Nodes where a DaemonSet has its pod already."""
    replicas: Replicas | None = None
    """Its pods where each has claims of its own; without it all are copies of ``pod``."""
    binds: bool = True
    """Whether the claims that a pod waits with are bound once it has a node."""
    candidates: Mask | None = None
    """The nodes that may be chosen, None for all of them."""


@dataclass(slots=True)
class Outcome:
    """What became of one entry."""

    wanted: int | None
    choices: list[Choice] = field(default_factory=list)
    before: Sequence[Sequence[int]] | None = None
    """The matching pods of every domain of each constraint before the first copy was placed."""
    listed: int = 0
    """How many nodes PreFilter plugins leave to look at."""
    after: Sequence[ConstraintReport] = ()
    """The constraints once the queue is done."""
    unplaced: Evaluation | None = None
    """What every plugin says about the copy that is stuck."""
    stopped: str | None = None
    """Why the next copy found no node, None when all are placed."""
    stuck: bool = False
    """Whether it found none, as opposed to an error."""
    gang: GangReport | None = None
    """What became of it as a gang, where it is one."""


class Waiting:
    """One entry while it is placed."""

    def __init__(self, entry: Entry, living: LivingCluster, search: Search | None) -> None:
        self.entry = entry
        self.outcome = Outcome(entry.count)
        self._living, self._search = living, search
        self.applicant = self._applicant(entry.pod)
        self._replicas = entry.replicas() if entry.replicas is not None else iter(())
        self._come_forward()
        self.is_waiting = True

    def _come_forward(self) -> None:
        """The next pod looks for a node, where it is not a copy of the last one; its claims are there before it."""
        replica = next(self._replicas, None)
        if replica is not None:
            claims = to_create(replica.claims, self._living.cluster.storage)
            if claims:
                self._living.change_storage(StorageChange(claims))
            self.applicant = self._applicant(replica.pod)

    def _applicant(self, pod: Pod) -> Applicant:
        entry = self.entry
        return Applicant(self._living, pod, entry.plugins, binds=entry.binds, candidates=entry.candidates)

    def _start(self) -> Placing:
        """The placing for the next pod; the constraints before the first one are worth a report."""
        placing = self.applicant.placing()
        if self.outcome.before is None:
            self.outcome.before = domain_counts(placing.states)
            self.outcome.listed = 0 if self.entry.per_node else placing.listed
        return placing

    def place(self, break_tie: Tiebreaker) -> bool:
        """Whether the next pod found a node."""
        raise NotImplementedError

    @property
    def lacks_some(self) -> bool:
        """Whether some pod of the entry has no node yet."""
        raise NotImplementedError

    def resume(self) -> None:
        """What did not fit may fit now."""
        self.is_waiting = True
        self.outcome.stopped, self.outcome.stuck = None, False

    def conclude(self) -> None:
        """Say how things stand once the queue is done."""
        try:
            placing = self._start()
            self.outcome.after = constraint_reports(placing.states, placing.feasible())
            if self.outcome.stopped is None:
                self._conclude(placing)
        except SchedulingError as error:
            self.outcome.stopped = self.outcome.stopped or str(error)
        self.applicant.forget()

    def _conclude(self, placing: Placing) -> None:
        """Say why the next pod found no node, if one is left."""
        raise NotImplementedError

    def _take(self, choice: Choice) -> None:
        self.applicant.take(choice)
        self.outcome.choices.append(choice)
        self._come_forward()


class _Copies(Waiting):
    def __init__(self, entry: Entry, living: LivingCluster, search: Search | None) -> None:
        super().__init__(entry, living, search)
        self._most = MAX_REPLICAS if entry.count is None else entry.count
        self.is_waiting = self._most > 0

    def place(self, break_tie: Tiebreaker) -> bool:
        try:
            placing = self._start()
            choice = placing.choose(break_tie, self._search)
        except SchedulingError as error:
            self.outcome.stopped, self.is_waiting = str(error), False
            return False
        if choice is None:
            self.outcome.stuck, self.is_waiting = True, False
            return False
        self._take(choice)
        if not self.lacks_some:
            self.is_waiting = False
            self.applicant.forget()
        return True

    @property
    def lacks_some(self) -> bool:
        return len(self.outcome.choices) < self._most

    def _conclude(self, placing: Placing) -> None:
        if self.outcome.stuck:
            unplaced, among = placing.evaluation(), self.entry.candidates
            self.outcome.unplaced = unplaced
            self.outcome.stopped = unplaced.message if among is None else unplaced.message_among(among)


class _Daemons(Waiting):
    """A DaemonSet's pods, each for one node only."""

    def __init__(self, entry: Entry, living: LivingCluster, search: Search | None) -> None:
        super().__init__(entry, living, search)
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
        """Where the controller creates pods, by name."""
        cluster = self._living.cluster
        verdicts = self._start().evaluation().verdicts
        allowed = np.ones(len(cluster), dtype=np.bool_)
        for name in ("NodeAffinity", "TaintToleration"):
            if name in verdicts:
                allowed &= verdicts[name].passes
        targets = np.flatnonzero(allowed)
        targets = targets[cluster.nodes.name_rank[targets].argsort()]
        nodes = [node for node in targets.tolist() if node not in self.entry.running_on]
        self.outcome.wanted = len(nodes)
        return nodes

    def place(self, break_tie: Tiebreaker) -> bool:
        node = self._next
        assert node is not None
        placing = self.applicant.placing()
        if self._search is not None:
            # Its pin leaves one node to look at, which moves the search for everyone.
            self._search.move_on(1, len(placing))
        choice = self._choice(placing, node)
        self._next = next(self._targets, None)
        self.is_waiting = self._next is not None
        if choice is None:
            return False
        self._take(choice)
        return True

    def _choice(self, placing: Placing, node: int) -> Choice | None:
        """The pinned pod's own answer: to hard constraints a pin makes every other node's domain one that is not
        there.
        """
        try:
            if self._counts_domains:
                cluster = self._living.cluster
                pinned = self.entry.plugins.evaluate(cluster, pinned_to(self.applicant.pod, cluster.nodes.names[node]))
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
            first, status = next(iter(self._failed.items()))
            others = f" and {len(self._failed) - 1} more" if len(self._failed) > 1 else ""
            name = self._living.cluster.nodes.names[first]
            self.outcome.stopped = f"no room on {name}{others}: {', '.join(status.reasons)}"


def waiting_for(living: LivingCluster, entries: Iterable[Entry], search: Search | None = None) -> Sequence[Waiting]:
    """What takes the turns of each of ``entries`` in ``living``, in their order."""
    return [(_Daemons if entry.per_node else _Copies)(entry, living, search) for entry in entries]
