"""Verdicts and scores of plugins that judge a node by what it holds, kept up while copies of a pod are placed.

A placement changes what one node holds. Every node is judged at once for each number of further copies, so that a
placement only looks the answer up; nodes that others changed are judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.kinds import PodKind
from kubespread.scheduler.cluster.labels import Codes, Counts, Mask, Positions
from kubespread.scheduler.plugin import MAX_NODE_SCORE, Code, OnNode

_Answers = tuple[NDArray[np.int32], Counts]
"""Not 0 where some filter rejects a node, and the weighted scores."""


class _Level(Struct, frozen=True):
    """The answers when each node holds one number of further copies."""

    rejects: NDArray[np.int32]
    """Not 0 where some filter rejects the node."""
    points: Counts
    """The weighted scores."""
    is_outdated: Mask
    """The nodes that others changed since."""

    def without(self, changed: Positions) -> _Level:
        """The same, once others changed some nodes."""
        is_outdated = self.is_outdated.copy()
        is_outdated[changed] = True
        return _Level(self.rejects, self.points, is_outdated)

    def updated(self, nodes: Positions, answers: _Answers) -> _Level:
        """With what is true of some nodes now."""
        rejects, points, is_outdated = self.rejects.copy(), self.points.copy(), self.is_outdated.copy()
        rejects[nodes], points[nodes] = answers
        is_outdated[nodes] = False
        return _Level(rejects, points, is_outdated)


class OnNodeAnswers:
    """The answers for one pod, or for all pods that these plugins cannot tell apart."""

    def __init__(
        self, filters: Sequence[OnNode], scores: Sequence[tuple[OnNode, int]], kind: PodKind, cluster: Cluster
    ) -> None:
        """``scores`` come with their weights; ``kind`` is that of a copy."""
        self._filters, self._scores, self._kind = filters, scores, kind
        self.out_of_range = False
        """Whether some score was ever outside 0..100, which ends a cycle whose nodes it is about."""
        self.may_fail = False
        """Whether some filter met an error on a node, which ends a cycle that gets there."""
        self._cluster = cluster
        self._copies: Counts = np.zeros(len(cluster), dtype=np.int64)
        """Copies on each node that ``cluster`` does not hold yet."""
        self._levels: list[_Level] = []
        self._unjudged: list[int] = []
        """The nodes that copies came to since the last evaluation: often others change them too before the next one."""
        now = self._level(0)
        self._rejects, self._points = now.rejects.copy(), now.points.copy()

    @property
    def rejects(self) -> NDArray[np.int32]:
        """Not 0 where some filter rejects the next copy."""
        self._judge_copies()
        return self._rejects

    @property
    def points(self) -> Counts:
        """The weighted scores of the next copy."""
        self._judge_copies()
        return self._points

    def place(self, node: int) -> None:
        """One more copy is on ``node``."""
        self._copies[node] += 1
        self._unjudged.append(node)

    def _judge_copies(self) -> None:
        for node in self._unjudged:
            copies = int(self._copies[node])
            level = self._levels[copies] if copies < len(self._levels) else self._level(copies)
            if level.is_outdated[node]:
                level = self._level(copies)
            self._rejects[node], self._points[node] = level.rejects[node], level.points[node]
        self._unjudged.clear()

    def follow(self, cluster: Cluster, touched: Codes) -> None:
        """Go on with ``cluster``, which holds all copies so far; pods came to or left the ``touched`` nodes besides."""
        is_changed = self._copies > 0
        is_changed[touched] = True
        changed = np.flatnonzero(is_changed)
        self._cluster = cluster
        self._copies[changed] = 0
        self._unjudged.clear()
        # Untouched nodes hold the same in both clusters.
        self._levels = [level.without(changed) for level in self._levels]
        now = self._level(0)
        self._rejects[changed], self._points[changed] = now.rejects[changed], now.points[changed]

    def fork(self) -> OnNodeAnswers:
        """The same answers, to go on from in another way."""
        fork = copy(self)
        fork._copies, fork._levels = self._copies.copy(), list(self._levels)
        fork._rejects, fork._points = self._rejects.copy(), self._points.copy()
        fork._unjudged = list(self._unjudged)
        return fork

    def has_room(self, barred: Codes, copies: int) -> bool:
        """Whether the nodes that nothing else rules out could hold this many more copies."""
        room, held = 0, 0
        while room < copies and (more := int(np.count_nonzero((barred | self._level(held).rejects) == 0))):
            room += more
            held += 1
        return room >= copies

    def room(self, barred: Codes, copies: int) -> Counts:
        """How many more copies, ``copies`` at most, each node that nothing else bars could hold."""
        room = np.zeros(len(self._cluster), dtype=np.int64)
        for held in range(copies):
            has_more = (barred | self._level(held).rejects) == 0
            if not has_more.any():
                break
            room += has_more
        return room

    def _level(self, copies: int) -> _Level:
        """Brings everything up to date: all changed nodes are judged at once, as one takes as long as many."""
        while len(self._levels) <= copies:
            rejects, points = self._judge(Holdings(self._cluster).plus(self._kind, len(self._levels)))
            self._levels.append(_Level(rejects, points, np.zeros(len(rejects), dtype=np.bool_)))
        level = self._levels[copies]
        if len(outdated := np.flatnonzero(level.is_outdated)):
            answers = self._judge(Holdings(self._cluster, outdated).plus(self._kind, copies))
            level = self._levels[copies] = level.updated(outdated, answers)
        return level

    def _judge(self, held: Holdings) -> _Answers:
        rejects, points = np.zeros(len(held), dtype=np.int32), np.zeros(len(held), dtype=np.int64)
        for state in self._filters:
            if (verdicts := state.judge(held)) is not None:
                rejects |= verdicts.rows
                self.may_fail |= any(status.code is Code.ERROR for status in verdicts.table)
        for state, weight in self._scores:
            if (raw := state.points(held)) is not None:
                points += raw * weight
                self.out_of_range |= bool(((raw < 0) | (raw > MAX_NODE_SCORE)).any())
        return rejects, points
