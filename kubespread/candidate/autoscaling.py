"""Who else decides on a workload's number of replicas."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.owners import WorkloadName


def autoscaling_notes(workload: WorkloadName | None, objects: ClusterObjects) -> Iterator[str]:
    """One for every HorizontalPodAutoscaler of the workload: its bounds, which the workload's own number need not
    respect.
    """
    for found in objects.horizontal_pod_autoscalers if workload is not None else ():
        spec, target = found.spec, found.spec.scale_target_ref
        if WorkloadName(target.kind, found.metadata.namespace, target.name) == workload:
            # API defaulting: minReplicas is 1.
            least = 1 if spec.min_replicas is None else spec.min_replicas
            bounds = f"keeps {target.kind}/{target.name} at {least} to {spec.max_replicas} replicas"
            yield f"HorizontalPodAutoscaler {found.metadata.name} {bounds}; it is not simulated"
