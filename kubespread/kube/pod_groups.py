"""Groups of pods, and the requirements of each.

Groups in the Workloads of 1.35 are not modeled.

Source: pkg/scheduler/framework/plugins/gangscheduling/gangscheduling.go, PreEnqueue, Permit
"""

from __future__ import annotations

from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects, PodGroup
from kubespread.kube.api.core import Pod
from kubespread.kube.versions import KubeVersion

GroupName = tuple[str, str]
"""Namespace and name of a PodGroup."""
TOO_FEW = "waiting for minCount pods from a gang to appear in scheduling queue"
PERMIT = "waiting for minCount pods from a gang to be scheduled"
"""Message of a pod with a node while too few others of its group have one."""
GATES = ("GenericWorkload", "GangScheduling")


class GangRules(Struct, frozen=True):
    """Requirements of a pod's group."""

    min_count: int = 1
    """Number of its pods that must be scheduled for any to be."""
    is_gang: bool = False
    """False for a basic policy, in which only a topology key makes it a group."""
    topology_key: str = ""
    missing: str = ""
    """kube-scheduler's message while the group's object does not exist."""
    parent: str | None = None
    """Its CompositePodGroup; None without one."""


def has_gangs(version: KubeVersion) -> bool:
    """True if kube-scheduler places pods of a PodGroup together: GangScheduling went into GenericWorkload in 1.37."""
    is_on = version.reaches(36) and version.has("GenericWorkload")
    return is_on and (version.reaches(37) or version.has("GangScheduling"))


def group_name(pod: Pod) -> GroupName | None:
    """Name of the pod's group; None without one."""
    group = pod.spec.scheduling_group
    return None if group is None or not group.pod_group_name else (pod.metadata.namespace, group.pod_group_name)


def gang_rules(name: GroupName, objects: ClusterObjects, version: KubeVersion) -> GangRules:
    """Rules of the group of this name, as the release reads them; also for a group that does not exist yet."""
    for pod_group in objects.get(PodGroup):
        policy, meta = pod_group.spec.scheduling_policy, pod_group.metadata
        # Namesakes of other schedulers have no such policy.
        if (meta.namespace, meta.name) == name and policy is not None:
            constraints = (
                pod_group.spec.scheduling_constraints if version.has("TopologyAwareWorkloadScheduling") else None
            )
            return GangRules(
                min_count=policy.gang.min_count if policy.gang is not None else 1,
                is_gang=policy.gang is not None,
                topology_key=constraints.topology[0].key if constraints is not None and constraints.topology else "",
                parent=pod_group.spec.parent_composite_pod_group_name,
            )
    return GangRules(missing=f'waiting for pods\'s pod group "{name[1]}" to appear in scheduling queue')
