"""PersistentVolumes: the claims that are bound without waiting for a pod, and their volumes.

A claim that names its volume, or that a volume names, gets that one. Other claims of a class that binds at once get the
smallest volume that suffices, or a newly provisioned one.

Source: pkg/controller/volume/persistentvolume/pv_controller.go, syncUnboundClaim, checkVolumeSatisfyClaim, syncVolume,
    provisionClaim
Source: pkg/controller/volume/persistentvolume/index.go, findByClaim, allPossibleMatchingAccessModes
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from kubespread.kube.api import cluster_objects as api
from kubespread.kube.api.core import NodeSelectorRequirement, NodeSelectorTerm
from kubespread.kube.persistent_volumes import (
    bound_claim,
    bound_volume,
    capacity,
    has_modes,
    is_available,
    is_bound,
    is_delayed,
    is_provisioned,
    is_reserved_for,
    provision,
    storage_class_name,
    suffices,
)

_READ = (api.PersistentVolumeClaim, api.PersistentVolume, api.StorageClass)
Volumes = Sequence[api.PersistentVolume]
PickVolume = Callable[[Volumes], api.PersistentVolume]
"""Choice among equally small volumes, which the controller keeps in a Go map."""


def first_volume(volumes: Volumes) -> api.PersistentVolume:
    return volumes[0]


def reconcile(before: api.ClusterObjects, objects: api.ClusterObjects) -> api.ClusterObjects:
    """Bind claims that need no pod in one pass over ``objects``; ``before`` have already had theirs.

    An earlier pending claim is bound only to a new volume, or with a new class.
    """
    old = {id(obj) for cls in _READ for obj in before.get(cls)}
    claims = list(objects.get(api.PersistentVolumeClaim))
    volumes = {
        volume.metadata.name: volume if id(volume) in old else _available(volume)
        for volume in objects.get(api.PersistentVolume)
    }
    new = {
        volume.metadata.name: volumes[volume.metadata.name]
        for volume in objects.get(api.PersistentVolume)
        if id(volume) not in old
    }
    classes = {storage_class.metadata.name: storage_class for storage_class in objects.get(api.StorageClass)}
    for position, claim in enumerate(claims):
        storage_class = classes.get(storage_class_name(claim))
        is_new = id(claim) not in old or (storage_class is not None and id(storage_class) not in old)
        if is_bound(claim) or not (is_new or new):
            continue
        volume = volume_for(claim, (volumes if is_new else new).values(), storage_class, makes=is_new)
        if volume is not None:
            claims[position] = bound_claim(claim, volume)
            volumes[volume.metadata.name] = bound_volume(claim, volume)
            new.pop(volume.metadata.name, None)
    if volumes and not objects.knows(api.PersistentVolume):
        objects = replace(objects, partly_known=objects.partly_known | {api.PersistentVolume.__name__})
    return objects.with_all(api.PersistentVolumeClaim, claims).with_all(api.PersistentVolume, volumes.values())


def _available(volume: api.PersistentVolume) -> api.PersistentVolume:
    """The volume in phase Available, if it is new to the controller."""
    return volume if volume.status.phase else replace(volume, status=api.PersistentVolumeStatus(phase="Available"))


def volume_for(
    claim: api.PersistentVolumeClaim,
    volumes: Iterable[api.PersistentVolume],
    storage_class: api.StorageClass | None,
    pick: PickVolume = first_volume,
    *,
    makes: bool = True,
) -> api.PersistentVolume | None:
    """Volume for an unbound claim: one of ``volumes``, or one that its driver ``makes``; None if it stays unbound."""
    if claim.status.phase == "Lost" or claim.metadata.deletion_timestamp is not None:
        return None
    if name := claim.spec.volume_name:
        named = next((volume for volume in volumes if volume.metadata.name == name), None)
        return named if named is not None and _can_be_bound(named, claim) else None
    usable = [volume for volume in volumes if has_modes(volume, claim) and suffices(volume, claim)]
    reserved = next((volume for volume in usable if is_reserved_for(volume, claim)), None)
    if reserved is not None or is_delayed(storage_class):
        return reserved
    free = [
        volume
        for volume in usable
        if volume.spec.claim_ref is None
        and storage_class_name(volume) == storage_class_name(claim)
        and is_available(volume, claim)
    ]
    if free:
        # Of the fewest access modes, and then of the smallest size.
        ranks = [(len(volume.spec.access_modes), capacity(volume).nano) for volume in free]
        return pick([volume for volume, rank in zip(free, ranks, strict=True) if rank == min(ranks)])
    # Drivers make no volumes for claims with a selector.
    if not makes or storage_class is None or not is_provisioned(storage_class) or claim.spec.selector is not None:
        return None
    return provision(claim, storage_class, _terms(storage_class))


def _can_be_bound(volume: api.PersistentVolume, claim: api.PersistentVolumeClaim) -> bool:
    if volume.spec.claim_ref is not None:
        return is_reserved_for(volume, claim)
    same_class = storage_class_name(volume) == storage_class_name(claim)
    return same_class and has_modes(volume, claim) and suffices(volume, claim)


def _terms(storage_class: api.StorageClass) -> list[NodeSelectorTerm]:
    """The allowed topologies; a driver chooses one of them."""
    return [
        NodeSelectorTerm(
            match_expressions=[
                NodeSelectorRequirement(key=expression.key, operator="In", values=expression.values)
                for expression in term.match_label_expressions
            ]
        )
        for term in storage_class.allowed_topologies
    ]
