"""The types of descheduler/v1alpha2, as they are written, with the fields that are read.

Source: descheduler v0.36: pkg/api/v1alpha2/types.go, DeschedulerPolicy
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/types.go, DefaultEvictorArgs
Source: descheduler v0.36: pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/types.go,
    RemovePodsViolatingTopologySpreadConstraintArgs
"""

from __future__ import annotations

from typing import Any, ClassVar

from msgspec import field

from kubespread.kube.api.meta import Int32, Int64, KubeObject, LabelSelector
from kubespread.questions.rebalance.descheduler.policy import WITH_PVC

_IGNORED = frozenset({"apiVersion", "kind", "metadata"})


class PluginSet(KubeObject):
    ignored: ClassVar[frozenset[str]] = frozenset({"disabled"})

    enabled: list[str] = field(default_factory=list)


class Plugins(KubeObject):
    ignored: ClassVar[frozenset[str]] = frozenset({"preSort", "presort", "sort", "filter", "preEvictionFilter"})

    deschedule: PluginSet = field(default_factory=PluginSet)
    balance: PluginSet = field(default_factory=PluginSet)
    evict: PluginSet = field(default_factory=PluginSet)


class PluginConfig(KubeObject):
    name: str = ""
    args: Any = None


class DeschedulerProfile(KubeObject):
    name: str = ""
    plugin_config: list[PluginConfig] = field(default_factory=list)
    plugins: Plugins = field(default_factory=Plugins)


class DeschedulerPolicy(KubeObject):
    ignored: ClassVar[frozenset[str]] = _IGNORED | {
        "evictionFailureEventNotification",
        "gracePeriodSeconds",
        "metricsCollector",
        "metricsProviders",
        "prometheus",
    }

    profiles: list[DeschedulerProfile] = field(default_factory=list)
    node_selector: str = ""
    max_no_of_pods_to_evict_per_node: Int64 | None = None
    max_no_of_pods_to_evict_per_namespace: Int64 | None = None
    max_no_of_pods_to_evict_total: Int64 | None = None


class PriorityThreshold(KubeObject):
    value: Int32 | None = None
    name: str = ""


class ProtectedStorageClass(KubeObject):
    name: str = ""


class PodsWithPVCConfig(KubeObject):
    protected_storage_classes: list[ProtectedStorageClass] = field(default_factory=list)


class PodProtectionsConfig(KubeObject):
    with_pvc: PodsWithPVCConfig = field(name=WITH_PVC, default_factory=PodsWithPVCConfig)


class PodProtections(KubeObject):
    default_disabled: list[str] = field(default_factory=list)
    extra_enabled: list[str] = field(default_factory=list)
    config: PodProtectionsConfig = field(default_factory=PodProtectionsConfig)


class DefaultEvictorArgs(KubeObject):
    ignored: ClassVar[frozenset[str]] = _IGNORED

    node_selector: str = ""
    label_selector: LabelSelector | None = None
    namespace_label_selector: LabelSelector | None = None
    priority_threshold: PriorityThreshold = field(default_factory=PriorityThreshold)
    node_fit: bool = False
    min_replicas: Int64 = 0
    min_pod_age: str = ""
    no_eviction_policy: str = ""
    pod_protections: PodProtections = field(default_factory=PodProtections)
    evict_local_storage_pods: bool = False
    evict_daemon_set_pods: bool = False
    evict_system_critical_pods: bool = False
    evict_failed_bare_pods: bool = False
    ignore_pvc_pods: bool = False
    ignore_pods_without_pdb: bool = field(name="ignorePodsWithoutPDB", default=False)


class Namespaces(KubeObject):
    include: list[str] = field(default_factory=list)
    exclude: list[str] = field(default_factory=list)


class RemovePodsViolatingTopologySpreadConstraintArgs(KubeObject):
    ignored: ClassVar[frozenset[str]] = _IGNORED

    constraints: list[str] | None = None
    topology_balance_node_fit: bool = True
    label_selector: LabelSelector | None = None
    namespaces: Namespaces = field(default_factory=Namespaces)
