"""A pod's volumes, as far as the volume plugins read them."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.meta import KubeObject


class PersistentVolumeClaimVolumeSource(KubeObject):
    ignored = frozenset({"readOnly"})

    claim_name: str = ""


class GCEPersistentDisk(KubeObject):
    ignored = frozenset({"fsType", "partition"})

    pd_name: str = ""
    read_only: bool = False


class AWSElasticBlockStore(KubeObject):
    ignored = frozenset({"fsType", "partition", "readOnly"})

    volume_id: str = field(name="volumeID", default="")


class ISCSI(KubeObject):
    ignored = frozenset(
        {
            "targetPortal", "lun", "iscsiInterface", "fsType", "portals", "chapAuthDiscovery", "chapAuthSession", "secretRef",
            "initiatorName",
        }
    )  # fmt: skip

    iqn: str = ""
    read_only: bool = False


class RBD(KubeObject):
    ignored = frozenset({"fsType", "user", "keyring", "secretRef"})

    monitors: list[str] = field(default_factory=list)
    image: str = ""
    pool: str = "rbd"
    read_only: bool = False


class AzureDisk(KubeObject):
    ignored = frozenset({"diskName", "cachingMode", "fsType", "readOnly", "kind"})

    disk_uri: str = field(name="diskURI", default="")


class VolumeWithID(KubeObject):
    """A Cinder or Portworx volume."""

    ignored = frozenset({"fsType", "readOnly", "secretRef"})

    volume_id: str = field(name="volumeID", default="")


class ImageVolume(KubeObject):
    ignored = frozenset({"pullPolicy"})

    reference: str = ""


class EphemeralVolume(KubeObject):
    ignored = frozenset({"volumeClaimTemplate"})


class InlineVolumes(KubeObject):
    """The in-tree volume kinds that scheduling knows, in a pod's volume or in a PersistentVolume."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    cinder: VolumeWithID | None = None
    portworx_volume: VolumeWithID | None = None
    iscsi: ISCSI | None = None
    rbd: RBD | None = None


class Volume(InlineVolumes):
    ignored = frozenset(
        {
            "hostPath", "emptyDir", "gitRepo", "secret", "nfs", "glusterfs", "flexVolume", "cephfs", "flocker", "downwardAPI", "fc",
            "azureFile", "configMap", "vsphereVolume", "quobyte", "photonPersistentDisk", "projected", "scaleIO", "storageos", "csi",
        }
    )  # fmt: skip

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolume | None = None
    image: ImageVolume | None = None

    @property
    def is_of_use(self) -> bool:
        """Whether it is of a kind that scheduling looks at."""
        return any(getattr(self, name) is not None for name in self.__struct_fields__ if name != "name")
