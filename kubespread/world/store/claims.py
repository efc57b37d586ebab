"""Claims that are created with a pod, and bound where that needs no pod."""

from __future__ import annotations

from collections.abc import Iterable

from kubespread.controllers.persistentvolume import PickVolume, first_volume, volume_for
from kubespread.controllers.pod_creation import is_made_for_pod
from kubespread.kube.api.cluster_objects import PersistentVolumeClaim
from kubespread.kube.persistent_volumes import bound_claim, bound_volume, storage_class_name
from kubespread.scheduler.cluster.storage_index import StorageChange, StorageIndex, key_of


def creation(
    claims: Iterable[PersistentVolumeClaim], storage: StorageIndex, pick: PickVolume = first_volume
) -> StorageChange:
    """Change made by creating a pod's ``claims``, bound at once if that needs no pod.

    An existing claim stays, unless it was created for an earlier pod.
    """
    change = StorageChange()
    for claim in claims:
        current = storage.claims.get(key_of(claim))
        if current is not None and not (is_made_for_pod(claim) and is_made_for_pod(current)):
            continue
        volumes = storage.volumes.values() if claim.spec.volume_name else storage.volumes_for(claim)
        volume = volume_for(claim, volumes, storage.classes.get(storage_class_name(claim)), pick)
        claim_change = StorageChange([claim])
        if volume is not None:
            claim_change = StorageChange([bound_claim(claim, volume)], [bound_volume(claim, volume)])
            storage = storage.apply(claim_change)
        change = change.followed_by(claim_change)
    return change
