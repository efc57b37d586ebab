"""Claims, volumes and classes looked up by name, and the attachable volumes behind a pod's volumes.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, filterAttachableVolumes, checkAttachableInlineVolume,
    getCSIDriverInfo
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy

from msgspec import Struct, field

from kubespread.kube.api import cluster_objects as api
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, Volume
from kubespread.kube.persistent_volumes import driver_of, in_tree_plugin, is_delayed, storage_class_name

ClaimKey = tuple[str, str]
"""Namespace and name of a claim."""

AttachedVolume = tuple[str, str]
"""Unique name of a volume, and its CSI driver."""


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """Claim of a volume; an ephemeral volume's is named after the pod."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def claim_names(pod: Pod) -> list[str]:
    return [name for name in (claim_name(pod, volume) for volume in pod.spec.volumes) if name is not None]


def key_of(claim: api.PersistentVolumeClaim) -> ClaimKey:
    return claim.metadata.namespace, claim.metadata.name


def is_owned(claim: api.PersistentVolumeClaim, pod: Pod) -> bool:
    """True if the claim was created for this pod's ephemeral volume."""
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references)


def not_owner_message(claim: api.PersistentVolumeClaim, pod: Pod) -> str:
    owner = f"{pod.metadata.namespace}/{pod.metadata.name}"
    return f"PVC {claim.metadata.namespace}/{claim.metadata.name} was not created for pod {owner} (pod is not owner)"


class StorageChange(Struct, frozen=True):
    """New or changed claims and volumes, and capacities that drivers then report."""

    claims: Sequence[api.PersistentVolumeClaim] = ()
    volumes: Sequence[api.PersistentVolume] = ()
    capacities: Mapping[int, api.CSIStorageCapacity] = field(default_factory=dict)
    """By position among the cluster's."""

    def followed_by(self, other: StorageChange) -> StorageChange:
        return StorageChange(
            (*self.claims, *other.claims), (*self.volumes, *other.volumes), {**self.capacities, **other.capacities}
        )


class StorageIndex:
    """Storage objects of one cluster by name. A value: a change makes another one."""

    def __init__(self, objects: ClusterObjects) -> None:
        self.claims: Mapping[ClaimKey, api.PersistentVolumeClaim] = {
            key_of(claim): claim for claim in objects.get(api.PersistentVolumeClaim)
        }
        self.volumes: Mapping[str, api.PersistentVolume] = {
            volume.metadata.name: volume for volume in objects.get(api.PersistentVolume)
        }
        self.capacities: tuple[api.CSIStorageCapacity, ...] = objects.get(api.CSIStorageCapacity)
        self._for_claims = _by_claimant({}, self.volumes.values())
        self.classes: Mapping[str, api.StorageClass] = {
            storage_class.metadata.name: storage_class for storage_class in objects.get(api.StorageClass)
        }
        self.csi_nodes: Mapping[str, api.CSINode] = {node.metadata.name: node for node in objects.get(api.CSINode)}
        self.attach_limits: dict[str, dict[str, int]] = {}
        """Number of volumes that a node can attach, by node and driver; unlimited ones are absent."""
        for name, node in self.csi_nodes.items():
            for driver in node.spec.drivers:
                if driver.allocatable is not None and driver.allocatable.count is not None:
                    self.attach_limits.setdefault(name, {})[driver.name] = driver.allocatable.count

    def apply(self, change: StorageChange) -> StorageIndex:
        other = copy(self)
        if change.claims:
            other.claims = {**self.claims, **{key_of(claim): claim for claim in change.claims}}
        if change.volumes:
            other.volumes = {**self.volumes, **{volume.metadata.name: volume for volume in change.volumes}}
            was = [
                self.volumes[volume.metadata.name] for volume in change.volumes if volume.metadata.name in self.volumes
            ]
            now = {volume.metadata.name: volume for volume in change.volumes}
            other._for_claims = _by_claimant(self._for_claims, now.values(), was)
        if change.capacities:
            other.capacities = tuple(
                change.capacities.get(index, capacity) for index, capacity in enumerate(self.capacities)
            )
        return other

    def changes_since(self, before: StorageIndex) -> StorageChange:
        return StorageChange(
            [claim for key, claim in self.claims.items() if before.claims.get(key) is not claim],
            [volume for name, volume in self.volumes.items() if before.volumes.get(name) is not volume],
            {
                index: now
                for index, (was, now) in enumerate(zip(before.capacities, self.capacities, strict=True))
                if was is not now
            },
        )

    def in_objects(self, objects: ClusterObjects) -> ClusterObjects:
        """``objects`` with this index's claims, volumes and capacities."""
        return (
            objects.with_some(api.PersistentVolumeClaim, self.claims.values())
            .with_some(api.PersistentVolume, self.volumes.values())
            .with_all(api.CSIStorageCapacity, self.capacities)
        )

    def volumes_for(self, claim: api.PersistentVolumeClaim) -> list[api.PersistentVolume]:
        """Volumes that a claim may take by class and claimRef, by name."""
        reserved, free = (self._for_claims.get(claimant, {}) for claimant in (key_of(claim), storage_class_name(claim)))
        return [volume for _, volume in sorted({**reserved, **free}.items())]

    def claim(self, pod: Pod, name: str) -> api.PersistentVolumeClaim | None:
        return self.claims.get((pod.metadata.namespace, name))

    def is_delayed(self, claim: api.PersistentVolumeClaim) -> bool:
        return is_delayed(self.classes.get(storage_class_name(claim)))

    def attachable_volumes(self, pod: Pod, *, translates: bool = True) -> Iterator[AttachedVolume]:
        """Yield a pod's attachable volumes, as a node with a CSINode counts them; without ``translates``, in-tree
        volumes are not translated.
        """
        for volume in pod.spec.volumes:
            name = claim_name(pod, volume)
            if name is None:
                plugin = in_tree_plugin(volume)
                if plugin is not None and translates:
                    yield from _unique(plugin.driver, plugin.handle(volume, None))
                continue
            claim = self.claim(pod, name)
            if claim is not None:
                yield from self._of_claim(claim, translates=translates)

    def names_driver(self, pod: Pod) -> bool:
        """True if a volume of the pod names a driver; a claim without a volume names its class's provisioner."""
        if next(self.attachable_volumes(pod), None) is not None:
            return True
        claims = [claim for name in claim_names(pod) if (claim := self.claim(pod, name)) is not None]
        classes = (self.classes.get(storage_class_name(claim)) for claim in claims if not claim.spec.volume_name)
        return any(storage_class is not None and storage_class.provisioner for storage_class in classes)

    def ownership_fault(self, pod: Pod) -> str | None:
        """kube-scheduler's message if the claim of an ephemeral volume belongs to another pod; else None."""
        for volume in pod.spec.volumes:
            claim = self.claim(pod, claim_name(pod, volume) or "") if volume.ephemeral is not None else None
            if claim is not None and not is_owned(claim, pod):
                return not_owner_message(claim, pod)
        return None

    def _of_claim(self, claim: api.PersistentVolumeClaim, *, translates: bool) -> Iterator[tuple[str, str]]:
        volume = self.volumes.get(claim.spec.volume_name) if claim.spec.volume_name else None
        if volume is None:
            storage_class = self.classes.get(storage_class_name(claim))
            if storage_class is not None and (driver := driver_of(storage_class, translates=translates)):
                yield from _unique(driver, f"{claim.metadata.namespace}/{claim.metadata.name}")
        elif volume.spec.csi is not None:
            yield from _unique(volume.spec.csi.driver, volume.spec.csi.volume_handle)
        else:
            plugin = in_tree_plugin(volume.spec)
            if plugin is not None and translates:
                yield from _unique(plugin.driver, plugin.handle(volume.spec, volume))


_Claimants = Mapping[ClaimKey | str, Mapping[str, api.PersistentVolume]]
"""Volumes by name: reserved ones under the key of their claim, free ones under their class."""


def _by_claimant(
    before: _Claimants, added: Iterable[api.PersistentVolume], removed: Iterable[api.PersistentVolume] = ()
) -> _Claimants:
    """``before`` without the volumes ``removed`` and with ``added``; unaffected parts are shared."""
    merged: dict[ClaimKey | str, Mapping[str, api.PersistentVolume]] = dict(before)
    own: dict[ClaimKey | str, dict[str, api.PersistentVolume]] = {}

    def volumes_beside(volume: api.PersistentVolume) -> dict[str, api.PersistentVolume]:
        reference = volume.spec.claim_ref
        claimant = storage_class_name(volume) if reference is None else (reference.namespace, reference.name)
        if claimant not in own:
            own[claimant] = dict(merged.get(claimant, {}))
        return own[claimant]

    for volume in removed:
        volumes_beside(volume).pop(volume.metadata.name, None)
    for volume in added:
        volumes_beside(volume)[volume.metadata.name] = volume
    merged.update(own)
    return merged


def _unique(driver: str, handle: str) -> Iterator[tuple[str, str]]:
    if driver and handle:
        yield f"{driver}/{handle}", driver
