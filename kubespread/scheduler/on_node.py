"""What plugins that judge a node by what it holds say of all nodes, while copies of a pod are placed.

A placement changes what one node holds. Every node is judged at once for each number of further copies, so that a
placement only looks the answer up; nodes that others changed are judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.kinds import PodKind
from kubespread.scheduler.cluster.labels import Codes, Counts, Mask
from kubespread.scheduler.plugin import MAX_NODE_SCORE, Code, OnNode

_MAX_OUTDATED = 1 / 8
"""The part of the nodes from which on judging all of them again is cheaper than one after another."""


@dataclass(slots=True)
class _Level:
    """The answers when each node holds one number of further copies."""

    rejects: NDArray[np.int32]
    """Not 0 where some filter rejects the node."""
    points: Counts
    """The weighted scores."""


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
        self._start(cluster)

    def _start(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._copies: Counts = np.zeros(len(cluster), dtype=np.int64)
        """Copies on each node that ``cluster`` does not hold yet."""
        self._levels = [self._judge(Holdings(cluster))]
        self._is_outdated: Mask = np.zeros(len(cluster), dtype=np.bool_)
        """The nodes that others changed since the levels were worked out."""
        now = self._levels[0]
        self.rejects, self.points = now.rejects.copy(), now.points.copy()

    def place(self, node: int) -> None:
        """One more copy is on ``node``."""
        self._copies[node] += 1
        copies = int(self._copies[node])
        if self._is_outdated[node]:
            level, place = self._judge(Holdings(self._cluster, np.array([node])).plus(self._kind, copies)), 0
        else:
            level, place = self._level(copies), node
        self.rejects[node], self.points[node] = level.rejects[place], level.points[place]

    def follow(self, cluster: Cluster, touched: Codes) -> None:
        """Go on with ``cluster``, which holds all copies so far; pods came to or left the ``touched`` nodes besides."""
        is_changed = self._copies > 0
        is_changed[touched] = True
        changed = np.flatnonzero(is_changed)
        self._is_outdated |= is_changed
        if np.count_nonzero(self._is_outdated) > len(cluster) * _MAX_OUTDATED:
            self._start(cluster)
            return
        # Levels are about the cluster they were worked out for: nodes that nobody touched hold the same in both.
        self._cluster = cluster
        self._copies[changed] = 0
        now = self._judge(Holdings(cluster, changed))
        self.rejects[changed], self.points[changed] = now.rejects, now.points

    def fork(self) -> OnNodeAnswers:
        """The same answers, to go on from in another way."""
        fork = copy(self)
        fork._copies, fork._levels = self._copies.copy(), list(self._levels)
        fork._is_outdated = self._is_outdated.copy()
        fork.rejects, fork.points = self.rejects.copy(), self.points.copy()
        return fork

    def has_room(self, barred: Codes, copies: int) -> bool:
        """Whether the nodes that nothing else bars could hold so many more copies."""
        if self._is_outdated.any():
            self._levels = [self._judge(Holdings(self._cluster))]
            self._is_outdated = np.zeros_like(self._is_outdated)
        room, held = 0, 0
        while room < copies and (more := int(np.count_nonzero((barred | self._level(held).rejects) == 0))):
            room += more
            held += 1
        return room >= copies

    def _level(self, copies: int) -> _Level:
        while len(self._levels) <= copies:
            self._levels.append(self._judge(Holdings(self._cluster).plus(self._kind, len(self._levels))))
        return self._levels[copies]

    def _judge(self, held: Holdings) -> _Level:
        level = _Level(np.zeros(len(held), dtype=np.int32), np.zeros(len(held), dtype=np.int64))
        for state in self._filters:
            if (verdicts := state.judge(held)) is not None:
                level.rejects |= verdicts.which
                self.may_fail |= any(status.code is Code.ERROR for status in verdicts.table)
        for state, weight in self._scores:
            if (raw := state.points(held)) is not None:
                level.points += raw * weight
                self.out_of_range |= bool(((raw < 0) | (raw > MAX_NODE_SCORE)).any())
        return level
