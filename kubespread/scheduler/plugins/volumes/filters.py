"""The volume plugins that only filter.

VolumeRestrictions: disks that cannot be shared, and claims that only one pod may use. NodeVolumeLimits: how many
volumes of each CSI driver a node can attach, and whether it has the driver at all, by the rules of 1.37. VolumeZone: a
volume labeled with zones and regions is used only there.

Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, PreFilter, Filter, isVolumeConflict,
    satisfyReadWriteOncePod
Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, PreFilter, Filter, getVolumeLimits,
    checkCSIDriverOnNode
Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go, PreFilter, Filter, getPVbyPod, translateToGALabel
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np
from msgspec import Struct

from kubespread.kube.api.cluster_objects import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    VolumeAttachment,
)
from kubespread.kube.api.core import Pod, Volume
from kubespread.kube.persistent_volumes import WAIT_FOR_FIRST_CONSUMER, is_for_one_pod, storage_class_name
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE
from kubespread.scheduler.causes import (
    Causes,
    ClaimInUseDetail,
    DiskDetail,
    VolumeLimitDetail,
    VolumeZoneDetail,
    name_of,
    per_node,
)
from kubespread.scheduler.cluster.cluster import Cluster, Holdings, per_driver
from kubespread.scheduler.cluster.columns import Counts, Mask, Positions
from kubespread.scheduler.cluster.kinds import KindJudgment, KindNumber, PodKind
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.cluster.storage_index import claim_names
from kubespread.scheduler.plugin import (
    JUDGES,
    SKIP,
    Code,
    CountingState,
    FixedState,
    OnNodeState,
    Specification,
    State,
    Status,
    Verdicts,
)
from kubespread.scheduler.plugins.volumes.matching import VolumePlugin

NO_ZONE = Status(Code.UNRESOLVABLE, ("node(s) had no available volume zone",))
_GENERAL = {BETA_ZONE: ZONE, BETA_REGION: REGION}
TOPOLOGY_LABELS = (*_GENERAL, *_GENERAL.values())


class _RejectedError(Exception):
    pass


class VolumeZone(VolumePlugin, frozen=True):
    name: ClassVar[str] = "VolumeZone"

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        if not cluster.knows_claims_of(pod):
            return SKIP
        try:
            required = [
                _Topology(claim, volume.metadata.name, key, values)
                for claim, volume in _bound_volumes(cluster, pod)
                for key, values in _topologies(volume)
            ]
        except _RejectedError as error:
            return Status(Code.UNRESOLVABLE, (str(error),))
        return VolumeZoneState(cluster, required) if required else SKIP


class _Topology(Struct, frozen=True):
    """A zone or region label of one claim's volume, with the values it admits."""

    claim: str
    """``namespace/name``."""
    volume: str
    key: str
    values: tuple[str, ...]


def _bound_volumes(cluster: Cluster, pod: Pod) -> Iterator[tuple[str, PersistentVolume]]:
    """The claims by ``namespace/name``, each with its volume."""
    undecided = cluster.undecided_claims(pod)
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is None or volume.persistent_volume_claim.claim_name in undecided:
            continue
        name = volume.persistent_volume_claim.claim_name
        if not name:
            raise _RejectedError("PersistentVolumeClaim had no name")
        claim = cluster.storage.claim(pod, name)
        if claim is None:
            raise _RejectedError(f'persistentvolumeclaim "{name}" not found')
        if claim.spec.volume_name:
            if claim.spec.volume_name not in cluster.storage.volumes:
                raise _RejectedError(f'persistentvolume "{claim.spec.volume_name}" not found')
            yield f"{pod.metadata.namespace}/{name}", cluster.storage.volumes[claim.spec.volume_name]
        else:
            _check_unbound(cluster, claim)


def _check_unbound(cluster: Cluster, claim: PersistentVolumeClaim) -> None:
    """Refuse an unbound claim unless it waits for its first pod."""
    name = storage_class_name(claim)
    if not name:
        raise _RejectedError("PersistentVolumeClaim had no pv name and storageClass name")
    if name not in cluster.storage.classes:
        raise _RejectedError(f'storageclass.storage.k8s.io "{name}" not found')
    if cluster.storage.classes[name].volume_binding_mode != WAIT_FOR_FIRST_CONSUMER:
        raise _RejectedError("PersistentVolume had no name")


def _topologies(volume: PersistentVolume) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The zone and region labels with the values they admit; a label with an empty part is ignored."""
    for key in TOPOLOGY_LABELS:
        parts = [part.strip() for part in volume.metadata.labels.get(key, "").split("__")]
        if all(parts):
            yield key, tuple(parts)


class VolumeZoneState(Struct, FixedState, dict=True):
    cluster: Cluster
    required: list[_Topology]

    def filter(self) -> Verdicts:
        """Pass nodes without topology labels; a beta label of the volume also admits the node's general label."""
        labeled = np.zeros(len(self.cluster), dtype=np.bool_)
        for key in TOPOLOGY_LABELS:
            labeled |= self.cluster.nodes.label(key).present
        admitted = np.ones(len(self.cluster), dtype=np.bool_)
        for required in self.required:
            admitted &= self._admits(required)
        return Verdicts.rejecting(labeled & ~admitted, NO_ZONE)

    def _admits(self, required: _Topology) -> Mask:
        own = self.cluster.nodes.label(required.key)
        values = frozenset(required.values)
        admitted = own.one_of(values)
        if required.key in _GENERAL:
            admitted |= ~own.present & self.cluster.nodes.label(_GENERAL[required.key]).one_of(values)
        return admitted

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        return per_node(
            len(nodes),
            (
                (place, self._cause(required, nodes.item(place)))
                for required in self.required
                for place in np.flatnonzero(~self._admits(required)[nodes]).tolist()
            ),
        )

    def _cause(self, required: _Topology, node: int) -> VolumeZoneDetail:
        labels = self.cluster.nodes.objects[node].metadata.labels
        actual = labels.get(required.key, labels.get(_GENERAL.get(required.key, required.key)))
        return VolumeZoneDetail(required.claim, required.volume, required.key, required.values, actual)


VOLUME_ZONE = Specification(name=VolumeZone.name, points=JUDGES, make=lambda setting: VolumeZone())


EXCEEDED = Status(Code.UNSCHEDULABLE, ("node(s) exceed max volume count",))


class NodeVolumeLimits(VolumePlugin, frozen=True):
    name: ClassVar[str] = "NodeVolumeLimits"

    requires_drivers: bool = False
    """With the gate VolumeLimitScaling drivers may have to be installed on a node before pods go there."""

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        yield from super().gaps(cluster, pod)
        if added := dict(cluster.storage.attachable_volumes(pod)):
            yield from cluster.objects.gap(CSINode, "how many volumes a node can attach is not evaluated")
            csi_drivers = (driver for node in cluster.storage.csi_nodes.values() for driver in node.spec.drivers)
            limits = [
                limit.count for driver in csi_drivers if (limit := driver.allocatable) and limit.count is not None
            ]
            # Volumes attached without a pod are other ones; if all volumes fit on one node, no limit is reached.
            if limits and len(cluster.storage.volumes) + len(added) > min(limits):
                consequence = "only volumes of pods count towards the limits of nodes"
                yield from cluster.objects.gap(VolumeAttachment, consequence)
            # Few drivers require it: a gap only if listing the drivers was refused.
            if self.requires_drivers and CSIDriver.__name__ in cluster.objects.unread:
                yield from cluster.objects.gap(CSIDriver, "nodes are taken to need no driver installed")
            if (lacking := self._lacking(cluster, pod)) and not cluster.objects.knows(CSINode):
                drivers = ", ".join(driver for driver, _ in lacking)
                yield from cluster.objects.gap(CSINode, f"every node counts as without the CSI driver {drivers}")

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        lacking = [nodes for _, nodes in self._lacking(cluster, pod)]
        if lacking and (np.sum(lacking, axis=0) > 1).any():
            yield (
                "NodeVolumeLimits: of several CSI drivers that a node lacks kube-scheduler names one at random, here "
                "the first by name"
            )

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        claims = claim_names(pod) if cluster.knows_claims_of(pod) else []
        undecided = cluster.undecided_claims(pod)
        absent = (name for name in claims if cluster.storage.claim(pod, name) is None)
        missing = next((name for name in absent if name not in undecided), None)
        added = dict(cluster.storage.attachable_volumes(pod))
        names_driver = cluster.storage.names_driver(pod)
        if not (names_driver or missing):
            return SKIP
        return NodeVolumeLimitsState(added, _unknown_claim(pod, missing), self._lacking(cluster, pod), names_driver)

    def _lacking(self, cluster: Cluster, pod: Pod) -> Sequence[tuple[str, Mask]]:
        """Drivers of the pod's volumes that a node must have installed, each with the nodes that lack it."""
        drivers = cluster.objects.get(CSIDriver)
        asking = {driver.metadata.name for driver in drivers if driver.spec.prevent_pod_scheduling_if_missing}
        if not (self.requires_drivers and asking):
            return ()
        csi_nodes = [cluster.storage.csi_nodes.get(name) for name in cluster.nodes.names]
        attached, plain = (
            {driver for _, driver in cluster.storage.attachable_volumes(pod, translates=translates)}
            for translates in (True, False)
        )

        def lacks(driver: str, csi_node: CSINode | None) -> bool:
            if csi_node is None:
                return driver in plain
            return all(entry.name != driver for entry in csi_node.spec.drivers)

        return [
            (driver, np.array([lacks(driver, csi_node) for csi_node in csi_nodes], dtype=np.bool_))
            for driver in sorted(attached & asking)
        ]


def _unknown_claim(pod: Pod, name: str | None) -> Status | None:
    if name is None:
        return None
    claim = f"{pod.metadata.namespace}/{name}"
    return Status(Code.UNRESOLVABLE, (f'looking up PVC {claim}: persistentvolumeclaim "{name}" not found',))


class NodeVolumeLimitsState(Struct, OnNodeState, dict=True):
    added: Mapping[str, str]
    unknown: Status | None
    lacking: Sequence[tuple[str, Mask]] = ()
    names_driver: bool = True
    """True if the volumes of a node's pods are checked even if none of the pod's own counts."""

    def filter(self, holdings: Holdings) -> Verdicts:
        if self.unknown is not None:
            return Verdicts.rejecting(np.ones(len(holdings), dtype=np.bool_), self.unknown)
        rows = np.zeros(len(holdings), dtype=np.int32)
        limits = holdings.cluster.storage.attach_limits
        for place, node in self._suspects(holdings):
            rows[place] = any(self._exceeded_limits(holdings, node, limits[holdings.cluster.nodes.names[node]]))
        table = [EXCEEDED]
        # A driver that is not there is found out before anything is counted.
        for driver, nodes in reversed(self.lacking):
            table.append(Status(Code.UNSCHEDULABLE, (f"{driver} CSI driver is not installed on the node",)))
            rows[holdings.pick(nodes)] = len(table)
        return self._with_errors(holdings, Verdicts(rows, tuple(table)))

    def _suspects(self, holdings: Holdings) -> Iterator[tuple[int, int]]:
        """Place and position of nodes that may exceed a limit; it depends on the volumes already attached."""
        cluster, suspects = holdings.cluster, np.zeros(len(holdings), dtype=np.bool_)
        brought = {volume for kind, _ in holdings.more for volume, _ in cluster.storage.attachable_volumes(kind.pod)}
        if brought >= self.added.keys() and all(by > 0 for _, by in holdings.more):
            return iter(())
        for driver, added in Counter(self.added.values()).items():
            if driver in cluster.attach_limits:
                limit = holdings.pick(cluster.attach_limits[driver])
                count = cluster.attachments.counts.get(driver)
                most = added + len(brought) + (0 if count is None else holdings.pick(count))
                suspects |= most > limit
        places = np.flatnonzero(suspects)
        nodes = places if holdings.nodes is None else holdings.nodes[places]
        return zip(places.tolist(), nodes.tolist(), strict=True)

    def _with_errors(self, holdings: Holdings, verdicts: Verdicts) -> Verdicts:
        """Add errors on nodes with limits where a pod's ephemeral volume has another pod's claim."""
        misused = holdings.cluster.misused_claims if self.names_driver else {}
        names = holdings.cluster.nodes.names
        for place, node in holdings.places_of(misused):
            faults = [fault for kind, fault in misused[node].items() if not holdings.lacks(kind)]
            if faults and names[node] in holdings.cluster.storage.attach_limits:
                error = f'running "{NodeVolumeLimits.name}" filter plugin: {faults[0]}'
                verdicts = verdicts.with_status(place, Status(Code.ERROR, (error,)))
        return verdicts

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        holdings, limits = Holdings(cluster, nodes), cluster.storage.attach_limits
        if self.unknown is not None:
            return super().causes(cluster, nodes)
        names = cluster.nodes.names
        lacks = np.zeros(len(cluster), dtype=np.bool_)
        for _, without in self.lacking:
            lacks |= without
        return [
            () if lacks[node] else tuple(self._exceeded_limits(holdings, node, limits.get(names[node], {})))
            for node in nodes.tolist()
        ]

    def _exceeded_limits(self, holdings: Holdings, node: int, limits: Mapping[str, int]) -> Iterator[VolumeLimitDetail]:
        """The drivers that would have to attach too many volumes.

        A volume that is attached already costs nothing; drivers without a limit are unlimited.
        """
        used = holdings.attached_volumes(node)
        # The candidate's own volume may be among the attachments that no pod explains.
        count = per_driver(used, holdings.cluster.volume_attachments.get(node, {}))
        new = Counter(driver for unique, driver in self.added.items() if unique not in used)
        for driver, added in new.items():
            if driver in limits and count[driver] + added > limits[driver]:
                yield VolumeLimitDetail(driver, count[driver], added, limits[driver])


NODE_VOLUME_LIMITS = Specification(
    name=NodeVolumeLimits.name,
    points=JUDGES,
    make=lambda setting: NodeVolumeLimits(setting.version.has("VolumeLimitScaling")),
)


NO_DISK = Status(Code.UNSCHEDULABLE, ("node(s) had no available disk",))
IN_USE = Status(
    Code.UNSCHEDULABLE,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
        "another pod",
    ),
)


class VolumeRestrictions(VolumePlugin, frozen=True):
    name: ClassVar[str] = "VolumeRestrictions"

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        exclusive, undecided = set(), cluster.undecided_claims(pod)
        for volume in pod.spec.volumes if cluster.knows_claims_of(pod) else ():
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = cluster.storage.claim(pod, name)
            if claim is None and name not in undecided:
                return Status(Code.UNRESOLVABLE, (f'persistentvolumeclaim "{name}" not found',))
            if claim is not None and is_for_one_pod(claim):
                exclusive.add((pod.metadata.namespace, name))
        disks = [
            volume
            for volume in pod.spec.volumes
            if volume.gce_persistent_disk or volume.aws_elastic_block_store or volume.iscsi or volume.rbd
        ]
        return VolumeRestrictionsState(cluster, disks, frozenset(exclusive)) if disks or exclusive else SKIP


class VolumeRestrictionsState(CountingState):
    """State with the ``exclusive`` claims, by namespace and name, that one pod may use in the whole cluster."""

    _copied = ("_busy", "_users")

    def __init__(self, cluster: Cluster, disks: Sequence[Volume], exclusive: frozenset[tuple[str, str]]) -> None:
        self._kinds = cluster.kinds
        self._disks = disks
        self._exclusive = exclusive
        self._names = frozenset(name for _, name in exclusive)
        self._holds_disk = KindJudgment(cluster.kinds, lambda kind: any(_shared_disks(disks, kind)))
        self._uses_claim = KindJudgment(cluster.kinds, lambda kind: not exclusive.isdisjoint(kind.claims))
        self._watches_disks = bool(disks)
        self._busy: Counts = np.zeros(len(cluster), dtype=np.int64)
        """Number of pods on each node that use one of the disks exclusively."""
        self._users: Counter[tuple[str, str]] = Counter()
        """Number of volumes that use each of the claims."""
        self._pretended = 0
        """Volumes added by dry runs: kube-scheduler counts claims in use, and then every volume that comes or goes."""
        self.move(cluster.arrivals(KindJudgment(cluster.kinds, lambda kind: bool(kind.inline_volumes or kind.claims))))

    def move(self, moves: Moves) -> None:
        if self._watches_disks:
            chosen = self._holds_disk.select(moves.kind)
            np.add.at(self._busy, moves.node[chosen], moves.by[chosen])
        using = moves.select(self._uses_claim.select(moves.kind))
        for kind, by in zip(using.kind.tolist(), using.by.tolist(), strict=True):
            for claim in self._exclusive.intersection(self._kinds[kind].claims):
                self._users[claim] += by

    def pretend(self, kind: KindNumber, node: int, by: int) -> None:
        """Count a pod by the names of claims without their namespaces, as a dry run does."""
        if self._watches_disks and self._holds_disk[kind]:
            self._busy[node] += by
        self._pretended += by * sum(name in self._names for _, name in self._kinds[kind].claims)

    def filter(self, nodes: Positions | None = None) -> Verdicts | None:
        in_use = sum(users > 0 for users in self._users.values()) + self._pretended > 0
        busy = (self._busy if nodes is None else self._busy[nodes]) > 0
        return Verdicts(np.where(busy, 1, 2 if in_use else 0).astype(np.int32), (NO_DISK, IN_USE))

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """Disks in use on a node; without any, claims in use anywhere."""
        claims = tuple(self._claims_in_use(cluster))
        disks = per_node(len(nodes), self._disks_in_use(cluster, nodes))
        return [in_use or claims for in_use in disks]

    def _disks_in_use(self, cluster: Cluster, nodes: Positions) -> Iterator[tuple[int, DiskDetail]]:
        running = cluster.running
        disks = {number: list(_shared_disks(self._disks, self._kinds[number])) for number in running.nodes_of_kind}
        for place, pod, kind in running.pods_on(nodes, (number for number, shared in disks.items() if shared)):
            yield from ((place, DiskDetail(disk.name, name_of(pod))) for disk in disks[kind])

    def _claims_in_use(self, cluster: Cluster) -> Iterator[ClaimInUseDetail]:
        """Claims in use, each with the first pod that uses it."""
        running, kinds = cluster.running, self._kinds
        for namespace, name in sorted(claim for claim, users in self._users.items() if users > 0):
            using = (number for number in running.nodes_of_kind if (namespace, name) in kinds[number].claims)
            for user in running.places_of(using)[:1].tolist():
                node = cluster.nodes.names[running.node.item(user)]
                yield ClaimInUseDetail(f"{namespace}/{name}", name_of(running.pods[user]), node)


def _shared_disks(disks: Iterable[Volume], kind: PodKind) -> Iterator[Volume]:
    """Disks of ``disks`` that pods of a kind use exclusively."""
    return (disk for disk in disks if any(_same_disk(disk, used) for used in kind.inline_volumes))


def _same_disk(volume: Volume, used: Volume) -> bool:
    """True if both use one disk, unless both only read and its kind can be shared."""
    if volume.gce_persistent_disk is not None and used.gce_persistent_disk is not None:
        ours, theirs = volume.gce_persistent_disk, used.gce_persistent_disk
        return ours.pd_name == theirs.pd_name and not (ours.read_only and theirs.read_only)
    if volume.aws_elastic_block_store is not None and used.aws_elastic_block_store is not None:
        return volume.aws_elastic_block_store.volume_id == used.aws_elastic_block_store.volume_id
    if volume.iscsi is not None and used.iscsi is not None:
        return volume.iscsi.iqn == used.iscsi.iqn and not (volume.iscsi.read_only and used.iscsi.read_only)
    if volume.rbd is not None and used.rbd is not None:
        mine, other = volume.rbd, used.rbd
        same = bool(set(mine.monitors) & set(other.monitors)) and mine.pool == other.pool and mine.image == other.image
        return same and not (mine.read_only and other.read_only)
    return False


VOLUME_RESTRICTIONS = Specification(
    name=VolumeRestrictions.name, points=JUDGES, make=lambda setting: VolumeRestrictions()
)
