"""One queue over one living cluster: the pods of several workloads placed in kube-scheduler's order, each seeing those
before it.

Pods wait by priority, then by time. A workload's pods are created together, so they stand together, workload after
workload in the order given; ``in_turn`` has them created one of each, round and round. A pod that fits nowhere waits,
and is tried again when something has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from kubespread.kube.api.core import Affinity, NodeAffinity, Pod
from kubespread.kube.api.node_terms import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubespread.kube.node_selector import NODE_NAME_FIELD
from kubespread.kube.priority import priority_of
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.planner.explain import constraint_reports
from kubespread.planner.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Choice, Placing, Tiebreaker
from kubespread.scheduler.plugin import SchedulingError, Status

MAX_REPLICAS = 1_000_000
_NOW_AND_THEN = 200


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


@dataclass(slots=True)
class Outcome:
    """What became of one entry."""

    wanted: int | None
    choices: list[Choice] = field(default_factory=list)
    before: Sequence[ConstraintReport] = ()
    """The constraints before the first copy was placed."""
    last: Evaluation | None = None
    """What every plugin says after the last; None when a PreFilter failed."""
    stopped: str | None = None
    """Why the next copy found no node, None when all are placed."""
    stuck: bool = False
    """Whether it found none, as opposed to an error."""


def run(
    cluster: Cluster,
    entries: Sequence[Entry],
    break_tie: Tiebreaker,
    *,
    in_turn: bool = False,
    on_progress: Callable[[int], None] | None = None,
) -> tuple[list[Outcome], Cluster]:
    """Place every entry's copies on ``cluster``; what became of each, in the order given, and the
    cluster that results.
    """
    living = _Living(cluster)
    waiting = [_Daemons(entry, living) if entry.per_node else _Copies(entry, living) for entry in entries]
    placed, stuck = 0, dict[_Waiting, None]()
    for each in _in_order(waiting, in_turn=in_turn):
        if not each.place(break_tie):
            stuck[each] = None
            continue
        placed += 1
        if on_progress is not None and placed % _NOW_AND_THEN == 0:
            on_progress(placed)
    _try_again(stuck, living, break_tie)
    for each in waiting:
        each.conclude()
    return [each.outcome for each in waiting], living.cluster


def _in_order(waiting: Sequence[_Waiting], *, in_turn: bool) -> Iterator[_Waiting]:
    """Whose pod is next, by priority and then by time, until all are placed or stuck."""
    priorities = sorted({priority_of(each.entry.pod) for each in waiting}, reverse=True)
    for priority in priorities:
        group = [each for each in waiting if priority_of(each.entry.pod) == priority]
        if not in_turn:
            for each in group:
                while each.is_waiting:
                    yield each
            continue
        while group := [each for each in group if each.is_waiting]:
            yield from group


def _try_again(stuck: Iterable[_Waiting], living: _Living, break_tie: Tiebreaker) -> None:
    """Pods that found no node are tried again as long as others were placed since."""
    progress = True
    while progress:
        progress = False
        for each in stuck:
            if each.tried_at < living.length:
                each.resume()
                while each.is_waiting:
                    progress |= each.place(break_tie)


class _Living:
    """The cluster that everyone sees, and what happened to it, in order."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._coming: list[tuple[Pod, int]] = []
        self._log: list[tuple[int, int, int]] = []
        self._whose: list[_Waiting] = []

    @property
    def cluster(self) -> Cluster:
        """As it is now."""
        if self._coming:
            self._cluster = self._cluster.after(Change(come=self._coming))
            self._coming = []
        return self._cluster

    @property
    def length(self) -> int:
        return len(self._log)

    def add(self, owner: _Waiting, kind: int, node: int) -> None:
        self._coming.append((owner.entry.pod, node))
        self._log.append((kind, node, 1))
        self._whose.append(owner)

    def others_since(self, mark: int, owner: _Waiting) -> Moves:
        """What others did since ``mark``."""
        since = zip(self._log[mark:], self._whose[mark:], strict=True)
        return Moves.of([move for move, whose in since if whose is not owner])


class _Waiting:
    """One entry while it is placed."""

    def __init__(self, entry: Entry, living: _Living) -> None:
        self.entry = entry
        self.outcome = Outcome(entry.count)
        self._living = living
        self._seen = 0
        self.is_waiting = True
        self.tried_at = -1
        """How long the log was when the entry was tried last."""
        self._placing: Placing | None = None

    @property
    def placing(self) -> Placing:
        """The entry's pod prepared for the cluster as it is now. Raises SchedulingError when a PreFilter fails."""
        if self._placing is None:
            self._placing = Placing(self.entry.plugins, self._living.cluster, self.entry.pod)
            self.outcome.before = constraint_reports(self._placing.evaluation())
        elif moves := self._living.others_since(self._seen, self):
            self._placing.follow(self._living.cluster, Change(), moves)
        self._seen = self._living.length
        return self._placing

    def place(self, break_tie: Tiebreaker) -> bool:
        """Whether the next pod found a node."""
        raise NotImplementedError

    def resume(self) -> None:
        """What did not fit may fit now."""
        self.is_waiting = True
        self.outcome.stopped, self.outcome.stuck = None, False

    def conclude(self) -> None:
        """Say how things stand for the next pod."""
        try:
            self.outcome.last = self.placing.evaluation()
        except SchedulingError as error:
            self.outcome.stopped = self.outcome.stopped or str(error)

    def _take(self, choice: Choice, placing: Placing) -> None:
        placing.place(choice.node)
        self._living.add(self, placing.kind.number, choice.node)
        self._seen += 1
        self.outcome.choices.append(choice)


class _Copies(_Waiting):
    def __init__(self, entry: Entry, living: _Living) -> None:
        super().__init__(entry, living)
        self._most = MAX_REPLICAS if entry.count is None else entry.count
        self.is_waiting = self._most > 0

    def place(self, break_tie: Tiebreaker) -> bool:
        self.tried_at = self._living.length
        try:
            placing = self.placing
            choice = placing.choose(break_tie)
        except SchedulingError as error:
            self.outcome.stopped, self.is_waiting = str(error), False
            return False
        if choice is None:
            self.outcome.stuck, self.is_waiting = True, False
            return False
        self._take(choice, placing)
        self.is_waiting = len(self.outcome.choices) < self._most
        return True

    def conclude(self) -> None:
        super().conclude()
        if len(self.outcome.choices) < self._most and self.outcome.stopped is None and self.outcome.last is not None:
            self.outcome.stopped = self.outcome.last.message


class _Daemons(_Waiting):
    """A DaemonSet's pods, each for one node only."""

    def __init__(self, entry: Entry, living: _Living) -> None:
        super().__init__(entry, living)
        self._failed: dict[int, Status] = {}
        self._counts_domains = any(
            found.when_unsatisfiable == DO_NOT_SCHEDULE for found in entry.pod.spec.topology_spread_constraints
        )
        try:
            self._targets = iter(self._nodes())
        except SchedulingError as error:
            self._targets, self.outcome.stopped, self.is_waiting = iter(()), str(error), False
        self._next = next(self._targets, None)
        self.is_waiting = self.is_waiting and self._next is not None

    def _nodes(self) -> list[int]:
        """Where the controller creates pods, by name."""
        verdicts = self.placing.evaluation().verdicts
        allowed = np.ones(len(self._living.cluster), dtype=np.bool_)
        for name in ("NodeAffinity", "TaintToleration"):
            if name in verdicts:
                allowed &= verdicts[name].passes
        targets = np.flatnonzero(allowed)
        targets = targets[self._living.cluster.nodes.name_rank[targets].argsort()]
        nodes = [int(node) for node in targets if int(node) not in self.entry.running_on]
        self.outcome.wanted = len(nodes)
        return nodes

    def place(self, break_tie: Tiebreaker) -> bool:
        node = self._next
        assert node is not None
        self.tried_at = self._living.length
        placing = self.placing
        choice = self._choice(placing, node)
        self._next = next(self._targets, None)
        self.is_waiting = self._next is not None
        if choice is None:
            return False
        self._take(choice, placing)
        return True

    def _choice(self, placing: Placing, node: int) -> Choice | None:
        """The pinned pod's own answer: among hard constraints a pin makes every other node's domain one that does not
        count.
        """
        try:
            if self._counts_domains:
                pinned = self.entry.plugins.evaluate(
                    self._living.cluster, pinned_to(self.entry.pod, self._living.cluster.nodes.names[node])
                )
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

    def conclude(self) -> None:
        super().conclude()
        if self._failed:
            first, status = next(iter(self._failed.items()))
            others = f" and {len(self._failed) - 1} more" if len(self._failed) > 1 else ""
            self.outcome.stopped = (
                f"no room on {self._living.cluster.nodes.names[first]}{others}: {', '.join(status.reasons)}"
            )


def pinned_to(pod: Pod, node: str) -> Pod:
    """The pod as a DaemonSet's controller creates it for one node: its required node affinity is replaced by the node's
    name.

    Source of the rule: ReplaceDaemonSetPodNodeNameNodeAffinity (pkg/controller/daemon/util).
    """
    only = NodeSelectorRequirement(key=NODE_NAME_FIELD, operator="In", values=[node])
    required = NodeSelector(node_selector_terms=[NodeSelectorTerm(match_fields=[only])])
    affinity = pod.spec.affinity or Affinity()
    own = msgspec.structs.replace(
        affinity.node_affinity or NodeAffinity(), required_during_scheduling_ignored_during_execution=required
    )
    spec = msgspec.structs.replace(pod.spec, affinity=msgspec.structs.replace(affinity, node_affinity=own))
    return msgspec.structs.replace(pod, spec=spec)
