"""A descheduler policy: how many pods it evicts at most, which ones it spares and what it balances."""

from __future__ import annotations

from msgspec import Struct

from kubespread.kube.selector import Selector
from kubespread.kube.well_known import DO_NOT_SCHEDULE

PLUGIN, EVICTOR = "RemovePodsViolatingTopologySpreadConstraint", "DefaultEvictor"
LOCAL_STORAGE, DAEMON_SET_PODS = "PodsWithLocalStorage", "DaemonSetPods"
SYSTEM_CRITICAL, FAILED_BARE = "SystemCriticalPods", "FailedBarePods"
DEFAULT_PROTECTIONS = (LOCAL_STORAGE, SYSTEM_CRITICAL, FAILED_BARE, DAEMON_SET_PODS)
WITH_PVC, WITHOUT_PDB, RESOURCE_CLAIMS = "PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims"
EXTRA_PROTECTIONS = (WITH_PVC, WITHOUT_PDB, RESOURCE_CLAIMS)


class EvictorArgs(Struct, frozen=True):
    """The arguments of DefaultEvictor."""

    protections: frozenset[str] = frozenset(DEFAULT_PROTECTIONS)
    """The names of the protections that are on."""
    protected_storage_classes: frozenset[str] = frozenset()
    """The storage classes of PodsWithPVC; empty: all."""
    node_fit: bool = False
    """Whether a pod goes only if some other node would take it."""
    node_selector: Selector = Selector()
    """The nodes that count for ``node_fit``."""
    label_selector: Selector = Selector()
    namespace_selector: Selector = Selector()
    min_replicas: int = 0
    min_pod_age: int = 0
    """Nanoseconds."""
    priority_threshold: int | None = None
    """Pods of this priority and above stay."""
    priority_class: str = ""
    """The class whose value is the threshold, where no number is set."""
    heeds_prefer_no_eviction: bool = False
    """noEvictionPolicy Mandatory: pods whose annotation asks for it stay."""


class PluginArgs(Struct, frozen=True):
    """The arguments of RemovePodsViolatingTopologySpreadConstraint."""

    constraints: frozenset[str] = frozenset({DO_NOT_SCHEDULE})
    """The values of whenUnsatisfiable that are enforced."""
    node_fit: bool = True
    """topologyBalanceNodeFit: a pod goes only if a node of a small domain would take it."""
    label_selector: Selector = Selector()
    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()

    def allows(self, namespace: str) -> bool:
        """Whether pods of the namespace are looked at."""
        return (not self.include or namespace in self.include) and namespace not in self.exclude


class Profile(Struct, frozen=True):
    """One profile that enables the plugin."""

    name: str = ""
    plugin: PluginArgs = PluginArgs()
    evictor: EvictorArgs = EvictorArgs()


class Limits(Struct, frozen=True):
    """How many pods one cycle evicts at most; None: any number."""

    per_node: int | None = None
    per_namespace: int | None = None
    total: int | None = None


class Policy(Struct, frozen=True):
    """The part of the policy that concerns the plugin."""

    profiles: tuple[Profile, ...] = (Profile(),)
    node_selector: Selector = Selector()
    """The nodes to process."""
    limits: Limits = Limits()
    other_plugins: tuple[str, ...] = ()
    """Plugins that the policy enables too, which are not modeled."""
