"""What kube-scheduler refuses in a configuration file, in its words and its order.

Source: pkg/scheduler/apis/config/validation/validation.go, ValidateKubeSchedulerConfiguration,
    validateKubeSchedulerProfile, validatePluginConfig
Source: staging/src/k8s.io/component-base/config/validation/validation.go, ValidateClientConnectionConfiguration,
    ValidateLeaderElectionConfiguration
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kubespread.kube.durations import in_json, nanoseconds
from kubespread.kube.gotext import compact_json
from kubespread.kube.name_rules import label_key_faults
from kubespread.kube.resource_names import is_extended
from kubespread.kube.validation.faults import FieldFault, duplicate, invalid, invalid_each, required
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugins.registry import removed_plugins
from kubespread.scheduler.profile.configuration import (
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    PluginSet,
)
from kubespread.scheduler.specification import INTERFACES, Args

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
    plugins = profile.plugins
    return {
        "preEnqueue": plugins.pre_enqueue,
        "queueSort": plugins.queue_sort,
        "preFilter": plugins.pre_filter,
        "filter": plugins.filter,
        "postFilter": plugins.post_filter,
        "preScore": plugins.pre_score,
        "score": plugins.score,
        "reserve": plugins.reserve,
        "permit": plugins.permit,
        "preBind": plugins.pre_bind,
        "bind": plugins.bind,
        "postBind": plugins.post_bind,
        "multiPoint": plugins.multi_point,
        "placementGenerate": plugins.placement_generate,
        "placementScore": plugins.placement_score,
        "podGroupPostFilter": plugins.pod_group_post_filter,
    }


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
