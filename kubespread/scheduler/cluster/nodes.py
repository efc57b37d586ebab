"""The nodes of a cluster as columns, each built when first asked for and kept by every cluster that has these nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from kubespread.kube.api.core import Node, Taint
from kubespread.scheduler.cluster.amounts import Amounts, allocatable, allowed_pods, columns
from kubespread.scheduler.cluster.labels import Codes, Counts, LabelColumn, Mask
from kubespread.scheduler.cluster.visiting import Order, visiting_order


class Nodes:
    """Nodes in the snapshot's order; a position in this order is what every column is about."""

    def __init__(self, objects: Sequence[Node]) -> None:
        self.objects = tuple(objects)
        self.names = tuple(node.metadata.name for node in objects)
        self.index: Mapping[str, int] = {name: position for position, name in enumerate(self.names)}
        self._labels: dict[str, LabelColumn] = {}

    def __len__(self) -> int:
        return len(self.objects)

    def replacing(self, replaced: Mapping[int, Node]) -> Nodes:
        """The same nodes, some of them as they are now; columns of what did not change are shared."""
        objects = list(self.objects)
        for position, node in replaced.items():
            objects[position] = node
        other = Nodes(objects)
        pairs = [(self.objects[position], node) for position, node in replaced.items()]
        if all(old.metadata.labels == new.metadata.labels for old, new in pairs):
            other._labels = self._labels
            self._hand_on(other, "visiting", "name_rank")
        if all(old.status.allocatable == new.status.allocatable for old, new in pairs):
            self._hand_on(other, "allocatable", "allowed_pods")
        if all(old.status.images == new.status.images for old, new in pairs):
            self._hand_on(other, "images")
        if all(old.spec.taints == new.spec.taints for old, new in pairs):
            self._hand_on(other, "_taints")
        return other

    def _hand_on(self, other: Nodes, *names: str) -> None:
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})

    @cached_property
    def name_rank(self) -> Codes:
        """Each node's place in the order of names."""
        rank = np.empty(len(self), dtype=np.int32)
        rank[sorted(range(len(self)), key=self.names.__getitem__)] = np.arange(len(self), dtype=np.int32)
        return rank

    @cached_property
    def visiting(self) -> Order:
        """Positions in the order in which kube-scheduler goes through the nodes."""
        return visiting_order(self.objects)

    def label(self, key: str) -> LabelColumn:
        """The column of one label key."""
        if key not in self._labels:
            self._labels[key] = LabelColumn(key, self.objects)
        return self._labels[key]

    @cached_property
    def unschedulable(self) -> Mask:
        return np.array([node.spec.unschedulable for node in self.objects], dtype=np.bool_)

    @cached_property
    def _taints(self) -> tuple[Codes, tuple[tuple[Taint, ...], ...]]:
        index: dict[tuple[tuple[str, str, str], ...], int] = {}
        distinct: list[tuple[Taint, ...]] = []
        codes = np.empty(len(self), dtype=np.int32)
        for position, node in enumerate(self.objects):
            key = tuple((taint.key, taint.value, taint.effect) for taint in node.spec.taints)
            if key not in index:
                index[key] = len(distinct)
                distinct.append(tuple(node.spec.taints))
            codes[position] = index[key]
        return codes, tuple(distinct)

    @property
    def taint_lists(self) -> tuple[tuple[Taint, ...], ...]:
        """The distinct taint lists; most nodes share a few."""
        return self._taints[1]

    def per_taint_list(self, answers: Sequence[int]) -> Counts:
        """Spread one answer per distinct taint list over the nodes that have it."""
        return np.array(answers, dtype=np.int64)[self._taints[0]]

    @cached_property
    def allocatable(self) -> Amounts:
        """Per resource name what each node has for pods; a name nobody has is not there."""
        return columns(len(self), range(len(self)), map(allocatable, self.objects))

    @cached_property
    def allowed_pods(self) -> Counts:
        return np.array([allowed_pods(node) for node in self.objects], dtype=np.int64)

    @cached_property
    def images(self) -> Mapping[str, tuple[list[int], int]]:
        """Per image name the nodes that hold it, and its size as the first of them reports it."""
        found: dict[str, tuple[list[int], int]] = {}
        for position, node in enumerate(self.objects):
            for image in node.status.images:
                for name in image.names:
                    holders, _ = found.setdefault(name, ([], image.size_bytes))
                    if position not in holders[-1:]:
                        holders.append(position)
        return found
