"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1) to profiles: decoded strictly and checked further, with
kube-scheduler's own refusals.

Source: cmd/kube-scheduler/app/options/configfile.go, LoadConfigFromFile, loadConfig
Source: pkg/scheduler/apis/config/v1/defaults.go, SetDefaults_KubeSchedulerConfiguration
Source: staging/src/k8s.io/kube-scheduler/config/v1/types.go, KubeSchedulerConfiguration, DecodeNestedObjects
Source: staging/src/k8s.io/apimachinery/pkg/runtime/serializer/json/json.go, Decode, unmarshal
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import field

from kubespread.kube.admission.defaulting import DEFAULT_SCHEDULER
from kubespread.kube.api.decoding import DecodingError, decode, normalized, unknown_fields
from kubespread.kube.api.meta import Int32, Int64, KubeObject
from kubespread.kube.gotext import aggregate, compact_json
from kubespread.kube.name_rules import is_extended, label_key_faults
from kubespread.kube.time import in_json, nanoseconds
from kubespread.kube.validation.faults import FieldFault, duplicate, invalid, invalid_each, required
from kubespread.kube.versions import LATEST, NEWEST, KubeVersion
from kubespread.scheduler.plugin import INTERFACES, Args, Point, read_as
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.scheduler.plugins.noderesources.scoring import NodeResourcesFitArgs
from kubespread.scheduler.plugins.podtopologyspread.constraints import LIST, PodTopologySpreadArgs
from kubespread.scheduler.plugins.registry import CLOUD_LIMITS, REGISTRY, default_plugins, removed_plugins
from kubespread.scheduler.profile.profile import (
    INITIALIZING,
    PluginEntry,
    PointConfiguration,
    Profile,
    ProfileError,
    expand,
    expand_per_point,
    needed,
    unwritten,
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


GROUP = "kubescheduler.config.k8s.io"
KIND = "KubeSchedulerConfiguration"
_SCHEME = "pkg/scheduler/apis/config/scheme/scheme.go:29"
_STRICT, _UNKNOWN = "strict decoding error: ", "unknown field"
_TYPE_META = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
_POINTS_SINCE = {Point.POD_GROUP_POST_FILTER: 37}

T = TypeVar("T", bound=KubeObject)

_KINDS = {plugin.args.__name__: plugin.args for plugin in REGISTRY if plugin.args is not None}
"""The kinds of arguments that are read. Arguments of other plugins are accepted unread."""


class Blame(NamedTuple):
    """One of several faults in a file: the field, and what is wrong with it."""

    path: str
    message: str


class ConfigurationError(Exception):
    """The file is refused as a whole; the text is kube-scheduler's, ``blames`` what it says of which field."""

    def __init__(self, message: str, blames: Iterable[Blame] = ()) -> None:
        super().__init__(message)
        self.blames: Sequence[Blame] = tuple(blames)


class UnregisteredError(ConfigurationError):
    """A kind, or a version of it, that this kube-scheduler does not have."""

    def __init__(self, kind: object, api_version: object, hint: str = "") -> None:
        super().__init__(f'no kind "{kind}" is registered for version "{api_version}" in scheme "{_SCHEME}"{hint}')


class UnwrittenError(ConfigurationError):
    """A profile that kube-scheduler takes, and that reads a state which it never writes; the text is ours."""


class _Strict(NamedTuple):
    """An unknown field, which is only complained about when nothing worse is found."""

    message: str
    """Empty where the message of another says it all."""
    blame: Blame


def decode_configuration(
    data: dict[str, Any], version: KubeVersion
) -> tuple[KubeSchedulerConfiguration, list[list[Args | None]]]:
    """The file, and the arguments of every pluginConfig entry of each profile, None where they are not read.

    Raises ConfigurationError.
    """
    configuration, unknown = _decoded(data, KubeSchedulerConfiguration, "")
    unknown += _points_not_yet_known(data, version)
    _check_durations(configuration)
    args: list[list[Args | None]] = []
    for position, profile in enumerate(configuration.profiles):
        args.append([])
        for index, config in enumerate(profile.plugin_config):
            arguments, more = _decoded_args(
                config, configuration.api_version, f"profiles[{position}].pluginConfig[{index}]"
            )
            args[-1].append(arguments)
            unknown += more
    if unknown:
        message = _STRICT + ", ".join(field.message for field in unknown if field.message)
        hint = unknown[0].blame.message.removeprefix(_UNKNOWN) if len(unknown) == 1 else ""
        raise ConfigurationError(message + hint, [field.blame for field in unknown])
    return configuration, args


def _decoded(data: Any, cls: type[T], path: str) -> tuple[T, list[_Strict]]:
    """``data``, standing at ``path``, as a ``cls``; unknown fields beside it. Raises ConfigurationError."""
    try:
        clean = normalized(data, cls)
    except DecodingError as error:
        raise ConfigurationError(str(error), [Blame(_joined(path, error.path), str(error))]) from error
    unknown: list[_Strict] = []
    for name in unknown_fields(data, cls):
        hint = f'; did you mean "{name.meant.rpartition(".")[2]}"?' if name.meant else ""
        unknown.append(_Strict(f'unknown field "{name.path}"', Blame(_joined(path, name.path), _UNKNOWN + hint)))
    return decode(clean, cls), unknown


def _points_not_yet_known(data: dict[str, Any], version: KubeVersion) -> Iterator[_Strict]:
    for position, profile in enumerate(data.get("profiles") or ()):
        for point, since in _POINTS_SINCE.items():
            if point in ((profile or {}).get("plugins") or {}) and not version.since(since):
                path = f"profiles[{position}].plugins.{point}"
                yield _Strict(f'unknown field "{path}"', Blame(path, f"{_UNKNOWN}; known since 1.{since}"))


def _joined(path: str, below: str) -> str:
    return ".".join(part for part in (path, below) if part)


def _decoded_args(config: PluginConfig, api_version: str, path: str) -> tuple[Args | None, list[_Strict]]:
    """One plugin's arguments, standing at ``path``. Raises ConfigurationError."""
    expected = f"{config.name}Args"
    if expected not in _KINDS:
        return None, []
    prefix = f"decoding .{path}: "
    try:
        arguments, unknown = _typed_args(config.args, expected, api_version, f"{path}.args")
    except ConfigurationError as error:
        message = f"{prefix}decoding args for plugin {config.name}: {error}"
        raise ConfigurationError(message, error.blames or [Blame(f"{path}.args", str(error))]) from error
    if type(arguments).__name__ != expected:
        message = (
            f"args for plugin {config.name} were not of type {expected}.{GROUP}, got {type(arguments).__name__}.{GROUP}"
        )
        raise ConfigurationError(prefix + message, [Blame(f"{path}.args.kind", message)])
    if not unknown:
        return arguments, []
    nested = f"{prefix}{_STRICT}decoding args for plugin {config.name}: {_STRICT}" + ", ".join(
        field.message for field in unknown
    )
    return arguments, [_Strict(nested, unknown[0].blame), *(_Strict("", field.blame) for field in unknown[1:])]


def _typed_args(data: Any, expected: str, api_version: str, path: str) -> tuple[Args, list[_Strict]]:
    """Arguments of the kind they state, or else of the plugin's. Raises ConfigurationError."""
    if data is None:
        data = {}
    if not isinstance(data, dict):
        raise _no_type_meta(data, f"Go value of type {_TYPE_META}")
    for name in ("apiVersion", "kind"):
        if not isinstance(data.get(name, ""), str | None):
            raise _no_type_meta(data[name], f"Go struct field .{name} of type string")
    kind, version = data.get("kind") or expected, data.get("apiVersion") or api_version
    if kind not in _KINDS or version != api_version:
        raise UnregisteredError(kind, version)
    arguments, unknown = _decoded(data, _KINDS[kind], path)
    for name, text in arguments.durations.items():
        _check_duration(text, f"{path}.{name}")
    return arguments, unknown


def _no_type_meta(value: Any, expected: str) -> ConfigurationError:
    """What Go says of a value where a version and a kind are looked for."""
    json_type = {bool: "bool", str: "string", list: "array", dict: "object"}.get(type(value), "number")
    return ConfigurationError(
        f"couldn't get version/kind; json parse error: json: cannot unmarshal {json_type} into {expected}"
    )


def _check_durations(configuration: KubeSchedulerConfiguration) -> None:
    election = configuration.leader_election
    _check_duration(election.lease_duration, "leaderElection.leaseDuration")
    _check_duration(election.renew_deadline, "leaderElection.renewDeadline")
    _check_duration(election.retry_period, "leaderElection.retryPeriod")
    for position, extender in enumerate(configuration.extenders):
        _check_duration(extender.http_timeout, f"extenders[{position}].httpTimeout")


def _check_duration(text: str | None, path: str) -> None:
    try:
        nanoseconds(text or "0")
    except ValueError as error:
        raise ConfigurationError(str(error), [Blame(path, str(error))]) from error


def refused(faults: Sequence[tuple[str, str]], prefix: str = "", path: str = "") -> ConfigurationError:
    """Several faults as one refusal; their own paths stand below ``path``."""
    messages = [f"{place}: {message}" for place, message in faults]
    return ConfigurationError(
        prefix + aggregate(messages), [Blame(_joined(path, place), message) for place, message in faults]
    )


# What kube-scheduler refuses in a configuration file, in its words and its order.
#
# Source: pkg/scheduler/apis/config/validation/validation.go, ValidateKubeSchedulerConfiguration,
#     validateKubeSchedulerProfile, validatePluginConfig
# Source: staging/src/k8s.io/component-base/config/validation/validation.go, ValidateClientConnectionConfiguration,
#     ValidateLeaderElectionConfiguration


_LEASES = "leases"
_GROUP_POINTS = ("placementGenerate", "placementScore", "podGroupPostFilter")


def configuration_faults(
    configuration: KubeSchedulerConfiguration, args: Sequence[Sequence[Args | None]], version: KubeVersion
) -> Iterator[FieldFault]:
    """Everything wrong with a file whose ``args`` were decoded, one list a profile."""
    if configuration.client_connection.burst < 0:
        yield invalid("clientConnection.burst", configuration.client_connection.burst, "must be non-negative")
    yield from _leader_election_faults(configuration.leader_election)
    if configuration.parallelism is not None and configuration.parallelism <= 0:
        yield invalid("parallelism", configuration.parallelism, "should be an integer value greater than zero")
    names: set[str] = set()
    for position, (profile, arguments) in enumerate(zip(configuration.profiles, args, strict=True)):
        path, name = f"profiles[{position}]", profile.scheduler_name or ""
        yield from _profile_faults(profile, arguments, path, configuration.api_version, version)
        if name in names:
            # Go prints the path it compares with, which has nothing to print.
            yield FieldFault(f"{path}.schedulerName", "Duplicate value: {}")
        names.add(name)
    yield from _queue_sort_faults(configuration.profiles)
    yield from _percentage_faults(configuration.percentage_of_nodes_to_score, "percentageOfNodesToScore")
    yield from _backoff_faults(configuration)
    yield from _extender_faults(configuration.extenders)


def _leader_election_faults(election: LeaderElectionConfiguration) -> Iterator[FieldFault]:
    """Absent fields have their defaults here, and without an election nothing is looked at."""
    if election.leader_elect is False:
        return
    path, above_zero = "leaderElection", "must be greater than zero"
    lease, renew = _or_default(election.lease_duration, "15s"), _or_default(election.renew_deadline, "10s")
    for name, duration in (
        ("leaseDuration", lease),
        ("renewDeadline", renew),
        ("retryPeriod", _or_default(election.retry_period, "2s")),
    ):
        if nanoseconds(duration) <= 0:
            yield invalid(f"{path}.{name}", in_json(duration), above_zero)
    if nanoseconds(lease) <= nanoseconds(renew):
        yield invalid(f"{path}.leaseDuration", in_json(renew), "must be greater than `RenewDeadline`")
    if election.resource_lock not in ("", _LEASES):
        yield invalid(f"{path}.resourceLock", election.resource_lock, f'resourceLock value must be "{_LEASES}"')


def _or_default(duration: str, default: str) -> str:
    return duration if duration and nanoseconds(duration) else default


def _profile_faults(
    profile: KubeSchedulerProfile, args: Sequence[Args | None], path: str, api_version: str, version: KubeVersion
) -> Iterator[FieldFault]:
    if not profile.scheduler_name:
        yield required(f"{path}.schedulerName")
    yield from _percentage_faults(profile.percentage_of_nodes_to_score, f"{path}.percentageOfNodesToScore")
    removed = removed_plugins(version)
    refusal = f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{api_version}")'
    for point, point_set in points_of(profile).items():
        for position, plugin in enumerate(
            point_set.enabled if point in INTERFACES and point not in _GROUP_POINTS else ()
        ):
            if plugin.name in removed:
                yield invalid(f"{path}.plugins.{point}.enabled[{position}]", plugin.name, refusal)
    configured: set[str] = set()
    for position, (config, arguments) in enumerate(zip(profile.plugin_config, args, strict=True)):
        field = f"{path}.pluginConfig[{position}]"
        if config.name in configured:
            yield duplicate(field, config.name)
        configured.add(config.name)
        if config.name in removed:
            yield invalid(field, config.name, refusal)
        elif arguments is not None:
            yield from arguments.faults(f"{field}.args", version)


def points_of(profile: KubeSchedulerProfile) -> dict[str, PluginSet]:
    """What a profile says about each extension point, and about multiPoint."""
    return dict(zip(Plugins.__struct_encode_fields__, msgspec.structs.astuple(profile.plugins), strict=True))


def _queue_sort_faults(profiles: Sequence[KubeSchedulerProfile]) -> Iterator[FieldFault]:
    """All profiles share one queue, so their settings for it have to be equal as written."""
    first = profiles[0].plugins.queue_sort
    if len(first.enabled) > 1:
        yield invalid(
            "profiles[0].plugins.queueSort.Enabled", len(first.enabled), "only one queue sort plugin can be enabled"
        )
    for position, profile in enumerate(profiles[1:], start=1):
        printed = _in_go(profile.plugins.queue_sort)
        if printed != _in_go(first):
            yield FieldFault(
                f"profiles[{position}].plugins.queueSort",
                f"Invalid value: {printed}: must be the same for all profiles",
            )


def _in_go(point_set: PluginSet) -> str:
    """As Go prints it: fields in its own order, an empty list as null; what is disabled has lost its weight."""

    def listed(plugins: Iterable[tuple[str, int]]) -> str:
        entries = [f'{{"Name":{compact_json(name)},"Weight":{weight}}}' for name, weight in plugins]
        return f"[{','.join(entries)}]" if entries else "null"

    enabled = listed((plugin.name, plugin.weight) for plugin in point_set.enabled)
    return f'{{"Enabled":{enabled},"Disabled":{listed((plugin.name, 0) for plugin in point_set.disabled)}}}'


def _percentage_faults(percentage: int | None, path: str) -> Iterator[FieldFault]:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, "not in valid range [0-100]")


def _backoff_faults(configuration: KubeSchedulerConfiguration) -> Iterator[FieldFault]:
    initial, longest = configuration.pod_initial_backoff_seconds, configuration.pod_max_backoff_seconds
    initial = 1 if initial is None else initial
    longest = 10 if longest is None else longest
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        yield invalid("podMaxBackoffSeconds", longest, "must be greater than or equal to PodInitialBackoffSeconds")


def _extender_faults(extenders: Sequence[Extender]) -> Iterator[FieldFault]:
    managed: set[str] = set()
    for position, extender in enumerate(extenders):
        path = f"extenders[{position}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"{path}.weight", extender.weight, "must have a positive weight applied to it")
        for index, resource in enumerate(extender.managed_resources):
            field = f"{path}.managedResources[{index}].name"
            malformed = invalid_each(field, resource.name, label_key_faults(resource.name))
            yield from malformed
            if not malformed and not is_extended(resource.name):
                yield invalid(field, resource.name, "is an invalid extended resource name")
            if resource.name in managed:
                yield invalid(field, resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        yield invalid(
            "extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind"
        )


V1, V1BETA3, V1BETA2, V1BETA1 = (f"{GROUP}/{version}" for version in ("v1", "v1beta3", "v1beta2", "v1beta1"))
# The minors of Kubernetes 1 that serve each version.
_SERVED = {V1: range(25, 1000), V1BETA3: range(23, 29), V1BETA2: range(22, 28), V1BETA1: range(19, 23)}
_PER_POINT = (V1BETA2, V1BETA1)


def load_profiles(data: Any, version: KubeVersion = LATEST) -> tuple[Profile, ...]:
    """The profiles of a KubeSchedulerConfiguration as plain data. Raises ConfigurationError."""
    configuration, args = decode_configuration(_checked(data, version), version)
    if not configuration.profiles:
        configuration.profiles, args = [KubeSchedulerProfile()], [[]]
    if len(configuration.profiles) == 1 and configuration.profiles[0].scheduler_name is None:
        configuration.profiles[0].scheduler_name = DEFAULT_SCHEDULER
    if configuration.api_version == V1BETA1:
        _infer_defaulting_type(args)
    if faults := list(configuration_faults(configuration, args, version)):
        raise refused(faults)
    return tuple(_profile(position, decoded, configuration, version) for position, decoded in enumerate(args))


def with_sorted_keys(data: Any) -> Any:
    """What kube-scheduler decodes of a YAML file: it is turned into JSON first, whose objects are sorted, and so are
    the faults.
    """
    if isinstance(data, dict):
        return {key: with_sorted_keys(data[key]) for key in sorted(data, key=str)}
    return [with_sorted_keys(item) for item in data] if isinstance(data, list) else data


def _checked(data: Any, version: KubeVersion) -> dict[str, Any]:
    """The file, when it is of a kind and a version that this release reads. Raises ConfigurationError."""
    if not isinstance(data, dict) or not data.get("kind"):
        raise ConfigurationError(f"Object 'Kind' is missing: expected a {KIND}")
    kind, api_version = data["kind"], data.get("apiVersion", "")
    if kind != KIND or version.minor not in _SERVED.get(str(api_version), ()):
        raise UnregisteredError(kind, api_version, _hint(api_version, version))
    return data


def _hint(api_version: object, version: KubeVersion) -> str:
    if isinstance(api_version, str) and api_version.startswith(f"{GROUP}/v1alpha"):
        return "; alpha configurations are not read, write it as v1beta1 or newer"
    served = _SERVED.get(str(api_version))
    if served is None or version.minor in served:
        return ""
    return f"; Kubernetes 1.{served[0]} to 1.{min(served[-1], NEWEST)} read it (--kube-version)"


def _infer_defaulting_type(args: Iterable[Sequence[Args | None]]) -> None:
    """v1beta1 takes constraints without a defaultingType for a List; later versions refuse them."""
    for arguments in chain.from_iterable(args):
        if (
            isinstance(arguments, PodTopologySpreadArgs)
            and arguments.default_constraints
            and not arguments.defaulting_type
        ):
            arguments.defaulting_type = LIST


def _profile(
    position: int, decoded: Sequence[Args | None], configuration: KubeSchedulerConfiguration, version: KubeVersion
) -> Profile:
    configured = configuration.profiles[position]
    name = configured.scheduler_name or DEFAULT_SCHEDULER
    points = dict(_points(configured, version))
    per_point = configuration.api_version in _PER_POINT
    args = {
        config.name: arguments
        for config, arguments in zip(configured.plugin_config, decoded, strict=True)
        if arguments is not None
    }
    _ignore_managed_resources(args, configuration)
    built = default_plugins(version).keys() if per_point else needed(points, version)
    for index, plugin in enumerate(configured.plugin_config):
        arguments = args.get(plugin.name)
        if arguments is not None and (faults := list(arguments.building_faults(version))):
            if plugin.name in built:
                prefix = f'{INITIALIZING.format(name=name)}initializing plugin "{plugin.name}": '
                raise refused(faults, prefix, f"profiles[{position}].pluginConfig[{index}].args")
            # Nobody looks at the arguments of a plugin that is not built.
            del args[plugin.name]
    try:
        expanded = (expand_per_point if per_point else expand)(points, name, version)
    except ProfileError as error:
        raise ConfigurationError(str(error)) from error
    # A profile's own percentage counts, even 0; only without one the global value does.
    percentage = configured.percentage_of_nodes_to_score
    percentage = configuration.percentage_of_nodes_to_score if percentage is None else percentage
    profile = msgspec.structs.replace(
        expanded,
        scheduler_name=name,
        args=args,
        scheduler_names=frozenset(profile.scheduler_name or DEFAULT_SCHEDULER for profile in configuration.profiles),
        has_extenders=bool(configuration.extenders),
        unread_points=tuple(_unread(points, version)),
        percentage_of_nodes_to_score=percentage or 0,
    )
    if missing := unwritten(profile):
        needs = ", ".join(f"{point} of {plugin} needs {written}" for (plugin, written), point in missing.items())
        message = f'profile "{name}" would fail pods with an error: {needs}'
        _, written = next(iter(missing))
        raise UnwrittenError(message, [Blame(f"profiles[{position}].plugins.{written}", message)])
    return profile


def _ignore_managed_resources(args: dict[str, Args], configuration: KubeSchedulerConfiguration) -> None:
    """Resources that only extenders look after take the place of NodeResourcesFit's ignoredResources."""
    managed = [
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    ]
    if managed:
        arguments = read_as(NodeResourcesFitArgs, args.get(NodeResourcesFit.name))
        args[NodeResourcesFit.name] = msgspec.structs.replace(arguments, ignored_resources=managed)


def _points(profile: KubeSchedulerProfile, version: KubeVersion) -> Iterator[tuple[str, PointConfiguration]]:
    # Where cloud limits are still in the tree, they have no say without volumes of that cloud.
    present = CLOUD_LIMITS - removed_plugins(version)
    for point, point_set in points_of(profile).items():
        enabled = [
            PluginEntry(plugin.name, plugin.weight) for plugin in point_set.enabled if plugin.name not in present
        ]
        yield point, PointConfiguration(enabled, [plugin.name for plugin in point_set.disabled])


def _unread(points: Mapping[str, PointConfiguration], version: KubeVersion) -> Iterator[str]:
    """Plugins the profile enables that are not modeled: those of old releases, and those that are off by default."""
    defaults = default_plugins(version)
    for point, point_set in points.items():
        yield from (f"{point}.{entry.name}" for entry in point_set.enabled if entry.name not in defaults)
