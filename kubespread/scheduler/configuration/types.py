"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), as far as it is read."""

from __future__ import annotations

from typing import Any

from msgspec import field

from kubespread.kube.meta import Int32, KubeObject


class Plugin(KubeObject):
    name: str = ""
    weight: Int32 = 0


class PluginPoint(KubeObject):
    enabled: list[Plugin] = field(default_factory=list)
    disabled: list[Plugin] = field(default_factory=list)


class Plugins(KubeObject):
    pre_enqueue: PluginPoint = field(default_factory=PluginPoint)
    queue_sort: PluginPoint = field(default_factory=PluginPoint)
    pre_filter: PluginPoint = field(default_factory=PluginPoint)
    filter: PluginPoint = field(default_factory=PluginPoint)
    post_filter: PluginPoint = field(default_factory=PluginPoint)
    pre_score: PluginPoint = field(default_factory=PluginPoint)
    score: PluginPoint = field(default_factory=PluginPoint)
    reserve: PluginPoint = field(default_factory=PluginPoint)
    permit: PluginPoint = field(default_factory=PluginPoint)
    pre_bind: PluginPoint = field(default_factory=PluginPoint)
    bind: PluginPoint = field(default_factory=PluginPoint)
    post_bind: PluginPoint = field(default_factory=PluginPoint)
    multi_point: PluginPoint = field(default_factory=PluginPoint)
    placement_generate: PluginPoint = field(default_factory=PluginPoint)
    placement_score: PluginPoint = field(default_factory=PluginPoint)


class PluginConfig(KubeObject):
    name: str = ""
    args: dict[str, Any] | None = None


class KubeSchedulerProfile(KubeObject):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = field(default_factory=Plugins)
    plugin_config: list[PluginConfig] = field(default_factory=list)


class KubeSchedulerConfiguration(KubeObject):
    ignored = frozenset(
        {
            "kind", "leaderElection", "clientConnection", "enableProfiling", "enableContentionProfiling",
            "podInitialBackoffSeconds", "podMaxBackoffSeconds", "delayCacheUntilActive",
        }
    )  # fmt: skip

    api_version: str = ""
    parallelism: Int32 | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    profiles: list[KubeSchedulerProfile] = field(default_factory=list)
    extenders: list[dict[str, Any]] = field(default_factory=list)
