"""Objects that embed a pod template, with the fields needed to make a pod from them."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.cluster_objects import PersistentVolumeClaim
from kubespread.kube.api.core import PodTemplateSpec
from kubespread.kube.api.meta import ApiObject, Int32, Int64, KubeObject, LabelSelector, StringMap
from kubespread.kube.quantity import IntOrString


class StatefulSetOrdinals(KubeObject):
    start: Int32 = 0


class RollingUpdate(KubeObject):
    """Fields read of rolling updates of Deployments, DaemonSets and StatefulSets together."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    partition: Int32 | None = None


class UpdateStrategy(KubeObject):
    type: str = ""
    rolling_update: RollingUpdate | None = None


class PodFailurePolicy(KubeObject):
    pass


class SuccessPolicy(KubeObject):
    pass


class WorkloadSpec(KubeObject):
    """Fields read of the specs of all kinds that create pods together."""

    replicas: Int32 | None = None
    template: PodTemplateSpec | None = None
    ordinals: StatefulSetOrdinals | None = None
    pod_management_policy: str = ""
    volume_claim_templates: list[PersistentVolumeClaim] = field(default_factory=list)
    completion_mode: str | None = None
    manual_selector: bool | None = None
    parallelism: Int32 | None = None
    completions: Int32 | None = None
    suspend: bool | None = None
    backoff_limit: Int32 | None = None
    pod_replacement_policy: str | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    backoff_limit_per_index: Int32 | None = None
    success_policy: SuccessPolicy | None = None
    active_deadline_seconds: Int64 | None = None
    managed_by: str | None = None
    strategy: UpdateStrategy | None = None
    update_strategy: UpdateStrategy | None = None
    paused: bool = False
    min_ready_seconds: Int32 = 0
    revision_history_limit: Int32 | None = None


class JobTemplateSpec(ApiObject):
    spec: WorkloadSpec = field(default_factory=WorkloadSpec)


class CronJobSpec(KubeObject):
    job_template: JobTemplateSpec = field(default_factory=JobTemplateSpec)
    suspend: bool | None = None


class LabelSelectingWorkloadSpec(WorkloadSpec):
    selector: LabelSelector | None = None


class MapSelectingWorkloadSpec(WorkloadSpec):
    selector: StringMap | None = None


class Workload(ApiObject):
    """An object with a pod template where Kubernetes' own kinds have it."""

    spec: WorkloadSpec = field(default_factory=WorkloadSpec)


class LabelSelectingWorkload(ApiObject):
    spec: LabelSelectingWorkloadSpec = field(default_factory=LabelSelectingWorkloadSpec)
    last_applied: str = ""
    """Fields of the spec that kubectl applied last, as `kubespread.kube.templates` has them; empty for none."""


class WorkloadCondition(KubeObject):
    type: str = ""
    status: str = ""
    reason: str = ""


class ReplicasStatus(KubeObject):
    """Fields read of the statuses of Deployments and ReplicaSets."""

    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    available_replicas: Int32 = 0
    observed_generation: Int64 = 0


class DeploymentStatus(ReplicasStatus):
    updated_replicas: Int32 = 0
    conditions: list[WorkloadCondition] = field(default_factory=list)


class Deployment(LabelSelectingWorkload):
    status: DeploymentStatus = field(default_factory=DeploymentStatus)


class ReplicaSet(LabelSelectingWorkload):
    status: ReplicasStatus = field(default_factory=ReplicasStatus)


class StatefulSetStatus(KubeObject):
    replicas: Int32 = 0
    ready_replicas: Int32 = 0
    current_replicas: Int32 = 0
    updated_replicas: Int32 = 0
    current_revision: str = ""
    update_revision: str = ""


class StatefulSet(LabelSelectingWorkload):
    status: StatefulSetStatus = field(default_factory=StatefulSetStatus)


class DaemonSet(LabelSelectingWorkload):
    pass


class ReplicationController(ApiObject):
    spec: MapSelectingWorkloadSpec = field(default_factory=MapSelectingWorkloadSpec)


class UncountedTerminatedPods(KubeObject):
    """UIDs of ended pods that other counts do not include yet."""

    succeeded: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


class JobStatus(KubeObject):
    start_time: str = ""
    succeeded: Int32 = 0
    failed: Int32 = 0
    completed_indexes: str = ""
    uncounted_terminated_pods: UncountedTerminatedPods | None = None
    conditions: list[WorkloadCondition] = field(default_factory=list)


class Job(Workload):
    status: JobStatus = field(default_factory=JobStatus)


class CronJob(ApiObject):
    spec: CronJobSpec = field(default_factory=CronJobSpec)


class PodTemplate(ApiObject):
    template: PodTemplateSpec | None = None
