"""The score of VolumeBinding, with the gate StorageCapacityScoring: unless its arguments shape it otherwise, the more
of a volume or of free storage is left over, the better.

Source of the rules: kube-scheduler 1.37, volumebinding/{volume_binding,scorer}.go.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, Mask
from kubespread.scheduler.integers import divide, round_half_away, wrapped
from kubespread.scheduler.node_matching import nowhere
from kubespread.scheduler.plugins.noderesources.strategies import MAX_SHAPE_SCORE, ShapePoint, on_the_line

_FULL = 100
LESS_IS_BETTER = (ShapePoint(0, MAX_SHAPE_SCORE), ShapePoint(_FULL, 0))
"""The line that scores are on without a shape: the free part in percent."""


class StorageUse:
    """What one pod's claims ask for and are offered, per node and storage class, in bytes."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._requested: dict[str, Counts] = {}
        self._offered: dict[str, Counts] = {}
        self._used: dict[str, Mask] = {}

    def bind(self, storage_class: str, nodes: Mask, requested: int, capacity: int) -> None:
        """On ``nodes`` a volume of so much capacity is taken; volumes of one class add up."""
        self._ask(storage_class, nodes, requested)
        self._offered[storage_class][nodes] += wrapped(capacity)

    def provision(self, storage_class: str, nodes: Mask, requested: int, capacity: int) -> None:
        """On ``nodes`` a volume is made where so much is free; what is free is the same for every claim of a class."""
        self._ask(storage_class, nodes, requested)
        self._offered[storage_class][nodes] = wrapped(capacity)

    def _ask(self, storage_class: str, nodes: Mask, requested: int) -> None:
        if storage_class not in self._used:
            self._requested[storage_class] = np.zeros(len(self._cluster), dtype=np.int64)
            self._offered[storage_class] = np.zeros(len(self._cluster), dtype=np.int64)
            self._used[storage_class] = nowhere(self._cluster.nodes)
        self._requested[storage_class][nodes] += wrapped(requested)
        self._used[storage_class] |= nodes

    @property
    def anything(self) -> Mask:
        """Nodes on which something is used."""
        found = nowhere(self._cluster.nodes)
        for nodes in self._used.values():
            found |= nodes
        return found

    def scores(self, shape: Sequence[ShapePoint]) -> Counts:
        """The mean over the classes that a node uses of where its use is on the line, rounded half away from zero; 0
        where it uses none.
        """
        total = np.zeros(len(self._cluster), dtype=np.int64)
        classes = np.zeros(len(self._cluster), dtype=np.int64)
        for storage_class, used in self._used.items():
            requested, offered = self._requested[storage_class], self._offered[storage_class]
            over = (offered == 0) | (requested > offered)
            utilization = np.where(over, _FULL, divide(requested * _FULL, offered))
            total += np.where(used, on_the_line(utilization, shape), 0)
            classes += used
        return round_half_away(total / np.maximum(classes, 1))
