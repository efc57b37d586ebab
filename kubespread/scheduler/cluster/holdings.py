"""What some nodes hold, as seen by plugins that judge a node by its own contents.

The nodes are all or some of a cluster's, unchanged or with the same pods added or removed: so the same code serves a
whole evaluation, a further copy of a pod, a single node, and the dry run of a preemption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Set
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from kubespread.scheduler.cluster.amounts import STAND_INS, Amounts
from kubespread.scheduler.cluster.cluster import Cluster, in_use
from kubespread.scheduler.cluster.kinds import HostPort, PodKind
from kubespread.scheduler.cluster.labels import Counts, Mask, Positions
from kubespread.scheduler.integers import wrapped

T = TypeVar("T", bound=np.generic)


class Holdings(Struct, frozen=True):
    """``nodes`` are positions in the cluster, None for all of them; ``more`` came to or left each of them, in this
    order.
    """

    cluster: Cluster
    nodes: Positions | None = None
    more: tuple[tuple[PodKind, int], ...] = ()

    def __len__(self) -> int:
        return len(self.cluster) if self.nodes is None else len(self.nodes)

    def plus(self, kind: PodKind, by: int) -> Holdings:
        """The same nodes, each with ``by`` more pods of one kind."""
        return replace(self, more=(*self.more, (kind, by))) if by else self

    def lacks(self, kind: int) -> bool:
        """Whether the only pod of a kind left."""
        return sum(by for other, by in self.more if other.number == kind) < 0

    def pick(self, column: NDArray[T]) -> NDArray[T]:
        """The part of a column of the whole cluster that is about these nodes."""
        return column if self.nodes is None else column[self.nodes]

    @property
    def allowed_pods(self) -> Counts:
        return self.pick(self.cluster.nodes.allowed_pods)

    @property
    def pod_count(self) -> Counts:
        return self.pick(self.cluster.running.taken.pod_count) + sum(by for _, by in self.more)

    def allocatable(self, name: str) -> Counts:
        return self._of(self.cluster.nodes.allocatable, name)

    def requested(self, name: str) -> Counts:
        more = sum(by * kind.requests[0].get(name, 0) for kind, by in self.more)
        return self._of(self.cluster.running.taken.requested, name) + np.int64(wrapped(more))

    def non_zero_requested(self, name: str) -> Counts:
        """What scoring counts as used: defaults where cpu or memory is not requested, everything else as requested."""
        if name not in STAND_INS:
            return self.requested(name)
        more = sum(by * kind.requests[1].get(name, 0) for kind, by in self.more)
        return self._of(self.cluster.running.taken.non_zero_requested, name) + np.int64(wrapped(more))

    def _of(self, amounts: Amounts, name: str) -> Counts:
        return self.pick(amounts[name]) if name in amounts else np.zeros(len(self), dtype=np.int64)

    def judged_by_ports(self, judge: Callable[[Set[HostPort]], bool]) -> Mask:
        """What ``judge`` says of the host ports in use on each node.

        As in NodeInfo they are a set: a pod that leaves takes its ports along, even if another has them too.
        """
        used = self.cluster.running.used_ports
        answers = np.full(len(self), judge(self._ports_on(frozenset())), dtype=np.bool_)
        for place, node in self.places_of(used):
            answers[place] = judge(self._ports_on(used[node]))
        return answers

    def _ports_on(self, used: frozenset[HostPort]) -> Set[HostPort]:
        for kind, by in self.more:
            used = used | kind.ports if by > 0 else used - kind.ports
        return used

    def attached(self, node: int) -> Mapping[str, str]:
        """The attachable volumes of one node's pods, unique volume -> driver; ``node`` is a position in the cluster."""
        users = Counter(self.cluster.attached.users.get(node, {}))
        for kind, by in self.more:
            for volume in self.cluster.storage.attached(kind.pod):
                users[volume] += by
        return in_use(users)

    def places_of(self, among: Container[int]) -> Iterator[tuple[int, int]]:
        """Each of these nodes that is among ``among``: its place here and its position in the cluster."""
        if self.nodes is None:
            return ((node, node) for node in range(len(self.cluster)) if node in among)
        return ((place, node) for place, node in enumerate(self.nodes.tolist()) if node in among)
