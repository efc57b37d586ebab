"""Objects that embed a pod template, as far as making a pod of them reads them."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.core import PodTemplateSpec
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


class JobTemplateSpec(ApiObject):
    spec: WorkloadSpec = field(default_factory=WorkloadSpec)


class CronJobSpec(KubeObject):
    job_template: JobTemplateSpec = field(default_factory=JobTemplateSpec)


class LabelSelectingWorkloadSpec(WorkloadSpec):
    selector: LabelSelector | None = None


class MapSelectingWorkloadSpec(WorkloadSpec):
    selector: StringMap | None = None


class Workload(ApiObject):
    """Any object that embeds a pod template where Kubernetes' own kinds have it."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)


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


class CronJob(ApiObject):
    spec: CronJobSpec = field(default_factory=CronJobSpec)


class PodTemplate(ApiObject):
    template: PodTemplateSpec | None = None
