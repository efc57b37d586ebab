"""Claims of replicas: which belong to each replica, and what an answer that binds claims cannot know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.job import for_index, is_indexed
from kubespread.controllers.persistentvolume import PickVolume, first_volume, volume_for
from kubespread.controllers.pod_creation import admitted_claims, ephemeral_claims, is_made_for_pod
from kubespread.controllers.registry import another, has_own_claims
from kubespread.controllers.statefulset import claims_of, for_ordinal
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.api.workloads import StatefulSet
from kubespread.kube.owners import controller_of
from kubespread.kube.persistent_volumes import bound_claim, bound_volume, storage_class_name
from kubespread.scheduler.cluster.storage_index import StorageChange, StorageIndex, key_of


class Replica(Struct, frozen=True):
    """A workload's pod under its own name."""

    pod: Pod
    claims: Sequence[PersistentVolumeClaim] = ()
    """Claims created for it."""


Replicas = Callable[[], Iterator[Replica]]
"""Function that yields a workload's further pods, always from the first one."""


def replicas_called(
    names: Callable[[], Iterable[str]], pod: Pod, workload: ApiObject | None, objects: ClusterObjects
) -> Replicas:
    """Replicas of a workload with the first pod ``pod``, each as its controller creates it under that name."""
    return lambda: (_replica(name, pod, workload, objects) for name in names())


def _replica(name: str, pod: Pod, workload: ApiObject | None, objects: ClusterObjects) -> Replica:
    owner, claims = controller_of(pod), list[PersistentVolumeClaim]()
    if isinstance(workload, StatefulSet):
        ordinal = int(name.removeprefix(f"{workload.metadata.name}-"))
        replica, claims = for_ordinal(pod, workload, ordinal), claims_of(workload, ordinal)
    elif owner is not None and pod_creator(owner.api_version, owner.kind) is None and has_own_claims(pod):
        replica, claims = another(pod, name, objects)
    else:
        own = for_index(pod, int(name.removeprefix(f"{owner.name}-"))) if owner is not None and is_indexed(pod) else pod
        replica = replace(own, metadata=replace(own.metadata, name=name))
    # No claims are made for a pod without a controller: it has those that are in the cluster.
    if owner is not None:
        claims += ephemeral_claims(replica)
    return Replica(replica, admitted_claims(claims, objects))


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
        made = StorageChange([claim])
        if volume is not None:
            made = StorageChange([bound_claim(claim, volume)], [bound_volume(claim, volume)])
            storage = storage.apply(made)
        change = change.followed_by(made)
    return change
