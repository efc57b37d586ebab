"""The claims that are made for a single pod, as the API server would store them.

Source: pkg/controller/volume/ephemeral/controller.go, handleVolume
Source: plugin/pkg/admission/storage/storageclass/setdefault/admission.go, Admit
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from kubespread.kube.admission.defaulting import default_claim, default_storage_class
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import OwnerReference
from kubespread.kube.api.storage import PersistentVolumeClaim, StorageClass


def ephemeral_claims(pod: Pod) -> list[PersistentVolumeClaim]:
    """The claims that the ephemeral volume controller creates for ``pod``, which owns them."""
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
    """New claims with their defaults, without those of a class that was not listed, as nothing is known of it."""
    classes = {storage_class.metadata.name for storage_class in objects.of(StorageClass)}
    admitted = []
    for claim in claims:
        default_claim(claim)
        default_storage_class(claim, objects.of(StorageClass))
        if objects.knows(StorageClass) or claim.spec.storage_class_name in classes:
            admitted.append(claim)
    return admitted


def is_made_for_pod(claim: PersistentVolumeClaim) -> bool:
    """Whether the claim is that of some pod's ephemeral volume, and goes with it."""
    return any(owner.controller and owner.kind == "Pod" for owner in claim.metadata.owner_references)
