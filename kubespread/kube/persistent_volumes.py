"""Rules of claims and their volumes that kube-scheduler and the PersistentVolume controller share.

Source: staging/src/k8s.io/component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume, IsVolumeBoundToClaim,
    CheckVolumeModeMismatches, CheckAccessModes, GetBindVolumeToClaim
Source: staging/src/k8s.io/csi-translation-lib/translate.go, TranslateInTreePVToCSI, TranslateInTreeInlineVolumeToCSI
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api import cluster_objects as api
from kubespread.kube.api.core import InlineVolumes, NodeSelector, NodeSelectorTerm
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.quantity import ZERO, Quantity, parse
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.well_known import BETA_ZONE, BIND_COMPLETED, STORAGE_CLASS, ZONE

WAIT_FOR_FIRST_CONSUMER = "WaitForFirstConsumer"
NO_PROVISIONER = "kubernetes.io/no-provisioner"
ZONE_LABELS = (ZONE, BETA_ZONE)


class InTreePlugin(Struct, frozen=True):
    """An in-tree volume kind that counts as volumes of a CSI driver."""

    name: str
    driver: str
    handle: Callable[[InlineVolumes, api.PersistentVolume | None], str]
    zone_key: str | None = None
    """Zone label of the driver, if node affinities move to it."""


def _gce_handle(volume: InlineVolumes, owner: api.PersistentVolume | None) -> str:
    if volume.gce_persistent_disk is None:
        return ""
    disk = volume.gce_persistent_disk.pd_name
    if owner is None:
        return f"projects/UNSPECIFIED/zones/UNSPECIFIED/disks/{disk}"
    zones = _zones_of(owner)
    if len(zones) == 1:
        return f"projects/UNSPECIFIED/zones/{zones[0] or 'UNSPECIFIED'}/disks/{disk}"
    region, fault = _region_of(zones)
    # What cannot be translated is not counted either.
    return "" if fault else f"projects/UNSPECIFIED/regions/{region}/disks/{disk}"


def _zones_of(volume: api.PersistentVolume) -> list[str]:
    labels = volume.metadata.labels
    return next((labels[key] for key in reversed(ZONE_LABELS) if labels.get(key)), "").split("__")


def _region_of(zones: Sequence[str]) -> tuple[str, str]:
    """The region of a regional disk's zones, and csi-translation-lib's message if they have no common one."""
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
    """Reason an in-tree volume cannot be translated for its CSI driver; None if it can."""
    zones = _zones_of(volume)
    if volume.spec.gce_persistent_disk is None or len(zones) == 1:
        return None
    fault = _region_of(zones)[1]
    return f"could not translate pv: failed to get region from zones: {fault}" if fault else None


IN_TREE: Mapping[str, InTreePlugin] = {
    "aws_elastic_block_store": InTreePlugin(
        "kubernetes.io/aws-ebs",
        "ebs.csi.aws.com",
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
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
        lambda v, owner: v.cinder.volume_id if v.cinder else "",
        "topology.cinder.csi.openstack.org/zone",
    ),
    "portworx_volume": InTreePlugin(
        "kubernetes.io/portworx-volume",
        "pxd.portworx.com",
        lambda v, owner: v.portworx_volume.volume_id if v.portworx_volume else "",
    ),
}
"""By the volume's field that holds it."""

_DRIVER_OF_PROVISIONER = {plugin.name: plugin.driver for plugin in IN_TREE.values()}


def in_tree_plugin(volume: InlineVolumes) -> InTreePlugin | None:
    return next((plugin for name, plugin in IN_TREE.items() if getattr(volume, name) is not None), None)


def storage_class_name(owner: api.PersistentVolumeClaim | api.PersistentVolume) -> str:
    annotated = owner.metadata.annotations.get(STORAGE_CLASS)
    return annotated if annotated is not None else owner.spec.storage_class_name or ""


def is_bound(claim: api.PersistentVolumeClaim) -> bool:
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def driver_of(storage_class: api.StorageClass, *, translates: bool = True) -> str:
    """CSI driver that provisions a class; empty for in-tree plugins that do not count as a driver.

    ``translates``: in-tree plugins count as the drivers that replaced them.
    """
    driver = storage_class.provisioner
    if translates:
        driver = _DRIVER_OF_PROVISIONER.get(driver, driver)
    return "" if driver.startswith("kubernetes.io/") else driver


def is_for_one_pod(claim: api.PersistentVolumeClaim) -> bool:
    """True if only one pod of the cluster may use it at a time."""
    return "ReadWriteOncePod" in claim.spec.access_modes


def suffices(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    """True if the volume is large enough, has the claim's mode and attributes class, and is not being deleted."""
    return (
        capacity(volume).nano >= requested_storage(claim).nano
        and volume.spec.volume_mode == claim.spec.volume_mode
        and (volume.spec.volume_attributes_class_name or "") == (claim.spec.volume_attributes_class_name or "")
        and volume.metadata.deletion_timestamp is None
    )


def is_reserved_for(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    reference, meta = volume.spec.claim_ref, claim.metadata
    return (
        reference is not None
        and (reference.namespace, reference.name) == (meta.namespace, meta.name)
        and reference.uid in ("", meta.uid)
    )


def is_available(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    if volume.status.phase != "Available" or not has_modes(volume, claim):
        return False
    if claim.spec.selector is None:
        return True
    try:
        return from_label_selector(claim.spec.selector).matches(volume.metadata.labels)
    except SelectorError:
        return False


def has_modes(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def capacity(volume: api.PersistentVolume) -> Quantity:
    amounts = volume.spec.capacity
    return parse(amounts["storage"]) if "storage" in amounts else ZERO


def requested_storage(claim: api.PersistentVolumeClaim) -> Quantity:
    requested = claim.spec.resources.requests
    return parse(requested["storage"]) if "storage" in requested else ZERO


def bound_claim(claim: api.PersistentVolumeClaim, volume: api.PersistentVolume) -> api.PersistentVolumeClaim:
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations={**claim.metadata.annotations, BIND_COMPLETED: "yes"}),
        spec=replace(claim.spec, volume_name=volume.metadata.name),
        status=api.PersistentVolumeClaimStatus(phase="Bound"),
    )


def bound_volume(claim: api.PersistentVolumeClaim, volume: api.PersistentVolume) -> api.PersistentVolume:
    meta = claim.metadata
    reference = api.ObjectReference(namespace=meta.namespace, name=meta.name, uid=meta.uid)
    return replace(
        volume, spec=replace(volume.spec, claim_ref=reference), status=api.PersistentVolumeStatus(phase="Bound")
    )


def is_delayed(storage_class: api.StorageClass | None) -> bool:
    """True if claims of the class wait for a pod before they are bound; False without the class."""
    return storage_class is not None and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER


def is_provisioned(storage_class: api.StorageClass | None) -> bool:
    """True if volumes of the class are provisioned for its claims."""
    return storage_class is not None and storage_class.provisioner not in ("", NO_PROVISIONER)


def provisioned_name(claim: api.PersistentVolumeClaim) -> str:
    meta = claim.metadata
    return f"pvc-{meta.uid or f'{meta.namespace}-{meta.name}'}"


def provision(
    claim: api.PersistentVolumeClaim, storage_class: api.StorageClass, terms: list[NodeSelectorTerm]
) -> api.PersistentVolume:
    """Volume that the driver of a class provisions for a claim; ``terms`` limit its nodes, none: everywhere."""
    spec, driver, name = claim.spec, driver_of(storage_class), provisioned_name(claim)
    volume_spec = api.PersistentVolumeSpec(
        capacity=spec.resources.requests,
        access_modes=spec.access_modes,
        storage_class_name=storage_class.metadata.name,
        volume_mode=spec.volume_mode,
        volume_attributes_class_name=spec.volume_attributes_class_name,
        node_affinity=api.VolumeNodeAffinity(required=NodeSelector(node_selector_terms=terms)) if terms else None,
        csi=api.CSIPersistentVolumeSource(driver=driver, volume_handle=name) if driver else None,
    )
    return api.PersistentVolume(metadata=ObjectMeta(name=name), spec=volume_spec)
