"""VolumeRestrictions: disks that cannot be shared, and claims that only one pod may use.

Source of the rules: kube-scheduler 1.36, volumerestrictions/volume_restrictions.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.kube.volumes import Volume
from kubespread.scheduler.cluster import Cluster, Mask
from kubespread.scheduler.node_matching import nowhere
from kubespread.scheduler.plugin import SKIP, Code, CopiesMatter, State, Status, Verdicts

NO_DISK = Status(Code.UNSCHEDULABLE, ("node(s) had no available disk",))
IN_USE = Status(
    Code.UNSCHEDULABLE,
    ("node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",),
)


class VolumeRestrictions:
    name: ClassVar[str] = "VolumeRestrictions"

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
        conflicts = any(claim in cluster.claims_in_use for claim in exclusive)
        return _State(disks, bool(exclusive), conflicts, _busy(cluster, disks)) if disks or exclusive else SKIP


def _busy(cluster: Cluster, disks: Sequence[Volume]) -> Mask:
    """Nodes where a pod uses one of ``disks`` in a way that keeps others off."""
    busy = nowhere(cluster)
    for node, used in cluster.inline_volumes if disks else ():
        busy[node] |= any(_same_disk(wanted, used) for wanted in disks)
    return busy


@dataclass
class _State(State):
    copies_matter = CopiesMatter.IN_DOMAINS

    disks: list[Volume]
    exclusive: bool
    """Whether some claim may be used by one pod only; in use anywhere, it is in use everywhere."""
    in_use: bool
    busy: Mask

    def fork(self) -> State:
        return replace(self, busy=self.busy.copy())

    def placed(self, node: int) -> None:
        self.in_use |= self.exclusive
        self.busy[node] |= any(_same_disk(disk, disk) for disk in self.disks)

    def filter(self) -> Verdicts | None:
        if not (self.disks or self.in_use):
            return None
        return Verdicts(np.where(self.busy, 1, 2 if self.in_use else 0).astype(np.int32), (NO_DISK, IN_USE))


def _is_exclusive_disk(volume: Volume) -> bool:
    return any(disk is not None for disk in (volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd))


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
