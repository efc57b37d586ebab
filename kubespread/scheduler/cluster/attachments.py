"""The attachable volumes that the pods of a cluster use, kept up with its changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.cluster.running import NO_PODS
from kubespread.scheduler.cluster.storage_index import Attached, StorageIndex, key_of

if TYPE_CHECKING:
    from kubespread.scheduler.cluster.cluster import Cluster

_Move = tuple[int, tuple[Attached, ...], int]
"""A node, the volumes that a pod on it uses, and how many such pods come, or leave where it is negative."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """What is attached to the nodes of one cluster. A value: a change of the cluster makes another one."""

    users: Mapping[int, Mapping[Attached, int]]
    """Per node with attachable volumes, how many of its pods use each; a number may have come down to 0."""
    counts: Mapping[str, Counts]
    """Per CSI driver, how many volumes count towards the limit of each node."""

    @classmethod
    def of(cls, cluster: Cluster) -> Attachments:
        users = cluster.running.per_node(lambda kind: cluster.storage.attached(kind.pod))
        counts = _counted(cluster, {}, {node: users.get(node, {}) for node in {*users, *cluster.volume_attachments}})
        return cls(users, counts)

    def after(self, before: StorageIndex, cluster: Cluster, change: Change) -> Attachments:
        """The same for ``cluster``, which came by ``change`` of one with the storage ``before`` and the same nodes."""
        users: dict[int, Counter[Attached]] = {}
        for node, volumes, by in _moves(before, cluster, change):
            if node not in users:
                users[node] = Counter(self.users.get(node, {}))
            for volume in volumes:
                users[node][volume] += by
        return Attachments({**self.users, **users}, _counted(cluster, self.counts, users)) if users else self


def in_use(users: Mapping[Attached, int]) -> dict[str, str]:
    """The volumes that some pod uses, unique volume -> driver."""
    return dict(volume for volume, pods in users.items() if pods > 0)


def per_driver(used: Mapping[str, str], attached: Mapping[str, str]) -> Counter[str]:
    """How many volumes of each driver a node counts: those that pods use, and attachments that no pod explains."""
    count = Counter(used.values())
    count.update(driver for unique, driver in attached.items() if unique not in used)
    return count


def _counted(
    cluster: Cluster, before: Mapping[str, Counts], users: Mapping[int, Mapping[Attached, int]]
) -> dict[str, Counts]:
    """``before`` with some nodes counted anew; only their columns are copied."""
    counts, fresh = dict(before), set[str]()
    for node, used in users.items():
        now = per_driver(in_use(used), cluster.volume_attachments.get(node, {}))
        for driver in {*counts, *now}:
            column = counts.get(driver)
            if column is not None and column[node] == now[driver]:
                continue
            if driver not in fresh:
                column = counts[driver] = np.zeros(len(cluster), np.int64) if column is None else column.copy()
                fresh.add(driver)
            assert column is not None
            column[node] = now[driver]
    return counts


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
