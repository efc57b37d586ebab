"""Objects other than nodes, pods, workloads and devices that scheduling reads, and the collection of all objects.

Storage: claims, volumes, classes and reports of CSI drivers. Disruption budgets. Priorities, and groups of pods that
are scheduled together: Workload in 1.35, PodGroup since 1.36. Webhooks and admission policies, which decide about pods
at creation by code that is not here. Settings of autoscalers: NodePools for nodes, HorizontalPodAutoscalers for pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.kube.api import core
from kubespread.kube.api.meta import ApiObject, Int32, Int64, KubeObject, LabelSelector, ResourceList, StringMap
from kubespread.kube.quantity import IntOrString, QuantityText


class NodeClaimSpec(KubeObject):
    """Properties of every node of a NodePool."""

    requirements: list[core.NodeSelectorRequirement] = field(default_factory=list)
    taints: list[core.Taint] = field(default_factory=list)


class NodeClaimMeta(KubeObject):
    labels: StringMap = field(default_factory=dict)


class NodeClaimTemplate(KubeObject):
    metadata: NodeClaimMeta = field(default_factory=NodeClaimMeta)
    spec: NodeClaimSpec = field(default_factory=NodeClaimSpec)


class NodePoolSpec(KubeObject):
    template: NodeClaimTemplate = field(default_factory=NodeClaimTemplate)
    limits: ResourceList = field(default_factory=dict)
    weight: Int32 = 0
    replicas: Int64 | None = None
    """Number of nodes of a static pool; None for a dynamic one."""


class NodePool(ApiObject):
    """karpenter.sh/v1."""

    spec: NodePoolSpec = field(default_factory=NodePoolSpec)


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
    """keda.sh/v1alpha1: KEDA creates a HorizontalPodAutoscaler for it. The target is a Deployment by default."""

    spec: ScaledObjectSpec = field(default_factory=ScaledObjectSpec)


class RuleWithOperations(KubeObject):
    operations: list[str] = field(default_factory=list)
    api_groups: list[str] = field(default_factory=list)
    resources: list[str] = field(default_factory=list)

    @property
    def takes_new_pods(self) -> bool:
        return bool(
            {"*", "CREATE"}.intersection(self.operations)
            and {"*", ""}.intersection(self.api_groups)
            and {"*", "*/*", "pods"}.intersection(self.resources)
        )


class Webhook(KubeObject):
    name: str = ""
    rules: list[RuleWithOperations] = field(default_factory=list)
    namespace_selector: LabelSelector | None = None


class _WebhookConfiguration(ApiObject):
    webhooks: list[Webhook] = field(default_factory=list)


class MutatingWebhookConfiguration(_WebhookConfiguration):
    pass


class ValidatingWebhookConfiguration(_WebhookConfiguration):
    pass


class MatchResources(KubeObject):
    resource_rules: list[RuleWithOperations] = field(default_factory=list)
    namespace_selector: LabelSelector | None = None


class AdmissionPolicySpec(KubeObject):
    match_constraints: MatchResources = field(default_factory=MatchResources)


class _AdmissionPolicy(ApiObject):
    spec: AdmissionPolicySpec = field(default_factory=AdmissionPolicySpec)


class MutatingAdmissionPolicy(_AdmissionPolicy):
    pass


class ValidatingAdmissionPolicy(_AdmissionPolicy):
    pass


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
    """Also its namesakes from the coscheduling plugin and Volcano; only their existence is read."""

    spec: PodGroupSpec = field(default_factory=PodGroupSpec)


class PriorityClass(ApiObject):
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str = ""


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


class PersistentVolumeClaimStatus(KubeObject):
    phase: str = ""


class PersistentVolumeClaim(ApiObject):
    spec: core.PersistentVolumeClaimSpec = field(default_factory=core.PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = field(default_factory=PersistentVolumeClaimStatus)


class ObjectReference(KubeObject):
    namespace: str = ""
    name: str = ""
    uid: str = ""


class CSIPersistentVolumeSource(KubeObject):
    driver: str = ""
    volume_handle: str = ""


class VolumeNodeAffinity(KubeObject):
    required: core.NodeSelector | None = None


class PersistentVolumeSpec(core.InlineVolumes):
    capacity: ResourceList = field(default_factory=dict)
    access_modes: list[str] = field(default_factory=list)
    claim_ref: ObjectReference | None = None
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIPersistentVolumeSource | None = None


class PersistentVolumeStatus(KubeObject):
    phase: str = ""


class PersistentVolume(ApiObject):
    spec: PersistentVolumeSpec = field(default_factory=PersistentVolumeSpec)
    status: PersistentVolumeStatus = field(default_factory=PersistentVolumeStatus)


class TopologySelectorLabelRequirement(KubeObject):
    key: str = ""
    values: list[str] = field(default_factory=list)


class TopologySelectorTerm(KubeObject):
    match_label_expressions: list[TopologySelectorLabelRequirement] = field(default_factory=list)


class StorageClass(ApiObject):
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: list[TopologySelectorTerm] = field(default_factory=list)


class VolumeNodeResources(KubeObject):
    count: Int32 | None = None


class CSINodeDriver(KubeObject):
    name: str = ""
    allocatable: VolumeNodeResources | None = None
    topology_keys: list[str] = field(default_factory=list)


class CSINodeSpec(KubeObject):
    drivers: list[CSINodeDriver] = field(default_factory=list)


class CSINode(ApiObject):
    spec: CSINodeSpec = field(default_factory=CSINodeSpec)


class CSIDriverSpec(KubeObject):
    storage_capacity: bool = False
    prevent_pod_scheduling_if_missing: bool = False


class CSIDriver(ApiObject):
    spec: CSIDriverSpec = field(default_factory=CSIDriverSpec)


class CSIStorageCapacity(ApiObject):
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: QuantityText | None = None
    maximum_volume_size: QuantityText | None = None


class VolumeAttachmentSource(KubeObject):
    persistent_volume_name: str = ""


class VolumeAttachmentSpec(KubeObject):
    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = field(default_factory=VolumeAttachmentSource)


class VolumeAttachment(ApiObject):
    spec: VolumeAttachmentSpec = field(default_factory=VolumeAttachmentSpec)


T = TypeVar("T", bound=ApiObject)


class ClusterObjects(Struct, frozen=True, dict=True):
    """Objects of one cluster by type, in listed order."""

    by_type: Mapping[type[ApiObject], tuple[ApiObject, ...]] = field(default_factory=dict)
    """Only types with objects."""
    listed: frozenset[str] = frozenset()
    """Kinds that are complete, even without objects."""
    partly_known: frozenset[str] = frozenset()
    """Kinds with only the question's own objects; the cluster's were not read."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """Kinds that could not be read, each with the message instead."""

    @cached_property
    def _by_name(self) -> dict[type[ApiObject], dict[str, list[ApiObject]]]:
        """Objects by name, for the types that were looked through by name."""
        return {}

    def get(self, cls: type[T]) -> tuple[T, ...]:
        return cast("tuple[T, ...]", self.by_type.get(cls, ()))

    def find(self, cls: type[T], name: str, namespace: str | None = None) -> T | None:
        """The first of a type with a name, for a namespaced type in ``namespace``; None without one."""
        by_name = self._by_name.get(cls)
        if by_name is None:
            by_name = self._by_name[cls] = {}
            for obj in self.get(cls):
                by_name.setdefault(obj.metadata.name, []).append(obj)
        alike = cast("list[T]", by_name.get(name, ()))
        return next((obj for obj in alike if namespace in (None, obj.metadata.namespace)), None)

    def with_all(self, cls: type[T], objects: Iterable[T]) -> ClusterObjects:
        """Copy in which ``objects`` are all of their type."""
        by_type: dict[type[ApiObject], tuple[ApiObject, ...]] = {**self.by_type, cls: tuple(objects)}
        return replace(self, by_type={kind: listed for kind, listed in by_type.items() if listed})

    def with_some(self, cls: type[T], objects: Iterable[T]) -> ClusterObjects:
        """Copy in which ``objects`` are all that is known of their type, and all there are if it was listed."""
        more = self.with_all(cls, objects)
        if self.knows(cls) or cls not in more.by_type:
            return more
        return replace(more, partly_known=more.partly_known | {cls.__name__})

    def knows(self, kind: type[ApiObject]) -> bool:
        """True if ``kind`` was listed, or the source has objects of it and not the question alone."""
        if kind.__name__ in self.partly_known:
            return False
        return kind.__name__ in self.listed or kind in self.by_type

    def gap(self, kind: type[ApiObject], consequence: str) -> Iterator[str]:
        """Yield a gap if nothing is known of ``kind``, in the words of its source."""
        if not self.knows(kind):
            yield f"{self.unread.get(kind.__name__) or f'no {kind.__name__} objects'}: {consequence}"
