"""Claims, volumes and classes looked up by name, and the attachable volumes behind a pod's volumes.

Source: pkg/scheduler/framework/plugins/nodevolumelimits/csi.go, filterAttachableVolumes, checkAttachableInlineVolume,
    getCSIDriverInfo
Source: staging/src/k8s.io/csi-translation-lib/translate.go, TranslateInTreePVToCSI, TranslateInTreeInlineVolumeToCSI
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy

from msgspec import Struct, field

from kubespread.kube.api import cluster_objects as api
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import InlineVolumes, Pod, Volume
from kubespread.kube.well_known import BETA_ZONE, BIND_COMPLETED, STORAGE_CLASS, ZONE

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
ZONE_LABELS = (ZONE, BETA_ZONE)

ClaimKey = tuple[str, str]
"""A claim's namespace and name."""

Attached = tuple[str, str]
"""A volume's unique name, and its CSI driver."""


class InTreePlugin(Struct, frozen=True):
    """An in-tree volume kind that counts as volumes of a CSI driver."""

    name: str
    driver: str
    handle: Callable[[InlineVolumes, api.PersistentVolume | None], str]
    zone_key: str | None = None
    """The driver's own zone label, for kinds whose node affinity moves to it."""


def _gce_handle(volume: InlineVolumes, owner: api.PersistentVolume | None) -> str:
    if volume.gce_persistent_disk is None:
        return ""
    disk = volume.gce_persistent_disk.pd_name
    if owner is None:
        return f"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/{disk}"
    labels = owner.metadata.labels
    zones = next((labels[key] for key in reversed(ZONE_LABELS) if labels.get(key)), "UNSPECIFIED").split("__")
    if len(zones) == 1:
        return f"projects/UNSPECIFIED/zones/{zones[0]}/disks/{disk}"
    region, fault = _region_of(zones)
    # What cannot be translated is not counted either.
    return "" if fault else f"projects/UNSPECIFIED/regions/{region}/disks/{disk}"


def _region_of(zones: Sequence[str]) -> tuple[str, str]:
    """The region of a regional disk's zones, or why there is none in csi-translation-lib's words."""
    for zone in zones:
        if zone.count("-") != 2:
            return "", f"zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
    regions = sorted({zone.rpartition("-")[0] for zone in zones})
    return (
        (regions[0], "")
        if len(regions) == 1
        else ("", f"multiple or no regions gotten from zones, got: map[{' '.join(f'{r}:{{}}' for r in regions)}]")
    )


def translation_fault(volume: api.PersistentVolume) -> str | None:
    """Why an in-tree volume cannot be looked at as its CSI driver would see it; None when it can."""
    zones = next(
        (volume.metadata.labels[key] for key in reversed(ZONE_LABELS) if volume.metadata.labels.get(key)), ""
    ).split("__")
    if volume.spec.gce_persistent_disk is None or len(zones) == 1:
        return None
    fault = _region_of(zones)[1]
    return f"could not translate pv: failed to get region from zones: {fault}" if fault else None


IN_TREE: Mapping[str, InTreePlugin] = {
    "aws_elastic_block_store": InTreePlugin(
        "kubernetes.io/aws-ebs", "ebs.csi.aws.com",
        lambda v, owner: v.aws_elastic_block_store.volume_id.rpartition("/")[2] if v.aws_elastic_block_store else "",
        "topology.ebs.csi.aws.com/zone",
    ),
    "gce_persistent_disk": InTreePlugin(
        "kubernetes.io/gce-pd", "pd.csi.storage.gke.io", _gce_handle, "topology.gke.io/zone"
    ),
    "azure_disk": InTreePlugin(
        "kubernetes.io/azure-disk", "disk.csi.azure.com", lambda v, owner: v.azure_disk.disk_uri if v.azure_disk else ""
    ),
    "cinder": InTreePlugin(
        "kubernetes.io/cinder", "cinder.csi.openstack.org", lambda v, owner: v.cinder.volume_id if v.cinder else "",
        "topology.cinder.csi.openstack.org/zone",
    ),
    "portworx_volume": InTreePlugin(
        "kubernetes.io/portworx-volume", "pxd.portworx.com",
        lambda v, owner: v.portworx_volume.volume_id if v.portworx_volume else "",
    ),
}  # fmt: skip
"""By the field of the volume that holds it."""

_DRIVER_OF_PROVISIONER = {plugin.name: plugin.driver for plugin in IN_TREE.values()}


def in_tree_plugin(volume: InlineVolumes) -> InTreePlugin | None:
    return next((plugin for name, plugin in IN_TREE.items() if getattr(volume, name) is not None), None)


def claim_name(pod: Pod, volume: Volume) -> str | None:
    """The claim behind a volume; an ephemeral volume's is named after the pod."""
    if volume.persistent_volume_claim is not None:
        return volume.persistent_volume_claim.claim_name
    return f"{pod.metadata.name}-{volume.name}" if volume.ephemeral is not None else None


def claim_names(pod: Pod) -> list[str]:
    return [name for name in (claim_name(pod, volume) for volume in pod.spec.volumes) if name is not None]


def storage_class_name(owner: api.PersistentVolumeClaim | api.PersistentVolume) -> str:
    annotated = owner.metadata.annotations.get(STORAGE_CLASS)
    return annotated if annotated is not None else owner.spec.storage_class_name or ""


def is_bound(claim: api.PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def key_of(claim: api.PersistentVolumeClaim) -> ClaimKey:
    return claim.metadata.namespace, claim.metadata.name


def is_owned(claim: api.PersistentVolumeClaim, pod: Pod) -> bool:
    """Whether the claim of an ephemeral volume was made for this very pod."""
    return any(owner.controller and owner.uid == pod.metadata.uid for owner in claim.metadata.owner_references)


def not_owner(claim: api.PersistentVolumeClaim, pod: Pod) -> str:
    owner = f"{pod.metadata.namespace}/{pod.metadata.name}"
    return f"PVC {claim.metadata.namespace}/{claim.metadata.name} was not created for pod {owner} (pod is not owner)"


class StorageChange(Struct, frozen=True):
    """Claims and volumes that are new or have changed, and what drivers report then."""

    claims: Sequence[api.PersistentVolumeClaim] = ()
    volumes: Sequence[api.PersistentVolume] = ()
    capacities: Mapping[int, api.CSIStorageCapacity] = field(default_factory=dict)
    """By their place among the cluster's."""

    def then(self, other: StorageChange) -> StorageChange:
        """This one, and after it ``other``."""
        return StorageChange(
            (*self.claims, *other.claims), (*self.volumes, *other.volumes), {**self.capacities, **other.capacities}
        )


class StorageIndex:
    """The storage objects of one cluster by name. A value: a change makes another one."""

    def __init__(self, objects: ClusterObjects) -> None:
        self.claims: Mapping[ClaimKey, api.PersistentVolumeClaim] = {
            key_of(claim): claim for claim in objects.of(api.PersistentVolumeClaim)
        }
        self.volumes: Mapping[str, api.PersistentVolume] = {
            volume.metadata.name: volume for volume in objects.of(api.PersistentVolume)
        }
        self.capacities: tuple[api.CSIStorageCapacity, ...] = objects.of(api.CSIStorageCapacity)
        self._for_claims = _by_claimant({}, self.volumes.values())
        self.classes: Mapping[str, api.StorageClass] = {
            storage_class.metadata.name: storage_class for storage_class in objects.of(api.StorageClass)
        }
        self.csi_nodes: Mapping[str, api.CSINode] = {node.metadata.name: node for node in objects.of(api.CSINode)}
        self.attach_limits: dict[str, dict[str, int]] = {}
        """Per node with limits how many volumes it takes, by driver; drivers without a limit are not there."""
        for name, node in self.csi_nodes.items():
            for driver in node.spec.drivers:
                if driver.allocatable is not None and driver.allocatable.count is not None:
                    self.attach_limits.setdefault(name, {})[driver.name] = driver.allocatable.count

    def after(self, change: StorageChange) -> StorageIndex:
        """The index once ``change`` has happened; this one is as it was."""
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

    def since(self, before: StorageIndex) -> StorageChange:
        """What makes this index of ``before``."""
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
        """``objects`` with the claims, volumes and capacities as they are here."""
        return (
            objects.with_all(api.PersistentVolumeClaim, self.claims.values())
            .with_all(api.PersistentVolume, self.volumes.values())
            .with_all(api.CSIStorageCapacity, self.capacities)
        )

    def volumes_for(self, claim: api.PersistentVolumeClaim) -> list[api.PersistentVolume]:
        """The volumes whose class and claimRef allow a claim to take them, by name."""
        reserved, free = (self._for_claims.get(claimant, {}) for claimant in (key_of(claim), storage_class_name(claim)))
        return [volume for _, volume in sorted({**reserved, **free}.items())]

    def claim(self, pod: Pod, name: str) -> api.PersistentVolumeClaim | None:
        return self.claims.get((pod.metadata.namespace, name))

    def is_delayed(self, claim: api.PersistentVolumeClaim) -> bool:
        """Whether the claim waits for a pod before it is bound; without its class it does not."""
        storage_class = self.classes.get(storage_class_name(claim))
        return storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER

    def attached(self, pod: Pod, *, translates: bool = True) -> Iterator[Attached]:
        """The attachable volumes of a pod, as a node with a CSINode counts them; one without does not translate
        in-tree volumes.
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
        """Whether some volume of the pod names a driver: for a claim without a volume any provisioner of its class
        counts.
        """
        if next(self.attached(pod), None) is not None:
            return True
        claims = [claim for name in claim_names(pod) if (claim := self.claim(pod, name)) is not None]
        classes = (self.classes.get(storage_class_name(claim)) for claim in claims if not claim.spec.volume_name)
        return any(storage_class is not None and storage_class.provisioner for storage_class in classes)

    def not_owned(self, pod: Pod) -> str | None:
        """Why the claim of one of the pod's ephemeral volumes is not its own, in kube-scheduler's words."""
        for volume in pod.spec.volumes:
            claim = self.claim(pod, claim_name(pod, volume) or "") if volume.ephemeral is not None else None
            if claim is not None and not is_owned(claim, pod):
                return not_owner(claim, pod)
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


def driver_of(storage_class: api.StorageClass, *, translates: bool = True) -> str:
    """The CSI driver that makes the volumes of a class; empty for in-tree plugins that do not count as a driver.

    ``translates``: in-tree plugins count as the drivers that replaced them.
    """
    driver = storage_class.provisioner
    if translates:
        driver = _DRIVER_OF_PROVISIONER.get(driver, driver)
    return "" if driver.startswith("kubernetes.io/") else driver


_Claimants = Mapping[ClaimKey | str, Mapping[str, api.PersistentVolume]]
"""Volumes by name: those reserved for a claim under its key, those that are free under their class."""


def _by_claimant(
    before: _Claimants, come: Iterable[api.PersistentVolume], gone: Iterable[api.PersistentVolume] = ()
) -> _Claimants:
    """``before`` without the volumes ``gone`` and with those that ``come``; what neither is about is shared."""
    merged: dict[ClaimKey | str, Mapping[str, api.PersistentVolume]] = dict(before)
    own: dict[ClaimKey | str, dict[str, api.PersistentVolume]] = {}

    def of(volume: api.PersistentVolume) -> dict[str, api.PersistentVolume]:
        reference = volume.spec.claim_ref
        claimant = storage_class_name(volume) if reference is None else (reference.namespace, reference.name)
        if claimant not in own:
            own[claimant] = dict(merged.get(claimant, {}))
        return own[claimant]

    for volume in gone:
        of(volume).pop(volume.metadata.name, None)
    for volume in come:
        of(volume)[volume.metadata.name] = volume
    merged.update(own)
    return merged


def _unique(driver: str, handle: str) -> Iterator[tuple[str, str]]:
    if driver and handle:
        yield f"{driver}/{handle}", driver
