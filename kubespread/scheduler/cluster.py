"""The cluster as columns: every node and pod is a position in arrays, built once and asked many times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from itertools import compress

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubespread.kube.cluster_objects import ClusterObjects
from kubespread.kube.objects import Node, Pod, Taint
from kubespread.kube.selector import Requirement, Selector
from kubespread.kube.storage import PersistentVolumeClaim
from kubespread.kube.volumes import Volume
from kubespread.scheduler.affinity_terms import PodTerms, existing_terms
from kubespread.scheduler.host_ports import HostPort, host_ports
from kubespread.scheduler.resources import ResourceColumns
from kubespread.scheduler.storage import StorageIndex

Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]
Codes = NDArray[np.int32]

ABSENT = -1
_TERMINAL_PHASES = ("Succeeded", "Failed")


class LabelColumn:
    """One label key over all nodes: ``codes[node]`` indexes ``values``, or is ABSENT."""

    def __init__(self, key: str, nodes: Sequence[Node]) -> None:
        index: dict[str, int] = {}
        codes = np.full(len(nodes), ABSENT, dtype=np.int32)
        for position, node in enumerate(nodes):
            value = node.metadata.labels.get(key)
            if value is not None:
                codes[position] = index.setdefault(value, len(index))
        self.codes: Codes = codes
        self.index: Mapping[str, int] = index
        self.values: tuple[str, ...] = tuple(index)

    @property
    def present(self) -> Mask:
        present: Mask = self.codes != ABSENT
        return present

    def admits(self, requirement: Requirement) -> Mask:
        """Which nodes satisfy ``requirement``, judged once per distinct value."""
        # The last entry answers for nodes without the label, which ABSENT = -1 indexes.
        answers = [requirement.admits(value) for value in self.values] + [requirement.admits(None)]
        return np.array(answers, dtype=np.bool_)[self.codes]

    def one_of(self, values: frozenset[str]) -> Mask:
        """Which nodes have one of ``values``."""
        return self.admits(Requirement("", "In", tuple(values)))


class Cluster:
    """Nodes in the snapshot's order, and the pods that kube-scheduler would see on them.

    Pods without a node, on an unknown node, Succeeded or Failed are not there. Terminating pods are: only spreading
    leaves them out.
    """

    def __init__(self, nodes: Sequence[Node], pods: Sequence[Pod], objects: ClusterObjects | None = None) -> None:
        self.nodes = tuple(nodes)
        self.names = tuple(node.metadata.name for node in nodes)
        self.node_index: Mapping[str, int] = {name: position for position, name in enumerate(self.names)}
        self.pods = tuple(pod for pod in pods if pod.spec.node_name in self.node_index and pod.status.phase not in _TERMINAL_PHASES)
        self.objects = objects or ClusterObjects()
        self._removed: tuple[Pod, ...] = ()
        self._labels: dict[str, LabelColumn] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    def with_pods(self, pod: Pod, nodes: Iterable[int]) -> Cluster:
        """The same cluster with a copy of ``pod`` on each of ``nodes``, given by position."""
        return self.with_others(self.copies(pod, nodes))

    def copies(self, pod: Pod, nodes: Iterable[int]) -> list[Pod]:
        """A copy of ``pod`` for each of ``nodes``, as it is once it runs there."""
        made = []
        for node in nodes:
            spec = copy(pod.spec)
            spec.node_name = self.names[node]
            made.append(Pod(metadata=pod.metadata, spec=spec, status=pod.status))
        return made

    def with_others(self, pods: Iterable[Pod]) -> Cluster:
        """The same cluster with more pods, which are last."""
        return Cluster(self.nodes, (*self.pods, *pods), self.objects)

    def without_pods(self, pods: Iterable[Pod]) -> Cluster:
        """The same cluster without some of its pods."""
        gone = set(map(id, pods))
        return Cluster(self.nodes, [pod for pod in self.pods if id(pod) not in gone], self.objects)

    def without(self, removed: Collection[int]) -> Cluster:
        """The same cluster with some pods, given by position, taken away as a preemption dry run does; this one is untouched."""
        keep = np.ones(len(self.pods), dtype=np.bool_)
        keep[list(removed)] = False
        gone = tuple(self.pods[at] for at in removed)
        fork = Cluster.__new__(Cluster)
        fork.nodes, fork.names, fork.node_index, fork.objects, fork._labels = (
            self.nodes,
            self.names,
            self.node_index,
            self.objects,
            self._labels,
        )
        fork.pods = tuple(compress(self.pods, keep.tolist()))
        fork._removed = gone
        codes, distinct = self._label_sets
        # What depends on nodes alone, or is narrowed by a mask, need not be worked out again.
        fork.__dict__ |= {
            "unschedulable": self.unschedulable,
            "_taints": self._taints,
            "pod_node": self.pod_node[keep],
            "_label_sets": (codes[keep], distinct),
            "_spreadable": self._spreadable,
            "resources": self.resources.without(gone, self.pod_node[~keep]),
        }
        return fork

    @cached_property
    def name_rank(self) -> Codes:
        """Each node's place in the order of names, which breaks ties."""
        rank = np.empty(len(self), dtype=np.int32)
        rank[sorted(range(len(self)), key=self.names.__getitem__)] = np.arange(len(self), dtype=np.int32)
        return rank

    def label(self, key: str) -> LabelColumn:
        """The column of one label key, built when first asked for."""
        if key not in self._labels:
            self._labels[key] = LabelColumn(key, self.nodes)
        return self._labels[key]

    @cached_property
    def unschedulable(self) -> Mask:
        return np.array([node.spec.unschedulable for node in self.nodes], dtype=np.bool_)

    @cached_property
    def _taints(self) -> tuple[Codes, tuple[tuple[Taint, ...], ...]]:
        index: dict[tuple[tuple[str, str, str], ...], int] = {}
        distinct: list[tuple[Taint, ...]] = []
        codes = np.empty(len(self), dtype=np.int32)
        for position, node in enumerate(self.nodes):
            key = tuple((taint.key, taint.value, taint.effect) for taint in node.spec.taints)
            if key not in index:
                index[key] = len(distinct)
                distinct.append(tuple(node.spec.taints))
            codes[position] = index[key]
        return codes, tuple(distinct)

    @property
    def taint_lists(self) -> tuple[tuple[Taint, ...], ...]:
        """The distinct taint lists of the cluster; most nodes share a few."""
        return self._taints[1]

    def per_taint_list(self, answers: Sequence[int]) -> Counts:
        """Spread one answer per distinct taint list over the nodes that have it."""
        return np.array(answers, dtype=np.int64)[self._taints[0]]

    @cached_property
    def pod_node(self) -> Codes:
        return np.fromiter((self.node_index[pod.spec.node_name] for pod in self.pods), dtype=np.int32, count=len(self.pods))

    @cached_property
    def _label_sets(self) -> tuple[Codes, tuple[tuple[str, Mapping[str, str]], ...]]:
        index: dict[tuple[str, frozenset[tuple[str, str]]], int] = {}
        distinct: list[tuple[str, Mapping[str, str]]] = []
        codes = np.empty(len(self.pods), dtype=np.int32)
        for position, pod in enumerate(self.pods):
            meta = pod.metadata
            key = (meta.namespace, frozenset(meta.labels.items()))
            if key not in index:
                index[key] = len(distinct)
                distinct.append((meta.namespace, meta.labels))
            codes[position] = index[key]
        return codes, tuple(distinct)

    @cached_property
    def _spreadable(self) -> tuple[Codes, Codes]:
        """Node and label set of every pod that spreading counts: those that are not being deleted."""
        alive = np.array([pod.metadata.deletion_timestamp is None for pod in self.pods], dtype=np.bool_)
        return self.pod_node[alive], self._label_sets[0][alive]

    def count_matching(self, namespace: str, selector: Selector) -> Counts:
        """Per node, the pods of ``namespace`` that ``selector`` matches and that are not terminating."""
        pod_node, pod_labels = self._spreadable
        return self._count(pod_node, pod_labels, lambda owner, labels: owner == namespace and selector.matches(labels))

    def count_removed(self, namespace: str, selector: Selector) -> Counts:
        """Per node, the pods a dry run took away that `count_matching` still counts, and terminating ones it never counted."""
        matching = [
            self.node_index[pod.spec.node_name]
            for pod in self._removed
            if pod.metadata.namespace == namespace and selector.matches(pod.metadata.labels)
        ]
        return np.bincount(np.array(matching, dtype=np.int64), minlength=len(self)).astype(np.int64)

    def count_pods(self, judge: Callable[[str, Mapping[str, str]], bool]) -> Counts:
        """Per node, the pods whose namespace and labels ``judge`` accepts, terminating ones too."""
        return self._count(self.pod_node, self._label_sets[0], judge)

    def _count(self, pod_node: Codes, pod_labels: Codes, judge: Callable[[str, Mapping[str, str]], bool]) -> Counts:
        answers = [judge(namespace, labels) for namespace, labels in self._label_sets[1]]
        accepted = np.array(answers, dtype=np.bool_)[pod_labels]
        return np.bincount(pod_node[accepted], minlength=len(self)).astype(np.int64)

    @cached_property
    def affinity_groups(self) -> Sequence[tuple[PodTerms, Counts]]:
        """Every distinct set of pod affinity terms in the cluster, and per node how many pods have it."""
        groups: dict[tuple[str, bytes], tuple[PodTerms, list[int]]] = {}
        for position, pod in zip(self.pod_node.tolist(), self.pods, strict=True):
            affinity = pod.spec.affinity
            if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
                continue
            key = (pod.metadata.namespace, msgspec.json.encode((affinity.pod_affinity, affinity.pod_anti_affinity)))
            if key not in groups:
                groups[key] = (existing_terms(pod), [])
            groups[key][1].append(position)
        return [(terms, np.bincount(nodes, minlength=len(self)).astype(np.int64)) for terms, nodes in groups.values()]

    @cached_property
    def images(self) -> Mapping[str, tuple[list[int], int]]:
        """Per image name the nodes that hold it, and its size as the first of them reports it."""
        found: dict[str, tuple[list[int], int]] = {}
        for position, node in enumerate(self.nodes):
            for image in node.status.images:
                for name in image.names:
                    holders, _ = found.setdefault(name, ([], image.size_bytes))
                    if position not in holders[-1:]:
                        holders.append(position)
        return found

    @cached_property
    def host_ports(self) -> Mapping[HostPort, list[int]]:
        """Per host port in use, the nodes where it is."""
        used: dict[HostPort, list[int]] = {}
        for pod in self.pods:
            for port in host_ports(pod):
                used.setdefault(port, []).append(self.node_index[pod.spec.node_name])
        return used

    @property
    def has_claims(self) -> bool:
        """Without a single claim the snapshot did not list them, and nothing can be said about any."""
        return self.objects.knows(PersistentVolumeClaim)

    @cached_property
    def storage(self) -> StorageIndex:
        return StorageIndex(self.objects)

    @cached_property
    def claims_in_use(self) -> frozenset[tuple[str, str]]:
        """Namespace and name of every claim that a pod here uses."""
        return frozenset(
            (pod.metadata.namespace, volume.persistent_volume_claim.claim_name)
            for pod in self.pods
            for volume in pod.spec.volumes
            if volume.persistent_volume_claim is not None
        )

    @cached_property
    def inline_volumes(self) -> Sequence[tuple[int, Volume]]:
        """Every volume of a pod that is neither a claim nor made for the pod, and its node."""
        return [
            (self.node_index[pod.spec.node_name], volume)
            for pod in self.pods
            for volume in pod.spec.volumes
            if volume.persistent_volume_claim is None and volume.ephemeral is None
        ]

    @cached_property
    def attached_volumes(self) -> Mapping[int, dict[str, str]]:
        """Per node, the attachable volumes of its pods: unique volume -> driver."""
        found: dict[int, dict[str, str]] = {}
        for pod in self.pods:
            if pod.spec.volumes:
                found.setdefault(self.node_index[pod.spec.node_name], {}).update(self.storage.attached(pod))
        return found

    @cached_property
    def volume_attachments(self) -> Mapping[int, dict[str, str]]:
        """Per node, what the attach controller has attached: unique volume -> driver."""
        found: dict[int, dict[str, str]] = {}
        for attachment in self.objects.volume_attachments:
            volume = self.storage.volumes.get(attachment.spec.source.persistent_volume_name)
            node = self.node_index.get(attachment.spec.node_name)
            if node is not None and attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
                driver = attachment.spec.attacher
                found.setdefault(node, {})[f"{driver}/{volume.spec.csi.volume_handle}"] = driver
        return found

    @cached_property
    def resources(self) -> ResourceColumns:
        return ResourceColumns(self.nodes, self.pods, self.pod_node)
