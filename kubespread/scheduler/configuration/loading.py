"""KubeSchedulerConfiguration to profiles, with kube-scheduler's own refusals.

Source of the rules: kubescheduler.config.k8s.io/v1 as kube-scheduler 1.36 decodes, defaults and validates it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from kubespread.kube.admission import DEFAULT_SCHEDULER
from kubespread.kube.gotext import aggregate
from kubespread.kube.validation.faults import FieldFault, duplicate, invalid, required
from kubespread.kube.versions import LATEST, NEWEST, KubeVersion
from kubespread.scheduler.configuration.args import (
    KINDS,
    Args,
    ConfigurationError,
    PodTopologySpreadArgs,
    args_faults,
    building_faults,
    decode_args,
    plugin_args,
    strictly,
)
from kubespread.scheduler.configuration.types import KubeSchedulerConfiguration, KubeSchedulerProfile, PluginPoint, Plugins
from kubespread.scheduler.plugin_args import args_of
from kubespread.scheduler.profile import RETIRED_PLUGINS, PluginEntry, PluginSet, Profile, ProfileError, expand, expand_per_point

GROUP = "kubescheduler.config.k8s.io"
V1, V1BETA3, V1BETA2, V1BETA1 = (f"{GROUP}/{version}" for version in ("v1", "v1beta3", "v1beta2", "v1beta1"))
# The minors of Kubernetes 1 that serve each version.
_SERVED = {V1: range(25, 1000), V1BETA3: range(23, 29), V1BETA2: range(22, 28), V1BETA1: range(19, 23)}
KIND = "KubeSchedulerConfiguration"
_INITIALIZING = "initializing profiles: creating profile for scheduler name {name}: "
# Their plugins decide together with filter and score; changing them alone makes kube-scheduler fail in ways not modelled.
_UNREAD_POINTS = {"preFilter": "pre_filter", "preScore": "pre_score"}


def load_profiles(data: Any, version: KubeVersion = LATEST) -> tuple[Profile, ...]:
    """The profiles of a KubeSchedulerConfiguration as plain data. Raises ConfigurationError."""
    configuration = _decode(data, version)
    if not configuration.profiles:
        configuration.profiles = [KubeSchedulerProfile()]
    if len(configuration.profiles) == 1 and configuration.profiles[0].scheduler_name is None:
        configuration.profiles[0].scheduler_name = DEFAULT_SCHEDULER
    args = [_decoded_args(profile, position) for position, profile in enumerate(configuration.profiles)]
    if configuration.api_version == V1BETA1:
        _infer_defaulting_type(args)
    if faults := [str(fault) for fault in _faults(configuration, args)]:
        raise ConfigurationError(aggregate(faults))
    return tuple(_profile(profile, decoded, configuration, version) for profile, decoded in zip(configuration.profiles, args, strict=True))


def _decode(data: Any, version: KubeVersion) -> KubeSchedulerConfiguration:
    if not isinstance(data, dict) or not data.get("kind"):
        raise ConfigurationError(f"Object 'Kind' is missing: expected a {KIND}")
    api_version = data.get("apiVersion")
    if api_version not in _SERVED or version.minor not in _SERVED[api_version] or data["kind"] != KIND:
        scheme = "pkg/scheduler/apis/config/scheme/scheme.go:29"
        refusal = f'no kind "{data["kind"]}" is registered for version "{data.get("apiVersion", "")}" in scheme "{scheme}"'
        raise ConfigurationError(refusal + _hint(api_version, version))
    return strictly(data, KubeSchedulerConfiguration)


def _hint(api_version: object, version: KubeVersion) -> str:
    if isinstance(api_version, str) and api_version.startswith(f"{GROUP}/v1alpha"):
        return "; alpha configurations are not read, write it as v1beta1 or newer"
    served = _SERVED.get(str(api_version))
    if served is None or version.minor in served:
        return ""
    return f"; Kubernetes 1.{served[0]} to 1.{min(served[-1], NEWEST)} read it (--kube-version)"


def _decoded_args(profile: KubeSchedulerProfile, position: int) -> list[Args | None]:
    """The arguments of every pluginConfig entry, None for plugins that have none or are not in the tree."""
    return [
        decode_args(config.name, config.args or {}, f".profiles[{position}].pluginConfig[{at}]") if config.name in KINDS else None
        for at, config in enumerate(profile.plugin_config)
    ]


def _infer_defaulting_type(args: Iterable[Sequence[Args | None]]) -> None:
    """v1beta1 takes constraints without a defaultingType for a List; later versions refuse them."""
    for given in chain.from_iterable(args):
        if isinstance(given, PodTopologySpreadArgs) and given.default_constraints and not given.defaulting_type:
            given.defaulting_type = "List"


def _faults(configuration: KubeSchedulerConfiguration, args: Sequence[Sequence[Args | None]]) -> Iterator[FieldFault]:
    if configuration.parallelism is not None and configuration.parallelism <= 0:
        yield invalid("parallelism", configuration.parallelism, "should be an integer value greater than zero")
    yield from _percentage_faults(configuration.percentage_of_nodes_to_score, "percentageOfNodesToScore")
    names: set[str] = set()
    for position, (profile, decoded) in enumerate(zip(configuration.profiles, args, strict=True)):
        path = f"profiles[{position}]"
        if not profile.scheduler_name:
            yield required(f"{path}.schedulerName")
        elif profile.scheduler_name in names:
            yield FieldFault(f"{path}.schedulerName", "Duplicate value: {}")
        names.add(profile.scheduler_name or "")
        yield from _percentage_faults(profile.percentage_of_nodes_to_score, f"{path}.percentageOfNodesToScore")
        configured: set[str] = set()
        for at, (config, given) in enumerate(zip(profile.plugin_config, decoded, strict=True)):
            if config.name in configured:
                yield duplicate(f"{path}.pluginConfig[{at}]", config.name)
            elif given is not None:
                yield from args_faults(given, f"{path}.pluginConfig[{at}].args")
            configured.add(config.name)


def _percentage_faults(percentage: int | None, path: str) -> Iterator[FieldFault]:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, "not in valid range [0-100]")


def _profile(
    profile: KubeSchedulerProfile, decoded: Sequence[Args | None], configuration: KubeSchedulerConfiguration, version: KubeVersion
) -> Profile:
    args = {config.name: given for config, given in zip(profile.plugin_config, decoded, strict=True) if given is not None}
    name = profile.scheduler_name or DEFAULT_SCHEDULER
    plugins = profile.plugins
    points = {
        "filter": plugins.filter,
        "postFilter": plugins.post_filter,
        "score": plugins.score,
        "queueSort": plugins.queue_sort,
        "bind": plugins.bind,
        "multiPoint": plugins.multi_point,
    }
    try:
        expand_points = expand_per_point if configuration.api_version in (V1BETA2, V1BETA1) else expand
        expanded = expand_points({point: _plugin_set(given) for point, given in points.items()}, name, version)
    except ProfileError as error:
        raise ConfigurationError(str(error)) from error
    for plugin, given in args.items():
        if faults := building_faults(given):
            raise ConfigurationError(f'{_INITIALIZING.format(name=name)}initializing plugin "{plugin}": {aggregate(faults)}')
    return Profile(
        scheduler_name=name,
        filters=expanded.filters,
        post_filters=expanded.post_filters,
        scores=expanded.scores,
        args=args_of(version, plugin_args(args)),
        has_extenders=bool(configuration.extenders),
        unread_points=(*(name for name in _UNREAD_POINTS if _is_configured(plugins, name)), *_retired(points)),
        percentage_of_nodes_to_score=_percentage(profile, configuration),
    )


def _retired(points: Mapping[str, PluginPoint]) -> Iterator[str]:
    for point, given in points.items():
        yield from (f"{point}.{plugin.name}" for plugin in given.enabled if plugin.name in RETIRED_PLUGINS)


def _is_configured(plugins: Plugins, point: str) -> bool:
    given: PluginPoint = getattr(plugins, _UNREAD_POINTS[point])
    return bool(given.enabled or given.disabled)


def _percentage(profile: KubeSchedulerProfile, configuration: KubeSchedulerConfiguration) -> int:
    """A profile's own percentage counts, even 0; only without one the global value does."""
    if profile.percentage_of_nodes_to_score is not None:
        return profile.percentage_of_nodes_to_score
    return configuration.percentage_of_nodes_to_score or 0


def _plugin_set(given: PluginPoint) -> PluginSet:
    return PluginSet([PluginEntry(plugin.name, plugin.weight) for plugin in given.enabled], [plugin.name for plugin in given.disabled])
