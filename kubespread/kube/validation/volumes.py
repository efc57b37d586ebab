"""Validation of a pod's volumes of every kind, and of the claims that ephemeral ones make.

Source: pkg/apis/core/validation/validation.go, ValidateVolumes, validateVolumeSource, validateEphemeralVolumeSource
Source: pkg/apis/core/validation/validation.go, validateISCSIVolumeSource, validateFCVolumeSource,
    validateQuobyteVolumeSource, validateFlockerVolumeSource, validateFlexVolumeSource, validateAzureDisk,
    ValidateCSIDriverName, validateKeyToPath
Source: pkg/apis/core/validation/validation.go, validateProjectionSources, validateDownwardAPIVolumeFile,
    validateObjectFieldSelector, validateContainerResourceFieldSelector, validateContainerResourceDivisor
Source: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaimTemplate,
    ValidatePersistentVolumeClaimSpec, validateDataSource, validateDataSourceRef
Source: pkg/apis/core/validation/names.go, ValidateSignerName, ValidateClusterTrustBundleName
Source: pkg/apis/core/pods/helpers.go, ConvertDownwardAPIFieldLabel
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from kubespread.kube.api import core, full
from kubespread.kube.gotext import quote
from kubespread.kube.name_rules import dns_label_faults, label_key_faults, subdomain_faults
from kubespread.kube.quantity import QuantityText, parse
from kubespread.kube.validation.checks import (
    Check,
    all_of,
    among,
    between,
    file_mode,
    named,
    needs,
    on,
    path_of_a_file,
    relative_path,
    value_of,
    without_backsteps,
)
from kubespread.kube.validation.faults import (
    FieldFault,
    annotations_faults,
    duplicate,
    forbidden,
    invalid,
    invalid_each,
    labels_faults,
    one_of,
    required,
    selector_faults,
    too_long,
    unsupported,
)
from kubespread.kube.versions import KubeVersion

_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_BYTE = between(0, 255)
_PARTITION = between(0, 255, "must be between 1 and 255, inclusive")
_HOST_PATHS = ("", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket")
_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_IQN_FORMS = {
    "iqn": re.compile(r"iqn\.[0-9]{4}-[0-9]{2}\.[-.A-Za-z0-9]+:[^,;*&$|\t\n\f\r ]+\Z"),
    "eui": re.compile(r"\Aeui.[A-Za-z0-9]{16}\Z"),
    "naa": re.compile(r"\Anaa.[A-Za-z0-9]{32}\Z"),
}
_LONG_INITIATOR = (
    "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
    + "specified."
)
_HOST_AND_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*")


def volume_faults(
    volumes: Sequence[core.Volume],
    valid: dict[str, core.Volume],
    pod_name: str,
    path: str,
    version: KubeVersion,
    *,
    is_pod: bool,
) -> Iterator[FieldFault]:
    """All volumes of a pod, or of a template, whose claims have no names yet; the faultless ones are in ``valid``."""
    created = {f"{pod_name}-{volume.name}" for volume in volumes if pod_name and volume.ephemeral is not None}
    for position, volume in enumerate(_without_bundles(volumes, version)):
        field = f"{path}[{position}]"
        faults = [*_source_faults(volume, pod_name, field, is_pod=is_pod), *all_of(_VOLUME, volume, field)]
        if volume.name in valid:
            faults.append(duplicate(f"{field}.name", volume.name))
        yield from faults
        if not faults:
            valid[volume.name] = volume
        claim = volume.persistent_volume_claim
        if claim is not None and claim.claim_name in created:
            detail = "must not reference a PVC that gets created for an ephemeral volume"
            yield invalid(f"{field}.persistentVolumeClaim.claimName", claim.claim_name, detail)


def _without_bundles(volumes: Sequence[core.Volume], version: KubeVersion) -> Iterator[core.Volume]:
    """Projected bundles of certificates are not stored without their gate."""
    for volume in volumes:
        projected = volume.projected if isinstance(volume, full.Volume) else None
        if projected is None or version.has("ClusterTrustBundleProjection"):
            yield volume
        else:
            sources = [replace(source, cluster_trust_bundle=None) for source in projected.sources]
            yield replace(volume, projected=replace(projected, sources=sources))


def kinds_of(volume: core.Volume) -> list[str]:
    """In the API server's order, which matters to a volume of several kinds: all but the first are refused."""
    return [kind for kind in _SOURCES if value_of(volume, kind) is not None]


def _source_faults(volume: core.Volume, pod_name: str, path: str, *, is_pod: bool) -> Iterator[FieldFault]:
    """What is wrong with the first kind, and that there are others; a volume of none is made an emptyDir."""
    if not isinstance(volume, full.Volume):
        return
    present = kinds_of(volume)
    for kind in present[:1]:
        if kind == "image" and is_pod:
            yield from needs("reference")(volume.image, f"{path}.image")
        yield from all_of(_SOURCES[kind], value_of(volume, kind), f"{path}.{_ODD_PATHS.get(kind, kind)}")
        if kind == "ephemeral" and pod_name and volume.name:
            claim = f"{pod_name}-{volume.name}"
            details = (f"PVC name {quote(claim)}: {fault}" for fault in subdomain_faults(claim))
            yield from invalid_each(f"{path}.name", volume.name, details)
    for kind in present[1:]:
        yield forbidden(f"{path}.{_ODD_NAMES.get(kind, kind)}", "may not specify more than 1 volume type")
    portal = volume.iscsi.target_portal if volume.iscsi is not None and volume.iscsi.initiator_name is not None else ""
    if len(f"{volume.name}:{portal}".encode()) > 64 and portal:
        yield invalid(f"{path}.name", volume.name, _LONG_INITIATOR)


def _size_limit(source: core.EmptyDirVolumeSource, path: str) -> Iterator[FieldFault]:
    if parse(source.size_limit).nano < 0:
        yield forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")


def _host_path(source: core.HostPathVolumeSource, path: str) -> Iterator[FieldFault]:
    if not source.path:
        yield required(f"{path}.path")
        return
    yield from without_backsteps(source.path, f"{path}.path")
    yield from one_of(f"{path}.type", source.type, _HOST_PATHS)


def _absolute_path(source: core.NFSVolumeSource, path: str) -> Iterator[FieldFault]:
    if not source.path.startswith("/"):
        yield invalid(f"{path}.path", source.path, "must be an absolute path")


def _iqn(name: str, path: str) -> Iterator[FieldFault]:
    form = _IQN_FORMS.get(name[:3])
    if form is None:
        yield invalid(path, name, "must be valid format starting with iqn, eui, or naa")
    elif not form.search(name):
        yield invalid(path, name, "must be valid format")


def _iscsi(source: full.ISCSIVolumeSource, path: str) -> Iterator[FieldFault]:
    if (source.chap_auth_discovery or source.chap_auth_session) and source.secret_ref is None:
        yield required(f"{path}.secretRef")
    if source.initiator_name is not None:
        yield from _iqn(source.initiator_name, f"{path}.initiatorname")


def _flocker(source: full.FlockerVolumeSource, path: str) -> Iterator[FieldFault]:
    if not source.dataset_name and not source.dataset_uuid:
        yield required(path, "one of datasetName and datasetUUID is required")
    if source.dataset_name and source.dataset_uuid:
        yield invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously")
    if "/" in source.dataset_name:
        yield invalid(f"{path}.datasetName", source.dataset_name, "must not contain '/'")


def _quobyte(source: full.QuobyteVolumeSource, path: str) -> Iterator[FieldFault]:
    detail = "must be a host:port pair or multiple pairs separated by commas"
    if not source.registry:
        yield required(f"{path}.registry", detail)
    elif len(source.tenant.encode()) > 64:
        yield required(f"{path}.tenant", "must be a UUID and may not exceed a length of 64 characters")
    else:
        bad = (pair for pair in source.registry.split(",") if not _HOST_AND_PORT.fullmatch(pair))
        yield from (invalid(f"{path}.registry", source.registry, detail) for _ in bad)


def _fc(source: full.FCVolumeSource, path: str) -> Iterator[FieldFault]:
    if not source.target_wwns and not source.wwids:
        yield required(f"{path}.targetWWNs", "must specify either targetWWNs or wwids, but not both")
    if source.target_wwns and source.wwids:
        detail = "targetWWNs and wwids can not be specified simultaneously"
        yield invalid(f"{path}.targetWWNs", source.target_wwns, detail)
    if source.target_wwns:
        if source.lun is None:
            yield required(f"{path}.lun", "lun is required if targetWWNs is specified")
        yield from on("lun", _BYTE)(source, path)


def _options(source: full.FlexVolumeSource, path: str) -> Iterator[FieldFault]:
    for key in sorted(source.options):
        if f".{key.partition('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io")):
            yield invalid(f"{path}.options[{key}]", key, "kubernetes.io and k8s.io namespaces are reserved")


def _azure_disk(source: core.AzureDiskVolumeSource, path: str) -> Iterator[FieldFault]:
    yield from one_of(f"{path}.cachingMode", source.caching_mode, ("None", "ReadOnly", "ReadWrite"))
    kind = "Shared" if source.kind is None else source.kind
    yield from one_of(f"{path}.kind", kind, ("Dedicated", "Managed", "Shared"))
    prefix, meant = ("/subscriptions/", _MANAGED_DISK) if kind == "Managed" else ("https://", _BLOB_DISK)
    if not source.disk_uri.startswith(prefix):
        yield unsupported(f"{path}.diskURI", source.disk_uri, (meant,))


def _driver(name: str, path: str) -> Iterator[FieldFault]:
    if len(name.encode()) > 63:
        yield too_long(path, 63)
    yield from invalid_each(path, name, subdomain_faults(name.lower()))


def _publish_secret(source: full.CSIVolumeSource, path: str) -> Iterator[FieldFault]:
    secret = source.node_publish_secret_ref
    yield from on("nodePublishSecretRef", needs("name"))(source, path)
    if secret is not None and secret.name:
        yield from invalid_each(f"{path}.name", secret.name, subdomain_faults(secret.name))


FIELDS_OF_VOLUMES = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_CONVERTIBLE = (
    *FIELDS_OF_VOLUMES,
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
_RESOURCES = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_HUGE_PAGES = ("limits.hugepages-", "requests.hugepages-")
_BYTES = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")
_DIVISORS = {"ephemeral-storage": "local ephemeral storage", "memory": "memory"}
_SUBSCRIPTED = re.compile(r"([^\[]*)\['(.*)'\]", re.DOTALL)


def field_ref_faults(supported: Sequence[str]) -> Check:
    def check(ref: full.ObjectFieldSelector, path: str) -> Iterator[FieldFault]:
        if not ref.field_path:
            yield required(f"{path}.fieldPath")
            return
        match = _SUBSCRIPTED.fullmatch(ref.field_path)
        fault = ""
        if ref.api_version not in ("", "v1"):
            fault = f"unsupported pod version: {ref.api_version}"
        elif match and match[1] not in ("metadata.annotations", "metadata.labels"):
            fault = f"field label does not support subscript: {ref.field_path}"
        elif not match and ref.field_path not in (*_CONVERTIBLE, "spec.host"):
            fault = f"field label not supported: {ref.field_path}"
        name = "spec.nodeName" if ref.field_path == "spec.host" else ref.field_path
        if fault:
            yield invalid(f"{path}.fieldPath", ref.field_path, f"error converting fieldPath: {fault}")
        elif match:
            key = match[2].lower() if match[1] == "metadata.annotations" else match[2]
            yield from invalid_each(path, key, label_key_faults(key))
        else:
            yield from one_of(f"{path}.fieldPath", name, supported)

    return check


def resource_ref_faults(ref: full.ResourceFieldSelector, path: str) -> Iterator[FieldFault]:
    """Of a variable; in a volume a container must be named, too."""
    name = ref.resource
    if not name:
        yield required(f"{path}.resource")
    elif not name.startswith(_HUGE_PAGES):
        yield from one_of(f"{path}.resource", name, _RESOURCES)
    yield from _divisor(ref, path)


def _divisor(ref: full.ResourceFieldSelector, path: str) -> Iterator[FieldFault]:
    divisor = parse(ref.divisor)
    kind = ref.resource.partition(".")[2]
    if not divisor.nano or (ref.resource not in _RESOURCES and not ref.resource.startswith(_HUGE_PAGES)):
        return
    if kind == "cpu":
        if str(divisor) not in ("1m", "1"):
            detail = "only divisor's values 1m and 1 are supported with the cpu resource"
            yield invalid(f"{path}.divisor", ref.resource, detail)
    elif str(divisor) not in _BYTES:
        what = _DIVISORS.get(kind, "hugepages")
        detail = f"only divisor's values {', '.join(_BYTES)} are supported with the {what} resource"
        yield invalid(f"{path}.divisor", ref.resource, detail)


def _resource_of_container(ref: full.ResourceFieldSelector, path: str) -> Iterator[FieldFault]:
    if ref.container_name:
        yield from resource_ref_faults(ref, path)
    else:
        yield required(f"{path}.containerName")
        yield from _divisor(ref, path)


_FIELD_REF = on("fieldRef", field_ref_faults(FIELDS_OF_VOLUMES))
_RESOURCE_REF = on("resourceFieldRef", _resource_of_container)


def _reference(file: full.DownwardAPIVolumeFile, path: str) -> Iterator[FieldFault]:
    yield from _FIELD_REF(file, path)
    if file.field_ref is None and file.resource_field_ref is None:
        yield required(path, "one of fieldRef and resourceFieldRef is required")
    elif file.field_ref is None:
        yield from _RESOURCE_REF(file, path)
    elif file.resource_field_ref is not None:
        yield invalid(path, "resource", "fieldRef and resourceFieldRef can not be specified simultaneously")


_KEY_TO_PATH = (needs("key", "path"), on("path", path_of_a_file), on("mode", file_mode))
_DOWNWARD_FILE = (needs("path"), on("path", path_of_a_file), _reference, on("mode", file_mode))


def _downward_files(
    source: full.DownwardAPIVolumeSource | full.DownwardAPIProjection, path: str
) -> Iterator[FieldFault]:
    """Their paths do not say which file is meant."""
    for file in source.items:
        yield from all_of(_DOWNWARD_FILE, file, path)


def _projected(source: full.ProjectedVolumeSource, path: str) -> Iterator[FieldFault]:
    taken: set[str] = set()
    for position, projection in enumerate(source.sources):
        field = f"{path}.sources[{position}]"
        present = [name for name in _PROJECTIONS if value_of(projection, name) is not None]
        for name in present:
            yield from _PROJECTIONS[name](value_of(projection, name), f"{field}.{name}", path, taken)
        if len(present) > 1:
            yield forbidden(field, "may not specify more than 1 volume type per source")


def _clash(file: str, taken: set[str], path: str, said: str = "") -> Iterator[FieldFault]:
    """A file at a path that another source of the volume has taken."""
    if file in taken:
        yield invalid(path, said or file, "conflicting duplicate paths")
    taken.add(file)


def _projected_keys(source: full.SecretProjection, path: str, volume: str, taken: set[str]) -> Iterator[FieldFault]:
    yield from needs("name")(source, path)
    for position, item in enumerate(source.items):
        yield from all_of(_KEY_TO_PATH, item, f"{path}.items[{position}]")
        if item.path:
            yield from _clash(item.path, taken, volume, source.name)


def _projected_files(
    source: full.DownwardAPIProjection, path: str, volume: str, taken: set[str]
) -> Iterator[FieldFault]:
    for file in source.items:
        yield from all_of(_DOWNWARD_FILE, file, path)
        if file.path:
            yield from _clash(file.path, taken, volume)


def _projected_token(
    source: full.ServiceAccountTokenProjection, path: str, volume: str, _taken: set[str]
) -> Iterator[FieldFault]:
    seconds = source.expiration_seconds
    if seconds is not None and seconds < 600:
        yield invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration less than 10 minutes")
    if seconds is not None and seconds > 2**32:
        yield invalid(f"{path}.expirationSeconds", seconds, "may not specify a duration larger than 2^32 seconds")
    yield from needs("path")(source, volume)
    yield from on("path", path_of_a_file)(source, volume)


def _projected_bundle(
    source: full.ClusterTrustBundleProjection, path: str, volume: str, taken: set[str]
) -> Iterator[FieldFault]:
    name, signer = source.name, source.signer_name
    if name is not None and signer is not None:
        yield invalid(path, source, "only one of name and signerName may be used")
    elif name is not None:
        if not name:
            yield required(f"{path}.name", "must be a valid object name")
        details = (f"not a valid clustertrustbundlename: {fault}" for fault in _bundle_name_faults(name))
        yield from invalid_each(f"{path}.name", name, details)
        if source.label_selector is not None:
            printed = msgspec.to_builtins(source.label_selector)
            yield invalid(f"{path}.labelSelector", printed, "labelSelector must be unset if name is specified")
    elif signer is not None:
        if not signer:
            yield required(f"{path}.signerName", "must be a valid signer name")
        yield from _signer_faults(signer, f"{path}.signerName")
        yield from selector_faults(source.label_selector, f"{path}.labelSelector")
    else:
        yield required(path, "either name or signerName must be specified")
    yield from needs("path")(source, path)
    yield from on("path", path_of_a_file)(source, path)
    yield from _clash(source.path, taken, volume)


def _bundle_name_faults(name: str) -> Sequence[str]:
    signer, colon, rest = name.rpartition(":")
    if colon and not signer:
        return ('ClusterTrustBundle without signer name must not have ":" in its name',)
    return subdomain_faults(rest)


def _signer_faults(name: str, path: str) -> Iterator[FieldFault]:
    domain, slash, rest = name.partition("/")
    if not name:
        yield required(path)
        return
    if not slash or "/" in rest:
        detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
        yield invalid(path, name, detail)
        return
    if len(domain.encode()) > 253:
        yield too_long(path, 253)
    yield from _first_bad_part(domain, path, dns_label_faults)
    if "." not in domain:
        yield invalid(path, domain, "should be a domain with at least two segments separated by dots")
    yield from _first_bad_part(rest, path, subdomain_faults)
    if len(name.encode()) > 571:
        yield too_long(path, 571)


def _first_bad_part(text: str, path: str, rule: Callable[[str], Sequence[str]]) -> Iterator[FieldFault]:
    bad = next((part for part in text.split(".") if rule(part)), None)
    if bad is not None:
        yield from invalid_each(path, text, (f"validating label {quote(bad)}: {fault}" for fault in rule(bad)))


_KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
_DAY, _LONGEST = 86400, 7862400


def _projected_certificate(
    source: full.PodCertificateProjection, path: str, volume: str, taken: set[str]
) -> Iterator[FieldFault]:
    yield from _signer_faults(source.signer_name, f"{path}.signerName")
    yield from one_of(f"{path}.keyType", source.key_type, _KEY_TYPES)
    seconds, host = source.max_expiration_seconds, source.signer_name.partition("/")[0]
    most = _DAY if f".{host}".endswith(".kubernetes.io") else _LONGEST
    field = f"{path}.maxExpirationSeconds"
    if seconds is not None and seconds < 3600:
        yield invalid(field, seconds, "if provided, maxExpirationSeconds must be >= 3600")
    if seconds is not None and seconds > most:
        yield invalid(field, seconds, f"if provided, maxExpirationSeconds must be <= {most}")
    files = {name: value_of(source, name) for name in ("credentialBundlePath", "keyPath", "certificateChainPath")}
    for name, file in files.items():
        if file:
            yield from path_of_a_file(file, f"{path}.{name}")
            yield from _clash(file, taken, volume)
    if not any(files.values()):
        yield required(path, "specify at least one of credentialBundlePath, keyPath, and certificateChainPath")


_PROJECTIONS: Mapping[str, Callable[[Any, str, str, set[str]], Iterator[FieldFault]]] = {
    "secret": _projected_keys,
    "configMap": _projected_keys,
    "downwardAPI": _projected_files,
    "serviceAccountToken": _projected_token,
    "clusterTrustBundle": _projected_bundle,
    "podCertificate": _projected_certificate,
}


def _claim_template(source: full.EphemeralVolumeSource, path: str) -> Iterator[FieldFault]:
    template = source.volume_claim_template
    if template is None:
        yield required(f"{path}.volumeClaimTemplate")
        return
    field = f"{path}.volumeClaimTemplate"
    yield from annotations_faults(template.metadata.annotations, f"{field}.metadata.annotations")
    yield from labels_faults(template.metadata.labels, f"{field}.metadata.labels")
    for name, attribute in _NOT_OF_TEMPLATES.items():
        if getattr(template.metadata, attribute):
            yield forbidden(f"{field}.metadata.{name}", "cannot be set")
    yield from _claim(template.spec, f"{field}.spec")


_NOT_OF_TEMPLATES = {
    # The first letter of Go's name is made small.
    "name": "name",
    "generateName": "generate_name",
    "namespace": "namespace",
    "uID": "uid",
    "resourceVersion": "resource_version",
    "generation": "generation",
    "creationTimestamp": "creation_timestamp",
    "deletionTimestamp": "deletion_timestamp",
    "deletionGracePeriodSeconds": "deletion_grace_period_seconds",
    "ownerReferences": "owner_references",
    "finalizers": "finalizers",
}


def _claim(spec: full.PersistentVolumeClaimSpec, path: str) -> Iterator[FieldFault]:
    if not spec.access_modes:
        yield required(f"{path}.accessModes", "at least 1 access mode is required")
    yield from selector_faults(spec.selector, f"{path}.selector")
    for mode in spec.access_modes:
        yield from one_of(f"{path}.accessModes", mode, _ACCESS_MODES)
    modes = {mode for mode in spec.access_modes if mode in _ACCESS_MODES}
    if "ReadWriteOncePod" in modes and len(modes) > 1:
        yield forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes")
    yield from _size_faults(spec.resources.requests, f"{path}.resources[storage]")
    yield from on("storageClassName", named(subdomain_faults))(spec, path)
    yield from one_of(f"{path}.volumeMode", spec.volume_mode, ("Block", "Filesystem"))
    yield from on("dataSource", *_DATA_SOURCE)(spec, path)
    yield from on("dataSourceRef", *_DATA_SOURCE, on("namespace", named(dns_label_faults)))(spec, path)
    yield from _two_sources(spec, path)
    yield from on("volumeAttributesClassName", named(subdomain_faults))(spec, path)


def _two_sources(spec: full.PersistentVolumeClaimSpec, path: str) -> Iterator[FieldFault]:
    one, other = spec.data_source, spec.data_source_ref
    if one is None or other is None:
        return
    # The API server prints a field's path, a struct that has no fields of its own to print.
    if other.namespace:
        yield invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified")
    elif (one.api_group, one.kind, one.name) != (other.api_group, other.kind, other.name):
        yield invalid(path, {}, "must match dataSourceRef")


def _default_group(source: full.TypedObjectReference, path: str) -> Iterator[FieldFault]:
    if not source.api_group and source.kind != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        yield invalid(path, source.kind, detail)


_DATA_SOURCE = (needs("name", "kind"), _default_group, on("apiGroup", named(subdomain_faults)))


def _size_faults(requests: Mapping[str, QuantityText | None], path: str) -> Iterator[FieldFault]:
    if "storage" not in requests:
        yield required(path)
        return
    size = parse(requests["storage"]).rounded_up()
    if size.nano <= 0:
        yield invalid(path, str(size), "must be greater than zero")


_VOLUME = (needs("name"), on("name", named(dns_label_faults)))
_SECRET_REF = on("secretRef", needs("name"))
_SOURCES: Mapping[str, tuple[Check, ...]] = {
    "emptyDir": (_size_limit,),
    "hostPath": (_host_path,),
    "gitRepo": (needs("repository"), on("directory", relative_path)),
    "gcePersistentDisk": (needs("pdName"), on("partition", _PARTITION)),
    "awsElasticBlockStore": (needs("volumeID"), on("partition", _PARTITION)),
    "secret": (needs("secretName"), on("defaultMode", file_mode), on("items", *_KEY_TO_PATH)),
    "nfs": (needs("server", "path"), _absolute_path),
    "iscsi": (needs("targetPortal", "iqn"), on("iqn", _iqn), on("lun", _BYTE), _iscsi),
    "glusterfs": (needs("endpoints", "path"),),
    "flocker": (_flocker,),
    "persistentVolumeClaim": (needs("claimName"),),
    "rbd": (needs("monitors", "image"),),
    "cinder": (needs("volumeID"), _SECRET_REF),
    "cephfs": (needs("monitors"),),
    "quobyte": (_quobyte, needs("volume")),
    "downwardAPI": (on("defaultMode", file_mode), _downward_files),
    "fc": (_fc,),
    "flexVolume": (needs("driver"), _options),
    "configMap": (needs("name"), on("defaultMode", file_mode), on("items", *_KEY_TO_PATH)),
    "azureFile": (needs("secretName", "shareName"),),
    "vsphereVolume": (needs("volumePath"),),
    "photonPersistentDisk": (needs("pdID"),),
    "portworxVolume": (needs("volumeID"),),
    "azureDisk": (needs("diskName", "diskURI"), _azure_disk),
    "storageos": (
        needs("volumeName"),
        on("volumeName", named(dns_label_faults)),
        on("volumeNamespace", named(dns_label_faults)),
        _SECRET_REF,
    ),
    "projected": (on("defaultMode", file_mode), _projected),
    "scaleIO": (needs("gateway", "system", "volumeName"),),
    "csi": (needs("driver"), on("driver", _driver), _publish_secret),
    "ephemeral": (_claim_template,),
    "image": (on("pullPolicy", among("Always", "IfNotPresent", "Never")),),
}
_ODD_PATHS = {"gcePersistentDisk": "persistentDisk"}
_ODD_NAMES = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}
