"""KubeSchedulerConfiguration to profiles, with kube-scheduler's own refusals.

Source: cmd/kube-scheduler/app/options/configfile.go, LoadConfigFromFile, loadConfig
Source: pkg/scheduler/apis/config/v1/defaults.go, SetDefaults_KubeSchedulerConfiguration
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from kubespread.kube.admission.defaulting import DEFAULT_SCHEDULER
from kubespread.kube.versions import LATEST, NEWEST, KubeVersion
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubespread.scheduler.plugins.noderesources.scoring import NodeResourcesFitArgs
from kubespread.scheduler.plugins.podtopologyspread.constraints import LIST, PodTopologySpreadArgs
from kubespread.scheduler.plugins.registry import CLOUD_LIMITS, default_plugins, removed_plugins
from kubespread.scheduler.profile.configuration import (
    GROUP,
    KIND,
    ConfigurationError,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    UnregisteredError,
    decode_configuration,
    refused,
)
from kubespread.scheduler.profile.profile import (
    INITIALIZING,
    PluginEntry,
    PointConfiguration,
    Profile,
    ProfileError,
    expand,
    expand_per_point,
    needed,
    profile_of,
)
from kubespread.scheduler.profile.validation import configuration_faults, points_of
from kubespread.scheduler.specification import Args, read_as

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
    profile = configuration.profiles[position]
    name = profile.scheduler_name or DEFAULT_SCHEDULER
    points = dict(_points(profile, version))
    per_point = configuration.api_version in _PER_POINT
    args = {
        config.name: arguments
        for config, arguments in zip(profile.plugin_config, decoded, strict=True)
        if arguments is not None
    }
    _ignore_managed_resources(args, configuration)
    built = default_plugins(version).keys() if per_point else needed(points, version)
    for index, plugin in enumerate(profile.plugin_config):
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
    return profile_of(
        expanded,
        scheduler_name=name,
        version=version,
        args=args,
        scheduler_names=frozenset(profile.scheduler_name or DEFAULT_SCHEDULER for profile in configuration.profiles),
        has_extenders=bool(configuration.extenders),
        unread_points=tuple(_unread(points, version)),
        percentage_of_nodes_to_score=_percentage(profile, configuration),
    )


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


def _percentage(profile: KubeSchedulerProfile, configuration: KubeSchedulerConfiguration) -> int:
    """A profile's own percentage counts, even 0; only without one the global value does."""
    if profile.percentage_of_nodes_to_score is not None:
        return profile.percentage_of_nodes_to_score
    return configuration.percentage_of_nodes_to_score or 0
