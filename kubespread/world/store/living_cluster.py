"""The one cluster that everyone in a queue sees, and what happened to it, in order."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.change import Change, Moves, StorageChange
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Codes, Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.framework import Framework, Prepared
from kubespread.scheduler.on_node import OnNodeAnswers
from kubespread.scheduler.placing import Choice, Placing, on_node_answers

_FIRST_SIZE = 1024
_KIND, _NODE, _BY, _OWNER, _ANSWERS = range(5)
_NOBODY = -1


class _Log:
    """What happened, in order: the kind of the pod, the node, whether it came (1) or left (-1), who placed it, and
    which answers know of it already.
    """

    def __init__(self) -> None:
        self._rows = np.empty((5, _FIRST_SIZE), dtype=np.int32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, row: tuple[int, int, int, int, int]) -> None:
        if self._length == self._rows.shape[1]:
            self._grow()
        self._rows[:, self._length] = row
        self._length += 1

    def add_all(self, moves: Moves) -> None:
        """What nobody placed."""
        while self._length + len(moves) > self._rows.shape[1]:
            self._grow()
        rows = self._rows[:, self._length : self._length + len(moves)]
        rows[_KIND], rows[_NODE], rows[_BY] = moves.kind, moves.node, moves.by
        rows[_OWNER] = rows[_ANSWERS] = _NOBODY
        self._length += len(moves)

    def _grow(self) -> None:
        self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)

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
    """A cluster whose nodes stay as they are while pods come and go one after another, and a log from which everyone
    catches up.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._coming: list[tuple[Pod, int]] = []
        self._storage: StorageChange | None = None
        """What became of claims and volumes since."""
        self.storage_changes = 0
        """How often claims and volumes were changed so far."""
        self._log = _Log()
        self._shared: dict[Hashable, SharedAnswers] = {}
        self._answers = 0
        self._applicants = 0

    @property
    def cluster(self) -> Cluster:
        """As it is now."""
        if self._coming or self._storage is not None:
            self._cluster = self._cluster.after(Change(come=self._coming, storage=self._storage))
            self._coming, self._storage = [], None
        return self._cluster

    @property
    def nodes(self) -> Nodes:
        """Its nodes, which never change."""
        return self._cluster.nodes

    @property
    def length(self) -> int:
        """How much happened so far."""
        return len(self._log)

    def next_number(self) -> int:
        """What tells one applicant's placements from another's."""
        self._applicants += 1
        return self._applicants

    def add(self, pod: Pod, kind: int, choice: Choice, applicant: int, shared: SharedAnswers) -> None:
        """A pod of ``applicant`` was placed, which ``shared`` know already."""
        self._coming.append((pod, choice.node))
        if shared.seen == self.length:
            shared.seen += 1
        self._log.add((kind, choice.node, 1, applicant, shared.number))

    def change(self, come: Sequence[tuple[Pod, int]] = (), gone: Sequence[tuple[Pod, int]] = ()) -> None:
        """Pods came and went otherwise, each with its node."""
        before, change = self.cluster, Change(come=come, gone=gone)
        self._cluster = before.after(change)
        # Without applicants nobody has anything to catch up with.
        if self._applicants:
            self._log.add_all(before.moves(change))

    def change_storage(self, change: StorageChange) -> None:
        """Claims and volumes are new or have changed."""
        self._storage = change if self._storage is None else self._storage.then(change)
        self.storage_changes += 1

    def others_since(self, mark: int, applicant: int) -> Moves:
        """What happened since ``mark``, except the placements of ``applicant``."""
        rows = self._log.since(mark)
        rows = rows[:, rows[_OWNER] != applicant]
        return Moves(rows[_KIND], rows[_NODE], rows[_BY])

    def answers_for(self, prepared: Prepared) -> SharedAnswers:
        """Answers that every pod of the same signature shares, up to date."""
        signature = prepared.on_node_signature
        shared = self._shared.get(signature) if signature is not None else None
        if shared is None:
            shared = SharedAnswers(self._answers, on_node_answers(prepared), self.length)
            self._answers += 1
            if signature is not None:
                self._shared[signature] = shared
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


class Applicant:
    """A pod that looks for nodes in a living cluster, for itself and for its copies."""

    def __init__(
        self, living: LivingCluster, pod: Pod, plugins: Framework, *, binds: bool = True, candidates: Mask | None = None
    ) -> None:
        """``binds``: claims that wait for the pod are bound once it has a node. ``candidates`` are the nodes that may
        be chosen, None for all of them.
        """
        self.pod, self.plugins, self._binds, self._candidates = pod, plugins, binds, candidates
        self._living = living
        self._number = living.next_number()
        self._seen = 0
        self._storage_seen = 0
        self._current: tuple[Placing, SharedAnswers] | None = None
        self.tried_at = -1
        """How much had happened in the living cluster when the pod was tried last."""

    def placing(self) -> Placing:
        """The pod on the cluster as it is now. Raises SchedulingError when a PreFilter fails."""
        living = self._living
        self.tried_at = living.length
        if self._storage_seen != living.storage_changes and self.pod.spec.has_scheduled_volumes:
            self._current = None
        if self._current is None:
            self._storage_seen = living.storage_changes
            prepared = self.plugins.prepare(living.cluster, self.pod)
            shared = living.answers_for(prepared)
            placing = Placing(prepared, shared.answers, self._candidates)
            self._current = placing, shared
        else:
            placing, shared = self._current
            if self._seen == living.length:
                return placing
            if len(moves := living.others_since(self._seen, self._number)):
                placing.follow(living.cluster, moves)
            living.bring_up_to_date(shared)
        self._seen = living.length
        return placing

    def take(self, choice: Choice, pod: Pod | None = None) -> None:
        """The pod, or ``pod`` that is a copy of it, runs where `placing` just chose."""
        assert self._current is not None
        placing, shared = self._current
        binding = placing.binding(choice.node) if self._binds else None
        placing.place(choice.node)
        self._living.add(pod or self.pod, placing.kind.number, choice, self._number, shared)
        self._seen += 1
        if binding is not None:
            self._living.change_storage(binding)

    @property
    def is_outdated(self) -> bool:
        """Whether something happened since the pod was tried last."""
        return self.tried_at < self._living.length

    def forget(self) -> None:
        """Let go of the columns: of many workloads each would hold on to its own."""
        self._current = None
