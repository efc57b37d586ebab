"""VolumeZone: a volume labeled with zones and regions is used only there.

Source: pkg/scheduler/framework/plugins/volumezone/volume_zone.go, PreFilter, Filter, getPVbyPod, translateToGALabel
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from msgspec import Struct

from kubespread.kube.api.cluster_objects import PersistentVolume, PersistentVolumeClaim
from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import BETA_REGION, BETA_ZONE, REGION, ZONE
from kubespread.scheduler.causes import Causes, VolumeZoneDetail, by_place
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Mask, Positions
from kubespread.scheduler.cluster.storage_index import WAIT_FOR_FIRST_CONSUMER, storage_class_name
from kubespread.scheduler.plugin import JUDGES, SKIP, Code, Fixed, Plugin, Specification, State, Status, Verdicts
from kubespread.scheduler.plugins.volumes.matching import claim_gaps

NO_ZONE = Status(Code.UNRESOLVABLE, ("node(s) had no available volume zone",))
_GENERAL = {BETA_ZONE: ZONE, BETA_REGION: REGION}
TOPOLOGY_LABELS = (*_GENERAL, *_GENERAL.values())


class _RejectedError(Exception):
    pass


class VolumeZone(Plugin):
    name: ClassVar[str] = "VolumeZone"

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        return claim_gaps(cluster, pod)

    def signature(self, pod: Pod) -> Hashable:
        return None if pod.spec.has_scheduled_volumes else ()

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        if not cluster.has_claims:
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
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is None:
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
    """Only a claim that waits for its first pod may be unbound."""
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


@dataclass
class VolumeZoneState(Fixed):
    cluster: Cluster
    required: list[_Topology]

    def filter(self) -> Verdicts:
        """Nodes without any topology label pass; a beta label of the volume also admits the node's general label."""
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
        return by_place(
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


SPECIFICATION = Specification(name=VolumeZone.name, points=JUDGES, make=lambda setting: VolumeZone())
