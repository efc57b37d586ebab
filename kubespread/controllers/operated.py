"""Further pods of an operator: copies of one it has, without what is bound to that one."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolumeClaim
from kubespread.kube.api.core import Pod, Volume
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.owners import WorkloadName


def next_name(owner: WorkloadName, pods: Iterable[Pod]) -> str:
    """One that none of its ``pods`` has."""
    return f"{owner.name}-{last_number(owner, pods) + 1}"


def last_number(owner: WorkloadName, pods: Iterable[Pod]) -> int:
    """The highest number at the end of the names of its ``pods``.

    New pods continue from there, so that no name is reused: budgets remember evicted pods by name for a while.
    """
    ends = (pod.metadata.name.removeprefix(f"{owner.name}-") for pod in pods)
    return max((int(end) for end in ends if end.isascii() and end.isdecimal()), default=0)


def another(pod: Pod, name: str, objects: ClusterObjects) -> tuple[Pod, list[PersistentVolumeClaim]]:
    """``pod`` under another name, without its node, and the claims made for it: those of ``pod``, which have its name
    in theirs, under the new name and not bound yet.
    """
    before, namespace, labels = pod.metadata.name, pod.metadata.namespace, pod.metadata.labels
    if before in labels.values():
        labels = {key: name if value == before else value for key, value in labels.items()}
    claims, volumes = list[PersistentVolumeClaim](), list[Volume]()
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is not None and (own := _renamed(source.claim_name, before, name)) != source.claim_name:
            stored = objects.named(PersistentVolumeClaim, source.claim_name, namespace)
            if stored is not None:
                meta = ObjectMeta(name=own, namespace=namespace, labels=stored.metadata.labels)
                claims.append(PersistentVolumeClaim(metadata=meta, spec=replace(stored.spec, volume_name="")))
            volume = replace(volume, persistent_volume_claim=replace(source, claim_name=own))
        volumes.append(volume)
    meta = ObjectMeta(name=name, namespace=namespace, labels=labels, owner_references=pod.metadata.owner_references)
    return Pod(metadata=meta, spec=replace(pod.spec, node_name="", volumes=volumes)), claims


def has_own_claims(pod: Pod) -> bool:
    """True if one of its claims has its name."""
    sources = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return any(source is not None and f"-{pod.metadata.name}-" in f"-{source.claim_name}-" for source in sources)


def _renamed(claim: str, before: str, name: str) -> str:
    """``data-kafka-3`` of ``data-kafka-0``, where the pod is called ``kafka-0``."""
    return f"-{claim}-".replace(f"-{before}-", f"-{name}-", 1)[1:-1]
