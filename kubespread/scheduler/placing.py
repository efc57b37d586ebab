"""Copies of one pod placed one after another, each where kube-scheduler would, with counts updated and not recomputed.

A placement changes little: what the node holds, and one domain of each constraint. Plugins that judge a node by what it
holds are asked once for all nodes per number of copies; plugins that count over nodes move their counts; all others
were asked once. What else happens to the cluster meanwhile is followed in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.labels import Counts, Mask, Positions
from kubespread.scheduler.cluster.visiting import heap_preorder
from kubespread.scheduler.evaluation import Evaluation
from kubespread.scheduler.framework import DryRun, Framework
from kubespread.scheduler.plugin import MAX_NODE_SCORE, Code, Counted, Extent, Fixed, OnNode, SchedulingError

Tiebreaker = Callable[[Cluster, Mask, Positions], int]
"""Picks one of the positions of equally scored nodes; it is also told which nodes fit at all."""


def smallest_name(cluster: Cluster, _feasible: Mask, equals: Positions) -> int:
    """The one whose name comes first."""
    return int(equals[cluster.nodes.name_rank[equals].argmin()])


def first_in_heap(cluster: Cluster, feasible: Mask, equals: Positions) -> int:
    """The one kube-scheduler takes: the first met in its heap of the feasible nodes, which it lists zone by zone in
    turn.
    """
    visiting = cluster.nodes.visiting
    fitting = feasible[visiting]
    place = np.empty(len(visiting), dtype=np.intp)
    place[visiting] = np.cumsum(fitting) - 1
    key = heap_preorder(int(np.count_nonzero(fitting)))
    return int(equals[key[place[equals]].argmin()])


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the next copy goes: the node's position, its total, and how many nodes share that total."""

    node: int
    total: int
    ties: int


@dataclass(slots=True)
class _Level:
    """What plugins that judge a node by what it holds say, when each node holds one number of further copies."""

    rejects: NDArray[np.int32]
    points: Counts
    invalid: Mask | None
    """Nodes whose score is outside 0..100, which ends the cycle if they fit; None where there are none."""


class _Scored:
    """One score plugin's weighted points; they are worked out anew only when what they depend on has changed."""

    def __init__(self, state: Fixed | Counted, weight: int) -> None:
        self.state, self._weight = state, weight
        self._raw: Counts | None = None
        self._extent: Extent | None = None
        self._points: Counts | None = None

    def of(self, state: Fixed | Counted) -> _Scored:
        """The same plugin's points in a fork."""
        return _Scored(state, self._weight)

    def points(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        """None when the plugin skips."""
        if self._raw is None or isinstance(self.state, Counted):
            self._raw = self.state.raw_scores(cluster, feasible)
            self._extent = None
        if self._raw is None:
            return None
        extent = self.state.extent(self._raw, feasible)
        if self._points is None or extent != self._extent:
            self._extent = extent
            self._points = self.state.normalize(self._raw, extent) * self._weight
        return self._points


class Placing:
    """Copies of ``pod`` on ``cluster``. Raises SchedulingError when a PreFilter fails."""

    def __init__(self, framework: Framework, cluster: Cluster, pod: Pod) -> None:
        self._prepared = framework.prepare(cluster, pod)
        self.kind = cluster.kinds[cluster.kinds.number_of(pod)]
        """What the copies are to everyone else."""
        self.copies: Counts = np.zeros(len(cluster), dtype=np.int64)
        """How many copies each node got so far."""
        self._sort_states()
        self._never = self._fixed_rejections()
        self._start_levels()

    def _sort_states(self) -> None:
        framework, states = self._prepared.framework, self._prepared.states
        filters = [states[plugin.name] for plugin in framework.filters if plugin.name in states]
        scores = [(states[plugin.name], weight) for plugin, weight in framework.scores if plugin.name in states]
        self._fixed_filters = [state for state in filters if isinstance(state, Fixed)]
        self._counted_filters = [state for state in filters if isinstance(state, Counted)]
        self._counted = [state for state in states.values() if isinstance(state, Counted)]
        self._on_node_filters = [state for state in filters if isinstance(state, OnNode)]
        self._on_node_scores = [(state, weight) for state, weight in scores if isinstance(state, OnNode)]
        self._scored = [_Scored(state, weight) for state, weight in scores if isinstance(state, Fixed | Counted)]

    def _fixed_rejections(self) -> NDArray[np.int32]:
        rejected = np.full(len(self.copies), bool(self._prepared.framework.missing.filters), dtype=np.int32)
        for listed in self._prepared.listing.values():
            rejected |= ~listed
        self._may_fail = False
        for state in self._fixed_filters:
            verdicts = state.verdicts(self._prepared.cluster)
            if verdicts is not None:
                rejected |= verdicts.which
                self._may_fail |= any(status.code is Code.ERROR for status in verdicts.table)
        return rejected

    def _start_levels(self) -> None:
        """What nodes hold is taken from the cluster as it is now; copies are counted from here on."""
        self._since: Counts = np.zeros(len(self.copies), dtype=np.int64)
        self._levels = [self._judge(Holdings(self._prepared.cluster))]
        first = self._levels[0]
        self._now = _Level(first.rejects.copy(), first.points.copy(), first.invalid)

    @property
    def order_matters(self) -> bool:
        """Whether some filter looks beyond the node, so that one placement can bar others for good."""
        return bool(self._counted_filters)

    def has_room(self, copies: int) -> bool:
        """Whether the nodes could hold so many more copies if topology domains did not matter."""
        room, held = 0, 0
        while room < copies and (more := int(np.count_nonzero((self._never | self._level(held).rejects) == 0))):
            room += more
            held += 1
        return room >= copies

    def fork(self) -> Placing:
        """The same state of affairs, to go on from in another way; this one is left as it is."""
        fork = copy(self)
        fork._prepared = self._prepared.fork()
        fork._sort_states()
        fork.copies, fork._since = self.copies.copy(), self._since.copy()
        fork._now = _Level(self._now.rejects.copy(), self._now.points.copy(), self._now.invalid)
        fork._levels = list(self._levels)
        return fork

    def fitting(self) -> Positions:
        """Positions of the nodes where the next copy fits."""
        if self._prepared.rejection is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self._feasible())

    def choose(self, break_tie: Tiebreaker = smallest_name) -> Choice | None:
        """Where kube-scheduler would put the next copy; None when no node fits, and `evaluation` tells why.

        Raises SchedulingError when scoring fails.
        """
        if self._prepared.rejection is not None:
            return None
        self._fail_while_filtering()
        feasible = self._feasible()
        if not feasible.any():
            return None
        total = self._total(feasible)
        cluster = self._prepared.cluster
        nominee = cluster.nodes.index.get(self._prepared.pod.status.nominated_node_name)
        if nominee is not None and feasible[nominee]:
            return Choice(nominee, int(total[nominee]), 1)
        best = int(total.max(where=feasible, initial=np.iinfo(np.int64).min))
        if (reserve := self._prepared.framework.missing.reserve) is not None:
            raise SchedulingError(reserve)
        equals = np.flatnonzero((total == best) & feasible)
        node = int(equals[0]) if len(equals) == 1 else break_tie(cluster, feasible, equals)
        return Choice(node, best, len(equals))

    def _fail_while_filtering(self) -> None:
        """Raise the error that some filter plugin ends the cycle in. Few profiles and few pods have any that could."""
        if (self._prepared.framework.missing.filters or self._may_fail) and (
            error := self.evaluation().filter_error
        ) is not None:
            raise SchedulingError(error)

    def choose_on(self, node: int) -> Choice | None:
        """The same for a copy that is meant for one node."""
        if self._prepared.rejection is not None:
            return None
        self._fail_while_filtering()
        feasible = self._feasible()
        if not feasible[node]:
            return None
        if (reserve := self._prepared.framework.missing.reserve) is not None:
            raise SchedulingError(reserve)
        return Choice(node, int(self._total(feasible)[node]), 1)

    def place(self, node: int) -> None:
        """One more copy now runs on ``node``."""
        self.copies[node] += 1
        self._since[node] += 1
        level = self._level(int(self._since[node]))
        self._now.rejects[node] = level.rejects[node]
        self._now.points[node] = level.points[node]
        self._now.invalid = level.invalid if self._now.invalid is None else self._now.invalid
        for state in self._counted:
            state.move_one(self.kind.number, node, 1)

    def follow(self, cluster: Cluster, change: Change, moves: Moves) -> None:
        """Go on with ``cluster``, to which ``change`` happened besides the copies placed here, which it holds too."""
        if change.touches_nodes:
            other = Placing(self._prepared.framework, cluster, self._prepared.pod)
            self.__dict__.update(other.__dict__)
            return
        self._prepared = copy(self._prepared)
        self._prepared.cluster = cluster
        for state in self._counted:
            state.move(moves)
        changed = np.union1d(moves.node, np.flatnonzero(self._since)).astype(np.intp)
        again = self._judge(Holdings(cluster, changed))
        first = self._levels[0]
        if again.invalid is not None or first.invalid is not None:
            self._start_levels()
            return
        # Forks share the level as it was.
        first = _Level(first.rejects.copy(), first.points.copy(), None)
        first.rejects[changed], first.points[changed] = again.rejects, again.points
        self._levels = [first]
        self._since[changed] = 0
        self._now.rejects[changed], self._now.points[changed] = again.rejects, again.points

    def evaluation(self) -> Evaluation:
        """What every plugin says about the next copy."""
        prepared = copy(self._prepared)
        nodes = np.flatnonzero(self._since)
        come = [(prepared.pod, int(node)) for node in nodes for _ in range(int(self._since[node]))]
        prepared.cluster = prepared.cluster.after(Change(come=come))
        return prepared.evaluation()

    def _feasible(self) -> Mask:
        rejected = self._never | self._now.rejects
        for state in self._counted_filters:
            verdicts = state.filter()
            if verdicts is not None:
                rejected |= verdicts.which
        feasible: Mask = rejected == 0
        for node, kinds in self._prepared.nominated.items():
            if feasible[node]:
                with DryRun(self._prepared, node, [(self.kind, int(self._since[node]))]) as dry_run:
                    for kind in kinds:
                        dry_run.move(kind, 1)
                    status = dry_run.first_rejection(plugin.name for plugin in self._prepared.framework.filters)
                    feasible[node] = status.code is Code.SUCCESS
        return feasible

    def _total(self, feasible: Mask) -> Counts:
        if not self._prepared.framework.scores:
            return np.ones(len(self.copies), dtype=np.int64)
        if self._now.invalid is not None and (error := self.evaluation().error):
            raise SchedulingError(error)
        total = self._now.points.copy()
        for scored in self._scored:
            try:
                points = scored.points(self._prepared.cluster, feasible)
            except SchedulingError:
                # With a single node kube-scheduler does not score, so a failing PreScore goes unnoticed.
                if np.count_nonzero(feasible) > 1:
                    raise
                continue
            if points is not None:
                total += points
        failing = self._prepared.framework.missing.scores
        if failing and np.count_nonzero(feasible) > 1:
            raise SchedulingError(next(iter(failing.values())))
        return total

    def _level(self, copies: int) -> _Level:
        while len(self._levels) <= copies:
            held = Holdings(self._prepared.cluster).plus(self.kind, len(self._levels))
            self._levels.append(self._judge(held))
        return self._levels[copies]

    def _judge(self, held: Holdings) -> _Level:
        rejects = np.zeros(len(held), dtype=np.int32)
        for state in self._on_node_filters:
            verdicts = state.judge(held)
            if verdicts is not None:
                rejects |= verdicts.which
        points: Counts = np.zeros(len(held), dtype=np.int64)
        invalid: Mask = np.zeros(len(held), dtype=np.bool_)
        for state, weight in self._on_node_scores:
            raw = state.points(held)
            if raw is not None:
                points += raw * weight
                invalid |= (raw < 0) | (raw > MAX_NODE_SCORE)
        return _Level(rejects, points, invalid if invalid.any() else None)
