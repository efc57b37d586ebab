"""Nodes, pods and other kinds of the core group, with only the fields that scheduling reads.

Volumes of a pod have the fields that volume plugins read; of all others only the kind is read.
"""

from __future__ import annotations

from msgspec import field

from kubespread.kube.api.meta import (
    ApiObject,
    Int32,
    Int64,
    KubeObject,
    LabelSelector,
    ObjectMeta,
    ResourceList,
    StringMap,
)


class VolumeResourceRequirements(KubeObject):
    requests: ResourceList = field(default_factory=dict)


class PersistentVolumeClaimSpec(KubeObject):
    access_modes: list[str] = field(default_factory=list)
    selector: LabelSelector | None = None
    resources: VolumeResourceRequirements = field(default_factory=VolumeResourceRequirements)
    volume_name: str = ""
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None


class PersistentVolumeClaimTemplate(KubeObject):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)


class PersistentVolumeClaimVolumeSource(KubeObject):
    claim_name: str = ""


class GCEPersistentDiskVolumeSource(KubeObject):
    pd_name: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStoreVolumeSource(KubeObject):
    volume_id: str = field(name="volumeID", default="")
    partition: Int32 = 0


class ISCSIVolumeSource(KubeObject):
    iqn: str = ""
    read_only: bool = False


class RBDVolumeSource(KubeObject):
    monitors: list[str] = field(default_factory=list)
    image: str = ""
    pool: str = "rbd"
    read_only: bool = False


class AzureDiskVolumeSource(KubeObject):
    disk_uri: str = field(name="diskURI", default="")
    kind: str | None = None


class VolumeWithID(KubeObject):
    """A Cinder or Portworx volume."""

    volume_id: str = field(name="volumeID", default="")


class ImageVolumeSource(KubeObject):
    reference: str = ""


class EphemeralVolumeSource(KubeObject):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class HostPathVolumeSource(KubeObject):
    path: str = ""


class AnyVolumeSource(KubeObject):
    """Any other volume source; only its presence is read."""


class InlineVolumes(KubeObject):
    """In-tree volume kinds that scheduling knows, in a pod's volume or in a PersistentVolume."""

    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    cinder: VolumeWithID | None = None
    portworx_volume: VolumeWithID | None = None
    iscsi: ISCSIVolumeSource | None = None
    rbd: RBDVolumeSource | None = None


class ScheduledVolumes(InlineVolumes):
    """All kinds of a pod's volume that scheduling reads."""

    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None


class Volume(ScheduledVolumes):
    name: str = ""
    empty_dir: AnyVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    git_repo: AnyVolumeSource | None = None
    secret: AnyVolumeSource | None = None
    nfs: AnyVolumeSource | None = None
    glusterfs: AnyVolumeSource | None = None
    flex_volume: AnyVolumeSource | None = None
    cephfs: AnyVolumeSource | None = None
    flocker: AnyVolumeSource | None = None
    downward_api: AnyVolumeSource | None = field(name="downwardAPI", default=None)
    fc: AnyVolumeSource | None = None
    azure_file: AnyVolumeSource | None = None
    config_map: AnyVolumeSource | None = None
    vsphere_volume: AnyVolumeSource | None = None
    quobyte: AnyVolumeSource | None = None
    photon_persistent_disk: AnyVolumeSource | None = None
    projected: AnyVolumeSource | None = None
    scale_io: AnyVolumeSource | None = field(name="scaleIO", default=None)
    storageos: AnyVolumeSource | None = None
    csi: AnyVolumeSource | None = None

    @property
    def affects_scheduling(self) -> bool:
        """True for a kind that scheduling reads."""
        return any(getattr(self, name) is not None for name in ScheduledVolumes.__struct_fields__)

    @property
    def is_local(self) -> bool:
        """True if its content stays on the node: an emptyDir or a hostPath."""
        return self.empty_dir is not None or self.host_path is not None


class NodeSelectorRequirement(KubeObject):
    key: str = ""
    operator: str = ""
    values: list[str] = field(default_factory=list)


class NodeSelectorTerm(KubeObject):
    match_expressions: list[NodeSelectorRequirement] = field(default_factory=list)
    match_fields: list[NodeSelectorRequirement] = field(default_factory=list)


class NodeSelector(KubeObject):
    node_selector_terms: list[NodeSelectorTerm] = field(default_factory=list)


class TopologySpreadConstraint(KubeObject):
    max_skew: Int32 = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    min_domains: Int32 | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None

    @property
    def label_keys(self) -> list[tuple[str, str]]:
        """Label keys, each with the operator that merges it into the selector."""
        return [(key, "In") for key in self.match_label_keys]


class Toleration(KubeObject):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class PreferredSchedulingTerm(KubeObject):
    weight: Int32 = 0
    preference: NodeSelectorTerm = field(default_factory=NodeSelectorTerm)


class NodeAffinity(KubeObject):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = field(default_factory=list)


class PodAffinityTerm(KubeObject):
    label_selector: LabelSelector | None = None
    namespaces: list[str] = field(default_factory=list)
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: list[str] = field(default_factory=list)
    mismatch_label_keys: list[str] = field(default_factory=list)

    @property
    def label_keys(self) -> list[tuple[str, str]]:
        """Label keys, each with the operator that merges it into the selector."""
        return [(key, "In") for key in self.match_label_keys] + [(key, "NotIn") for key in self.mismatch_label_keys]


class WeightedPodAffinityTerm(KubeObject):
    weight: Int32 = 0
    pod_affinity_term: PodAffinityTerm = field(default_factory=PodAffinityTerm)


class PodAffinity(KubeObject):
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = field(default_factory=list)
    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = field(default_factory=list)

    @property
    def terms(self) -> list[PodAffinityTerm]:
        """Preferred and required terms."""
        preferred = [
            weighted.pod_affinity_term for weighted in self.preferred_during_scheduling_ignored_during_execution
        ]
        return preferred + self.required_during_scheduling_ignored_during_execution


class PodAntiAffinity(PodAffinity):
    pass


class Affinity(KubeObject):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None

    @property
    def pod_terms(self) -> list[PodAffinityTerm]:
        return [
            term for group in (self.pod_affinity, self.pod_anti_affinity) if group is not None for term in group.terms
        ]


class ContainerClaim(KubeObject):
    """core/v1's ResourceClaim: a container's reference to a resource claim of the pod."""

    name: str = ""
    request: str = ""


class ResourceRequirements(KubeObject):
    claims: list[ContainerClaim] = field(default_factory=list)
    requests: ResourceList = field(default_factory=dict)
    limits: ResourceList = field(default_factory=dict)


class ContainerPort(KubeObject):
    name: str = ""
    host_port: Int32 = 0
    container_port: Int32 = 0
    protocol: str = ""
    host_ip: str = field(name="hostIP", default="")


class ContainerRestartRule(KubeObject):
    action: str = ""


class Capabilities(KubeObject):
    add: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)


class SELinuxOptions(KubeObject):
    user: str = ""
    role: str = ""
    type: str = ""


class SeccompProfile(KubeObject):
    type: str = ""


class WindowsSecurityContextOptions(KubeObject):
    host_process: bool | None = None


class CommonSecurityContext(KubeObject):
    """Fields that PodSecurity reads of security contexts of both pods and containers."""

    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    run_as_user: Int64 | None = None
    run_as_non_root: bool | None = None


class Sysctl(KubeObject):
    name: str = ""


class PodSecurityContext(CommonSecurityContext):
    sysctls: list[Sysctl] = field(default_factory=list)


class SecurityContext(CommonSecurityContext):
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    allow_privilege_escalation: bool | None = None
    proc_mount: str | None = None


class Container(KubeObject):
    name: str = ""
    image: str = ""
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = field(default_factory=list)
    ports: list[ContainerPort] = field(default_factory=list)
    resources: ResourceRequirements = field(default_factory=ResourceRequirements)
    security_context: SecurityContext | None = None


class PodSchedulingGate(KubeObject):
    name: str = ""


class PodOS(KubeObject):
    name: str = ""


class PodResourceClaim(KubeObject):
    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGroup(KubeObject):
    pod_group_name: str | None = None


class PodSpec(KubeObject):
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
    active_deadline_seconds: Int64 | None = None
    termination_grace_period_seconds: Int64 | None = None
    host_network: bool = False
    host_pid: bool = field(name="hostPID", default=False)
    host_ipc: bool = field(name="hostIPC", default=False)
    host_users: bool | None = None
    priority: Int32 | None = None
    priority_class_name: str = ""
    preemption_policy: str | None = None
    runtime_class_name: str | None = None
    os: PodOS | None = None
    resource_claims: list[PodResourceClaim] = field(default_factory=list)
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None

    @property
    def counting(self) -> list[TopologySpreadConstraint | PodAffinityTerm]:
        """Everything that counts pods by labels."""
        return [*self.topology_spread_constraints, *(self.affinity.pod_terms if self.affinity is not None else ())]

    @property
    def counted_keys(self) -> set[str]:
        """Label keys that decide which pods are counted."""
        keys = {key for counting in self.counting for key, _ in counting.label_keys}
        return keys.union(*(term.label_selector.keys for term in self.counting if term.label_selector is not None))

    @property
    def has_scheduled_volumes(self) -> bool:
        """True if scheduling reads any of the volumes."""
        return any(volume.affects_scheduling for volume in self.volumes)

    def forget_unread_volumes(self) -> None:
        """Drop the volumes that only validation reads: a stored pod or template is not validated again.

        emptyDir volumes are kept, because a drain loses their data, and so are hostPath volumes, without their path:
        the descheduler leaves pods with either alone.
        """
        self.volumes = [volume for volume in self.volumes if volume.affects_scheduling or volume.is_local]
        for volume in self.volumes:
            if volume.host_path is not None:
                volume.host_path = HostPathVolumeSource(path="/")
            if volume.ephemeral is not None and volume.ephemeral.volume_claim_template is not None:
                volume.ephemeral.volume_claim_template.metadata.annotations = {}


class ContainerStateTerminated(KubeObject):
    finished_at: str = ""


class ContainerState(KubeObject):
    terminated: ContainerStateTerminated | None = None


class ContainerStatus(KubeObject):
    name: str = ""
    restart_count: Int32 = 0
    state: ContainerState | None = None
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = field(default_factory=dict)


class PodCondition(KubeObject):
    type: str = ""
    status: str = ""
    reason: str = ""
    last_transition_time: str = ""


class PodResourceClaimStatus(KubeObject):
    """Claim created for one of the pod's claims; no name if none was needed."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(KubeObject):
    phase: str = ""
    start_time: str = ""
    nominated_node_name: str = ""
    conditions: list[PodCondition] = field(default_factory=list)
    container_statuses: list[ContainerStatus] = field(default_factory=list)
    init_container_statuses: list[ContainerStatus] = field(default_factory=list)
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList = field(default_factory=dict)
    resource_claim_statuses: list[PodResourceClaimStatus] = field(default_factory=list)


class PodTemplateSpec(ApiObject):
    spec: PodSpec = field(default_factory=PodSpec)
    unread: str | None = None
    """Parts of the spec that are not decoded, as `kubespread.kube.templates` has them; None if unknown."""


class Pod(ApiObject):
    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)


class Taint(KubeObject):
    key: str = ""
    value: str = ""
    effect: str = ""


class NodeSpec(KubeObject):
    unschedulable: bool = False
    taints: list[Taint] = field(default_factory=list)


class ContainerImage(KubeObject):
    names: list[str] = field(default_factory=list)
    size_bytes: Int64 = 0


class NodeCondition(KubeObject):
    type: str = ""
    status: str = ""
    last_heartbeat_time: str = ""


class NodeSystemInfo(KubeObject):
    kubelet_version: str = ""
    container_runtime_version: str = ""


class NodeStatus(KubeObject):
    capacity: ResourceList = field(default_factory=dict)
    allocatable: ResourceList = field(default_factory=dict)
    conditions: list[NodeCondition] = field(default_factory=list)
    images: list[ContainerImage] = field(default_factory=list)
    declared_features: list[str] = field(default_factory=list)
    node_info: NodeSystemInfo = field(default_factory=NodeSystemInfo)


class Node(ApiObject):
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)


class ServiceSpec(KubeObject):
    selector: StringMap | None = None
    type: str = ""


class Service(ApiObject):
    spec: ServiceSpec = field(default_factory=ServiceSpec)


class Namespace(ApiObject):
    pass


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
