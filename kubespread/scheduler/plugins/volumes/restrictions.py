"""VolumeRestrictions: disks that cannot be shared, and claims that only one pod may use.

Source of the rules: kube-scheduler 1.36, volumerestrictions/volume_restrictions.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from copy import copy
from typing import ClassVar, Self

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.api.volumes import Volume
from kubespread.scheduler.cluster.change import Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.kinds import KindJudgement
from kubespread.scheduler.cluster.labels import Counts, Positions
from kubespread.scheduler.plugin import SKIP, Code, Counted, Plugin, State, Status, Verdicts
from kubespread.scheduler.plugins.volumes.gaps import claim_gaps
from kubespread.scheduler.specification import JUDGES, OlderReason, Specification, Unprepared

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
        return None if pod.spec.volumes else ()

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
    """``exclusive`` are the claims, by namespace and name, that one pod may use; in use anywhere, they are in use
    everywhere.
    """

    def __init__(self, cluster: Cluster, disks: Sequence[Volume], exclusive: frozenset[tuple[str, str]]) -> None:
        self._kinds = cluster.kinds
        self._exclusive = exclusive
        self._names = frozenset(name for _, name in exclusive)
        self._holds_disk = KindJudgement(
            cluster.kinds,
            lambda kind: any(_same_disk(wanted, used) for wanted in disks for used in kind.inline_volumes),
        )
        self._uses_claim = KindJudgement(cluster.kinds, lambda kind: not exclusive.isdisjoint(kind.claims))
        self._watches_disks = bool(disks)
        self._busy: Counts = np.zeros(len(cluster), dtype=np.int64)
        """Per node, the pods that use one of the disks in a way that keeps others off."""
        self._users: Counter[tuple[str, str]] = Counter()
        """How many volumes use each of the claims."""
        self._pretended = 0
        """What dry runs add: kube-scheduler counts claims in use, and then every volume that comes or goes."""
        self.move(cluster.arrivals(KindJudgement(cluster.kinds, lambda kind: bool(kind.inline_volumes or kind.claims))))

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


def _is_exclusive_disk(volume: Volume) -> bool:
    return any(
        disk is not None
        for disk in (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd)
    )


def _same_disk(wanted: Volume, used: Volume) -> bool:
    """One disk twice; some kinds may be shared when both only read."""
    if wanted.gce_persistent_disk is not None and used.gce_persistent_disk is not None:
        ours, theirs = wanted.gce_persistent_disk, used.gce_persistent_disk
        return ours.pd_name == theirs.pd_name and not (ours.read_only and theirs.read_only)
    if wanted.aws_elastic_block_store is not None and used.aws_elastic_block_store is not None:
        return wanted.aws_elastic_block_store.volume_id == used.aws_elastic_block_store.volume_id
    if wanted.iscsi is not None and used.iscsi is not None:
        return wanted.iscsi.iqn == used.iscsi.iqn and not (wanted.iscsi.read_only and used.iscsi.read_only)
    if wanted.rbd is not None and used.rbd is not None:
        mine, other = wanted.rbd, used.rbd
        same = bool(set(mine.monitors) & set(other.monitors)) and mine.pool == other.pool and mine.image == other.image
        return same and not (mine.read_only and other.read_only)
    return False


SPECIFICATION = Specification(
    name=VolumeRestrictions.name,
    points=JUDGES,
    make=lambda setting: VolumeRestrictions(),
    older_reasons=(
        OlderReason(
            IN_USE.reasons[0],
            33,
            ("node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",),
        ),
    ),
    unprepared=Unprepared(
        filter='cannot read "PreFilterVolumeRestrictions" from cycleState', rejects_before=frozenset(NO_DISK.reasons)
    ),
)
