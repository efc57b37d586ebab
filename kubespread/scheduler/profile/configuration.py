"""KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1): decoded strictly, with kube-scheduler's own refusals,
and its further checks.

Source: staging/src/k8s.io/kube-scheduler/config/v1/types.go, KubeSchedulerConfiguration, DecodeNestedObjects
Source: staging/src/k8s.io/apimachinery/pkg/runtime/serializer/json/json.go, Decode, unmarshal
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

from msgspec import field

from kubespread.kube.api.decoding import DecodingError, decode, normalized, unknown_fields
from kubespread.kube.api.meta import Int32, Int64, KubeObject
from kubespread.kube.api.unknown_fields import UnknownField
from kubespread.kube.gotext import aggregate
from kubespread.kube.time import nanoseconds
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugin import POD_GROUP_POST_FILTER, Args
from kubespread.scheduler.plugins.registry import REGISTRY


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
_POINTS_SINCE = {POD_GROUP_POST_FILTER: 37}

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
    unknown = [
        _Strict(f'unknown field "{field.path}"', Blame(_joined(path, field.path), f"{_UNKNOWN}{_hint(field)}"))
        for field in unknown_fields(data, cls)
    ]
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


def _hint(field: UnknownField) -> str:
    return f'; did you mean "{field.meant.rpartition(".")[2]}"?' if field.meant else ""


def refused(faults: Sequence[tuple[str, str]], prefix: str = "", path: str = "") -> ConfigurationError:
    """Several faults as one refusal; their own paths stand below ``path``."""
    messages = [f"{place}: {message}" for place, message in faults]
    return ConfigurationError(
        prefix + aggregate(messages), [Blame(_joined(path, place), message) for place, message in faults]
    )
