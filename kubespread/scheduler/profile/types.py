"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): what is read, and what kube-scheduler checks besides."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kubespread.kube.api.meta import Int32, Int64, KubeObject


class Plugin(KubeObject):
    name: str = ""
    weight: Int32 = 0


class PluginSet(KubeObject):
    enabled: list[Plugin] = field(default_factory=list)
    disabled: list[Plugin] = field(default_factory=list)


class Plugins(KubeObject):
    pre_enqueue: PluginSet = field(default_factory=PluginSet)
    queue_sort: PluginSet = field(default_factory=PluginSet)
    pre_filter: PluginSet = field(default_factory=PluginSet)
    filter: PluginSet = field(default_factory=PluginSet)
    post_filter: PluginSet = field(default_factory=PluginSet)
    pre_score: PluginSet = field(default_factory=PluginSet)
    score: PluginSet = field(default_factory=PluginSet)
    reserve: PluginSet = field(default_factory=PluginSet)
    permit: PluginSet = field(default_factory=PluginSet)
    pre_bind: PluginSet = field(default_factory=PluginSet)
    bind: PluginSet = field(default_factory=PluginSet)
    post_bind: PluginSet = field(default_factory=PluginSet)
    multi_point: PluginSet = field(default_factory=PluginSet)
    placement_generate: PluginSet = field(default_factory=PluginSet)
    placement_score: PluginSet = field(default_factory=PluginSet)
    pod_group_post_filter: PluginSet = field(default_factory=PluginSet)
    """Since 1.37."""


class PluginConfig(KubeObject):
    name: str = ""
    args: Any = None
    """Raw: what it must look like depends on the plugin."""


class KubeSchedulerProfile(KubeObject):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = field(default_factory=Plugins)
    plugin_config: list[PluginConfig] = field(default_factory=list)


class ExtenderManagedResource(KubeObject):
    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(KubeObject):
    ignored = frozenset({"certData", "keyData", "caData"})

    insecure: bool = False
    server_name: str = ""
    cert_file: str = ""
    key_file: str = ""
    ca_file: str = ""


class Extender(KubeObject):
    url_prefix: str = ""
    filter_verb: str = ""
    preempt_verb: str = ""
    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    enable_https: bool = field(default=False, name="enableHTTPS")
    tls_config: ExtenderTLSConfig | None = None
    http_timeout: str = field(default="", name="httpTimeout")
    node_cache_capable: bool = False
    managed_resources: list[ExtenderManagedResource] = field(default_factory=list)
    ignorable: bool = False


class LeaderElectionConfiguration(KubeObject):
    leader_elect: bool | None = None
    lease_duration: str = ""
    renew_deadline: str = ""
    retry_period: str = ""
    resource_lock: str = ""
    resource_name: str = ""
    resource_namespace: str = ""


class ClientConnectionConfiguration(KubeObject):
    ignored = frozenset({"qps"})

    kubeconfig: str = ""
    accept_content_types: str = ""
    content_type: str = ""
    burst: Int32 = 0


class KubeSchedulerConfiguration(KubeObject):
    ignored = frozenset({"kind"})

    api_version: str = ""
    parallelism: Int32 | None = None
    leader_election: LeaderElectionConfiguration = field(default_factory=LeaderElectionConfiguration)
    client_connection: ClientConnectionConfiguration = field(default_factory=ClientConnectionConfiguration)
    enable_profiling: bool | None = None
    enable_contention_profiling: bool | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: list[KubeSchedulerProfile] = field(default_factory=list)
    extenders: list[Extender] = field(default_factory=list)
    delay_cache_until_active: bool = False
