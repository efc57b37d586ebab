"""Who else decides on the number of a workload's replicas, and how many there may be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from kubespread.kube.api.autoscaling import HorizontalPodAutoscaler, ScaledObject
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName

_KEDA_MOST = 100
"""KEDA's default of maxReplicaCount."""


class Autoscaler(Struct, frozen=True):
    text: str
    """``HorizontalPodAutoscaler web``."""
    least_field: str
    """What says how many replicas there are at least."""
    least: int
    most_field: str
    """What says how many there may be."""
    most: int


def autoscalers_of(workload: WorkloadName, objects: ClusterObjects) -> Iterator[Autoscaler]:
    """HorizontalPodAutoscalers, and KEDA's ScaledObjects, which make one each."""
    for autoscaler in objects.of(HorizontalPodAutoscaler):
        spec, target = autoscaler.spec, autoscaler.spec.scale_target_ref
        if WorkloadName(target.kind, autoscaler.metadata.namespace, target.name) == workload:
            least = 1 if spec.min_replicas is None else spec.min_replicas
            name = f"HorizontalPodAutoscaler {autoscaler.metadata.name}"
            yield Autoscaler(name, "minReplicas", least, "maxReplicas", spec.max_replicas)
    for scaled in objects.of(ScaledObject):
        count, target = scaled.spec, scaled.spec.scale_target_ref
        if WorkloadName(target.kind or "Deployment", scaled.metadata.namespace, target.name) == workload:
            most = _KEDA_MOST if count.max_replica_count is None else count.max_replica_count
            name = f"ScaledObject {scaled.metadata.name}"
            yield Autoscaler(name, "minReplicaCount", count.min_replica_count or 0, "maxReplicaCount", most)


def autoscaler_gaps(workload: WorkloadName, objects: ClusterObjects) -> Iterator[str]:
    """What is not known of a workload that one could scale, without the kind of HorizontalPodAutoscalers."""
    row = POD_CREATORS.get(workload.kind)
    if row is not None and row.has_replicas:
        yield from objects.gap(HorizontalPodAutoscaler, "workloads are taken to keep the replicas that they say")


def bounded(replicas: int, autoscalers: Iterable[Autoscaler]) -> tuple[int, str]:
    """The number of replicas that autoscalers bring ``replicas`` to, or leave it at, and which object decides, if any.

    At 0 a HorizontalPodAutoscaler does nothing.
    """
    why = ""
    for autoscaler in autoscalers if replicas else ():
        if replicas < autoscaler.least:
            replicas, why = autoscaler.least, f"{autoscaler.least_field} of {autoscaler.text}"
        elif replicas > autoscaler.most:
            replicas, why = autoscaler.most, f"{autoscaler.most_field} of {autoscaler.text}"
    return replicas, why
