"""Kubernetes' objects, with the fields scheduling reads and no others.

Classes and fields carry Kubernetes' own names. An absent list or map is empty, an absent string is ``""``; a field is
``None`` only where Kubernetes tells absent from empty. ``ignored`` names the fields Kubernetes knows and kubespread does
not read, so that a mistyped field can be told from an irrelevant one.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta, field

from kubespread.kube.quantity import QuantityText

Int32 = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
StringMap = dict[str, str]
ResourceList = dict[str, QuantityText | None]


class KubeObject(msgspec.Struct, rename="camel", kw_only=True, gc=False):
    """Base of all: camelCase on the wire, unknown fields skipped."""

    ignored: ClassVar[frozenset[str]] = frozenset()


class OwnerReference(KubeObject):
    ignored = frozenset({"blockOwnerDeletion"})

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(KubeObject):
    ignored = frozenset(
        {"selfLink", "generation", "creationTimestamp", "deletionGracePeriodSeconds", "finalizers", "managedFields", "clusterName"}
    )

    name: str = ""
    generate_name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    deletion_timestamp: str | None = None
    labels: StringMap = field(default_factory=dict)
    annotations: StringMap = field(default_factory=dict)
    owner_references: list[OwnerReference] = field(default_factory=list)


class LabelSelectorRequirement(KubeObject):
    key: str = ""
    operator: str = ""
    values: list[str] = field(default_factory=list)


class LabelSelector(KubeObject):
    match_labels: StringMap = field(default_factory=dict)
    match_expressions: list[LabelSelectorRequirement] = field(default_factory=list)


class TopologySpreadConstraint(KubeObject):
    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None


class Toleration(KubeObject):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class NodeSelectorRequirement(KubeObject):
    key: str = ""
    operator: str = ""
    values: list[str] = field(default_factory=list)


class NodeSelectorTerm(KubeObject):
    match_expressions: list[NodeSelectorRequirement] = field(default_factory=list)
    match_fields: list[NodeSelectorRequirement] = field(default_factory=list)


class NodeSelector(KubeObject):
    node_selector_terms: list[NodeSelectorTerm] = field(default_factory=list)


class PreferredSchedulingTerm(KubeObject):
    weight: Int32 = 0
    preference: NodeSelectorTerm = field(default_factory=NodeSelectorTerm)


class NodeAffinity(KubeObject):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    # An empty list is scored with 0 everywhere, an absent one is not scored at all.
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] | None = None


class PodAffinityTerm(KubeObject):
    label_selector: LabelSelector | None = None
    namespaces: list[str] = field(default_factory=list)
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    mismatch_label_keys: list[str] = field(default_factory=list)


class WeightedPodAffinityTerm(KubeObject):
    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = field(default_factory=PodAffinityTerm)


class PodAffinity(KubeObject):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(default_factory=list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(default_factory=list)


class PodAntiAffinity(PodAffinity):
    pass


class Affinity(KubeObject):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class ResourceRequirements(KubeObject):
    ignored = frozenset({"claims"})

    requests: ResourceList = field(default_factory=dict)
    limits: ResourceList = field(default_factory=dict)


class ContainerPort(KubeObject):
    name: str = ""
    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = field(name="hostIP", default="")


class Container(KubeObject):
    ignored = frozenset(
        {
            "command", "args", "workingDir", "envFrom", "env", "resizePolicy", "restartPolicyRules", "volumeMounts", "volumeDevices",
            "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "terminationMessagePath", "terminationMessagePolicy",
            "imagePullPolicy", "securityContext", "stdin", "stdinOnce", "tty",
        }
    )  # fmt: skip

    name: str = ""
    image: str = ""
    restart_policy: str | None = None
    ports: list[ContainerPort] = field(default_factory=list)
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)


class PersistentVolumeClaimVolumeSource(KubeObject):
    ignored = frozenset({"readOnly"})

    claim_name: str = ""


class Volume(KubeObject):
    ignored = frozenset(
        {
            "hostPath", "emptyDir", "gitRepo", "secret", "nfs", "glusterfs", "flexVolume", "cinder", "cephfs", "flocker", "downwardAPI",
            "fc", "azureFile", "configMap", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "projected", "portworxVolume",
            "scaleIO", "storageos", "csi", "image", "gcePersistentDisk", "awsElasticBlockStore", "iscsi", "rbd", "ephemeral",
        }
    )  # fmt: skip

    name: str = ""
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None


class PodSchedulingGate(KubeObject):
    name: str = ""


class PodOS(KubeObject):
    name: str = ""


class PodSpec(KubeObject):
    ignored = frozenset(
        {
            "ephemeralContainers", "terminationGracePeriodSeconds", "activeDeadlineSeconds", "dnsPolicy", "serviceAccountName",
            "serviceAccount", "automountServiceAccountToken", "hostPID", "hostIPC", "shareProcessNamespace", "securityContext",
            "imagePullSecrets", "hostname", "subdomain", "hostAliases", "readinessGates", "enableServiceLinks", "setHostnameAsFQDN",
            "hostUsers", "hostnameOverride", "schedulingGroup", "dnsConfig",
        }
    )  # fmt: skip

    containers: list[Container] = field(default_factory=list)
    init_containers: list[Container] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)
    resources: ResourceRequirements | None = None
    overhead: ResourceList = field(default_factory=dict)
    node_name: str = ""
    node_selector: StringMap = field(default_factory=dict)
    affinity: Affinity | None = None
    tolerations: list[Toleration] = field(default_factory=list)
    topology_spread_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    scheduling_gates: list[PodSchedulingGate] = field(default_factory=list)
    scheduler_name: str = ""
    restart_policy: str = ""
    host_network: bool = False
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    os: PodOS | None = None
    resource_claims: list[dict[str, Any]] = field(default_factory=list)


class ContainerStatus(KubeObject):
    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = field(default_factory=dict)


class PodCondition(KubeObject):
    type: str = ""
    reason: str = ""


class PodStatus(KubeObject):
    phase: str = ""
    nominated_node_name: str = ""
    conditions: list[PodCondition] = field(default_factory=list)
    container_statuses: list[ContainerStatus] = field(default_factory=list)
    init_container_statuses: list[ContainerStatus] = field(default_factory=list)
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = field(default_factory=dict)


class Pod(KubeObject):
    ignored = frozenset({"apiVersion", "kind"})

    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class Taint(KubeObject):
    ignored = frozenset({"timeAdded"})

    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(KubeObject):
    unschedulable: bool = False
    taints: list[Taint] = field(default_factory=list)


class NodeStatus(KubeObject):
    capacity: ResourceList = field(default_factory=dict)
    allocatable: ResourceList = field(default_factory=dict)


class Node(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)


class SelectorMapSpec(KubeObject):
    """The spec of a Service or a ReplicationController, whose selector is a plain map."""

    selector: StringMap | None = None


class LabelSelectorSpec(KubeObject):
    """The spec of a ReplicaSet or a StatefulSet, whose selector is a LabelSelector."""

    selector: LabelSelector | None = None


class Service(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: SelectorMapSpec = field(default_factory=SelectorMapSpec)


class ReplicationController(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: SelectorMapSpec = field(default_factory=SelectorMapSpec)


class ReplicaSet(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: LabelSelectorSpec = field(default_factory=LabelSelectorSpec)


class StatefulSet(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: LabelSelectorSpec = field(default_factory=LabelSelectorSpec)
