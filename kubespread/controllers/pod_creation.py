"""An object that creates pods, and the pod created from it.

Hashes and random suffixes of names are computed here, equal for equal templates. Claims that are created for a single
pod, as the API server would store them.

Source: pkg/controller/controller_utils.go, GetPodFromTemplate, ComputeHash
Source: pkg/controller/volume/ephemeral/controller.go, handleVolume
Source: plugin/pkg/admission/storage/storageclass/setdefault/admission.go, Admit
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.admission.defaulting import default_claim, default_storage_class
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim, StorageClass
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.api.meta import ApiObject, ObjectMeta, OwnerReference


def ephemeral_claims(pod: Pod) -> list[PersistentVolumeClaim]:
    """Claims that the ephemeral volume controller creates for ``pod``, which owns them."""
    meta = pod.metadata
    owner = OwnerReference(api_version="v1", kind="Pod", name=meta.name, uid=meta.uid, controller=True)
    claims = []
    for volume in pod.spec.volumes:
        template = volume.ephemeral.volume_claim_template if volume.ephemeral is not None else None
        if template is not None:
            name = f"{meta.name}-{volume.name}"
            metadata = replace(template.metadata, name=name, namespace=meta.namespace, owner_references=[owner])
            claims.append(PersistentVolumeClaim(metadata=metadata, spec=replace(template.spec)))
    return claims


def admitted_claims(claims: Iterable[PersistentVolumeClaim], objects: ClusterObjects) -> list[PersistentVolumeClaim]:
    """New claims with their defaults."""
    admitted = list(claims)
    for claim in admitted:
        default_claim(claim)
        default_storage_class(claim, objects.get(StorageClass))
    return admitted


def is_made_for_pod(claim: PersistentVolumeClaim) -> bool:
    """True if the claim belongs to a pod's ephemeral volume, and goes with it."""
    return any(owner.controller and owner.kind == "Pod" for owner in claim.metadata.owner_references)


T_co = TypeVar("T_co", bound=ApiObject, covariant=True)


class PodCreator(Struct, Generic[T_co], frozen=True):
    """An object with a pod template, and its namespace in its metadata."""

    api_version: str
    kind: str
    object: T_co
    template: Pod
    template_text: str
    """The template as canonical JSON, the only input of hashes and made-up names."""
    revision_hash: str = ""
    """Hash of the template in the cluster."""

    @property
    def name(self) -> str:
        return self.object.metadata.name

    @property
    def namespace(self) -> str:
        return self.object.metadata.namespace


class NewPod(Struct, frozen=True):
    """A pod as its controller sends it to the API server; it shares parts with its template."""

    pod: Pod
    companions: tuple[ApiObject, ...] = ()
    """Objects created first, and the controlling object itself if scheduling reads its selector."""
    notes: tuple[str, ...] = ()
    """Notes on made-up values."""


def pod_of_template(
    creator: PodCreator[ApiObject],
    owner: OwnerReference,
    *,
    labels: Mapping[str, str] | None = None,
    name: str = "",
    generate_name: str = "",
) -> Pod:
    """Pod of the template, controlled by ``owner``, with ``labels`` added."""
    template = creator.template.metadata
    metadata = ObjectMeta(
        name=name or generated_name(generate_name or f"{owner.name}-", creator.template_text),
        namespace=creator.namespace,
        labels={**template.labels, **(labels or {})},
        annotations=template.annotations,
        owner_references=[owner],
    )
    return Pod(metadata=metadata, spec=creator.template.spec)


def controlled_by(cls: type[ApiObject], name: str) -> OwnerReference:
    """Owner reference to a controller of one of Kubernetes' own kinds."""
    row = KIND_OF[cls]
    return OwnerReference(api_version=row.api_version, kind=row.kind, name=name, controller=True)


_HASH_ALPHABET = str.maketrans("0123456789", "456789bcdf")
_NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
_MAX_PREFIX, _SUFFIX = 58, 5


def template_hash(template_text: str) -> str:
    """32-bit FNV-1a of the template's canonical JSON, in the alphabet of Kubernetes' own hashes.

    Kubernetes hashes a dump of Go structs, which nothing outside Go can reproduce; this one is as stable as the
    template.
    """
    return str(_fnv1a(template_text)).translate(_HASH_ALPHABET)


def generated_name(prefix: str, seed: str) -> str:
    """generateName cut to 58 characters plus five that depend only on ``seed``; empty without generateName."""
    if not prefix:
        return ""
    digest, suffix = _fnv1a(prefix + seed), ""
    for _ in range(_SUFFIX):
        digest, letter = divmod(digest, len(_NAME_ALPHABET))
        suffix += _NAME_ALPHABET[letter]
    return prefix[:_MAX_PREFIX] + suffix


def _fnv1a(text: str) -> int:
    digest = 0x811C9DC5
    for byte in text.encode():
        digest = ((digest ^ byte) * 0x01000193) & 0xFFFFFFFF
    return digest
