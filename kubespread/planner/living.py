"""The one cluster that everyone in a queue sees, and what happened to it, in order."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Codes
from kubespread.scheduler.framework import Prepared
from kubespread.scheduler.on_node import OnNodeAnswers
from kubespread.scheduler.placing import on_node_answers

_FIRST_SIZE = 1024
_KIND, _NODE, _OWNER, _ANSWERS = range(4)


class _Log:
    """Placements in order: the kind of the pod, the node, whose pod it is, and which answers know of it already."""

    def __init__(self) -> None:
        self._rows = np.empty((4, _FIRST_SIZE), dtype=np.int32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, row: tuple[int, int, int, int]) -> None:
        if self._length == self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)
        self._rows[:, self._length] = row
        self._length += 1

    def since(self, mark: int) -> Codes:
        return self._rows[:, mark : self._length]


class SharedAnswers:
    """Answers of plugins that judge nodes by what they hold, for all pods that these plugins cannot tell apart."""

    def __init__(self, number: int, answers: OnNodeAnswers, seen: int) -> None:
        self.number = number
        self.answers = answers
        self.seen = seen
        """How much of the log they know of."""


class LivingCluster:
    """A cluster in which pods are placed one after another, and a log from which everyone catches up."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._coming: list[tuple[Pod, int]] = []
        self._log = _Log()
        self._shared: dict[Hashable, SharedAnswers] = {}

    @property
    def cluster(self) -> Cluster:
        """As it is now."""
        if self._coming:
            self._cluster = self._cluster.after(Change(come=self._coming))
            self._coming = []
        return self._cluster

    @property
    def length(self) -> int:
        """How many pods were placed so far."""
        return len(self._log)

    def add(self, pod: Pod, kind: int, node: int, owner: int, shared: SharedAnswers) -> None:
        """A pod of ``owner`` was placed, which ``shared`` know already."""
        self._coming.append((pod, node))
        if shared.seen == self.length:
            shared.seen += 1
        self._log.add((kind, node, owner, shared.number))

    def others_since(self, mark: int, owner: int) -> Moves:
        """What was placed since ``mark``, but for the pods of ``owner``."""
        rows = self._log.since(mark)
        rows = rows[:, rows[_OWNER] != owner]
        return Moves(rows[_KIND], rows[_NODE], np.ones(rows.shape[1], dtype=np.int32))

    def answers_for(self, prepared: Prepared) -> SharedAnswers:
        """Answers that every pod of the same signature shares, up to date."""
        signature = prepared.on_node_signature
        shared = self._shared.get(signature) if signature is not None else None
        if shared is None:
            shared = SharedAnswers(len(self._shared), on_node_answers(prepared), self.length)
            self._shared[signature if signature is not None else object()] = shared
        self.bring_up_to_date(shared)
        return shared

    def bring_up_to_date(self, shared: SharedAnswers) -> None:
        """Let answers know what pods of other signatures did."""
        if shared.seen == self.length:
            return
        rows = self._log.since(shared.seen)
        touched = rows[_NODE, rows[_ANSWERS] != shared.number]
        if len(touched):
            shared.answers.follow(self.cluster, touched)
        shared.seen = self.length
