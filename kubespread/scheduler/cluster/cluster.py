"""A cluster: its nodes, the kinds of its pods, and which pod is on which node. A value; a change makes another one.

A change: pods come and go, nodes come, go or change, claims are bound. What some nodes hold, unchanged or with the same
pods added or removed, is one value too (`Holdings`): so the same code serves a whole evaluation, a further copy of a
pod, a single node, and the dry run of a preemption.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import TypeVar

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim, StorageClass, VolumeAttachment
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import controller_of
from kubespread.kube.persistent_volumes import storage_class_name
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.scheduler.cluster.columns import STAND_INS, Amounts, Codes, Counts, Mask, Positions, wrap
from kubespread.scheduler.cluster.kinds import HostPort, KindJudgment, KindNumber, KindTable, PodKind
from kubespread.scheduler.cluster.memo import Memo, Results
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.running import NO_PODS, ClaimHistory, Moves, NodeUsage, RunningPods
from kubespread.scheduler.cluster.storage_index import AttachedVolume, StorageChange, StorageIndex, claim_names, key_of

UNLIMITED = np.iinfo(np.int64).max


_ATTACH_LIMITS = Memo[None, Mapping[str, Counts]]()
_VOLUME_ATTACHMENTS = Memo[None, Mapping[int, Mapping[str, str]]]()


class Cluster:
    """Nodes in the snapshot's order, and the pods that kube-scheduler would see on them.

    Pods without a node, on an unknown node, Succeeded or Failed are left out; terminating pods are included, though
    spreading ignores them. Pods that wait with a nominated node are kept separately.
    """

    def __init__(
        self, nodes: Nodes, objects: ClusterObjects, storage: StorageIndex, kinds: KindTable, running: RunningPods
    ) -> None:
        self.nodes = nodes
        self.objects = objects
        self.storage = storage
        self.kinds = kinds
        self.running = running
        self.results = Results()
        """Results that depend on nodes and objects alone, shared by all clusters with the same ones."""
        self.assumed: dict[str, None] = {}
        """Assumptions made where the snapshot does not say, shared with the clusters that changes make of it."""
        self.claim_history = ClaimHistory.build(objects)
        self.nominated: tuple[Pod, ...] = ()
        """Pods without a node that have a nominated one; the first filter pass counts them there, by priority."""
        self._attachments: Attachments | None = None

    @classmethod
    def build(
        cls,
        nodes: Iterable[Node],
        pods: Iterable[Pod],
        objects: ClusterObjects | None = None,
        assumed: dict[str, None] | None = None,
    ) -> Cluster:
        """Build from a snapshot's objects, sharing ``assumed``; raises SnapshotError for a malformed amount."""
        columns, waiting, running, places = Nodes(tuple(nodes)), list[Pod](), list[Pod](), list[int]()
        for pod in pods:
            if pod.status.phase in ENDED_PHASES:
                continue
            node = columns.index.get(pod.spec.node_name)
            if node is not None:
                running.append(pod)
                places.append(node)
            elif not pod.spec.node_name and pod.status.nominated_node_name in columns.index:
                waiting.append(pod)
        _ = columns.allocatable  # Read now, so that an amount that cannot be parsed is reported for every question.
        objects, kinds = objects or ClusterObjects(), KindTable()
        cluster = cls(
            columns, objects, StorageIndex(objects), kinds, RunningPods.build(kinds, running, places, len(columns))
        )
        cluster.nominated = tuple(waiting)
        if assumed is not None:
            cluster.assumed = assumed
        cluster._assume_no_pods()
        return cluster

    def fork(self, assumed: dict[str, None] | None = None) -> Cluster:
        """Copy for another answer, with its own record of assumptions."""
        kinds = self.kinds.fork()
        other = Cluster(self.nodes, self.objects, self.storage, kinds, self.running.with_kinds(kinds))
        other.nominated = self.nominated
        if assumed is not None:
            other.assumed = assumed
        other._assume_no_pods()
        return other

    def _assume_no_pods(self) -> None:
        if not len(self.running):
            self.assume(self.objects.gap(Pod, "every node counts as empty"))

    def __len__(self) -> int:
        return len(self.nodes)

    def assume(self, assumptions: Iterable[str]) -> None:
        self.assumed.update(dict.fromkeys(assumptions))

    def apply(self, change: ClusterChange, usage: NodeUsage | None = None) -> Cluster:
        """Cluster after ``change``, sharing unchanged parts; ``usage`` is the resulting usage, if known."""
        if change.added_nodes or change.removed_nodes:
            return self._with_other_nodes(change)
        nodes = self.nodes.replacing(change.replaced_nodes) if change.replaced_nodes else self.nodes
        running = self.running
        if change.removed_pods or change.added_pods:
            running = running.change(change.removed_pods, change.added_pods, self.moves(change).kind, usage)
        other = self._with_running(change, nodes, running)
        if nodes is self.nodes:
            other.results = self.results
        if self._attachments is not None:
            other._attachments = self._attachments.apply(self.storage, other, change)
        return other

    def nominating(self, pods: Iterable[Pod]) -> Cluster:
        """Cluster with other pods as nominated."""
        other = self.apply(ClusterChange())
        other.nominated = tuple(pods)
        return other

    def _with_running(self, change: ClusterChange, nodes: Nodes, running: RunningPods) -> Cluster:
        storage = self.storage if change.storage is None else self.storage.apply(change.storage)
        other = Cluster(nodes, self.objects, storage, self.kinds, running)
        other.nominated, other.assumed = self.nominated, self.assumed
        other.claim_history = self._claim_history_after(change)
        return other

    def with_objects(self, objects: ClusterObjects) -> Cluster:
        """Cluster of these nodes and pods among other objects."""
        other = Cluster(self.nodes, objects, StorageIndex(objects), self.kinds, self.running)
        other.nominated, other.assumed = self.nominated, self.assumed
        other.claim_history = self.claim_history.with_objects(objects)
        return other

    def _with_other_nodes(self, change: ClusterChange) -> Cluster:
        removed, replaced = change.removed_nodes, change.replaced_nodes
        remaining = np.array([position for position in range(len(self)) if position not in removed], dtype=np.int32)
        if removed or replaced:
            objects = (replaced.get(position, self.nodes.objects[position]) for position in remaining.tolist())
            nodes = Nodes([*objects, *change.added_nodes])
        else:
            nodes = self.nodes.followed_by(change.added_nodes)
        kind = self.moves(change).kind
        running = self.running.change(change.removed_pods, (), kind[: len(change.removed_pods)])
        running = running.on_other_nodes(len(self), remaining, len(change.added_nodes))
        added = [(pod, nodes.index[self.nodes.names[node]]) for pod, node in change.added_pods]
        running = running.change((), added, kind[len(change.removed_pods) :])
        other = self._with_running(change, nodes, running)
        other.nominated = tuple(pod for pod in self.nominated if pod.status.nominated_node_name in nodes.index)
        return other

    def _claim_history_after(self, change: ClusterChange) -> ClaimHistory:
        history, kinds = self.claim_history, self.kinds
        uses, removed = history.uses_by(change.removed_pods, -1, kinds), change.removed_nodes
        if removed and history.may_have_uses:
            placed = zip(self.running.pods, self.running.node.tolist(), strict=True)
            leaving = {(id(pod), node) for pod, node in change.removed_pods}
            orphaned = ((pod, node) for pod, node in placed if node in removed and (id(pod), node) not in leaving)
            uses += history.uses_by(orphaned, -1, kinds)
        uses += history.uses_by(change.added_pods, 1, kinds)
        return history.add(uses, self.nodes, self.results)

    def moves(self, change: ClusterChange) -> Moves:
        number_of = self.kinds.number_of
        leaving = [(number_of(pod), node, -1) for pod, node in change.removed_pods]
        return Moves.from_tuples([*leaving, *((number_of(pod), node, 1) for pod, node in change.added_pods)])

    def arrivals(self, judgment: KindJudgment) -> Moves:
        """Every pod of the selected kinds as an arrival, from which a counter of changes can start."""
        kinds, nodes = self.places_of(judgment)
        lengths = [len(places) for places in nodes]
        node = np.concatenate([NO_PODS, *nodes])
        return Moves(np.repeat(kinds, lengths), node, np.ones(len(node), dtype=np.int32))

    def places_of(self, judgment: KindJudgment) -> tuple[Codes, list[Codes]]:
        """Selected kinds with pods here, and the node of each of their pods."""
        nodes_of_kind = self.running.nodes_of_kind
        present = [kind for kind in judgment.candidates(nodes_of_kind) if kind in nodes_of_kind]
        kinds = np.array(present, dtype=np.int32)
        kinds = kinds[judgment.select(kinds)]
        return kinds, [nodes_of_kind[kind] for kind in kinds.tolist()]

    @property
    def attachments(self) -> Attachments:
        """Attachable volumes of its pods."""
        if self._attachments is None:
            self._attachments = Attachments.build(self)
        return self._attachments

    @property
    def attach_limits(self) -> Mapping[str, Counts]:
        """Number of volumes that each node can attach, per CSI driver; UNLIMITED if unknown."""
        return _ATTACH_LIMITS.get_or_make(self.results, None, self._attach_limits)

    def _attach_limits(self) -> Mapping[str, Counts]:
        limits: dict[str, Counts] = {}
        for name, counts in self.storage.attach_limits.items():
            node = self.nodes.index.get(name)
            for driver, count in counts.items() if node is not None else ():
                limits.setdefault(driver, np.full(len(self), UNLIMITED, dtype=np.int64))[node] = count
        return limits

    @property
    def misused_claims(self) -> Mapping[int, Mapping[KindNumber, str]]:
        """Per node, kinds of pods with an ephemeral volume's claim that another pod owns, with the message for each."""
        faulty = {number: self.storage.ownership_fault(self.kinds[number].pod) for number in self.kinds.with_ephemeral}
        running_kinds = [number for number, fault in faulty.items() if fault and number in self.running.nodes_of_kind]
        faults: dict[int, dict[KindNumber, str]] = {}
        for place in self.running.places_of(running_kinds).tolist() if running_kinds else ():
            kind = self.running.kind_of(place)
            faults.setdefault(self.running.node.item(place), {})[kind] = faulty[kind] or ""
        return faults

    def knows_claims_of(self, pod: Pod) -> bool:
        """True if the pod's claims are known; if the snapshot did not list claims, only new ones are."""
        return self.objects.knows(PersistentVolumeClaim) or all(
            self.storage.claim(pod, name) is not None for name in claim_names(pod)
        )

    def undecided_claims(self, pod: Pod) -> list[str]:
        """The pod's claims, existing or to be created, with an unlisted class that decides how they are bound."""
        if self.objects.knows(StorageClass):
            return []
        claims = {name: self.storage.claim(pod, name) for name in claim_names(pod)}
        created = {f"{pod.metadata.name}-{volume.name}" for volume in pod.spec.volumes if volume.ephemeral is not None}
        owner = controller_of(pod)
        if owner is not None and owner.kind == "StatefulSet":
            created |= {name for name in claims if name.endswith(f"-{pod.metadata.name}")}
        return [
            name
            for name, claim in claims.items()
            if (owner is not None and name in created if claim is None else self._has_unlisted_class(claim))
        ]

    def _has_unlisted_class(self, claim: PersistentVolumeClaim) -> bool:
        is_static = claim.spec.storage_class_name == ""
        return not (claim.spec.volume_name or is_static or storage_class_name(claim) in self.storage.classes)

    @property
    def volume_attachments(self) -> Mapping[int, Mapping[str, str]]:
        """Per node, the volumes attached by the attach controller: unique volume -> driver."""
        # No pod that is placed changes them: they name volumes that were there.
        return _VOLUME_ATTACHMENTS.get_or_make(self.results, None, self._volume_attachments)

    def _volume_attachments(self) -> Mapping[int, Mapping[str, str]]:
        attached: dict[int, dict[str, str]] = {}
        for attachment in self.objects.get(VolumeAttachment):
            volume = self.storage.volumes.get(attachment.spec.source.persistent_volume_name)
            node = self.nodes.index.get(attachment.spec.node_name)
            if node is not None and attachment.spec.attacher and volume is not None and volume.spec.csi is not None:
                driver = attachment.spec.attacher
                attached.setdefault(node, {})[f"{driver}/{volume.spec.csi.volume_handle}"] = driver
        return attached


_Move = tuple[int, tuple[AttachedVolume, ...], int]
"""A node, the volumes that a pod on it uses, and the number of such pods that come, negative if they leave."""


class Attachments(Struct, frozen=True):
    """Volumes attached to the nodes of one cluster. A value: a change of the cluster makes another one."""

    users: Mapping[int, Mapping[AttachedVolume, int]]
    """Per node, the number of pods that use each attachable volume; it may be 0."""
    counts: Mapping[str, Counts]
    """Number of volumes that count towards the limit of each node, per CSI driver."""

    @classmethod
    def build(cls, cluster: Cluster) -> Attachments:
        users = cluster.running.per_node(lambda kind: cluster.storage.attachable_volumes(kind.pod))
        counts = _recount(cluster, {}, {node: users.get(node, {}) for node in {*users, *cluster.volume_attachments}})
        return cls(users, counts)

    def apply(self, before: StorageIndex, cluster: Cluster, change: ClusterChange) -> Attachments:
        """Attachments in ``cluster``, the result of ``change`` to one with these nodes and the storage ``before``."""
        users: dict[int, Counter[AttachedVolume]] = {}
        for node, volumes, by in _moves(before, cluster, change):
            if node not in users:
                users[node] = Counter(self.users.get(node, {}))
            for volume in volumes:
                users[node][volume] += by
        return Attachments({**self.users, **users}, _recount(cluster, self.counts, users)) if users else self


def in_use(users: Mapping[AttachedVolume, int]) -> dict[str, str]:
    """Volumes that some pod uses, unique volume -> driver."""
    return dict(volume for volume, pods in users.items() if pods > 0)


def per_driver(used: Mapping[str, str], attached: Mapping[str, str]) -> Counter[str]:
    """Number of volumes of each driver on a node: used by pods, or attached though no pod uses them."""
    count = Counter(used.values())
    count.update(driver for unique, driver in attached.items() if unique not in used)
    return count


def _recount(
    cluster: Cluster, before: Mapping[str, Counts], users: Mapping[int, Mapping[AttachedVolume, int]]
) -> dict[str, Counts]:
    """``before`` with some nodes counted again; only their columns are copied."""
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


def _moves(storage: StorageIndex, after: Cluster, change: ClusterChange) -> Iterator[_Move]:
    """Pods with attachable volumes that left, had a claim changed, or came."""
    for pod, node in change.removed_pods:
        if volumes := tuple(storage.attachable_volumes(pod)):
            yield node, volumes, -1
    if change.storage is not None:
        changed = {key_of(claim) for claim in change.storage.claims} & storage.claims.keys()
        for number in {number for key in changed for number in after.kinds.users_of(key)}:
            pod = after.kinds[number].pod
            was, now = tuple(storage.attachable_volumes(pod)), tuple(after.storage.attachable_volumes(pod))
            if was != now:
                for node, pods in _staying(after, number, change).items():
                    yield node, was, -pods
                    yield node, now, pods
    for pod, node in change.added_pods:
        if volumes := tuple(after.storage.attachable_volumes(pod)):
            yield node, volumes, 1


def _staying(after: Cluster, kind: KindNumber, change: ClusterChange) -> Mapping[int, int]:
    """Count the pods of a kind that were on each node before the change and still are."""
    counts = Counter(after.running.nodes_of_kind.get(kind, NO_PODS).tolist())
    counts.subtract(node for pod, node in change.added_pods if after.kinds.number_of(pod) == kind)
    return counts


class ClusterChange(Struct, frozen=True):
    """One change of a cluster; positions are of its nodes before the change."""

    added_pods: Sequence[tuple[Pod, int]] = ()
    """Pods, each with its new node; the pod's own nodeName is not read."""
    removed_pods: Sequence[tuple[Pod, int]] = ()
    """Pods, the very objects of the cluster, each with its node."""
    replaced_nodes: Mapping[int, Node] = field(default_factory=dict)
    """Changed nodes: cordoned, tainted, relabeled, resized; names stay."""
    added_nodes: Sequence[Node] = ()
    removed_nodes: frozenset[int] = frozenset()
    """Nodes that are removed with their pods."""
    storage: StorageChange | None = None


T = TypeVar("T", bound=np.generic)


class Holdings(Struct, frozen=True):
    """Pods and resources of ``nodes`` (None: all), after the pods of ``more`` came to or left each node in order."""

    cluster: Cluster
    nodes: Positions | None = None
    more: tuple[tuple[PodKind, int], ...] = ()
    usage: NodeUsage | None = None
    """Current usage of all nodes, if it differs from the cluster's."""
    sums: tuple[int, Mapping[str, int], Mapping[str, int]] = (0, {}, {})
    """Number of ``more`` and the sums of their requests: a dry run moves all pods of a node one by one."""

    def __len__(self) -> int:
        return len(self.cluster) if self.nodes is None else len(self.nodes)

    def add(self, kind: PodKind, by: int) -> Holdings:
        """Holdings with ``by`` more pods of one kind on each node."""
        if not by:
            return self
        pods, *sums = self.sums
        requested, non_zero_requested = (
            {**summed, **{name: summed.get(name, 0) + by * amount for name, amount in amounts.items()}}
            for summed, amounts in zip(sums, kind.requests, strict=True)
        )
        more = (*self.more, (kind, by))
        return Holdings(self.cluster, self.nodes, more, self.usage, (pods + by, requested, non_zero_requested))

    def lacks(self, kind: KindNumber) -> bool:
        """True if more pods of the kind left than came; used for kinds with one pod."""
        return sum(by for other, by in self.more if other.number == kind) < 0

    def pick(self, column: NDArray[T]) -> NDArray[T]:
        """Entries of these nodes in a column of the whole cluster."""
        return column if self.nodes is None else column[self.nodes]

    @property
    def allowed_pods(self) -> Counts:
        return self.pick(self.cluster.nodes.allowed_pods)

    @property
    def _current_usage(self) -> NodeUsage:
        return self.cluster.running.usage if self.usage is None else self.usage

    @property
    def pod_count(self) -> Counts:
        return self.pick(self._current_usage.pod_count) + self.sums[0]

    def allocatable(self, name: str) -> Counts:
        return self._column(self.cluster.nodes.allocatable, name)

    def requests(self, name: str) -> Counts:
        return self._column(self._current_usage.requested, name) + np.int64(wrap(self.sums[1].get(name, 0)))

    def non_zero_requested(self, name: str) -> Counts:
        """Amounts that scoring counts as used: with defaults for cpu and memory that are not requested."""
        if name not in STAND_INS:
            return self.requests(name)
        return self._column(self._current_usage.non_zero_requested, name) + np.int64(wrap(self.sums[2].get(name, 0)))

    def _column(self, amounts: Amounts, name: str) -> Counts:
        return self.pick(amounts[name]) if name in amounts else np.zeros(len(self), dtype=np.int64)

    def judged_by_ports(self, judge: Callable[[Set[HostPort]], bool]) -> Mask:
        """Apply ``judge`` to the host ports in use on each node.

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

    def attached_volumes(self, node: int) -> Mapping[str, str]:
        """Attachable volumes of the pods on the node at a position, unique volume -> driver."""
        users = Counter(self.cluster.attachments.users.get(node, {}))
        for kind, by in self.more:
            for volume in self.cluster.storage.attachable_volumes(kind.pod):
                users[volume] += by
        return in_use(users)

    def places_of(self, among: Container[int]) -> Iterator[tuple[int, int]]:
        """Yield place and position of each of these nodes that is in ``among``."""
        if self.nodes is None:
            return ((node, node) for node in range(len(self.cluster)) if node in among)
        return ((place, node) for place, node in enumerate(self.nodes.tolist()) if node in among)
