"""Validation of a pod's volumes, of every kind in what it must name, and of the claims that ephemeral ones make.

Source: pkg/apis/core/validation/validation.go, ValidateVolumes, validateVolumeSource, validateEphemeralVolumeSource
Source: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaimTemplate,
    ValidatePersistentVolumeClaimSpec
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kubespread.kube.api import core
from kubespread.kube.api.meta import KubeObject
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, subdomain_faults
from kubespread.kube.quantity import QuantityText, parse
from kubespread.kube.validation.faults import (
    FieldFault,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    labels_faults,
    one_of,
    required,
    selector_faults,
    unsupported,
)

# Wire names. The order is the API server's, which matters to a volume of several kinds: all but the first are refused.
_KINDS = (
    "emptyDir", "hostPath", "gitRepo", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi",
    "glusterfs", "persistentVolumeClaim", "rbd", "cinder", "cephfs", "flocker", "downwardAPI", "fc", "flexVolume",
    "configMap", "azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume",
    "scaleIO", "storageos", "projected", "csi", "ephemeral", "image",
)  # fmt: skip
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "awsElasticBlockStore": ("volumeID",),
    "azureDisk": ("diskName", "diskURI"),
    "azureFile": ("secretName", "shareName"),
    "cephfs": ("monitors",),
    "cinder": ("volumeID",),
    "configMap": ("name",),
    "csi": ("driver",),
    "ephemeral": ("volumeClaimTemplate",),
    "flexVolume": ("driver",),
    "gcePersistentDisk": ("pdName",),
    "gitRepo": ("repository",),
    "glusterfs": ("endpoints", "path"),
    "hostPath": ("path",),
    "iscsi": ("targetPortal", "iqn"),
    "nfs": ("server", "path"),
    "persistentVolumeClaim": ("claimName",),
    "photonPersistentDisk": ("pdID",),
    "portworxVolume": ("volumeID",),
    "rbd": ("monitors", "image"),
    "secret": ("secretName",),
    "vsphereVolume": ("volumePath",),
}
_BYTE_FIELDS: Mapping[str, str] = {
    "gcePersistentDisk": "partition",
    "awsElasticBlockStore": "partition",
    "iscsi": "lun",
}
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES = ("Block", "Filesystem")
_CACHING_MODES = ("None", "ReadOnly", "ReadWrite")
_DISK_KINDS = ("Dedicated", "Managed", "Shared")
_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_FORMS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([-a-z0-9]+\.)*[-a-z0-9]+(:[^,;*&$|\s]+)?", re.ASCII | re.IGNORECASE),
    "eui": re.compile(r"eui\.[0-9a-f]{16}", re.ASCII | re.IGNORECASE),
    "naa": re.compile(r"naa\.[0-9a-f]{32}", re.ASCII | re.IGNORECASE),
}
_FIELDS: Mapping[str, str] = {info.encode_name: info.name for info in msgspec.structs.fields(core.Volume)}


def volume_faults(volumes: Sequence[core.Volume], pod_name: str, path: str, *, is_pod: bool) -> Iterator[FieldFault]:
    """All volumes of a pod, or of a template, whose claims have no names yet; faulty volumes do not take their name."""
    names: set[str] = set()
    created = {f"{pod_name}-{volume.name}" for volume in volumes if pod_name and volume.ephemeral is not None}
    for position, volume in enumerate(volumes):
        field = f"{path}[{position}]"
        faults = [
            *_source_faults(volume, pod_name, field, is_pod=is_pod),
            *_name_faults(volume.name, names, f"{field}.name"),
        ]
        yield from faults
        if not faults:
            names.add(volume.name)
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{field}.persistentVolumeClaim.claimName", claim.claim_name, detail)


def _name_faults(name: str, taken: set[str], path: str) -> Iterator[FieldFault]:
    if not name:
        yield required(path)
    else:
        yield from invalid_each(path, name, dns_label_faults(name))
    if name in taken:
        yield duplicate(path, name)


def _source_faults(volume: core.Volume, pod_name: str, path: str, *, is_pod: bool) -> Iterator[FieldFault]:
    present = [(kind, source) for kind in _KINDS if (source := getattr(volume, _FIELDS[kind])) is not None]
    if not present:
        return  # SetDefaults_Volume makes it an emptyDir.
    kind, source = present[0]
    field = f"{path}.{kind}"
    yield from _field_faults(kind, source, field)
    yield from (forbidden(f"{path}.{other}", "may not specify more than 1 volume type") for other, _ in present[1:])
    if kind == "image" and is_pod and not source.reference:
        yield required(f"{field}.reference")
    if kind == "ephemeral" and pod_name and volume.name:
        claim = f"{pod_name}-{volume.name}"
        yield from invalid_each(
            f"{path}.name", volume.name, (f"PVC name {quote(claim)}: {fault}" for fault in subdomain_faults(claim))
        )


def _field_faults(kind: str, source: KubeObject, path: str) -> Iterator[FieldFault]:
    required_names = _REQUIRED.get(kind, ())
    fields = {info.encode_name: getattr(source, info.name) for info in msgspec.structs.fields(source)}
    yield from (required(f"{path}.{name}") for name in required_names if not fields[name])
    if (name := _BYTE_FIELDS.get(kind)) and not 0 <= fields[name] <= 255:
        yield invalid(f"{path}.{name}", fields[name], "must be between 0 and 255, inclusive")
    match source:
        case core.ISCSIVolumeSource():
            yield from _iqn_faults(source.iqn, f"{path}.iqn")
        case core.AzureDiskVolumeSource():
            yield from _azure_faults(source, path)
        case core.EphemeralVolumeSource() if source.volume_claim_template is not None:
            yield from _template_faults(source.volume_claim_template, f"{path}.volumeClaimTemplate")
    if kind == "hostPath" and ".." in fields["path"].split("/"):
        yield invalid(f"{path}.path", fields["path"], "must not contain '..'")
    if kind == "nfs" and not fields["path"].startswith("/"):
        yield invalid(f"{path}.path", fields["path"], "must be an absolute path")
    if kind == "csi" and fields["driver"]:
        yield from _driver_faults(fields["driver"], f"{path}.driver")
    if kind == "emptyDir" and parse(fields["sizeLimit"]).nano < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _driver_faults(name: str, path: str) -> Iterator[FieldFault]:
    if len(name.encode()) > 63:
        yield FieldFault(path, "Too long: may not be more than 63 bytes")
    yield from invalid_each(path, name, subdomain_faults(name.lower()))


def _iqn_faults(iqn: str, path: str) -> Iterator[FieldFault]:
    if not iqn:
        return
    form = _FORMS.get(iqn[:3])
    if form is None:
        yield invalid(path, iqn, "must be valid format starting with iqn, eui, or naa")
    elif not form.fullmatch(iqn):
        yield invalid(path, iqn, "must be valid format")


def _azure_faults(source: core.AzureDiskVolumeSource, path: str) -> Iterator[FieldFault]:
    yield from one_of(f"{path}.cachingMode", source.caching_mode, _CACHING_MODES)
    kind = "Shared" if source.kind is None else source.kind
    yield from one_of(f"{path}.kind", kind, _DISK_KINDS)
    if kind == "Managed":
        if not source.disk_uri.startswith("/subscriptions/"):
            yield unsupported(f"{path}.diskURI", source.disk_uri, (_MANAGED_DISK,))
    elif not source.disk_uri.startswith("https://"):
        yield unsupported(f"{path}.diskURI", source.disk_uri, (_BLOB_DISK,))


def _template_faults(template: core.PersistentVolumeClaimTemplate, path: str) -> Iterator[FieldFault]:
    for key in sorted(template.metadata.annotations):
        yield from invalid_each(f"{path}.metadata.annotations", key, label_key_faults(key.lower()))
    yield from labels_faults(template.metadata.labels, f"{path}.metadata.labels")
    for field in ("name", "generateName", "namespace", "uid"):
        if getattr(template.metadata, "generate_name" if field == "generateName" else field):
            yield forbidden(f"{path}.metadata.{field}", "cannot be set for an ephemeral volume")
    yield from _claim_faults(template.spec, f"{path}.spec")


def _claim_faults(spec: core.PersistentVolumeClaimSpec, path: str) -> Iterator[FieldFault]:
    if not spec.access_modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from selector_faults(spec.selector, f"{path}.selector")
    for mode in spec.access_modes:
        yield from one_of(f"{path}.accessModes", mode, _ACCESS_MODES)
    if "ReadWriteOncePod" in spec.access_modes and set(spec.access_modes) != {"ReadWriteOncePod"}:
        yield forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    yield from _size_faults(spec.resources.requests, f"{path}.resources[storage]")
    classes = {
        "storageClassName": spec.storage_class_name,
        "volumeAttributesClassName": spec.volume_attributes_class_name,
    }
    for field, name in classes.items():
        if name:
            yield from invalid_each(f"{path}.{field}", name, subdomain_faults(name))
    yield from one_of(f"{path}.volumeMode", spec.volume_mode, _VOLUME_MODES)


def _size_faults(requests: Mapping[str, QuantityText | None], path: str) -> Iterator[FieldFault]:
    if "storage" not in requests:
        yield required(path)
        return
    size = parse(requests["storage"]).rounded_up()
    if size.nano <= 0:
        yield invalid(path, str(size), "must be greater than zero")
