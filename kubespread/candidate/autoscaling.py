"""Who else decides on a workload's number of replicas."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.autoscaling import HorizontalPodAutoscaler
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.owners import WorkloadName


def autoscaling_notes(workload: WorkloadName | None, objects: ClusterObjects) -> Iterator[str]:
    """The bounds of every HorizontalPodAutoscaler of the workload, which the workload's own number need not respect."""
    for autoscaler in objects.of(HorizontalPodAutoscaler) if workload is not None else ():
        spec, target = autoscaler.spec, autoscaler.spec.scale_target_ref
        if WorkloadName(target.kind, autoscaler.metadata.namespace, target.name) == workload:
            # API defaulting: minReplicas is 1.
            least = 1 if spec.min_replicas is None else spec.min_replicas
            bounds = f"keeps {target.kind}/{target.name} at {least} to {spec.max_replicas} replicas"
            yield f"HorizontalPodAutoscaler {autoscaler.metadata.name} {bounds}; it is not simulated"
