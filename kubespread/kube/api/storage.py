"""Storage objects: claims, volumes, classes and what CSI drivers report."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.core import InlineVolumes, NodeSelector, PersistentVolumeClaimSpec
from kubespread.kube.api.meta import ApiObject, Int32, KubeObject, LabelSelector, ResourceList
from kubespread.kube.quantity import QuantityText


class PersistentVolumeClaimStatus(KubeObject):
    phase: str = ""


class PersistentVolumeClaim(ApiObject):
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = field(default_factory=PersistentVolumeClaimStatus)


class ObjectReference(KubeObject):
    namespace: str = ""
    name: str = ""
    uid: str = ""


class CSIPersistentVolumeSource(KubeObject):
    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(KubeObject):
    required: NodeSelector | None = None


class PersistentVolumeSpec(InlineVolumes):
    capacity: ResourceList = field(default_factory=dict)
    access_modes: list[str] = field(default_factory=list)
    claim_ref: ObjectReference | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolumeSource | None = None


class PersistentVolumeStatus(KubeObject):
    phase: str = ""


class PersistentVolume(ApiObject):
    spec: PersistentVolumeSpec = field(default_factory=PersistentVolumeSpec)
    status: PersistentVolumeStatus = field(default_factory=PersistentVolumeStatus)


class TopologySelectorLabelRequirement(KubeObject):
    key: str = ""
    values: list[str] = field(default_factory=list)


class TopologySelectorTerm(KubeObject):
    match_label_expressions: list[TopologySelectorLabelRequirement] = field(default_factory=list)


class StorageClass(ApiObject):
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] = field(default_factory=list)


class VolumeNodeResources(KubeObject):
    count: Int32 | None = None


class CSINodeDriver(KubeObject):
    name: str = ""
    allocatable: VolumeNodeResources | None = None
    topology_keys: list[str] = field(default_factory=list)


class CSINodeSpec(KubeObject):
    drivers: list[CSINodeDriver] = field(default_factory=list)


class CSINode(ApiObject):
    spec: CSINodeSpec = field(default_factory=CSINodeSpec)


class CSIDriverSpec(KubeObject):
    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False


class CSIDriver(ApiObject):
    spec: CSIDriverSpec = field(default_factory=CSIDriverSpec)


class CSIStorageCapacity(ApiObject):
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: QuantityText | None = None
    maximum_volume_size: QuantityText | None = None


class VolumeAttachmentSource(KubeObject):
    persistent_volume_name: str = ""


class VolumeAttachmentSpec(KubeObject):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = field(default_factory=VolumeAttachmentSource)


class VolumeAttachment(ApiObject):
    spec: VolumeAttachmentSpec = field(default_factory=VolumeAttachmentSpec)
