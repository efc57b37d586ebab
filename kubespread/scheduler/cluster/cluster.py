"""A cluster: its nodes, the kinds of its pods, and which pod is on which node. A value; a change makes another one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress
from typing import TypeVar

import numpy as np

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.storage import PersistentVolumeClaim
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.scheduler.cluster.amounts import Amounts
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.host_ports import HostPort
from kubespread.scheduler.cluster.kinds import KindJudgement, KindTable, PodKind
from kubespread.scheduler.cluster.labels import Codes, Counts
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.storage_index import Attached, StorageIndex
from kubespread.scheduler.integers import wrapped

T = TypeVar("T")

_NO_PODS: Codes = np.empty(0, dtype=np.int32)


class Cluster:
    """Nodes in the snapshot's order, and the pods that kube-scheduler would see on them.

    Pods without a node, on an unknown node, Succeeded or Failed are not there; terminating pods are, though spreading
    leaves them out. Pods that wait with a node nominated to them are kept apart.
    """

    def __init__(self, nodes: Nodes, objects: ClusterObjects, kinds: KindTable, nominated: Sequence[Pod] = ()) -> None:
        self.nodes = nodes
        self.objects = objects
        self.kinds = kinds
        self.nominated = tuple(nominated)
        """Pods without a node that have one nominated; those with a priority count on it in the first filter pass."""
        self.pod_kind = self.pod_node = _NO_PODS
        self._pod_parts: tuple[Sequence[Pod], ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[Node], pods: Iterable[Pod], objects: ClusterObjects | None = None) -> Cluster:
        """The columns of a snapshot's objects."""
        columns, waiting, running = Nodes(tuple(nodes)), list[Pod](), list[tuple[Pod, int]]()
        for pod in pods:
            if pod.status.phase in ENDED_PHASES:
                continue
            node = columns.index.get(pod.spec.node_name)
            if node is not None:
                running.append((pod, node))
            elif not pod.spec.node_name and pod.status.nominated_node_name in columns.index:
                waiting.append(pod)
        cluster = cls(columns, objects or ClusterObjects(), KindTable(), waiting)._with_pods(running)
        cluster.read_amounts()
        return cluster

    def read_amounts(self) -> None:
        """Read every quantity, so that one nobody can read is said whatever is asked. Raises SnapshotError."""
        _ = self.nodes.allocatable, self.requested

    def __len__(self) -> int:
        return len(self.nodes)

    def after(self, change: Change) -> Cluster:
        """The cluster once ``change`` has happened; this one is as it was, and what the change does not touch is
        shared.
        """
        if change.added or change.removed:
            return self._with_other_nodes(change)
        other = self
        if change.replaced:
            other = self._with_nodes(self.nodes.replacing(change.replaced))
            self._hand_on(other, "requested", "non_zero_requested", "pod_count", "used_ports", "attached")
        if change.gone:
            other = other._without_pods(change.gone)
        return other._with_pods(change.come) if change.come else other

    def moves(self, change: Change) -> Moves:
        """What ``change`` does to this cluster's pods."""
        leaving = [(int(self.pod_kind[at]), int(self.pod_node[at]), -1) for at in change.gone]
        return Moves.of(leaving + [(self.kinds.number_of(pod), node, 1) for pod, node in change.come])

    def arrivals(self, which: KindJudgement) -> Moves:
        """Every pod of some kinds that is here, as if it came now: what counts changes counts a cluster too."""
        chosen = [(kind, nodes) for kind, nodes in self.nodes_of_kind.items() if which[kind]]
        if not chosen:
            return Moves(_NO_PODS, _NO_PODS, _NO_PODS)
        node = np.concatenate([nodes for _, nodes in chosen])
        kind = np.repeat(np.array([kind for kind, _ in chosen], dtype=np.int32), [len(nodes) for _, nodes in chosen])
        return Moves(kind, node, np.ones(len(node), dtype=np.int32))

    def with_objects(self, objects: ClusterObjects) -> Cluster:
        """The same nodes and pods beside other objects."""
        other = Cluster(self.nodes, objects, self.kinds, self.nominated)
        other.pod_kind, other.pod_node, other._pod_parts = self.pod_kind, self.pod_node, self._pod_parts
        self._hand_on(other, "requested", "non_zero_requested", "pod_count", "used_ports")
        return other

    def _with_nodes(self, nodes: Nodes) -> Cluster:
        other = Cluster(nodes, self.objects, self.kinds, self.nominated)
        other.pod_kind, other.pod_node, other._pod_parts = self.pod_kind, self.pod_node, self._pod_parts
        self._hand_on(other, "storage")
        return other

    def _with_other_nodes(self, change: Change) -> Cluster:
        kept = [at for at in range(len(self)) if at not in change.removed]
        nodes = Nodes([*(change.replaced.get(at, self.nodes.objects[at]) for at in kept), *change.added])
        gone = set(change.gone)
        staying = (
            (pod, self.nodes.names[node])
            for at, (pod, node) in enumerate(zip(self.pods, self.pod_node.tolist(), strict=True))
            if at not in gone and node not in change.removed
        )
        other = Cluster(
            nodes,
            self.objects,
            self.kinds,
            [pod for pod in self.nominated if pod.status.nominated_node_name in nodes.index],
        )
        self._hand_on(other, "storage")
        coming = ((pod, self.nodes.names[node]) for pod, node in change.come)
        return other._with_pods([(pod, nodes.index[name]) for pod, name in chain(staying, coming)])

    def _with_pods(self, come: Sequence[tuple[Pod, int]]) -> Cluster:
        kind = np.fromiter((self.kinds.number_of(pod) for pod, _ in come), dtype=np.int32, count=len(come))
        node = np.fromiter((node for _, node in come), dtype=np.int32, count=len(come))
        other = self._with_nodes(self.nodes)
        other.pod_kind, other.pod_node = np.concatenate([self.pod_kind, kind]), np.concatenate([self.pod_node, node])
        other._pod_parts = (*self._pod_parts, [pod for pod, _ in come])
        self._carry_amounts(other, kind, node, 1)
        return other

    def _without_pods(self, gone: Sequence[int]) -> Cluster:
        keep = np.ones(len(self.pod_kind), dtype=np.bool_)
        keep[list(gone)] = False
        other = self._with_nodes(self.nodes)
        other.pod_kind, other.pod_node = self.pod_kind[keep], self.pod_node[keep]
        other._pod_parts = (tuple(compress(self.pods, keep.tolist())),)
        self._carry_amounts(other, self.pod_kind[~keep], self.pod_node[~keep], -1)
        return other

    def _hand_on(self, other: Cluster, *names: str) -> None:
        other.__dict__.update({name: self.__dict__[name] for name in names if name in self.__dict__})

    def _carry_amounts(self, other: Cluster, kind: Codes, node: Codes, by: int) -> None:
        """What was worked out already, brought up to date instead of anew."""
        if "nodes_of_kind" in self.__dict__:
            other.__dict__["nodes_of_kind"] = _moved(self.nodes_of_kind, kind, other)
        if "pod_count" in self.__dict__:
            other.__dict__["pod_count"] = self.pod_count + by * np.bincount(node, minlength=len(self))
        for place, name in enumerate(("requested", "non_zero_requested")):
            if name in self.__dict__:
                more = _requested(self.kinds, kind, node, len(self), place)
                merged = dict(self.__dict__[name])
                for resource, amounts in more.items():
                    merged[resource] = merged[resource] + by * amounts if resource in merged else by * amounts
                other.__dict__[name] = merged

    @property
    def pods(self) -> Sequence[Pod]:
        """The pods that are on nodes; ``pod_node`` says where, whatever their own nodeName."""
        if len(self._pod_parts) > 1:
            self._pod_parts = (tuple(chain.from_iterable(self._pod_parts)),)
        return self._pod_parts[0] if self._pod_parts else ()

    @cached_property
    def pod_count(self) -> Counts:
        return np.bincount(self.pod_node, minlength=len(self)).astype(np.int64)

    @cached_property
    def requested(self) -> Amounts:
        """Per resource name what the pods of each node ask for."""
        return _requested(self.kinds, self.pod_kind, self.pod_node, len(self), 0)

    @cached_property
    def non_zero_requested(self) -> Amounts:
        """The same with the stand-ins that scores count for pods that ask for nothing."""
        return _requested(self.kinds, self.pod_kind, self.pod_node, len(self), 1)

    @cached_property
    def nodes_of_kind(self) -> Mapping[int, Codes]:
        """The nodes of each kind's pods, once a pod, for every kind that has any."""
        order = np.argsort(self.pod_kind, kind="stable")
        kinds, starts = np.unique(self.pod_kind[order], return_index=True)
        return dict(zip(kinds.tolist(), np.split(self.pod_node[order], starts[1:]), strict=True)) if len(kinds) else {}

    @cached_property
    def used_ports(self) -> Mapping[int, frozenset[HostPort]]:
        """Per node with host ports in use, which."""
        return {node: frozenset(found) for node, found in self._per_node(lambda kind: kind.ports).items()}

    @cached_property
    def attached(self) -> Mapping[int, Counter[Attached]]:
        """Per node with attachable volumes, how many of its pods use each."""
        return self._per_node(lambda kind: self.storage.attached(kind.pod))

    def _per_node(self, parts: Callable[[PodKind], Iterable[T]]) -> dict[int, Counter[T]]:
        """What pods bring to their nodes, looked at once a kind; few kinds bring anything."""
        merged: dict[int, Counter[T]] = {}
        for kind, nodes in self.nodes_of_kind.items():
            if found := tuple(parts(self.kinds[kind])):
                for node in nodes.tolist():
                    merged.setdefault(node, Counter()).update(found)
        return merged

    @property
    def has_claims(self) -> bool:
        """Without a single claim the snapshot did not list them, and nothing can be said about any."""
        return self.objects.knows(PersistentVolumeClaim)

    @cached_property
    def storage(self) -> StorageIndex:
        return StorageIndex(self.objects)

    @cached_property
    def volume_attachments(self) -> Mapping[int, Mapping[str, str]]:
        """Per node, what the attach controller has attached: unique volume -> driver."""
        found: dict[int, dict[str, str]] = {}
        for attachment in self.objects.volume_attachments:
            volume = self.storage.volumes.get(attachment.spec.source.persistent_volume_name)
            node = self.nodes.index.get(attachment.spec.node_name)
            if node is not None and attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
                driver = attachment.spec.attacher
                found.setdefault(node, {})[f"{driver}/{volume.spec.csi.volume_handle}"] = driver
        return found


def _moved(before: Mapping[int, Codes], kind: Codes, now: Cluster) -> dict[int, Codes]:
    """The nodes of each kind's pods, looked up anew for the kinds that moved."""
    after = dict(before)
    for each in np.unique(kind).tolist():
        nodes = now.pod_node[now.pod_kind == each]
        after[each] = nodes
        if not len(nodes):
            del after[each]
    return after


def _requested(kinds: KindTable, kind: Codes, node: Codes, size: int, place: int) -> dict[str, Counts]:
    """Amounts added up per node, each distinct kind looked at once; sums wrap as Go's do."""
    distinct, which = np.unique(kind, return_inverse=True)
    of_kind = [kinds[int(number)].requests[place] for number in distinct]
    summed: dict[str, Counts] = {}
    for name in dict.fromkeys(name for amounts in of_kind for name in amounts):
        each = np.array([wrapped(amounts.get(name, 0)) for amounts in of_kind], dtype=np.int64)
        summed[name] = np.zeros(size, dtype=np.int64)
        np.add.at(summed[name], node, each[which])
    return summed
