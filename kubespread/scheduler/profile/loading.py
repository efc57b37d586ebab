"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) to profiles: decoded strictly, and refused where
kube-scheduler refuses it, in our words.

Source: cmd/kube-scheduler/app/options/configfile.go, LoadConfigFromFile, loadConfig
Source: pkg/scheduler/apis/config/v1/defaults.go, SetDefaults_KubeSchedulerConfiguration
Source: staging/src/k8s.io/kube-scheduler/config/v1/types.go, KubeSchedulerConfiguration, DecodeNestedObjects
Source: pkg/scheduler/apis/config/validation/validation.go, ValidateKubeSchedulerConfiguration,
    validateKubeSchedulerProfile, validatePluginConfig
Source: staging/src/k8s.io/component-base/config/validation/validation.go, ValidateClientConnectionConfiguration,
    ValidateLeaderElectionConfiguration
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import field, structs

from kubespread.kube.admission.defaulting import DEFAULT_SCHEDULER
from kubespread.kube.api.decoding import DecodingError, decode, normalize, unexpected_fields
from kubespread.kube.api.meta import Duration, Int32, Int64, KubeObject
from kubespread.kube.api.unknown_fields import did_you_mean
from kubespread.kube.name_rules import is_extended, label_key_faults
from kubespread.kube.time import nanoseconds
from kubespread.kube.validation.faults import FieldFault, one_of, range_faults
from kubespread.kube.versions import LATEST, KubeVersion
from kubespread.scheduler.plugin import INTERFACES, Args, Point, read_as
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.scheduler.plugins.noderesources.scoring import NodeResourcesFitArgs
from kubespread.scheduler.plugins.registry import CLOUD_LIMITS, REGISTRY, default_plugins, removed_plugins
from kubespread.scheduler.profile.profile import (
    PluginEntry,
    PointConfiguration,
    Profile,
    ProfileError,
    expand,
    needed_plugins,
    unwritten_states,
)


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
    """Undecoded, as the type depends on the plugin."""


class KubeSchedulerProfile(KubeObject):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    plugins: Plugins = field(default_factory=Plugins)
    plugin_config: list[PluginConfig] = field(default_factory=list)


class ExtenderManagedResource(KubeObject):
    name: str = ""
    ignored_by_scheduler: bool = False


class ExtenderTLSConfig(KubeObject):
    ignored = {
        **dict.fromkeys(("certData", "keyData", "caData"), ""),
        **dict.fromkeys(("serverName", "certFile", "keyFile", "caFile"), "string"),
        "insecure": "bool",
    }


class Extender(KubeObject):
    ignored = {
        **dict.fromkeys(("urlPrefix", "filterVerb", "preemptVerb"), "string"),
        **dict.fromkeys(("enableHTTPS", "nodeCacheCapable", "ignorable"), "bool"),
        "httpTimeout": "Duration",
    }

    prioritize_verb: str = ""
    weight: Int64 = 0
    bind_verb: str = ""
    tls_config: ExtenderTLSConfig | None = None
    managed_resources: list[ExtenderManagedResource] = field(default_factory=list)


class LeaderElectionConfiguration(KubeObject):
    ignored = dict.fromkeys(("resourceName", "resourceNamespace"), "string")

    leader_elect: bool | None = None
    lease_duration: Duration = ""
    renew_deadline: Duration = ""
    retry_period: Duration = ""
    resource_lock: str = ""


class ClientConnectionConfiguration(KubeObject):
    ignored = {"qps": "", **dict.fromkeys(("kubeconfig", "acceptContentTypes", "contentType"), "string")}

    burst: Int32 = 0


class KubeSchedulerConfiguration(KubeObject):
    ignored = {
        "kind": "",
        **dict.fromkeys(("enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"), "bool"),
    }

    api_version: str = ""
    parallelism: Int32 | None = None
    leader_election: LeaderElectionConfiguration = field(default_factory=LeaderElectionConfiguration)
    client_connection: ClientConnectionConfiguration = field(default_factory=ClientConnectionConfiguration)
    percentage_of_nodes_to_score: Int32 | None = None
    pod_initial_backoff_seconds: Int64 | None = None
    pod_max_backoff_seconds: Int64 | None = None
    profiles: list[KubeSchedulerProfile] = field(default_factory=list)
    extenders: list[Extender] = field(default_factory=list)


GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
_V1, _SINCE = f"{GROUP}/v1", 25
_POINTS_SINCE = {Point.POD_GROUP_POST_FILTER: 37}

T = TypeVar("T", bound=KubeObject)

_KINDS = {plugin.args.__name__: plugin.args for plugin in REGISTRY if plugin.args is not None}
"""The kinds of arguments that are read. Arguments of other plugins are accepted unread."""


class ConfigurationError(Exception):
    """Refusal of the file, with its ``faults``."""

    def __init__(self, *faults: FieldFault) -> None:
        super().__init__(", ".join(map(str, faults)))
        self.faults = faults


class UnwrittenError(ConfigurationError):
    """Refusal of a profile that kube-scheduler accepts, with a plugin that reads a state it never writes there."""


def decode_configuration(
    data: dict[str, Any], version: KubeVersion
) -> tuple[KubeSchedulerConfiguration, list[list[Args | None]]]:
    """Decode the file, and the arguments of every pluginConfig entry of each profile, None if they are not read.

    Raises ConfigurationError; for unknown fields only without worse faults.
    """
    unknown: list[FieldFault] = []
    configuration = _decode(data, KubeSchedulerConfiguration, "", unknown)
    unknown += _points_not_yet_known(data, version)
    args = [
        [
            _decoded_args(
                config, configuration.api_version, f"profiles[{position}].pluginConfig[{index}].args", unknown
            )
            for index, config in enumerate(profile.plugin_config)
        ]
        for position, profile in enumerate(configuration.profiles)
    ]
    if unknown:
        raise ConfigurationError(*unknown)
    return configuration, args


def _decode(data: Any, cls: type[T], path: str, unknown: list[FieldFault]) -> T:
    """Decode ``data`` at ``path``, adding faults for unknown fields to ``unknown``. Raises ConfigurationError."""
    try:
        clean = normalize(data, cls, path)
    except DecodingError as error:
        raise ConfigurationError(FieldFault(error.path, str(error))) from error
    fields = unexpected_fields(data, cls, path)
    unknown += (FieldFault(field.path, f"unknown field{did_you_mean(field.suggestion)}") for field in fields)
    return decode(clean, cls)


def _points_not_yet_known(data: dict[str, Any], version: KubeVersion) -> Iterator[FieldFault]:
    for position, profile in enumerate(data.get("profiles") or ()):
        for point, since in _POINTS_SINCE.items():
            if point in ((profile or {}).get("plugins") or {}) and not version.reaches(since):
                yield FieldFault(f"profiles[{position}].plugins.{point}", f"unknown field; known since 1.{since}")


def _decoded_args(config: PluginConfig, api_version: str, path: str, unknown: list[FieldFault]) -> Args | None:
    """One plugin's arguments, of the kind and version that they state, if any. Raises ConfigurationError."""
    kind = f"{config.name}Args"
    if kind not in _KINDS:
        return None
    arguments = _decode({} if config.args is None else config.args, _KINDS[kind], path, unknown)
    for name, expected in (("kind", kind), ("apiVersion", api_version)):
        if (stated := (config.args or {}).get(name) or expected) != expected:
            raise ConfigurationError(FieldFault(f"{path}.{name}", f"expected {expected}, found {stated}"))
    return arguments


_LEASES = "leases"
_GROUP_POINTS = ("placementGenerate", "placementScore", "podGroupPostFilter")


def configuration_faults(
    configuration: KubeSchedulerConfiguration, args: Sequence[Sequence[Args | None]], version: KubeVersion
) -> Iterator[FieldFault]:
    """Yield faults of a file with decoded ``args``, one list per profile."""
    if configuration.client_connection.burst < 0:
        yield FieldFault("clientConnection.burst", "must not be negative")
    yield from _leader_election_faults(configuration.leader_election)
    if configuration.parallelism is not None and configuration.parallelism <= 0:
        yield FieldFault("parallelism", "must be greater than 0")
    names: set[str] = set()
    queue_sort = _enabled_and_disabled(configuration.profiles[0].plugins.queue_sort)
    for position, (profile, arguments) in enumerate(zip(configuration.profiles, args, strict=True)):
        path, name = f"profiles[{position}]", profile.scheduler_name
        if not name:
            yield FieldFault(f"{path}.schedulerName", "required")
        if (name or "") in names:
            yield FieldFault(f"{path}.schedulerName", f"duplicate: {name}")
        names.add(name or "")
        yield from _profile_faults(profile, arguments, path, version)
        # All profiles share one queue, so their settings for it have to be equal as written.
        if _enabled_and_disabled(profile.plugins.queue_sort) != queue_sort:
            yield FieldFault(f"{path}.plugins.queueSort", "must be the same for all profiles")
    if len(configuration.profiles[0].plugins.queue_sort.enabled) > 1:
        yield FieldFault("profiles[0].plugins.queueSort.enabled", "only one plugin can sort the queue")
    yield from _percentage_faults(configuration.percentage_of_nodes_to_score, "percentageOfNodesToScore")
    yield from _backoff_faults(configuration)
    yield from _extender_faults(configuration.extenders)


def _leader_election_faults(election: LeaderElectionConfiguration) -> Iterator[FieldFault]:
    """Yield faults with defaults for absent fields; without an election nothing is checked."""
    if election.leader_elect is False:
        return
    lease = nanoseconds(election.lease_duration or "0") or nanoseconds("15s")
    renew = nanoseconds(election.renew_deadline or "0") or nanoseconds("10s")
    retry = nanoseconds(election.retry_period or "0") or nanoseconds("2s")
    for name, duration in (("leaseDuration", lease), ("renewDeadline", renew), ("retryPeriod", retry)):
        if duration <= 0:
            yield FieldFault(f"leaderElection.{name}", "must be greater than 0")
    if lease <= renew:
        yield FieldFault("leaderElection.leaseDuration", "must be greater than renewDeadline")
    yield from one_of("leaderElection.resourceLock", election.resource_lock or _LEASES, (_LEASES,))


def _profile_faults(
    profile: KubeSchedulerProfile, args: Sequence[Args | None], path: str, version: KubeVersion
) -> Iterator[FieldFault]:
    yield from _percentage_faults(profile.percentage_of_nodes_to_score, f"{path}.percentageOfNodesToScore")
    removed, refusal = removed_plugins(version), "this version of the configuration does not have it"
    for point, point_set in plugin_sets(profile).items():
        for position, plugin in enumerate(point_set.enabled):
            if plugin.name in removed and point in INTERFACES and point not in _GROUP_POINTS:
                yield FieldFault(f"{path}.plugins.{point}.enabled[{position}]", f"{plugin.name}: {refusal}")
    configured: set[str] = set()
    for position, (config, arguments) in enumerate(zip(profile.plugin_config, args, strict=True)):
        field = f"{path}.pluginConfig[{position}]"
        if config.name in configured:
            yield FieldFault(field, f"duplicate: {config.name}")
        configured.add(config.name)
        if config.name in removed:
            yield FieldFault(field, f"{config.name}: {refusal}")
        elif arguments is not None and not arguments.is_checked_by_plugin:
            yield from arguments.faults(f"{field}.args", version)


def plugin_sets(profile: KubeSchedulerProfile) -> dict[str, PluginSet]:
    """Plugin sets of a profile by extension point, including multiPoint."""
    return dict(zip(Plugins.__struct_encode_fields__, structs.astuple(profile.plugins), strict=True))


def _enabled_and_disabled(point_set: PluginSet) -> tuple[list[Plugin], list[str]]:
    """Enabled plugins, and the names of disabled ones, which have no weight."""
    return point_set.enabled, [plugin.name for plugin in point_set.disabled]


def _percentage_faults(percentage: int | None, path: str) -> list[FieldFault]:
    return [] if percentage is None else range_faults(percentage, 0, 100, path)


def _backoff_faults(configuration: KubeSchedulerConfiguration) -> Iterator[FieldFault]:
    initial, longest = configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds
    initial = 1 if initial is None else initial
    if initial <= 0:
        yield FieldFault("podInitialBackoffSeconds", "must be greater than 0")
    if (10 if longest is None else longest) < initial:
        yield FieldFault("podMaxBackoffSeconds", "must not be less than podInitialBackoffSeconds")


def _extender_faults(extenders: Sequence[Extender]) -> Iterator[FieldFault]:
    managed: set[str] = set()
    for position, extender in enumerate(extenders):
        path = f"extenders[{position}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield FieldFault(f"{path}.weight", "must be greater than 0")
        for index, resource in enumerate(extender.managed_resources):
            field = f"{path}.managedResources[{index}].name"
            if label_key_faults(resource.name) or not is_extended(resource.name):
                yield FieldFault(field, f"not an extended resource: {resource.name}")
            if resource.name in managed:
                yield FieldFault(field, f"duplicate: {resource.name}")
            managed.add(resource.name)
    if sum(bool(extender.bind_verb) for extender in extenders) > 1:
        yield FieldFault("extenders", "only one extender can bind")


def load_profiles(data: Any, version: KubeVersion = LATEST) -> tuple[Profile, ...]:
    """Profiles of a KubeSchedulerConfiguration as plain data. Raises ConfigurationError."""
    configuration, args = decode_configuration(_check_version(data, version), version)
    if not configuration.profiles:
        configuration.profiles, args = [KubeSchedulerProfile()], [[]]
    if len(configuration.profiles) == 1 and configuration.profiles[0].scheduler_name is None:
        configuration.profiles[0].scheduler_name = DEFAULT_SCHEDULER
    if faults := [*configuration_faults(configuration, args, version)]:
        raise ConfigurationError(*faults)
    return tuple(_profile(position, decoded, configuration, version) for position, decoded in enumerate(args))


def with_sorted_keys(data: Any) -> Any:
    """Sort keys as kube-scheduler does when it turns YAML into JSON, which orders the faults."""
    if isinstance(data, dict):
        return {key: with_sorted_keys(data[key]) for key in sorted(data, key=str)}
    return [with_sorted_keys(item) for item in data] if isinstance(data, list) else data


def _check_version(data: Any, version: KubeVersion) -> dict[str, Any]:
    """The file, of a kind and a version that this release reads. Raises ConfigurationError."""
    if not isinstance(data, dict) or not data.get("kind"):
        raise ConfigurationError(FieldFault("kind", f"expected {KIND}, found nothing"))
    for name, expected in (("kind", KIND), ("apiVersion", _V1)):
        if (stated := data.get(name, "")) != expected:
            raise ConfigurationError(FieldFault(name, f"expected {expected}, found {stated}"))
    if not version.reaches(_SINCE):
        raise ConfigurationError(
            FieldFault("apiVersion", f"{_V1} is not read by Kubernetes {version}, since 1.{_SINCE} it is")
        )
    return data


def _profile(
    position: int, decoded: Sequence[Args | None], configuration: KubeSchedulerConfiguration, version: KubeVersion
) -> Profile:
    configured = configuration.profiles[position]
    name = configured.scheduler_name or DEFAULT_SCHEDULER
    points = dict(_points(configured, version))
    args = {
        config.name: arguments
        for config, arguments in zip(configured.plugin_config, decoded, strict=True)
        if arguments is not None
    }
    _ignore_managed_resources(args, configuration)
    built = needed_plugins(points, version)
    for index, plugin in enumerate(configured.plugin_config):
        arguments = args.get(plugin.name)
        if arguments is None or not arguments.is_checked_by_plugin:
            continue
        if faults := [*arguments.faults(f"profiles[{position}].pluginConfig[{index}].args", version)]:
            if plugin.name in built:
                raise ConfigurationError(*faults)
            # Arguments of a plugin that is not built are not checked.
            del args[plugin.name]
    try:
        expanded = expand(points, version)
    except ProfileError as error:
        raise ConfigurationError(FieldFault(f"profiles[{position}].plugins", str(error))) from error
    # A profile's own percentage counts, even 0; only without one the global value does.
    percentage = configured.percentage_of_nodes_to_score
    percentage = configuration.percentage_of_nodes_to_score if percentage is None else percentage
    profile = structs.replace(
        expanded,
        scheduler_name=name,
        args=args,
        scheduler_names=frozenset(profile.scheduler_name or DEFAULT_SCHEDULER for profile in configuration.profiles),
        has_extenders=bool(configuration.extenders),
        unread_points=tuple(_unread(points, version)),
        percentage_of_nodes_to_score=percentage or 0,
    )
    if missing := unwritten_states(profile):
        needs = ", ".join(f"{point} of {plugin} needs {written}" for (plugin, written), point in missing.items())
        message = f"pods would fail with an error: {needs}"
        _, written = next(iter(missing))
        raise UnwrittenError(FieldFault(f"profiles[{position}].plugins.{written}", message))
    return profile


def _ignore_managed_resources(args: dict[str, Args], configuration: KubeSchedulerConfiguration) -> None:
    """Replace NodeResourcesFit's ignoredResources by the resources that only extenders manage."""
    managed = [
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    ]
    if managed:
        arguments = read_as(NodeResourcesFitArgs, args.get(NodeResourcesFit.name))
        args[NodeResourcesFit.name] = structs.replace(arguments, ignored_resources=managed)


def _points(profile: KubeSchedulerProfile, version: KubeVersion) -> Iterator[tuple[str, PointConfiguration]]:
    # Where cloud limits are still in the tree, they have no say without volumes of that cloud.
    present = CLOUD_LIMITS - removed_plugins(version)
    for point, point_set in plugin_sets(profile).items():
        enabled = [
            PluginEntry(plugin.name, plugin.weight) for plugin in point_set.enabled if plugin.name not in present
        ]
        yield point, PointConfiguration(enabled, [plugin.name for plugin in point_set.disabled])


def _unread(points: Mapping[str, PointConfiguration], version: KubeVersion) -> Iterator[str]:
    """Plugins the profile enables that are not modeled: from old releases, or off by default."""
    defaults = default_plugins(version)
    for point, point_set in points.items():
        yield from (f"{point}.{entry.name}" for entry in point_set.enabled if entry.name not in defaults)
