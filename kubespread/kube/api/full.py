"""Pods in full: with the fields that nothing but the API server's validation reads, as manifests have them.

Pods of a cluster are decoded as those of `core.py`, which are smaller and hold no secrets; a pod of a manifest becomes
one of these once it is found valid. Names of classes are those that Kubernetes' errors of decoding have.
"""

from __future__ import annotations

import msgspec
from msgspec import field

from kubespread.kube.api import core
from kubespread.kube.api.meta import Int32, Int64, KubeObject, LabelSelector, StringMap
from kubespread.kube.api.meta import ObjectMeta as ReadMeta
from kubespread.kube.api.meta import OwnerReference as ReadReference
from kubespread.kube.quantity import IntOrString, QuantityText


class OwnerReference(ReadReference):
    block_owner_deletion: bool | None = None


class ObjectMeta(ReadMeta):
    owner_references: list[OwnerReference] = field(default_factory=list)  # type: ignore[assignment]  # nothing adds to it
    finalizers: list[str] = field(default_factory=list)


class LocalObjectReference(KubeObject):
    name: str = ""


class TypedObjectReference(KubeObject):
    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class PersistentVolumeClaimSpec(core.PersistentVolumeClaimSpec):
    data_source: TypedObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None


class PersistentVolumeClaimTemplate(core.PersistentVolumeClaimTemplate):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = field(default_factory=PersistentVolumeClaimSpec)


class EphemeralVolumeSource(core.EphemeralVolumeSource):
    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class ObjectFieldSelector(KubeObject):
    api_version: str = ""
    field_path: str = ""


class ResourceFieldSelector(KubeObject):
    container_name: str = ""
    resource: str = ""
    divisor: QuantityText | None = None


class KeyToPath(KubeObject):
    key: str = ""
    path: str = ""
    mode: Int32 | None = None


class DownwardAPIVolumeFile(KubeObject):
    path: str = ""
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    mode: Int32 | None = None


class ISCSIVolumeSource(core.ISCSIVolumeSource):
    chap_auth_discovery: bool = False
    chap_auth_session: bool = False
    secret_ref: LocalObjectReference | None = None
    initiator_name: str | None = None


class CinderVolumeSource(core.VolumeWithID):
    secret_ref: LocalObjectReference | None = None


class ImageVolumeSource(core.ImageVolumeSource):
    pull_policy: str = ""


class GitRepoVolumeSource(core.GitRepoVolumeSource):
    directory: str = ""


class SecretVolumeSource(core.SecretVolumeSource):
    items: list[KeyToPath] = field(default_factory=list)
    default_mode: Int32 | None = None


class ConfigMapVolumeSource(core.ConfigMapVolumeSource):
    items: list[KeyToPath] = field(default_factory=list)
    default_mode: Int32 | None = None


class DownwardAPIVolumeSource(core.AnyVolumeSource):
    items: list[DownwardAPIVolumeFile] = field(default_factory=list)
    default_mode: Int32 | None = None


class FlockerVolumeSource(core.AnyVolumeSource):
    dataset_name: str = ""
    dataset_uuid: str = field(name="datasetUUID", default="")


class FCVolumeSource(core.AnyVolumeSource):
    target_wwns: list[str] = field(name="targetWWNs", default_factory=list)
    lun: Int32 | None = None
    wwids: list[str] = field(default_factory=list)


class FlexVolumeSource(core.FlexVolumeSource):
    options: StringMap = field(default_factory=dict)


class QuobyteVolumeSource(core.AnyVolumeSource):
    registry: str = ""
    volume: str = ""
    tenant: str = ""


class ScaleIOVolumeSource(core.AnyVolumeSource):
    gateway: str = ""
    system: str = ""
    volume_name: str = ""


class StorageOSVolumeSource(core.AnyVolumeSource):
    volume_name: str = ""
    volume_namespace: str = ""
    secret_ref: LocalObjectReference | None = None


class CSIVolumeSource(core.CSIVolumeSource):
    node_publish_secret_ref: LocalObjectReference | None = None


class SecretProjection(KubeObject):
    name: str = ""
    items: list[KeyToPath] = field(default_factory=list)


class ConfigMapProjection(SecretProjection):
    pass


class DownwardAPIProjection(KubeObject):
    items: list[DownwardAPIVolumeFile] = field(default_factory=list)


class ServiceAccountTokenProjection(KubeObject):
    expiration_seconds: Int64 | None = None
    path: str = ""


class ClusterTrustBundleProjection(KubeObject):
    name: str | None = None
    signer_name: str | None = None
    label_selector: LabelSelector | None = None
    optional: bool | None = None
    path: str = ""


class PodCertificateProjection(KubeObject):
    signer_name: str = ""
    key_type: str = ""
    max_expiration_seconds: Int32 | None = None
    credential_bundle_path: str = ""
    key_path: str = ""
    certificate_chain_path: str = ""
    user_annotations: StringMap = field(default_factory=dict)


class VolumeProjection(KubeObject):
    secret: SecretProjection | None = None
    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = field(name="downwardAPI", default=None)
    service_account_token: ServiceAccountTokenProjection | None = None
    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    pod_certificate: PodCertificateProjection | None = None


class ProjectedVolumeSource(core.AnyVolumeSource):
    sources: list[VolumeProjection] = field(default_factory=list)
    default_mode: Int32 | None = None


class Volume(core.Volume):
    cinder: CinderVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    image: ImageVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    secret: SecretVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = field(name="downwardAPI", default=None)
    fc: FCVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = field(name="scaleIO", default=None)
    storageos: StorageOSVolumeSource | None = None
    csi: CSIVolumeSource | None = None


class KeySelector(KubeObject):
    name: str = ""
    key: str = ""


class ConfigMapKeySelector(KeySelector):
    pass


class SecretKeySelector(KeySelector):
    pass


class FileKeySelector(KubeObject):
    volume_name: str = ""
    path: str = ""
    key: str = ""


class EnvVarSource(KubeObject):
    field_ref: ObjectFieldSelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    config_map_key_ref: ConfigMapKeySelector | None = None
    secret_key_ref: SecretKeySelector | None = None
    file_key_ref: FileKeySelector | None = None


class EnvVar(KubeObject):
    name: str = ""
    value: str = ""
    value_from: EnvVarSource | None = None


class ConfigMapEnvSource(LocalObjectReference):
    pass


class SecretEnvSource(LocalObjectReference):
    pass


class EnvFromSource(KubeObject):
    prefix: str = ""
    config_map_ref: ConfigMapEnvSource | None = None
    secret_ref: SecretEnvSource | None = None


class VolumeMount(KubeObject):
    name: str = ""
    read_only: bool = False
    recursive_read_only: str | None = None
    mount_path: str = ""
    sub_path: str = ""
    mount_propagation: str | None = None
    sub_path_expr: str = ""


class VolumeDevice(KubeObject):
    name: str = ""
    device_path: str = ""


class ExecAction(KubeObject):
    command: list[str] = field(default_factory=list)


class HTTPHeader(KubeObject):
    name: str = ""
    value: str = ""


class HTTPGetAction(KubeObject):
    path: str = ""
    port: IntOrString = 0
    host: str = ""
    scheme: str = ""
    http_headers: list[HTTPHeader] = field(default_factory=list)


class TCPSocketAction(KubeObject):
    port: IntOrString = 0
    host: str = ""


class GRPCAction(KubeObject):
    port: Int32 = 0
    service: str | None = None


class SleepAction(KubeObject):
    seconds: Int64 = 0


class LifecycleHandler(KubeObject):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    sleep: SleepAction | None = None


class Lifecycle(KubeObject):
    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class Probe(KubeObject):
    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    tcp_socket: TCPSocketAction | None = None
    grpc: GRPCAction | None = None
    initial_delay_seconds: Int32 = 0
    timeout_seconds: Int32 = 0
    period_seconds: Int32 = 0
    success_threshold: Int32 = 0
    failure_threshold: Int32 = 0
    termination_grace_period_seconds: Int64 | None = None


class ContainerResizePolicy(KubeObject):
    resource_name: str = ""
    restart_policy: str = ""


class ContainerRestartRuleOnExitCodes(KubeObject):
    operator: str = ""
    values: list[Int32] = field(default_factory=list)


class ContainerRestartRule(core.ContainerRestartRule):
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class SeccompProfile(core.SeccompProfile):
    localhost_profile: str | None = None


class AppArmorProfile(KubeObject):
    type: str = ""
    localhost_profile: str | None = None


class WindowsSecurityContextOptions(core.WindowsSecurityContextOptions):
    gmsa_credential_spec_name: str | None = None
    gmsa_credential_spec: str | None = None
    run_as_user_name: str | None = None


class SELinuxOptions(core.SELinuxOptions):
    level: str = ""


class PodSecurityContext(core.PodSecurityContext):
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    app_armor_profile: AppArmorProfile | None = None
    run_as_group: Int64 | None = None
    supplemental_groups: list[Int64] = field(default_factory=list)
    supplemental_groups_policy: str | None = None
    fs_group: Int64 | None = None
    fs_group_change_policy: str | None = None
    se_linux_change_policy: str | None = None


class SecurityContext(core.SecurityContext):
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None
    app_armor_profile: AppArmorProfile | None = None
    run_as_group: Int64 | None = None
    read_only_root_filesystem: bool | None = None


class Container(core.Container):
    command: list[str] = field(default_factory=list)
    args: list[str] = field(default_factory=list)
    working_dir: str = ""
    env_from: list[EnvFromSource] = field(default_factory=list)
    env: list[EnvVar] = field(default_factory=list)
    resize_policy: list[ContainerResizePolicy] = field(default_factory=list)
    restart_policy_rules: list[ContainerRestartRule] = field(default_factory=list)  # type: ignore[assignment]  # nothing adds to it
    volume_mounts: list[VolumeMount] = field(default_factory=list)
    volume_devices: list[VolumeDevice] = field(default_factory=list)
    liveness_probe: Probe | None = None
    readiness_probe: Probe | None = None
    startup_probe: Probe | None = None
    lifecycle: Lifecycle | None = None
    termination_message_path: str = ""
    termination_message_policy: str = ""
    image_pull_policy: str = ""
    security_context: SecurityContext | None = None
    stdin: bool = False
    stdin_once: bool = False
    tty: bool = False


class EphemeralContainer(Container):
    target_container_name: str = ""


class PodReadinessGate(KubeObject):
    condition_type: str = ""


class HostAlias(KubeObject):
    ip: str = ""
    hostnames: list[str] = field(default_factory=list)


class PodDNSConfigOption(KubeObject):
    name: str = ""
    value: str | None = None


class PodDNSConfig(KubeObject):
    nameservers: list[str] = field(default_factory=list)
    searches: list[str] = field(default_factory=list)
    options: list[PodDNSConfigOption] = field(default_factory=list)


class PodSpec(core.PodSpec):
    containers: list[Container] = field(default_factory=list)  # type: ignore[assignment]  # nothing adds to it
    init_containers: list[Container] = field(default_factory=list)  # type: ignore[assignment]  # nothing adds to it
    ephemeral_containers: list[EphemeralContainer] = field(default_factory=list)
    volumes: list[Volume] = field(default_factory=list)  # type: ignore[assignment]  # only claims' are added
    dns_policy: str = ""
    dns_config: PodDNSConfig | None = None
    service_account_name: str = ""
    service_account: str = ""
    automount_service_account_token: bool | None = None
    share_process_namespace: bool | None = None
    security_context: PodSecurityContext | None = None
    image_pull_secrets: list[LocalObjectReference] = field(default_factory=list)
    hostname: str = ""
    hostname_override: str | None = None
    subdomain: str = ""
    set_hostname_as_fqdn: bool | None = field(name="setHostnameAsFQDN", default=None)
    host_aliases: list[HostAlias] = field(default_factory=list)
    readiness_gates: list[PodReadinessGate] = field(default_factory=list)
    enable_service_links: bool | None = None


class Pod(core.Pod):
    metadata: ObjectMeta = field(default_factory=ObjectMeta)
    spec: PodSpec = field(default_factory=PodSpec)


def read(pod: core.Pod) -> core.Pod:
    """``pod`` as one of a cluster, without what only validation reads."""
    return msgspec.convert(msgspec.to_builtins(pod), core.Pod)
