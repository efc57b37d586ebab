"""Objects that embed a pod template, as far as making a pod of them reads them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import field

from kubespread.kube.api.core import Pod, PodTemplateSpec
from kubespread.kube.api.meta import ApiObject, Int32, KubeObject, LabelSelector, StringMap
from kubespread.kube.api.storage import PersistentVolumeClaim


class StatefulSetOrdinals(KubeObject):
    start: Int32 = 0


class WorkloadSpec(KubeObject):
    """What is read of the specs of all kinds that create pods, whichever of them has the field."""

    replicas: Int32 | None = None
    template: PodTemplateSpec | None = None
    ordinals: StatefulSetOrdinals | None = None
    pod_management_policy: str = ""
    volume_claim_templates: list[PersistentVolumeClaim] = field(default_factory=list)
    completion_mode: str | None = None
    manual_selector: bool | None = None
    parallelism: Int32 | None = None
    completions: Int32 | None = None
    job_template: JobTemplateSpec | None = None

    def __post_init__(self) -> None:
        if self.template is not None:
            self.template.spec.forget_unread_volumes()


class JobTemplateSpec(ApiObject):
    spec: WorkloadSpec | None = None


class LabelSelectingWorkloadSpec(WorkloadSpec):
    selector: LabelSelector | None = None


class MapSelectingWorkloadSpec(WorkloadSpec):
    selector: StringMap | None = None


class Workload(ApiObject):
    """Any object that embeds a pod template."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)
    template: PodTemplateSpec | None = None


class LabelSelectingWorkload(ApiObject):
    spec: LabelSelectingWorkloadSpec = field(default_factory=LabelSelectingWorkloadSpec)


class Deployment(LabelSelectingWorkload):
    pass


class ReplicaSet(LabelSelectingWorkload):
    pass


class StatefulSet(LabelSelectingWorkload):
    pass


class DaemonSet(LabelSelectingWorkload):
    pass


class ReplicationController(ApiObject):
    spec: MapSelectingWorkloadSpec = field(default_factory=MapSelectingWorkloadSpec)


class Job(Workload):
    pass


class CronJob(Workload):
    pass


WORKLOADS: Mapping[str, type[KubeObject]] = {
    cls.__name__: cls
    for cls in (Pod, Deployment, ReplicaSet, StatefulSet, DaemonSet, ReplicationController, Job, CronJob)
}
"""The type of each kind; any other kind with a pod template is a Workload."""
