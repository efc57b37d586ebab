"""Objects that configure autoscalers: NodePools and MachineDeployments for nodes, HorizontalPodAutoscalers for pods."""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.core import NodeSelectorRequirement, Taint
from kubespread.kube.api.meta import ApiObject, Int32, Int64, KubeObject, ResourceList, StringMap


class NodeClaimSpec(KubeObject):
    """What every node of a NodePool has."""

    requirements: list[NodeSelectorRequirement] = field(default_factory=list)
    taints: list[Taint] = field(default_factory=list)


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
    """Of a static pool, which has as many nodes whatever pods wait."""


class NodePool(ApiObject):
    """karpenter.sh/v1."""

    spec: NodePoolSpec = field(default_factory=NodePoolSpec)


class MachineSpec(KubeObject):
    failure_domain: str = ""


class MachineTemplate(KubeObject):
    metadata: NodeClaimMeta = field(default_factory=NodeClaimMeta)
    spec: MachineSpec = field(default_factory=MachineSpec)


class MachineDeploymentSpec(KubeObject):
    replicas: Int32 | None = None
    template: MachineTemplate = field(default_factory=MachineTemplate)


class MachineDeployment(ApiObject):
    """cluster.x-k8s.io. Annotations give the size of its nodes and how many there may be."""

    spec: MachineDeploymentSpec = field(default_factory=MachineDeploymentSpec)


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
