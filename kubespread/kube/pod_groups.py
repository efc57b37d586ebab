"""Groups of pods, and the requirements of each.

What Workloads said until 1.35, PodGroups say since.

Source: pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go, PreEnqueue, Permit
"""

from __future__ import annotations

from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects, PodGroup
from kubespread.kube.api.cluster_objects import Workload as SchedulingWorkload
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.versions import KubeVersion

GroupName = tuple[str, ...]
"""Namespace and PodGroup; in 1.35 namespace, Workload, group and replica key."""
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"


class Group(Struct, frozen=True):
    """Requirements of a pod's group."""

    min_count: int = 1
    """Number of its pods that have to be scheduled for any to be."""
    is_gang: bool = False
    """Otherwise its policy is basic, and only a topology key makes it a group."""
    topology_key: str = ""
    missing: str = ""
    """Message of kube-scheduler while the object that describes the group is not there."""
    parent: str | None = None
    """The CompositePodGroup it is part of."""


def has_gangs(version: KubeVersion) -> bool:
    """True if kube-scheduler places pods of a gang together: GangScheduling went into GenericWorkload in 1.37."""
    return version.has("GenericWorkload") and (version.since(37) or version.has("GangScheduling"))


def group_name(pod: Pod, version: KubeVersion) -> GroupName | None:
    """Identity of the pod's group; None for a pod of none."""
    namespace = pod.metadata.namespace
    if version.since(36):
        group = pod.spec.scheduling_group
        return None if group is None or not group.pod_group_name else (namespace, group.pod_group_name)
    ref = pod.spec.workload_ref
    return None if ref is None else (namespace, ref.name, ref.pod_group, ref.pod_group_replica_key)


def kind_of_groups(version: KubeVersion) -> type[ApiObject]:
    """Kind of object that describes groups in a release."""
    return PodGroup if version.since(36) else SchedulingWorkload


def group_called(name: GroupName, objects: ClusterObjects, version: KubeVersion) -> Group:
    """Find the group, as the release reads it."""
    namespace = name[0]
    if not version.since(36):
        return _in_workload(name, objects)
    for pod_group in objects.of(PodGroup):
        policy, meta = pod_group.spec.scheduling_policy, pod_group.metadata
        # Namesakes of other schedulers have no such policy.
        if (meta.namespace, meta.name) == (namespace, name[1]) and policy is not None:
            constraints = (
                pod_group.spec.scheduling_constraints if version.has("TopologyAwareWorkloadScheduling") else None
            )
            return Group(
                min_count=policy.gang.min_count if policy.gang is not None else 1,
                is_gang=policy.gang is not None,
                topology_key=constraints.topology[0].key if constraints is not None and constraints.topology else "",
                parent=pod_group.spec.parent_composite_pod_group_name,
            )
    return Group(missing=f'waiting for pods\'s pod group "{name[1]}" to appear in scheduling queue')


def permit_text(version: KubeVersion) -> str:
    """The message of a pod that has a node while too few others of its group have."""
    return f"waiting for minCount pods from a gang to be {'scheduled' if version.since(36) else 'waiting on permit'}"


def _in_workload(name: GroupName, objects: ClusterObjects) -> Group:
    namespace, workload, group, _ = name
    named = objects.named(SchedulingWorkload, workload, namespace)
    if named is None:
        return Group(missing=f'waiting for pods\'s workload "{workload}" to appear in scheduling queue')
    for pod_group in named.spec.pod_groups:
        if pod_group.name == group:
            gang = pod_group.policy.gang
            return Group(min_count=gang.min_count if gang is not None else 1, is_gang=gang is not None)
    return Group(missing=f'pod group "{group}" doesn\'t exist for a workload "{workload}"')
