"""VolumeRestrictions: disks that cannot be shared, and claims that only one pod may use.

Source: pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go, PreFilter, Filter, isVolumeConflict,
    satisfyReadWriteOncePod
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from copy import copy
from typing import ClassVar, Self

import numpy as np

from kubespread.kube.api.core import Pod, Volume
from kubespread.scheduler.causes import Causes, ClaimInUseDetail, DiskDetail, by_place, name_of
from kubespread.scheduler.cluster.cluster import Cluster, Moves
from kubespread.scheduler.cluster.columns import Counts, Positions
from kubespread.scheduler.cluster.kinds import KindJudgment, PodKind
from kubespread.scheduler.plugin import (
    JUDGES,
    SKIP,
    Code,
    Counted,
    Plugin,
    Specification,
    State,
    Status,
    Unprepared,
    Verdicts,
)
from kubespread.scheduler.plugins.volumes.matching import claim_gaps

NO_DISK = Status(Code.UNSCHEDULABLE, ("node(s) had no available disk",))
IN_USE = Status(
    Code.UNSCHEDULABLE,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by "
        "another pod",
    ),
)


class VolumeRestrictions(Plugin):
    name: ClassVar[str] = "VolumeRestrictions"

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        return claim_gaps(cluster, pod)

    def signature(self, pod: Pod) -> Hashable:
        return None if pod.spec.has_scheduled_volumes else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        exclusive = set()
        for volume in pod.spec.volumes if cluster.has_claims else ():
            if volume.persistent_volume_claim is None:
                continue
            name = volume.persistent_volume_claim.claim_name
            claim = cluster.storage.claim(pod, name)
            if claim is None:
                return Status(Code.UNRESOLVABLE, (f'persistentvolumeclaim "{name}" not found',))
            if "ReadWriteOncePod" in claim.spec.access_modes:
                exclusive.add((pod.metadata.namespace, name))
        disks = [volume for volume in pod.spec.volumes if _is_exclusive_disk(volume)]
        return VolumeRestrictionsState(cluster, disks, frozenset(exclusive)) if disks or exclusive else SKIP


class VolumeRestrictionsState(Counted):
    """``exclusive`` are the claims, by namespace and name, that one pod may use in the whole cluster."""

    def __init__(self, cluster: Cluster, disks: Sequence[Volume], exclusive: frozenset[tuple[str, str]]) -> None:
        self._kinds = cluster.kinds
        self._disks = disks
        self._exclusive = exclusive
        self._names = frozenset(name for _, name in exclusive)
        self._holds_disk = KindJudgment(cluster.kinds, lambda kind: any(_shared_disks(disks, kind)))
        self._uses_claim = KindJudgment(cluster.kinds, lambda kind: not exclusive.isdisjoint(kind.claims))
        self._watches_disks = bool(disks)
        self._busy: Counts = np.zeros(len(cluster), dtype=np.int64)
        """Per node, the pods that use one of the disks in a way that keeps others off."""
        self._users: Counter[tuple[str, str]] = Counter()
        """How many volumes use each of the claims."""
        self._pretended = 0
        """What dry runs add: kube-scheduler counts claims in use, and then every volume that comes or goes."""
        self.move(cluster.arrivals(KindJudgment(cluster.kinds, lambda kind: bool(kind.inline_volumes or kind.claims))))

    def move(self, moves: Moves) -> None:
        if self._watches_disks:
            chosen = self._holds_disk.of(moves.kind)
            np.add.at(self._busy, moves.node[chosen], moves.by[chosen])
        using = moves.only(self._uses_claim.of(moves.kind))
        for kind, by in zip(using.kind.tolist(), using.by.tolist(), strict=True):
            for claim in self._exclusive.intersection(self._kinds[kind].claims):
                self._users[claim] += by

    def pretend(self, kind: int, node: int, by: int) -> None:
        """A dry run compares the names of claims, and not their namespaces."""
        if self._watches_disks and self._holds_disk[kind]:
            self._busy[node] += by
        self._pretended += by * sum(name in self._names for _, name in self._kinds[kind].claims)

    def fork(self) -> Self:
        fork = copy(self)
        fork._busy, fork._users = self._busy.copy(), self._users.copy()
        return fork

    def filter(self, nodes: Positions | None = None) -> Verdicts | None:
        in_use = sum(users > 0 for users in self._users.values()) + self._pretended > 0
        busy = (self._busy if nodes is None else self._busy[nodes]) > 0
        return Verdicts(np.where(busy, 1, 2 if in_use else 0).astype(np.int32), (NO_DISK, IN_USE))

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """The disks in use on a node; on those that have none, the claims in use anywhere."""
        claims = tuple(self._claims_in_use(cluster))
        disks = by_place(len(nodes), self._disks_in_use(cluster, nodes))
        return [in_use or claims for in_use in disks]

    def _disks_in_use(self, cluster: Cluster, nodes: Positions) -> Iterator[tuple[int, DiskDetail]]:
        running = cluster.running
        disks = {number: list(_shared_disks(self._disks, self._kinds[number])) for number in running.nodes_of_kind}
        place_of = {node: place for place, node in enumerate(nodes.tolist())}
        for holder in running.places_of(number for number, shared in disks.items() if shared).tolist():
            if (node := running.node.item(holder)) in place_of:
                pod = name_of(running.pods[holder])
                yield from ((place_of[node], DiskDetail(disk.name, pod)) for disk in disks[running.kind.item(holder)])

    def _claims_in_use(self, cluster: Cluster) -> Iterator[ClaimInUseDetail]:
        """Each with the first pod that uses it."""
        running, kinds = cluster.running, self._kinds
        for namespace, name in sorted(claim for claim, users in self._users.items() if users > 0):
            using = (number for number in running.nodes_of_kind if (namespace, name) in kinds[number].claims)
            for user in running.places_of(using)[:1].tolist():
                node = cluster.nodes.names[running.node.item(user)]
                yield ClaimInUseDetail(f"{namespace}/{name}", name_of(running.pods[user]), node)


def _shared_disks(disks: Iterable[Volume], kind: PodKind) -> Iterator[Volume]:
    """Those of ``disks`` that pods of a kind use in a way that keeps others off."""
    return (disk for disk in disks if any(_same_disk(disk, used) for used in kind.inline_volumes))


def _is_exclusive_disk(volume: Volume) -> bool:
    return any(
        disk is not None
        for disk in (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd)
    )


def _same_disk(volume: Volume, used: Volume) -> bool:
    """One disk twice; some kinds may be shared when both only read."""
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


SPECIFICATION = Specification(
    name=VolumeRestrictions.name,
    points=JUDGES,
    make=lambda setting: VolumeRestrictions(),
    unprepared=Unprepared(
        filter='cannot read "PreFilterVolumeRestrictions" from cycleState', rejects_before=frozenset(NO_DISK.reasons)
    ),
)
