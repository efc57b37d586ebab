"""A descheduler policy: how many pods it evicts at most, which ones it spares and what it balances.

A DeschedulerPolicy of descheduler/v1alpha2, from plain data to typed values, with what the descheduler refuses.

Source: descheduler v0.36: pkg/descheduler/policyconfig.go, decode
Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/validation.go, ValidateDefaultEvictorArgs
Source: descheduler v0.36: pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/validation.go,
    ValidateRemovePodsViolatingTopologySpreadConstraintArgs
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from msgspec import Struct, field

from kubespread.errors import Fault, ManifestError
from kubespread.kube.api.decoding import DecodingError, decode, normalized, unknown_fields
from kubespread.kube.api.meta import Int32, Int64, KubeObject, LabelSelector
from kubespread.kube.gotext import quote
from kubespread.kube.selector import Selector, from_label_selector, parse_selector
from kubespread.kube.time import nanoseconds
from kubespread.kube.well_known import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import FieldLines, display_name, faults_of, read_file

# The types of descheduler/v1alpha2, as they are written, with the fields that are read.
#
# Source: descheduler v0.36: pkg/api/v1alpha2/types.go, DeschedulerPolicy
# Source: descheduler v0.36: pkg/framework/plugins/defaultevictor/types.go, DefaultEvictorArgs
# Source: descheduler v0.36: pkg/framework/plugins/removepodsviolatingtopologyspreadconstraint/types.go,
#     RemovePodsViolatingTopologySpreadConstraintArgs


API_VERSION, KIND = "descheduler/v1alpha2", "DeschedulerPolicy"
PLUGIN, EVICTOR = "RemovePodsViolatingTopologySpreadConstraint", "DefaultEvictor"
LOCAL_STORAGE, DAEMON_SET_PODS = "PodsWithLocalStorage", "DaemonSetPods"
SYSTEM_CRITICAL, FAILED_BARE = "SystemCriticalPods", "FailedBarePods"
DEFAULT_PROTECTIONS = (LOCAL_STORAGE, SYSTEM_CRITICAL, FAILED_BARE, DAEMON_SET_PODS)
WITH_PVC, WITHOUT_PDB, RESOURCE_CLAIMS = "PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims"
EXTRA_PROTECTIONS = (WITH_PVC, WITHOUT_PDB, RESOURCE_CLAIMS)
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


# What the descheduler makes of it.


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


_MANDATORY, _PREFERRED = "Mandatory", "Preferred"
_ACTIONS = (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY)
_ALL_PLUGINS = "*"

T = TypeVar("T", bound=KubeObject)
V = TypeVar("V")
_Fault = tuple[str, str]
"""The field, and what is wrong with it."""


class PolicyError(Exception):
    """The policy is refused; ``faults`` are fields with their faults."""

    def __init__(self, faults: Iterable[_Fault]) -> None:
        self.faults = tuple(faults)
        super().__init__("; ".join(message for _, message in self.faults))


def read_policy(path: str | Path) -> Policy:
    """The policy in the file at ``path``, ``-`` for standard input. Raises ManifestError."""
    file = display_name(str(path))
    text = read_file(str(path))
    with faults_of(file):
        documents = read_documents(text)
    if len(documents) != 1 or not isinstance(documents[0], dict):
        raise ManifestError(file, [Fault(f"expected one {KIND}, found {len(documents)} documents")])
    try:
        return decode_policy(documents[0])
    except PolicyError as error:
        lines = FieldLines(text)
        faults = [Fault(message, place, lines.line(0, place)) for place, message in error.faults]
        raise ManifestError(file, faults) from error


def decode_policy(data: dict[str, Any]) -> Policy:
    """``data``, a policy as it was written, with the descheduler's defaults. Raises PolicyError with all its faults."""
    kind = data.get("kind"), data.get("apiVersion")
    if kind != (KIND, API_VERSION):
        raise PolicyError([("", f"expected a {KIND} of apiVersion {API_VERSION}, found {kind[0]} of {kind[1]}")])
    faults: list[_Fault] = []
    policy = _decoded(data, DeschedulerPolicy, "", faults)
    profiles = [
        _profile(profile, f"profiles[{place}]", faults)
        for place, profile in enumerate(policy.profiles)
        if PLUGIN in profile.plugins.balance.enabled or _ALL_PLUGINS in profile.plugins.balance.enabled
    ]
    if not profiles and not faults:
        faults.append(("profiles", f"no profile enables the balance plugin {PLUGIN}: the descheduler spreads nothing"))
    limits = Limits(
        policy.max_no_of_pods_to_evict_per_node,
        policy.max_no_of_pods_to_evict_per_namespace,
        policy.max_no_of_pods_to_evict_total,
    )
    node_selector = _selector(policy.node_selector, "nodeSelector", faults)
    if faults:
        raise PolicyError(faults)
    enabled = (
        name
        for profile in policy.profiles
        for name in (*profile.plugins.deschedule.enabled, *profile.plugins.balance.enabled)
    )
    others = tuple(name for name in dict.fromkeys(enabled) if name not in (PLUGIN, EVICTOR))
    return Policy(tuple(profiles), node_selector, limits, others)


def _decoded(data: Any, cls: type[T], path: str, faults: list[_Fault]) -> T:
    """``data`` as a ``cls``; faults are appended to ``faults``."""
    join = f"{path}." if path else ""
    try:
        clean = normalized({} if data is None else data, cls)
    except DecodingError as error:
        faults.append((f"{join}{error.path}", str(error)))
        return cls()
    faults += ((f"{join}{unknown.path}", str(unknown)) for unknown in unknown_fields(clean, cls))
    return decode(clean, cls)


def _profile(declared: DeschedulerProfile, path: str, faults: list[_Fault]) -> Profile:
    plugin, evictor = PluginArgs(), EvictorArgs()
    for place, config in enumerate(declared.plugin_config):
        args_path = f"{path}.pluginConfig[{place}].args"
        if config.name == PLUGIN:
            plugin = _plugin_args(
                _decoded(config.args, RemovePodsViolatingTopologySpreadConstraintArgs, args_path, faults),
                args_path,
                faults,
            )
        elif config.name == EVICTOR:
            evictor = _evictor_args(_decoded(config.args, DefaultEvictorArgs, args_path, faults), args_path, faults)
    return Profile(declared.name, plugin, evictor)


def _plugin_args(args: RemovePodsViolatingTopologySpreadConstraintArgs, path: str, faults: list[_Fault]) -> PluginArgs:
    constraints = args.constraints or [DO_NOT_SCHEDULE]
    listed = " ".join(_ACTIONS)
    faults += (
        (f"{path}.constraints[{place}]", f"constraint {action} is not one of [{listed}]")
        for place, action in enumerate(constraints)
        if action not in _ACTIONS
    )
    namespaces = args.namespaces
    if namespaces.include and namespaces.exclude:
        faults.append((f"{path}.namespaces", "only one of Include/Exclude namespaces can be set"))
    prefix = "failed to get label selectors from strategy's params: "
    return PluginArgs(
        frozenset(constraints),
        args.topology_balance_node_fit,
        _label_selector(args.label_selector, f"{path}.labelSelector", faults, prefix),
        frozenset(namespaces.include),
        frozenset(namespaces.exclude),
    )


def _evictor_args(args: DefaultEvictorArgs, path: str, faults: list[_Fault]) -> EvictorArgs:
    threshold = args.priority_threshold
    if threshold.value is not None and threshold.name:
        message = "priority threshold misconfigured, only one of priorityThreshold fields can be set"
        faults.append((f"{path}.priorityThreshold", message))
    if args.no_eviction_policy not in ("", _PREFERRED, _MANDATORY):
        message = f'noEvictionPolicy accepts only ["{_PREFERRED}" "{_MANDATORY}"] values'
        faults.append((f"{path}.noEvictionPolicy", message))
    if args.min_replicas < 0:
        faults.append((f"{path}.minReplicas", f"Invalid value: {args.min_replicas}: must be at least 0"))
    namespaces = args.namespace_label_selector
    # Without matchLabels the evictor never looks at namespaces, whatever matchExpressions say.
    by_namespace = namespaces if namespaces is not None and namespaces.match_labels else None
    return EvictorArgs(
        protections=_protections(args, f"{path}.podProtections", faults),
        protected_storage_classes=frozenset(
            storage_class.name for storage_class in args.pod_protections.config.with_pvc.protected_storage_classes
        ),
        node_fit=args.node_fit,
        node_selector=_selector(args.node_selector, f"{path}.nodeSelector", faults),
        label_selector=_label_selector(args.label_selector, f"{path}.labelSelector", faults),
        namespace_selector=_label_selector(by_namespace, f"{path}.namespaceLabelSelector", faults),
        min_replicas=args.min_replicas,
        min_pod_age=_parsed(lambda: nanoseconds(args.min_pod_age or "0"), 0, f"{path}.minPodAge", faults),
        priority_threshold=threshold.value,
        priority_class=threshold.name,
        heeds_prefer_no_eviction=args.no_eviction_policy == _MANDATORY,
    )


def _protections(args: DefaultEvictorArgs, path: str, faults: list[_Fault]) -> frozenset[str]:
    """Deprecated booleans count only where the new fields are absent."""
    protections = args.pod_protections
    if not (protections.default_disabled or protections.extra_enabled):
        evicts = {
            LOCAL_STORAGE: args.evict_local_storage_pods,
            DAEMON_SET_PODS: args.evict_daemon_set_pods,
            SYSTEM_CRITICAL: args.evict_system_critical_pods,
            FAILED_BARE: args.evict_failed_bare_pods,
        }
        extra = {WITH_PVC: args.ignore_pvc_pods, WITHOUT_PDB: args.ignore_pods_without_pdb}
        on = [name for name, is_off in evicts.items() if not is_off]
        return frozenset((*on, *(name for name, is_on in extra.items() if is_on)))
    for name, values, supported in (
        ("defaultDisabled", protections.default_disabled, DEFAULT_PROTECTIONS),
        ("extraEnabled", protections.extra_enabled, EXTRA_PROTECTIONS),
    ):
        for place, value in enumerate(values):
            if value not in supported:
                message = f"Unsupported value: {quote(value)}: supported values: {', '.join(map(quote, supported))}"
                faults.append((f"{path}.{name}[{place}]", message))
    return frozenset(DEFAULT_PROTECTIONS) - {*protections.default_disabled} | {*protections.extra_enabled}


def _parsed(parse: Callable[[], V], default: V, path: str, faults: list[_Fault], prefix: str = "") -> V:
    """What ``parse`` returns; ``default`` where it raises ValueError, which is a fault then."""
    try:
        return parse()
    except ValueError as error:
        faults.append((path, f"{prefix}{error}"))
        return default


def _label_selector(selector: LabelSelector | None, path: str, faults: list[_Fault], prefix: str = "") -> Selector:
    """An absent selector matches everything."""
    everything = Selector()
    if selector is None:
        return everything
    return _parsed(lambda: from_label_selector(selector), everything, path, faults, prefix)


def _selector(text: str, path: str, faults: list[_Fault]) -> Selector:
    return _parsed(lambda: parse_selector(text), Selector(), path, faults, f"Invalid value: {quote(text)}: ")
