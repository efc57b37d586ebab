"""Which pods of a cluster are a workload's replicas, and what its further ones are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from kubespread.candidate.candidate import Candidate, WorkloadName
from kubespread.kube.objects import Pod
from kubespread.kube.workloads import ReplicaSet


def others(pods: Sequence[Pod], candidate: Candidate) -> Sequence[Pod]:
    """The cluster's pods without the candidate itself, where it is one of them."""
    if not candidate.is_stored:
        return pods
    asked = candidate.pod.metadata
    return tuple(pod for pod in pods if (pod.metadata.namespace, pod.metadata.name) != (asked.namespace, asked.name))


def present_replicas(pods: Iterable[Pod], workload: WorkloadName, replica_sets: Sequence[ReplicaSet]) -> list[Pod]:
    """The workload's pods that are there to stay: those of a Deployment belong to any of its ReplicaSets."""
    owners = {(workload.kind, workload.name)}
    if workload.kind == "Deployment":
        owners = {
            ("ReplicaSet", found.metadata.name)
            for found in replica_sets
            if found.metadata.namespace == workload.namespace
            and any((owner.kind, owner.name) == (workload.kind, workload.name) for owner in found.metadata.owner_references)
        }
    return [
        pod
        for pod in pods
        if pod.metadata.namespace == workload.namespace
        and pod.metadata.deletion_timestamp is None
        and any(owner.controller and (owner.kind, owner.name) in owners for owner in pod.metadata.owner_references)
    ]


def replica_names(pod: Pod, present: Iterable[Pod]) -> Iterator[str]:
    """What further replicas are called: numbered, by the ordinals no replica has yet where they are a StatefulSet's."""
    taken = {found.metadata.name for found in present}
    owner = next((owner for owner in pod.metadata.owner_references if owner.controller), None)
    base = pod.metadata.name if owner is None else owner.name
    ordinal = pod.metadata.name.removeprefix(f"{base}-")
    first = int(ordinal) if owner is not None and owner.kind == "StatefulSet" and ordinal.isdecimal() else 0
    return (name for number in count(first) if (name := f"{base}-{number}") not in taken)
