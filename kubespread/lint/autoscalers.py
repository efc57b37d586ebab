"""Who else decides on the number of a workload's replicas, and how many there may be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.lint.subject import Subject

_KEDA_MOST = 100
"""KEDA's default of maxReplicaCount."""


@dataclass(frozen=True, slots=True)
class Autoscaler:
    text: str
    """``HorizontalPodAutoscaler web``."""
    field: str
    """What says how many replicas there may be."""
    most: int


def autoscalers_of(subject: Subject, objects: ClusterObjects) -> Iterator[Autoscaler]:
    """HorizontalPodAutoscalers, and KEDA's ScaledObjects, which make one each."""
    for autoscaler in objects.horizontal_pod_autoscalers:
        target, namespace = autoscaler.spec.scale_target_ref, autoscaler.metadata.namespace
        if (target.kind, namespace, target.name) == _name(subject):
            name = f"HorizontalPodAutoscaler {autoscaler.metadata.name}"
            yield Autoscaler(name, "maxReplicas", autoscaler.spec.max_replicas)
    for scaled in objects.scaled_objects:
        target, namespace = scaled.spec.scale_target_ref, scaled.metadata.namespace
        if (target.kind or "Deployment", namespace, target.name) == _name(subject):
            most = _KEDA_MOST if scaled.spec.max_replica_count is None else scaled.spec.max_replica_count
            yield Autoscaler(f"ScaledObject {scaled.metadata.name}", "maxReplicaCount", most)


def _name(subject: Subject) -> tuple[str, str, str]:
    return subject.name.kind, subject.name.namespace, subject.name.name
