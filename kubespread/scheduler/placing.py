"""Copies of one pod placed one after another, each where kube-scheduler would, with counts updated and not recomputed.

A placement changes little: what the node holds, and one domain of each constraint. Plugins that judge a node by what it
holds are asked once for all nodes per number of copies (`State.holding`); plugins that look at domains update their
counts (`State.placed`); all others were asked once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.framework import Evaluation, Framework
from kubespread.scheduler.plugin import CopiesMatter, Extent, SchedulingError, State

Tiebreaker = Callable[[NDArray[np.int64]], int]
"""Picks one of the positions of equally scored nodes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Where the next copy goes: the node's position, its total, and how many nodes share that total."""

    node: int
    total: int
    ties: int


@dataclass(frozen=True, slots=True)
class _Level:
    """What plugins that judge a node by what it holds say, when each node holds one number of copies."""

    rejects: Mask
    points: Counts


class _Scored:
    """One score plugin's weighted points; they are worked out anew only when what they depend on has changed."""

    def __init__(self, state: State, weight: int) -> None:
        self.state, self._weight = state, weight
        self._raw: Counts | None = None
        self._extent: Extent | None = None
        self._points: Counts | None = None

    def of(self, state: State) -> _Scored:
        """The same plugin's points in a fork."""
        return _Scored(state, self._weight)

    def points(self, feasible: Mask) -> Counts | None:
        """None when the plugin skips."""
        if self._raw is None or self.state.copies_matter is CopiesMatter.IN_DOMAINS:
            self._raw = self.state.score(feasible)
            self._extent = None
        if self._raw is None:
            return None
        extent = self.state.extent(self._raw, feasible)
        if self._points is None or extent != self._extent:
            self._extent = extent
            self._points = self.state.normalize(self._raw, extent) * self._weight
        return self._points


class Placing:
    """Copies of ``pod`` on ``cluster``, to which nothing else happens meanwhile. Raises SchedulingError when a PreFilter fails."""

    def __init__(self, framework: Framework, cluster: Cluster, pod: Pod) -> None:
        self._framework = framework
        self._scoring = bool(framework.scores)
        self._by_name = cluster.name_rank
        self.copies: Counts = np.zeros(len(cluster), dtype=np.int64)
        """How many copies each node holds so far."""
        self._prepared = framework.prepare(cluster, pod)
        states = self._prepared.states
        filters = [states[plugin.name] for plugin in framework.filters if plugin.name in states]
        scores = [(states[plugin.name], weight) for plugin, weight in framework.scores if plugin.name in states]
        self._never = self._fixed_rejections(filters)
        self._wide_filters = [state for state in filters if state.copies_matter is CopiesMatter.IN_DOMAINS]
        self._wide = [state for state in states.values() if state.copies_matter is CopiesMatter.IN_DOMAINS]
        self._local_filters = [state for state in filters if state.copies_matter is CopiesMatter.ON_THE_NODE]
        self._local_scores = [(state, weight) for state, weight in scores if state.copies_matter is CopiesMatter.ON_THE_NODE]
        self._scored = [_Scored(state, weight) for state, weight in scores if state.copies_matter is not CopiesMatter.ON_THE_NODE]
        self._levels: list[_Level] = []
        first = self._level(0)
        self._local_rejects, self._local_points = first.rejects.copy(), first.points.copy()

    @property
    def order_matters(self) -> bool:
        """Whether some filter looks at topology domains, so that one placement can bar others for good."""
        return bool(self._wide_filters)

    def has_room(self, copies: int) -> bool:
        """Whether the nodes could hold so many more copies if topology domains did not matter."""
        room, held = 0, 0
        while room < copies and (more := int(np.count_nonzero(~(self._never | self._level(held).rejects)))):
            room += more
            held += 1
        return room >= copies

    def fork(self) -> Placing:
        """The same state of affairs, to go on from in another way; this one is left as it is."""
        fork = copy(self)
        fork.copies = self.copies.copy()
        fork._local_rejects, fork._local_points = self._local_rejects.copy(), self._local_points.copy()
        forked = {id(state): state.fork() for state in self._wide}
        fork._wide = list(forked.values())
        fork._wide_filters = [forked[id(state)] for state in self._wide_filters]
        fork._scored = [scored.of(forked.get(id(scored.state), scored.state)) for scored in self._scored]
        fork._prepared = self._prepared.with_states({name: forked.get(id(state), state) for name, state in self._prepared.states.items()})
        return fork

    def fitting(self) -> NDArray[np.intp]:
        """Positions of the nodes where the next copy fits."""
        if self._prepared.rejection is not None:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(self._feasible())

    def choose(self, break_tie: Tiebreaker | None = None) -> Choice | None:
        """Where kube-scheduler would put the next copy; among equals the smallest name, or as ``break_tie`` says.

        None when no node fits; `evaluation` tells why. Raises SchedulingError when scoring fails.
        """
        if self._prepared.rejection is not None:
            return None
        missing = self._framework.missing
        if missing.filters and (error := self.evaluation().filter_error) is not None:
            raise SchedulingError(error)
        feasible = self._feasible()
        if not feasible.any():
            return None
        total = self._total(feasible)
        best = int(total.max(where=feasible, initial=np.iinfo(np.int64).min))
        if missing.reserve is not None:
            raise SchedulingError(missing.reserve)
        equals = np.flatnonzero((total == best) & feasible)
        node = break_tie(equals) if break_tie is not None else int(equals[self._by_name[equals].argmin()])
        return Choice(node, best, len(equals))

    def place(self, node: int) -> None:
        """One more copy now runs on ``node``."""
        self.copies[node] += 1
        level = self._level(int(self.copies[node]))
        self._local_rejects[node] = level.rejects[node]
        self._local_points[node] = level.points[node]
        for state in self._wide:
            state.placed(node)

    def evaluation(self) -> Evaluation:
        """What every plugin says about the next copy."""
        return self._framework.conclude(self._prepared.holding(self.copies))

    def _fixed_rejections(self, filters: Sequence[State]) -> Mask:
        rejected: Mask = np.full(len(self.copies), bool(self._framework.missing.filters), dtype=np.bool_)
        for listed in self._prepared.listing.values():
            rejected |= ~listed
        for state in filters:
            if state.copies_matter is CopiesMatter.NOWHERE:
                _reject(rejected, state)
        return rejected

    def _feasible(self) -> Mask:
        rejected = self._never | self._local_rejects
        for state in self._wide_filters:
            _reject(rejected, state)
        return ~rejected

    def _total(self, feasible: Mask) -> Counts:
        if not self._scoring:
            return np.ones(len(self.copies), dtype=np.int64)
        total = self._local_points.copy()
        for scored in self._scored:
            try:
                points = scored.points(feasible)
            except SchedulingError:
                # With a single node kube-scheduler does not score, so a failing PreScore goes unnoticed.
                if np.count_nonzero(feasible) > 1:
                    raise
                continue
            if points is not None:
                total += points
        failing = self._framework.missing.scores
        if failing and np.count_nonzero(feasible) > 1:
            raise SchedulingError(next(iter(failing.values())))
        return total

    def _level(self, copies: int) -> _Level:
        while len(self._levels) <= copies:
            self._levels.append(self._judge(len(self._levels)))
        return self._levels[copies]

    def _judge(self, copies: int) -> _Level:
        rejects: Mask = np.zeros(len(self.copies), dtype=np.bool_)
        for state in self._local_filters:
            _reject(rejects, state.holding(copies))
        points: Counts = np.zeros(len(self.copies), dtype=np.int64)
        everywhere = np.ones(len(self.copies), dtype=np.bool_)
        for state, weight in self._local_scores:
            raw = state.holding(copies).score(everywhere)
            if raw is not None:
                points += raw * weight
        return _Level(rejects, points)


def _reject(rejected: Mask, state: State) -> None:
    more = state.rejects()
    if more is not None:
        rejected |= more
