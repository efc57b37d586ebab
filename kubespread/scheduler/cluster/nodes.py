"""The nodes of a cluster as columns, each built on first use and shared by all clusters for which it is the same; and
the order in which kube-scheduler visits nodes.

The heap of scores breaks ties by a field that stays 0 without extenders, so nothing is random: the first of the best
in the heap's pre-order is taken.

Source: pkg/scheduler/backend/cache/node_tree.go, nodeTree, list
Source: pkg/scheduler/schedule_one.go, newSortedNodeScores, PopScore
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Node, Taint
from kubespread.kube.well_known import zone_key
from kubespread.scheduler.cluster.amounts import Amounts, allocatable, allowed_pods, columns
from kubespread.scheduler.cluster.labels import Codes, Counts, LabelColumn, Mask

Order = NDArray[np.intp]


def visiting_order(nodes: Sequence[Node]) -> Order:
    """Positions of ``nodes`` as the scheduler lists them: one of each zone in turn.

    Nodes arrive by name, as in a list; zones are in the order of their first nodes.
    """
    zones: dict[tuple[str, str], list[int]] = {}
    for position in sorted(range(len(nodes)), key=lambda index: nodes[index].metadata.name):
        zones.setdefault(zone_key(nodes[position].metadata.labels), []).append(position)
    rounds = (
        (turn, zone, position) for zone, members in enumerate(zones.values()) for turn, position in enumerate(members)
    )
    return np.array([position for _, _, position in sorted(rounds)], dtype=np.intp)


@lru_cache(maxsize=8)
def heap_preorder(size: int) -> NDArray[np.int64]:
    """A key per position of a heap of ``size`` entries that sorts them as they are met from the root: left before
    right.

    The path to a position is the binary notation of its number from 1 on, without the leading one: pre-order is the
    order of those texts, a prefix first.
    """
    number = np.arange(1, size + 1, dtype=np.int64)
    length = np.floor(np.log2(number)).astype(np.int64)
    depth = int(length[-1]) if size else 0
    return ((number << (depth - length)) << 6) | length


class _Labels:
    """What follows from the labels of nodes."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self._columns: dict[str, LabelColumn] = {}

    def column(self, key: str) -> LabelColumn:
        if key not in self._columns:
            self._columns[key] = LabelColumn(key, self._nodes)
        return self._columns[key]

    @cached_property
    def visiting(self) -> Order:
        return visiting_order(self._nodes)


class _Taints:
    """The distinct taint lists of nodes, and which of them each node has."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes

    @cached_property
    def coded(self) -> tuple[Codes, tuple[tuple[Taint, ...], ...]]:
        index: dict[tuple[tuple[str, str, str], ...], int] = {}
        distinct: list[tuple[Taint, ...]] = []
        codes = np.empty(len(self._nodes), dtype=np.int32)
        for position, node in enumerate(self._nodes):
            key = tuple((taint.key, taint.value, taint.effect) for taint in node.spec.taints)
            if key not in index:
                index[key] = len(distinct)
                distinct.append(tuple(node.spec.taints))
            codes[position] = index[key]
        return codes, tuple(distinct)


class _Capacity:
    """What nodes have for pods."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes

    @cached_property
    def allocatable(self) -> Amounts:
        return columns(len(self._nodes), range(len(self._nodes)), map(allocatable, self._nodes))

    @cached_property
    def allowed_pods(self) -> Counts:
        return np.array([allowed_pods(node) for node in self._nodes], dtype=np.int64)

    def followed_by(self, others: _Capacity) -> _Capacity:
        """The capacity of these nodes and of ``others`` behind them; what is known of these is not read again."""
        both = _Capacity([*self._nodes, *others._nodes])
        # Only the results, so that no long chain of clusters is kept alive.
        if "allocatable" in self.__dict__:
            first, second = self.allocatable, others.allocatable
            nothing = np.zeros(len(self._nodes), np.int64), np.zeros(len(others._nodes), np.int64)
            both.__dict__["allocatable"] = {
                name: np.concatenate([first.get(name, nothing[0]), second.get(name, nothing[1])])
                for name in {**first, **second}
            }
        if "allowed_pods" in self.__dict__:
            both.__dict__["allowed_pods"] = np.concatenate([self.allowed_pods, others.allowed_pods])
        return both


class _Images:
    """Which nodes hold which images."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes

    @cached_property
    def holders(self) -> Mapping[str, tuple[list[int], int]]:
        holders: dict[str, tuple[list[int], int]] = {}
        for position, node in enumerate(self._nodes):
            for image in node.status.images:
                for name in image.names:
                    positions, _ = holders.setdefault(name, ([], image.size_bytes))
                    if position not in positions[-1:]:
                        positions.append(position)
        return holders


class Nodes:
    """Nodes in the snapshot's order; a position in this order is what every column is about."""

    def __init__(self, objects: Sequence[Node]) -> None:
        self.objects = tuple(objects)
        self.names = tuple(node.metadata.name for node in objects)
        self.index: Mapping[str, int] = {name: position for position, name in enumerate(self.names)}
        self._labels = _Labels(self.objects)
        self._taints = _Taints(self.objects)
        self._capacity = _Capacity(self.objects)
        self._images = _Images(self.objects)
        self._visited: tuple[Mask, Codes] = np.empty(0, dtype=np.bool_), np.empty(0, dtype=np.int32)

    def __len__(self) -> int:
        return len(self.objects)

    def replacing(self, replaced: Mapping[int, Node]) -> Nodes:
        """The same nodes, some of them changed; unchanged columns are shared."""
        objects = list(self.objects)
        for position, node in replaced.items():
            objects[position] = node
        other = Nodes(objects)
        pairs = [(self.objects[position], node) for position, node in replaced.items()]
        if all(old.metadata.labels == new.metadata.labels for old, new in pairs):
            other._labels = self._labels
        if all(old.spec.taints == new.spec.taints for old, new in pairs):
            other._taints = self._taints
        if all(old.status.allocatable == new.status.allocatable for old, new in pairs):
            other._capacity = self._capacity
        if all(old.status.images == new.status.images for old, new in pairs):
            other._images = self._images
        return other

    def followed_by(self, added: Sequence[Node]) -> Nodes:
        """The same nodes followed by others."""
        other = Nodes([*self.objects, *added])
        other._capacity = self._capacity.followed_by(_Capacity(added))
        return other

    @cached_property
    def name_rank(self) -> Codes:
        """Each node's place in the order of names."""
        rank = np.empty(len(self), dtype=np.int32)
        rank[sorted(range(len(self)), key=self.names.__getitem__)] = np.arange(len(self), dtype=np.int32)
        return rank

    @property
    def visiting(self) -> Order:
        """Positions in the order in which kube-scheduler goes through the nodes."""
        return self._labels.visiting

    @cached_property
    def visiting_rank(self) -> Order:
        """Each node's place in that order."""
        rank = np.empty(len(self), dtype=np.intp)
        rank[self.visiting] = np.arange(len(self))
        return rank

    def visited_among(self, chosen: Mask) -> Codes:
        """How many of the ``chosen`` nodes have been visited at each place of that order, this one included. The last
        answer is kept: mostly the same nodes fit one pod after another.
        """
        before, visited = self._visited
        if len(before) != len(chosen) or (before != chosen).any():
            before, visited = self._visited = chosen.copy(), chosen[self.visiting].cumsum(dtype=np.int32)
        return visited

    def label(self, key: str) -> LabelColumn:
        """The column of one label key."""
        return self._labels.column(key)

    @cached_property
    def unschedulable(self) -> Mask:
        return np.array([node.spec.unschedulable for node in self.objects], dtype=np.bool_)

    @property
    def taint_lists(self) -> tuple[tuple[Taint, ...], ...]:
        """The distinct taint lists; most nodes share a few."""
        return self._taints.coded[1]

    def per_taint_list(self, answers: Sequence[int]) -> Counts:
        """Spread one answer per distinct taint list over the nodes that have it."""
        return np.array(answers, dtype=np.int64)[self._taints.coded[0]]

    @property
    def allocatable(self) -> Amounts:
        """Per resource name what each node has for pods; names that no node has are missing."""
        return self._capacity.allocatable

    @property
    def allowed_pods(self) -> Counts:
        return self._capacity.allowed_pods

    @property
    def images(self) -> Mapping[str, tuple[list[int], int]]:
        """Per image name the nodes that hold it, and its size as the first of them reports it."""
        return self._images.holders
