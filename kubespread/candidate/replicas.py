"""Which pods of a cluster are a workload's replicas, and what its further ones are called."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from kubespread.candidate.candidate import WorkloadName
from kubespread.kube.objects import Pod
from kubespread.kube.workloads import ReplicaSet


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


def replica_names(pod: Pod) -> Callable[[int], str]:
    """What the replica of a number, from 0, is called; a StatefulSet's go on where its pod begins."""
    owner = next((owner for owner in pod.metadata.owner_references if owner.controller), None)
    if owner is None:
        return lambda number: f"{pod.metadata.name}-{number}"
    ordinal = pod.metadata.name.removeprefix(f"{owner.name}-")
    first = int(ordinal) if owner.kind == "StatefulSet" and ordinal.isdecimal() else 0
    return lambda number: f"{owner.name}-{first + number}"
