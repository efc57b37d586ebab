"""Priorities, and groups of pods that are scheduled together: Workload in 1.35, PodGroup since 1.36."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.meta import ApiObject, Int32, KubeObject


class GangSchedulingPolicy(KubeObject):
    min_count: Int32 = 0


class PodGroupSchedulingPolicy(KubeObject):
    gang: GangSchedulingPolicy | None = None


class TopologyConstraint(KubeObject):
    key: str = ""


class PodGroupSchedulingConstraints(KubeObject):
    topology: list[TopologyConstraint] = field(default_factory=list)


class PodGroupSpec(KubeObject):
    scheduling_policy: PodGroupSchedulingPolicy | None = None
    scheduling_constraints: PodGroupSchedulingConstraints | None = None
    parent_composite_pod_group_name: str | None = None


class PodGroup(ApiObject):
    """Also its namesakes from the coscheduling plugin and Volcano, of which only the existence is read."""

    spec: PodGroupSpec = field(default_factory=PodGroupSpec)


class WorkloadPodGroup(KubeObject):
    name: str = ""
    policy: PodGroupSchedulingPolicy = field(default_factory=PodGroupSchedulingPolicy)


class WorkloadSpec(KubeObject):
    pod_groups: list[WorkloadPodGroup] = field(default_factory=list)


class Workload(ApiObject):
    """As 1.35 has it. Later it only holds templates of PodGroups, which scheduling does not look at."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)


class PriorityClass(ApiObject):
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str = ""
