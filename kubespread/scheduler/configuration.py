"""KubeSchedulerConfiguration to profiles, with kube-scheduler's own refusals.

Source of the rules: kubescheduler.config.k8s.io/v1 as kube-scheduler 1.36 decodes, defaults and validates it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import field

from kubespread.kube.admission import DEFAULT_SCHEDULER
from kubespread.kube.decoding import DecodingError, decode, normalized, unknown_fields
from kubespread.kube.gotext import aggregate
from kubespread.kube.meta import Int32, KubeObject
from kubespread.kube.names import label_key_faults
from kubespread.kube.node_selector import parse_term
from kubespread.kube.objects import NodeAffinity, TopologySpreadConstraint
from kubespread.kube.validation.faults import FieldFault, duplicate, forbidden, invalid, invalid_each, required, unsupported
from kubespread.scheduler.plugins.podtopologyspread.constraints import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY, SpreadArgs
from kubespread.scheduler.profile import PluginEntry, PluginSet, Profile, ProfileError, expand

API_VERSION = "kubescheduler.config.k8s.io/v1"
KIND = "KubeSchedulerConfiguration"
_DEFAULTING_TYPES = ("System", "List")

Args = TypeVar("Args", bound=KubeObject)


class ConfigurationError(Exception):
    """The file is refused as a whole; the text is kube-scheduler's, ``path`` the field where one field is to blame."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


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
            "apiVersion", "kind", "leaderElection", "clientConnection", "enableProfiling", "enableContentionProfiling",
            "podInitialBackoffSeconds", "podMaxBackoffSeconds", "delayCacheUntilActive",
        }
    )  # fmt: skip

    parallelism: Int32 | None = None
    percentage_of_nodes_to_score: Int32 | None = None
    profiles: list[KubeSchedulerProfile] = field(default_factory=list)
    extenders: list[dict[str, Any]] = field(default_factory=list)


class PodTopologySpreadArgs(KubeObject):
    ignored = frozenset({"apiVersion", "kind"})

    default_constraints: list[TopologySpreadConstraint] = field(default_factory=list)
    defaulting_type: str = ""


class NodeAffinityArgs(KubeObject):
    ignored = frozenset({"apiVersion", "kind"})

    added_affinity: NodeAffinity | None = None


# Plugins whose arguments change nothing a snapshot can show.
_IRRELEVANT_ARGS = frozenset({"DefaultPreemption", "VolumeBinding", "DynamicResources"})


def load_profiles(data: Any) -> tuple[Profile, ...]:
    """The profiles of a KubeSchedulerConfiguration as plain data. Raises ConfigurationError."""
    configuration = _decode(data)
    if not configuration.profiles:
        configuration.profiles = [KubeSchedulerProfile()]
    only = configuration.profiles[0] if len(configuration.profiles) == 1 else None
    if only is not None and only.scheduler_name is None:
        only.scheduler_name = DEFAULT_SCHEDULER
    spread, affinity = _plugin_args(configuration.profiles)
    if faults := [str(fault) for fault in _faults(configuration, spread)]:
        raise ConfigurationError(aggregate(faults))
    return tuple(
        _profile(profile, spread.get(position), affinity.get(position), extenders=bool(configuration.extenders))
        for position, profile in enumerate(configuration.profiles)
    )


def _decode(data: Any) -> KubeSchedulerConfiguration:
    if not isinstance(data, dict) or not data.get("kind"):
        raise ConfigurationError(f"Object 'Kind' is missing: expected a {KIND}")
    if data.get("apiVersion") != API_VERSION or data["kind"] != KIND:
        scheme = "pkg/scheduler/apis/config/scheme/scheme.go:29"
        raise ConfigurationError(f'no kind "{data["kind"]}" is registered for version "{data.get("apiVersion", "")}" in scheme "{scheme}"')
    return _strictly(data, KubeSchedulerConfiguration)


def _strictly(data: Any, cls: type[Args]) -> Args:
    try:
        clean = normalized(data, cls)
    except DecodingError as error:
        raise ConfigurationError(str(error), error.path) from error
    if unknown := list(unknown_fields(data, cls)):
        raise ConfigurationError("strict decoding error: " + ", ".join(f'unknown field "{path}"' for path in unknown), unknown[0])
    return decode(clean, cls)


def _plugin_args(profiles: Sequence[KubeSchedulerProfile]) -> tuple[dict[int, PodTopologySpreadArgs], dict[int, NodeAffinityArgs]]:
    """The arguments that are read, by the position of their profile."""
    spread: dict[int, PodTopologySpreadArgs] = {}
    affinity: dict[int, NodeAffinityArgs] = {}
    for position, profile in enumerate(profiles):
        for at, config in enumerate(profile.plugin_config):
            place = f".profiles[{position}].pluginConfig[{at}]"
            if config.name == "PodTopologySpread":
                spread[position] = _decode_args(config, PodTopologySpreadArgs, place)
            elif config.name == "NodeAffinity":
                affinity[position] = _decode_args(config, NodeAffinityArgs, place)
    return spread, affinity


def _decode_args(config: PluginConfig, cls: type[Args], place: str) -> Args:
    given = config.args or {}
    kind = given.get("kind", cls.__name__)
    if kind != cls.__name__:
        group = "kubescheduler.config.k8s.io"
        message = f"decoding {place}: args for plugin {config.name} were not of type {cls.__name__}.{group}, got {kind}.{group}"
        raise ConfigurationError(message, place.removeprefix("."))
    try:
        return _strictly(given, cls)
    except ConfigurationError as error:
        strict = "strict decoding error: " if str(error).startswith("strict") else ""
        message = f"{strict}decoding {place}: {strict}decoding args for plugin {config.name}: {error}"
        raise ConfigurationError(message, f"{place.removeprefix('.')}.args") from error


def _faults(configuration: KubeSchedulerConfiguration, spread: Mapping[int, PodTopologySpreadArgs]) -> Iterator[FieldFault]:
    if configuration.parallelism is not None and configuration.parallelism <= 0:
        yield invalid("parallelism", configuration.parallelism, "should be an integer value greater than zero")
    yield from _percentage_faults(configuration.percentage_of_nodes_to_score, "percentageOfNodesToScore")
    names: set[str] = set()
    for position, profile in enumerate(configuration.profiles):
        path = f"profiles[{position}]"
        if not profile.scheduler_name:
            yield required(f"{path}.schedulerName")
        elif profile.scheduler_name in names:
            yield FieldFault(f"{path}.schedulerName", "Duplicate value: {}")
        names.add(profile.scheduler_name or "")
        yield from _percentage_faults(profile.percentage_of_nodes_to_score, f"{path}.percentageOfNodesToScore")
        configured: set[str] = set()
        for at, config in enumerate(profile.plugin_config):
            if config.name in configured:
                yield duplicate(f"{path}.pluginConfig[{at}]", config.name)
            elif config.name == "PodTopologySpread":
                yield from _spread_faults(spread[position], f"{path}.pluginConfig[{at}].args")
            configured.add(config.name)


def _percentage_faults(percentage: int | None, path: str) -> Iterator[FieldFault]:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, "not in valid range [0-100]")


def _spread_faults(args: PodTopologySpreadArgs, path: str) -> Iterator[FieldFault]:
    defaulting_type = args.defaulting_type or "System"
    if defaulting_type not in _DEFAULTING_TYPES:
        yield unsupported(f"{path}.defaultingType", defaulting_type, _DEFAULTING_TYPES)
    elif defaulting_type == "System" and args.default_constraints:
        yield invalid(f"{path}.defaultingType", defaulting_type, "when .defaultConstraints are not empty")
    seen: set[tuple[str, str]] = set()
    for position, constraint in enumerate(args.default_constraints):
        here = f"{path}.defaultConstraints[{position}]"
        pair = (constraint.topology_key, constraint.when_unsatisfiable)
        if constraint.max_skew <= 0:
            yield invalid(f"{here}.maxSkew", constraint.max_skew, "not in valid range (0, inf)")
        if not constraint.topology_key:
            yield required(f"{here}.topologyKey", "can not be empty")
        else:
            yield from invalid_each(f"{here}.topologyKey", constraint.topology_key, label_key_faults(constraint.topology_key))
        if not constraint.when_unsatisfiable:
            yield required(f"{here}.whenUnsatisfiable", "can not be empty")
        elif constraint.when_unsatisfiable not in (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY):
            yield unsupported(f"{here}.whenUnsatisfiable", constraint.when_unsatisfiable, (DO_NOT_SCHEDULE, SCHEDULE_ANYWAY))
        if constraint.label_selector is not None:
            yield forbidden(f"{here}.labelSelector", "constraint must not define a selector, as they deduced for each pod")
        if pair in seen:
            # The later of the two is reported here, the earlier one in a pod.
            yield duplicate(here, f"{{{pair[0]}, {pair[1]}}}")
        seen.add(pair)


def _profile(
    profile: KubeSchedulerProfile, spread: PodTopologySpreadArgs | None, affinity: NodeAffinityArgs | None, *, extenders: bool
) -> Profile:
    name = profile.scheduler_name or DEFAULT_SCHEDULER
    plugins = profile.plugins
    points = {
        "filter": plugins.filter,
        "score": plugins.score,
        "queueSort": plugins.queue_sort,
        "bind": plugins.bind,
        "multiPoint": plugins.multi_point,
    }
    try:
        filters, scores = expand({point: _plugin_set(given) for point, given in points.items()}, name)
    except ProfileError as error:
        raise ConfigurationError(str(error)) from error
    added = affinity.added_affinity if affinity is not None else None
    _check_added_affinity(added, name)
    unread = {config.name for config in profile.plugin_config if config.args} - {"PodTopologySpread", "NodeAffinity"} - _IRRELEVANT_ARGS
    return Profile(
        scheduler_name=name,
        filters=filters,
        scores=scores,
        spread=_spread_args(spread),
        added_affinity=added,
        unread_args=(*sorted(unread), *(("extenders",) if extenders else ())),
    )


def _plugin_set(given: PluginPoint) -> PluginSet:
    return PluginSet([PluginEntry(plugin.name, plugin.weight) for plugin in given.enabled], [plugin.name for plugin in given.disabled])


def _spread_args(args: PodTopologySpreadArgs | None) -> SpreadArgs:
    if args is None or args.defaulting_type != "List":
        return SpreadArgs()
    constraints = []
    for constraint in args.default_constraints:
        # matchLabelKeys of a default constraint have no effect: the derived selector replaces the whole selector.
        constraint.match_label_keys = []
        constraints.append(constraint)
    return SpreadArgs("List", tuple(constraints))


def _check_added_affinity(added: NodeAffinity | None, scheduler_name: str) -> None:
    if added is None:
        return
    faults: list[str] = []
    required_terms = added.required_during_scheduling_ignored_during_execution
    for position, term in enumerate(required_terms.node_selector_terms if required_terms is not None else ()):
        path = f"addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{position}]"
        faults += parse_term(term, path).faults
    for position, preferred in enumerate(added.preferred_during_scheduling_ignored_during_execution or ()):
        path = f"addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[{position}]"
        faults += parse_term(preferred.preference, path).faults
    if faults:
        prefix = f'initializing profiles: creating profile for scheduler name {scheduler_name}: initializing plugin "NodeAffinity": '
        raise ConfigurationError(prefix + aggregate(faults))
