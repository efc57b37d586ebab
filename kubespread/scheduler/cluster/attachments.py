"""The attachable volumes that the pods of a cluster use, kept up with its changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.running import NO_PODS
from kubespread.scheduler.cluster.storage_index import Attached, StorageIndex, key_of

if TYPE_CHECKING:
    from kubespread.scheduler.cluster.cluster import Cluster

Attachments = Mapping[int, Mapping[Attached, int]]
"""Per node with attachable volumes, how many of its pods use each; a count may have come down to 0."""

_Move = tuple[int, tuple[Attached, ...], int]
"""A node, the volumes that a pod on it uses, and how many such pods come, or leave where it is negative."""


def attachments(cluster: Cluster) -> Attachments:
    """Of all pods that are on nodes."""
    return cluster.running.per_node(lambda kind: cluster.storage.attached(kind.pod))


def attachments_after(attached: Attachments, storage: StorageIndex, after: Cluster, change: Change) -> Attachments:
    """The same for the cluster ``after`` a change of one with ``attached`` and ``storage``, on the same nodes."""
    own: dict[int, Counter[Attached]] = {}
    for node, volumes, by in _moves(storage, after, change):
        counter = own.setdefault(node, Counter())
        for volume in volumes:
            counter[volume] += by
    if not own:
        return attached
    for node, counter in own.items():
        for volume, users in attached.get(node, {}).items():
            counter[volume] += users
    return {**attached, **own}


def _moves(storage: StorageIndex, after: Cluster, change: Change) -> Iterator[_Move]:
    """Of pods with attachable volumes: who left, who uses a claim that is other than it was, and who came."""
    for pod, node in change.gone:
        if volumes := tuple(storage.attached(pod)):
            yield node, volumes, -1
    if change.storage is not None:
        known = {key_of(claim) for claim in change.storage.claims} & storage.claims.keys()
        for number in {number for key in known for number in after.kinds.using(key)}:
            pod = after.kinds[number].pod
            was, now = tuple(storage.attached(pod)), tuple(after.storage.attached(pod))
            if was != now:
                for node, pods in _staying(after, number, change).items():
                    yield node, was, -pods
                    yield node, now, pods
    for pod, node in change.come:
        if volumes := tuple(after.storage.attached(pod)):
            yield node, volumes, 1


def _staying(after: Cluster, kind: int, change: Change) -> Mapping[int, int]:
    """How many pods of a kind were on each node before the change and still are."""
    there = Counter(after.running.nodes_of_kind.get(kind, NO_PODS).tolist())
    there.subtract(node for pod, node in change.come if after.kinds.number_of(pod) == kind)
    return there
