"""Those fields of a pod's volumes that the volume plugins and the API server's validation read."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.meta import Int32, KubeObject, LabelSelector, ObjectMeta, ResourceList
from kubespread.kube.quantity import QuantityText


class VolumeResourceRequirements(KubeObject):
    requests: ResourceList = field(default_factory=dict)


class PersistentVolumeClaimSpec(KubeObject):
    access_modes: list[str] = field(default_factory=list)
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = field(default_factory=VolumeResourceRequirements)
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)


class PersistentVolumeClaimVolumeSource(KubeObject):
    claim_name: str = ""


class GCEPersistentDiskVolumeSource(KubeObject):
    pd_name: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(KubeObject):
    volume_id: str = field(name="volumeID", default="")
    partition: Int32 = 0


class ISCSIVolumeSource(KubeObject):
    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class RBDVolumeSource(KubeObject):
    monitors: list[str] = field(default_factory=list)
    image: str = ""
    pool: str = "rbd"
    read_only: bool = False


class AzureDiskVolumeSource(KubeObject):
    disk_name: str = ""
    disk_uri: str = field(name="diskURI", default="")
    kind: str | None = None
    caching_mode: str | None = None


class VolumeWithID(KubeObject):
    """A Cinder or Portworx volume."""

    volume_id: str = field(name="volumeID", default="")


class ImageVolumeSource(KubeObject):
    reference: str = ""


class EphemeralVolumeSource(KubeObject):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class EmptyDirVolumeSource(KubeObject):
    size_limit: QuantityText | None = None


class HostPathVolumeSource(KubeObject):
    path: str = ""
    type: str | None = None


class GitRepoVolumeSource(KubeObject):
    repository: str = ""


class SecretVolumeSource(KubeObject):
    secret_name: str = ""


class ConfigMapVolumeSource(KubeObject):
    name: str = ""


class NFSVolumeSource(KubeObject):
    server: str = ""
    path: str = ""


class GlusterfsVolumeSource(KubeObject):
    endpoints: str = ""
    path: str = ""


class FlexVolumeSource(KubeObject):
    driver: str = ""


class CephFSVolumeSource(KubeObject):
    monitors: list[str] = field(default_factory=list)


class AzureFileVolumeSource(KubeObject):
    secret_name: str = ""
    share_name: str = ""


class VsphereVirtualDiskVolumeSource(KubeObject):
    volume_path: str = ""


class PhotonPersistentDiskVolumeSource(KubeObject):
    pd_id: str = field(name="pdID", default="")


class CSIVolumeSource(KubeObject):
    driver: str = ""


class AnyVolumeSource(KubeObject):
    """A kind of which only the presence is read."""


class InlineVolumes(KubeObject):
    """The in-tree volume kinds that scheduling knows, in a pod's volume or in a PersistentVolume."""

    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    cinder: VolumeWithID | None = None
    portworx_volume: VolumeWithID | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None


class ScheduledVolumes(InlineVolumes):
    """All kinds of a pod's volume that scheduling looks at."""

    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None


class Volume(ScheduledVolumes):
    name: str = ""
    empty_dir: EmptyDirVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    nfs: NFSVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    flocker: AnyVolumeSource | None = None
    downward_api: AnyVolumeSource | None = field(name="downwardAPI", default=None)
    fc: AnyVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    quobyte: AnyVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    projected: AnyVolumeSource | None = None
    scale_io: AnyVolumeSource | None = field(name="scaleIO", default=None)
    storageos: AnyVolumeSource | None = None
    csi: CSIVolumeSource | None = None

    @property
    def affects_scheduling(self) -> bool:
        """Whether it is of a kind that scheduling looks at."""
        return any(getattr(self, name) is not None for name in ScheduledVolumes.__struct_fields__)

    @property
    def is_local(self) -> bool:
        """Whether what is in it stays on the node: an emptyDir or a hostPath."""
        return self.empty_dir is not None or self.host_path is not None
