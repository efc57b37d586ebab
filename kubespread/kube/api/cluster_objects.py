"""Everything besides nodes and pods that scheduling reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from dataclasses import field as field_of
from typing import get_args, get_origin, get_type_hints

from msgspec import field

from kubespread.kube.api.autoscaling import MachineDeployment, NodePool
from kubespread.kube.api.core import Toleration
from kubespread.kube.api.devices import (
    DeviceClass,
    DeviceTaintRule,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from kubespread.kube.api.meta import (
    ApiObject,
    Int32,
    Int64,
    IntOrString,
    KubeObject,
    LabelSelector,
    ResourceList,
    StringMap,
)
from kubespread.kube.api.pod_groups import PodGroup
from kubespread.kube.api.pod_groups import Workload as SchedulingWorkload
from kubespread.kube.api.storage import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubespread.kube.api.webhooks import (
    MutatingAdmissionPolicy,
    MutatingWebhookConfiguration,
    ValidatingAdmissionPolicy,
    ValidatingWebhookConfiguration,
)
from kubespread.kube.api.workloads import (
    CronJob,
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)


class ServiceSpec(KubeObject):
    selector: StringMap | None = None


class Service(ApiObject):
    spec: ServiceSpec = field(default_factory=ServiceSpec)


class Namespace(ApiObject):
    pass


class PodDisruptionBudgetSpec(KubeObject):
    selector: LabelSelector | None = None
    min_available: IntOrString | None = None
    max_unavailable: IntOrString | None = None
    unhealthy_pod_eviction_policy: str | None = None


class Condition(KubeObject):
    """meta/v1's Condition."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""


class PodDisruptionBudgetStatus(KubeObject):
    observed_generation: Int64 = 0
    expected_pods: Int32 = 0
    current_healthy: Int32 = 0
    desired_healthy: Int32 = 0
    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, str] = field(default_factory=dict)
    conditions: list[Condition] = field(default_factory=list)


class PodDisruptionBudget(ApiObject):
    spec: PodDisruptionBudgetSpec = field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = field(default_factory=PodDisruptionBudgetStatus)


class PriorityClass(ApiObject):
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str = ""


class LimitRangeItem(KubeObject):
    type: str = ""
    max: ResourceList = field(default_factory=dict)
    min: ResourceList = field(default_factory=dict)
    default: ResourceList = field(default_factory=dict)
    default_request: ResourceList = field(default_factory=dict)
    max_limit_request_ratio: ResourceList = field(default_factory=dict)


class LimitRangeSpec(KubeObject):
    limits: list[LimitRangeItem] = field(default_factory=list)


class LimitRange(ApiObject):
    spec: LimitRangeSpec = field(default_factory=LimitRangeSpec)


class ScopedResourceSelectorRequirement(KubeObject):
    scope_name: str = ""
    operator: str = ""
    values: list[str] = field(default_factory=list)


class ScopeSelector(KubeObject):
    match_expressions: list[ScopedResourceSelectorRequirement] = field(default_factory=list)


class ResourceQuotaSpec(KubeObject):
    hard: ResourceList = field(default_factory=dict)
    scopes: list[str] = field(default_factory=list)
    scope_selector: ScopeSelector | None = None


class ResourceQuotaStatus(KubeObject):
    hard: ResourceList = field(default_factory=dict)
    used: ResourceList = field(default_factory=dict)


class ResourceQuota(ApiObject):
    spec: ResourceQuotaSpec = field(default_factory=ResourceQuotaSpec)
    status: ResourceQuotaStatus = field(default_factory=ResourceQuotaStatus)


class Overhead(KubeObject):
    pod_fixed: ResourceList = field(default_factory=dict)


class Scheduling(KubeObject):
    node_selector: StringMap = field(default_factory=dict)
    tolerations: list[Toleration] = field(default_factory=list)


class RuntimeClass(ApiObject):
    overhead: Overhead | None = None
    scheduling: Scheduling | None = None


class ScaleTarget(KubeObject):
    """autoscaling's CrossVersionObjectReference."""

    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(KubeObject):
    scale_target_ref: ScaleTarget = field(default_factory=ScaleTarget)
    min_replicas: Int32 | None = None
    max_replicas: Int32 = 0


class HorizontalPodAutoscaler(ApiObject):
    spec: HorizontalPodAutoscalerSpec = field(default_factory=HorizontalPodAutoscalerSpec)


class ScaledObjectSpec(KubeObject):
    scale_target_ref: ScaleTarget = field(default_factory=ScaleTarget)
    min_replica_count: Int32 | None = None
    max_replica_count: Int32 | None = None


class ScaledObject(ApiObject):
    """keda.sh/v1alpha1: KEDA makes a HorizontalPodAutoscaler of it. Its target is a Deployment unless it says so."""

    spec: ScaledObjectSpec = field(default_factory=ScaledObjectSpec)


@dataclass(frozen=True, slots=True)
class ClusterObjects:
    """The objects of one cluster by kind, in the order they were listed."""

    services: tuple[Service, ...] = ()
    replication_controllers: tuple[ReplicationController, ...] = ()
    replica_sets: tuple[ReplicaSet, ...] = ()
    stateful_sets: tuple[StatefulSet, ...] = ()
    namespaces: tuple[Namespace, ...] = ()
    persistent_volume_claims: tuple[PersistentVolumeClaim, ...] = ()
    persistent_volumes: tuple[PersistentVolume, ...] = ()
    storage_classes: tuple[StorageClass, ...] = ()
    csi_nodes: tuple[CSINode, ...] = ()
    csi_drivers: tuple[CSIDriver, ...] = ()
    csi_storage_capacities: tuple[CSIStorageCapacity, ...] = ()
    volume_attachments: tuple[VolumeAttachment, ...] = ()
    pod_disruption_budgets: tuple[PodDisruptionBudget, ...] = ()
    priority_classes: tuple[PriorityClass, ...] = ()
    runtime_classes: tuple[RuntimeClass, ...] = ()
    limit_ranges: tuple[LimitRange, ...] = ()
    resource_quotas: tuple[ResourceQuota, ...] = ()
    device_classes: tuple[DeviceClass, ...] = ()
    device_taint_rules: tuple[DeviceTaintRule, ...] = ()
    resource_claims: tuple[ResourceClaim, ...] = ()
    resource_claim_templates: tuple[ResourceClaimTemplate, ...] = ()
    resource_slices: tuple[ResourceSlice, ...] = ()
    deployments: tuple[Deployment, ...] = ()
    daemon_sets: tuple[DaemonSet, ...] = ()
    jobs: tuple[Job, ...] = ()
    cron_jobs: tuple[CronJob, ...] = ()
    mutating_webhook_configurations: tuple[MutatingWebhookConfiguration, ...] = ()
    validating_webhook_configurations: tuple[ValidatingWebhookConfiguration, ...] = ()
    mutating_admission_policies: tuple[MutatingAdmissionPolicy, ...] = ()
    validating_admission_policies: tuple[ValidatingAdmissionPolicy, ...] = ()
    horizontal_pod_autoscalers: tuple[HorizontalPodAutoscaler, ...] = ()
    scaled_objects: tuple[ScaledObject, ...] = ()
    pod_groups: tuple[PodGroup, ...] = ()
    workloads: tuple[SchedulingWorkload, ...] = ()
    node_pools: tuple[NodePool, ...] = ()
    machine_deployments: tuple[MachineDeployment, ...] = ()
    listed: frozenset[str] = frozenset()
    """The kinds of which all objects are here, though there may be none."""
    partly_known: frozenset[str] = frozenset()
    """The kinds of which only some are here, those that came with the question; the cluster's own were not read."""
    unread: Mapping[str, str] = field_of(default_factory=dict)
    """The kinds that were asked for and not given, and what was said instead."""

    def knows(self, kind: type[ApiObject]) -> bool:
        """Whether something can be said about objects of ``kind``: some are here, or there are known to be none."""
        if kind.__name__ in self.partly_known:
            return False
        return kind.__name__ in self.listed or bool(kind in FIELDS and getattr(self, FIELDS[kind]))

    def gap(self, kind: type[ApiObject], consequence: str) -> Iterator[str]:
        """What an answer that needs ``kind`` has to say where nothing is known of it, in the words of its source."""
        if not self.knows(kind):
            yield f"{self.unread.get(kind.__name__) or f'no {kind.__name__} objects'}: {consequence}"


FIELDS: Mapping[type[ApiObject], str] = {
    get_args(hint)[0]: name for name, hint in get_type_hints(ClusterObjects).items() if get_origin(hint) is tuple
}
"""The field of ClusterObjects that each type is kept in."""
