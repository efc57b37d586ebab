"""What can happen to a cluster: pods come and go, nodes come, go or change, claims are bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct, field

from kubespread.kube.api.cluster_objects import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim
from kubespread.kube.api.core import Node, Pod
from kubespread.scheduler.cluster.labels import Codes, Mask


class Moves(Struct, frozen=True):
    """Pods that come to nodes (``by`` 1) or leave them (-1), by kind and by the node's position."""

    kind: Codes
    node: Codes
    by: Codes

    @classmethod
    def of(cls, moves: Sequence[tuple[int, int, int]]) -> Moves:
        """From (kind, node, by)."""
        table = np.array(moves, dtype=np.int32).reshape(-1, 3)
        return cls(table[:, 0], table[:, 1], table[:, 2])

    def __len__(self) -> int:
        return len(self.kind)

    def only(self, chosen: Mask) -> Moves:
        return Moves(self.kind[chosen], self.node[chosen], self.by[chosen])

    def then(self, others: Moves) -> Moves:
        """These, and after them ``others``."""
        return Moves(
            np.concatenate([self.kind, others.kind]),
            np.concatenate([self.node, others.node]),
            np.concatenate([self.by, others.by]),
        )


class StorageChange(Struct, frozen=True):
    """Claims and volumes that are new or have changed, and what drivers report then."""

    claims: Sequence[PersistentVolumeClaim] = ()
    volumes: Sequence[PersistentVolume] = ()
    capacities: Mapping[int, CSIStorageCapacity] = field(default_factory=dict)
    """By their place among the cluster's."""

    def then(self, other: StorageChange) -> StorageChange:
        """This one, and after it ``other``."""
        return StorageChange(
            (*self.claims, *other.claims), (*self.volumes, *other.volumes), {**self.capacities, **other.capacities}
        )


class Change(Struct, frozen=True):
    """One change. Positions are those of the cluster it is applied to."""

    come: Sequence[tuple[Pod, int]] = ()
    """Pods, each with the node it comes to; the pod's own nodeName is not read."""
    gone: Sequence[tuple[Pod, int]] = ()
    """Pods that leave, each with the node it is on. They are the very objects that the cluster holds."""
    replaced: Mapping[int, Node] = field(default_factory=dict)
    """Nodes that have changed: cordoned, tainted, relabeled, resized. Their names stay."""
    added: Sequence[Node] = ()
    removed: frozenset[int] = frozenset()
    """Nodes that are gone, and their pods with them."""
    storage: StorageChange | None = None

    @property
    def touches_nodes(self) -> bool:
        return bool(self.replaced or self.added or self.removed)
