"""The pods that run on a cluster's nodes, and what they take up there. A value: a change makes another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from typing import TypeVar

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.amounts import Amounts
from kubespread.scheduler.cluster.host_ports import HostPort
from kubespread.scheduler.cluster.kinds import KindTable, PodKind
from kubespread.scheduler.cluster.labels import Codes, Counts, Positions
from kubespread.scheduler.integers import wrapped

T = TypeVar("T")

NO_PODS: Codes = np.empty(0, dtype=np.int32)


class PodList:
    """Pods in the order they came, each with the number of its kind and the position of its node.

    Appending is cheap however many there are: what came is linked to what was there, and joined when somebody asks.
    """

    __slots__ = ("_before", "_kind", "_node", "_pods")

    def __init__(self, before: PodList | None, pods: Sequence[Pod], kind: Codes, node: Codes) -> None:
        self._before, self._pods, self._kind, self._node = before, pods, kind, node

    def _join(self) -> None:
        if self._before is None:
            return
        links, link = list[PodList](), self
        while True:
            links.append(link)
            if link._before is None:
                break
            link = link._before
        links.reverse()
        self._pods = tuple(chain.from_iterable(each._pods for each in links))
        self._kind = np.concatenate([each._kind for each in links])
        self._node = np.concatenate([each._node for each in links])
        self._before = None

    @property
    def pods(self) -> Sequence[Pod]:
        self._join()
        return self._pods

    @property
    def kind(self) -> Codes:
        self._join()
        return self._kind

    @property
    def node(self) -> Codes:
        """Where each pod is, whatever its own nodeName says."""
        self._join()
        return self._node


@dataclass(frozen=True, slots=True)
class Taken:
    """What pods take up of each node."""

    pod_count: Counts
    requested: Amounts
    """Per resource name what the pods of each node ask for."""
    non_zero_requested: Amounts
    """The same with the stand-ins that scores count for pods that ask for nothing."""

    @classmethod
    def nothing(cls, nodes: int) -> Taken:
        return cls(np.zeros(nodes, dtype=np.int64), {}, {})

    def moved(self, kinds: KindTable, nodes_of_kind: Mapping[int, Codes], by: int) -> Taken:
        """Once pods of some kinds came to nodes (``by`` 1) or left them (-1); sums wrap as Go's do."""
        pod_count = self.pod_count.copy()
        requested, non_zero_requested = dict(self.requested), dict(self.non_zero_requested)
        fresh: set[int] = set()
        for number, nodes in nodes_of_kind.items():
            np.add.at(pod_count, nodes, by)
            for summed, amounts in zip((requested, non_zero_requested), kinds[number].requests, strict=True):
                for name, amount in amounts.items():
                    column = summed.get(name)
                    if column is None or id(column) not in fresh:
                        column = summed[name] = np.zeros_like(pod_count) if column is None else column.copy()
                        fresh.add(id(column))
                    np.add.at(column, nodes, np.int64(wrapped(by * amount)))
        return Taken(pod_count, requested, non_zero_requested)


class RunningPods:
    """The pods of one cluster that are on nodes."""

    def __init__(self, kinds: KindTable, listed: PodList, taken: Taken, nodes_of_kind: Mapping[int, Codes]) -> None:
        self._kinds = kinds
        self._listed = listed
        self.taken = taken
        self.nodes_of_kind = nodes_of_kind
        """The nodes of each kind's pods, once a pod, for every kind that has any."""
        self._used_ports: Mapping[int, frozenset[HostPort]] | None = None

    @classmethod
    def none(cls, kinds: KindTable, nodes: int) -> RunningPods:
        return cls(kinds, PodList(None, (), NO_PODS, NO_PODS), Taken.nothing(nodes), {})

    def __len__(self) -> int:
        return int(self.taken.pod_count.sum())

    @property
    def pods(self) -> Sequence[Pod]:
        return self._listed.pods

    @property
    def kind(self) -> Codes:
        """The number of each pod's kind."""
        return self._listed.kind

    @property
    def node(self) -> Codes:
        """The position of each pod's node."""
        return self._listed.node

    def plus(self, come: Sequence[tuple[Pod, int]]) -> RunningPods:
        """With these pods too, each on the node of a position."""
        kind = np.fromiter((self._kinds.number_of(pod) for pod, _ in come), dtype=np.int32, count=len(come))
        node = np.fromiter((node for _, node in come), dtype=np.int32, count=len(come))
        listed = PodList(self._listed, [pod for pod, _ in come], kind, node)
        nodes_of_kind = dict(self.nodes_of_kind)
        came = _by_kind(kind, node)
        for number, nodes in came.items():
            there = nodes_of_kind.get(number)
            nodes_of_kind[number] = nodes if there is None else np.concatenate([there, nodes])
        return self._with(listed, self.taken.moved(self._kinds, came, 1), nodes_of_kind, came)

    def minus(self, gone: Sequence[int]) -> RunningPods:
        """Without the pods at these places of the list."""
        keep = np.ones(len(self.kind), dtype=np.bool_)
        keep[list(gone)] = False
        kind, node = self.kind[~keep], self.node[~keep]
        listed = PodList(None, tuple(compress(self.pods, keep.tolist())), self.kind[keep], self.node[keep])
        nodes_of_kind = dict(self.nodes_of_kind)
        left = _by_kind(kind, node)
        for number in left:
            nodes_of_kind[number] = listed.node[listed.kind == number]
            if not len(nodes_of_kind[number]):
                del nodes_of_kind[number]
        return self._with(listed, self.taken.moved(self._kinds, left, -1), nodes_of_kind, left)

    def _with(
        self, listed: PodList, taken: Taken, nodes_of_kind: Mapping[int, Codes], moved: Iterable[int]
    ) -> RunningPods:
        other = RunningPods(self._kinds, listed, taken, nodes_of_kind)
        if not any(self._kinds[number].ports for number in moved):
            other._used_ports = self._used_ports
        return other

    def places_of(self, kinds: Iterable[int]) -> Positions:
        """The places in the list of the pods of some kinds."""
        return np.flatnonzero(np.isin(self.kind, np.fromiter(kinds, dtype=np.int32)))

    @property
    def used_ports(self) -> Mapping[int, frozenset[HostPort]]:
        """Per node with host ports in use, which."""
        if self._used_ports is None:
            used = self.per_node(lambda kind: kind.ports)
            self._used_ports = {node: frozenset(ports) for node, ports in used.items()}
        return self._used_ports

    def per_node(self, parts: Callable[[PodKind], Iterable[T]]) -> dict[int, Counter[T]]:
        """What pods bring to their nodes and how often, looked at once a kind; few kinds bring anything."""
        merged: dict[int, Counter[T]] = {}
        for number, nodes in self.nodes_of_kind.items():
            if brought := tuple(parts(self._kinds[number])):
                for node in nodes.tolist():
                    merged.setdefault(node, Counter()).update(brought)
        return merged


def _by_kind(kind: Codes, node: Codes) -> Mapping[int, Codes]:
    if len(kind) <= 1:
        return dict.fromkeys(kind.tolist(), node)
    order = np.argsort(kind, kind="stable")
    kinds, starts = np.unique(kind[order], return_index=True)
    return dict(zip(kinds.tolist(), np.split(node[order], starts[1:]), strict=True))
