"""What a snapshot lacks of storage, and a plugin that judges volumes could depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.api.storage import (
    CSIDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.storage_index import NO_PROVISIONER, claim_names, storage_class_name
from kubespread.scheduler.plugins.volumes.matching import offers

_NO_VOLUMES = "the pod's claims are judged as if there were no volumes"


def claim_gaps(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """What every plugin that looks at the pod's claims depends on."""
    names, objects = claim_names(pod), cluster.objects
    if names and not objects.knows(PersistentVolumeClaim):
        consequence = "zones, binding and limits of the pod's claims are not evaluated"
        yield from objects.gap(PersistentVolumeClaim, consequence)
        return
    claims = [cluster.storage.claim(pod, name) for name in names]
    if any(claim is not None and claim.spec.volume_name for claim in claims):
        yield from objects.gap(PersistentVolume, _NO_VOLUMES)
    has_ephemeral = any(volume.ephemeral is not None for volume in pod.spec.volumes)
    controllers = [owner.kind for owner in pod.metadata.owner_references if owner.controller]
    # Without classes the claims that would be made for a replica are not made up.
    is_made = "StatefulSet" in controllers or (has_ephemeral and bool(controllers))
    if any(claim is not None and not claim.spec.volume_name for claim in claims) or (None in claims and is_made):
        yield from objects.gap(StorageClass, "whether and where the pod's claims can be bound is not known")


def binding_gaps(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """What claims that are not bound yet depend on."""
    claims = (cluster.storage.claim(pod, name) for name in claim_names(pod))
    unbound = [claim for claim in claims if claim is not None and not claim.spec.volume_name]
    if unbound:
        yield from cluster.objects.gap(PersistentVolume, _NO_VOLUMES)
    yield from _provisioning_gaps(cluster, unbound)


def _provisioning_gaps(cluster: Cluster, unbound: Iterable[PersistentVolumeClaim]) -> Iterator[str]:
    """Volumes that are made where the pod goes: does the driver tell how much room there is, and how much is it?"""
    storage, objects = cluster.storage, cluster.objects
    delayed = [claim for claim in unbound if storage.is_delayed(claim)]
    provisioners = {storage.classes[storage_class_name(claim)].provisioner for claim in delayed} - {NO_PROVISIONER}
    if not provisioners:
        return
    yield from objects.gap(CSIDriver, "storage capacity is not evaluated")
    if any(driver.spec.storage_capacity and driver.metadata.name in provisioners for driver in objects.of(CSIDriver)):
        yield from objects.gap(CSIStorageCapacity, "every node counts as without storage capacity")


def undetermined_scores(cluster: Cluster, pod: Pod) -> Iterator[str]:
    """Free storage that kube-scheduler's score takes at random from several, or crashes over."""
    claims = (cluster.storage.claim(pod, name) for name in claim_names(pod))
    for claim in claims:
        if claim is None or claim.spec.volume_name or not cluster.storage.is_delayed(claim):
            continue
        name, offered = f"{claim.metadata.namespace}/{claim.metadata.name}", offers(cluster, claim)
        if (
            len({offer.capacity for offer, _ in offered}) > 1
            and (np.sum([nodes for _, nodes in offered], axis=0) > 1).any()
        ):
            yield (
                f"VolumeBinding: several CSIStorageCapacity objects of one node have room for claim {name}; "
                "kube-scheduler scores by one of them at random, here by the first"
            )
        if offered and claim.spec.storage_class_name is None:
            yield (
                f"VolumeBinding: kube-scheduler crashes while it scores claim {name}, whose class is only in an "
                "annotation; it is scored as if the class were in spec.storageClassName"
            )
        if any(offer.capacity is None for offer, _ in offered):
            yield (
                f"VolumeBinding: kube-scheduler crashes while it scores claim {name} where a CSIStorageCapacity has a "
                "maximumVolumeSize and no capacity; here that is a capacity of 0"
            )
