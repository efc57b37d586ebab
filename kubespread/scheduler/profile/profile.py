"""A scheduling profile: which plugins run at which extension point in which order, and with which weight they score;
how kube-scheduler derives that from the plugins of a configuration; and the profile made ready, each plugin with its
arguments.

Source: pkg/scheduler/framework/runtime/framework.go, NewFramework, expandMultiPointPlugins, getExtensionPoints
Source: pkg/scheduler/apis/config/v1/default_plugins.go, mergePlugins, mergePluginSet
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from msgspec import Struct, field

from kubespread.kube.admission.defaulting import DEFAULT_SCHEDULER
from kubespread.kube.versions import LATEST, KubeVersion, changes_after, older_reasons
from kubespread.scheduler.cluster.nodes import SearchRules
from kubespread.scheduler.evaluation import PostFilterPlugin, PostFilters
from kubespread.scheduler.framework import Framework, MessageRules
from kubespread.scheduler.plugin import INTERFACES, Args, Plugin, PluginSetting, Point
from kubespread.scheduler.plugins.registry import Specifications, default_plugins, known_plugins

A = TypeVar("A", bound=Args)


class PluginEntry(Struct, frozen=True):
    name: str
    weight: int = 0


class Profile(Struct, frozen=True):
    """One expanded profile: plugins at the modeled extension points, in order."""

    filters: tuple[str, ...] = ()
    post_filters: tuple[str, ...] = ()
    scores: tuple[PluginEntry, ...] = ()
    pre_filters: tuple[str, ...] = ()
    pre_scores: tuple[str, ...] = ()
    reserves: tuple[str, ...] = ()
    scheduler_name: str = DEFAULT_SCHEDULER
    version: KubeVersion = LATEST
    """Release of its plugins."""
    args: Mapping[str, Args] = field(default_factory=dict)
    """Configured arguments of plugins, by name."""
    scheduler_names: frozenset[str] = frozenset({DEFAULT_SCHEDULER})
    """Names of the schedulers of all profiles: pods that name another scheduler are in no queue."""
    has_extenders: bool = False
    unread_points: tuple[str, ...] = ()
    """Names in the configuration without effect here: extension points, and plugins that are not modeled."""
    percentage_of_nodes_to_score: int = 0
    """0 for kube-scheduler's choice by the size of the cluster."""

    def points_of(self, plugin: str) -> frozenset[str]:
        """Extension points at which ``plugin`` runs."""
        runs = {
            Point.PRE_FILTER: self.pre_filters,
            Point.FILTER: self.filters,
            Point.POST_FILTER: self.post_filters,
            Point.PRE_SCORE: self.pre_scores,
            Point.SCORE: tuple(entry.name for entry in self.scores),
            Point.RESERVE: self.reserves,
        }
        return frozenset(point for point, plugins in runs.items() if plugin in plugins)


MULTI_POINT = "multiPoint"


class ProfileError(Exception):
    """A profile that kube-scheduler would refuse to build."""


class PointConfiguration(Struct, frozen=True):
    """Configuration of one extension point."""

    enabled: Sequence[PluginEntry] = ()
    disabled: Sequence[str] = ()


Points = Mapping[str, frozenset[str]]
"""Extension points in this release by plugin name."""


def _points(plugins: Specifications, version: KubeVersion) -> Points:
    return {name: plugin.points_in(version) for name, plugin in plugins.items()}


def needed_plugins(points: Mapping[str, PointConfiguration], version: KubeVersion = LATEST) -> frozenset[str]:
    """Plugins that kube-scheduler builds for a profile, before it checks their extension points."""
    specific = (entry for point in INTERFACES for entry in points.get(point, PointConfiguration()).enabled)
    return frozenset(entry.name for entry in (*specific, *_multi_point(points, version)))


def _multi_point(points: Mapping[str, PointConfiguration], version: KubeVersion) -> list[PluginEntry]:
    """Plugins at multiPoint, where all default plugins are enabled, and nowhere else."""
    defaults = [PluginEntry(name, plugin.weight_in(version)) for name, plugin in default_plugins(version).items()]
    return _merge(defaults, points.get(MULTI_POINT, PointConfiguration()))


def expand(points: Mapping[str, PointConfiguration], version: KubeVersion = LATEST) -> Profile:
    """Expand a profile that configures ``points``. Raises ProfileError."""
    known_points = _points(known_plugins(version), version)
    multi = _multi_point(points, version)
    # First the plugins of each point itself, at every point, and only then multiPoint: the order of errors follows.
    specific = {point: _specific(point, points.get(point, PointConfiguration()), known_points) for point in INTERFACES}
    expanded = {
        point: _with_multi_point(
            point, specific[point], points.get(point, PointConfiguration()).disabled, multi, known_points
        )
        for point in INTERFACES
    }
    if len(expanded[Point.QUEUE_SORT]) != 1:
        raise ProfileError(f"expected one plugin that sorts the queue, found {len(expanded[Point.QUEUE_SORT])}")
    if not expanded[Point.BIND]:
        raise ProfileError("expected a plugin that binds, found none")
    weights = _weights([*points.get(Point.SCORE, PointConfiguration()).enabled, *multi], known_points)
    return _expansion(expanded, weights, version)


def _expansion(expanded: Mapping[str, Sequence[str]], weights: Mapping[str, int], version: KubeVersion) -> Profile:
    # A plugin whose gate is off may be named, and does nothing.
    active = default_plugins(version)
    runs = {point: tuple(name for name in names if name in active) for point, names in expanded.items()}
    return Profile(
        filters=runs[Point.FILTER],
        post_filters=runs[Point.POST_FILTER],
        scores=tuple(PluginEntry(name, weights[name]) for name in runs[Point.SCORE]),
        pre_filters=runs[Point.PRE_FILTER],
        pre_scores=runs[Point.PRE_SCORE],
        reserves=runs[Point.RESERVE],
        version=version,
    )


def _merge(default: Iterable[PluginEntry], custom: PointConfiguration) -> list[PluginEntry]:
    """Defaults without disabled ones; an enabled name replaces its default in place, others follow in order."""
    replacements = {entry.name: entry for entry in custom.enabled}
    replaced: set[str] = set()
    merged: list[PluginEntry] = []
    if "*" not in custom.disabled:
        for entry in default:
            if entry.name in custom.disabled:
                continue
            if entry.name in replacements:
                replaced.add(entry.name)
            merged.append(replacements.get(entry.name, entry))
    appended = [entry for entry in custom.enabled if not (entry.name in replaced and entry is replacements[entry.name])]
    return merged + appended


def _specific(point: str, custom: PointConfiguration, known_points: Points) -> list[str]:
    """Plugins that the extension point itself enables."""
    names: list[str] = []
    for entry in custom.enabled:
        if point not in _points_of(entry.name, point, known_points):
            raise ProfileError(f'plugin "{entry.name}" does not extend {INTERFACES[point]} plugin')
        if entry.name in names:
            raise ProfileError(f'plugin "{entry.name}" already registered as "{INTERFACES[point]}"')
        names.append(entry.name)
    return names


def _with_multi_point(
    point: str, specific: Sequence[str], disabled: Sequence[str], multi: Sequence[PluginEntry], known_points: Points
) -> list[str]:
    """One extension point's plugins: its own that multiPoint has too, multiPoint's others, then its own others."""
    if "*" in disabled:
        return list(specific)
    inherited: list[str] = []
    overridden: set[str] = set()
    for entry in multi:
        if point not in _points_of(entry.name, point, known_points) or entry.name in disabled:
            continue
        if entry.name in specific:
            overridden.add(entry.name)
        elif entry.name in inherited:
            raise ProfileError(f'plugin "{entry.name}" already registered as "{INTERFACES[point]}"')
        else:
            inherited.append(entry.name)
    front = [name for name in specific if name in overridden]
    return front + inherited + [name for name in specific if name not in overridden]


def _points_of(name: str, point: str, known_points: Points) -> frozenset[str]:
    if name not in known_points:
        raise ProfileError(f'{INTERFACES[point]} "{name}" does not exist')
    return known_points[name]


def _weights(entries: Iterable[PluginEntry], known_points: Points) -> dict[str, int]:
    """Weights by plugin: its first entry decides, and 0 counts as 1."""
    weights: dict[str, int] = {}
    total = 0
    for entry in entries:
        if entry.name in weights or Point.SCORE not in known_points[entry.name]:
            continue
        weight = entry.weight or 1
        # Go's guard against overflow overflows itself once the sum is negative, and then refuses every further weight.
        if total < 0 or weight * 100 > 2**63 - 1 - total:
            raise ProfileError("score plugins: total score of Score plugins could overflow")
        weights[entry.name] = weight
        total += weight * 100
    return weights


def default_profile(version: KubeVersion = LATEST) -> Profile:
    """Profile of kube-scheduler without a configuration file."""
    return expand({}, version)


def framework(profile: Profile) -> Framework:
    """Plugins of ``profile``, ready to judge pods."""
    plugins, version = configured_plugins(profile), profile.version
    in_default = [name for name, plugin in default_plugins(version).items() if Point.FILTER in plugin.points]
    return Framework(
        filters=[plugins[name] for name in profile.filters if name in plugins],
        scores=[(plugins[name], weight) for name, weight in _scorers(profile) if name in plugins],
        pre_filters=[plugins[name] for name in profile.pre_filters if name in plugins],
        disabled=[plugins[name] for name in in_default if name not in profile.filters],
        scheduler_names=profile.scheduler_names,
        batches=version.has("OpportunisticBatching") and not profile.has_extenders,
        search=SearchRules(
            profile.percentage_of_nodes_to_score, takes_first=not profile.scores and not profile.has_extenders
        ),
        messages=MessageRules(
            counts_excluded_nodes=version.reaches(32),
            counts_rejection_per_node=not version.reaches(26),
            older_reasons=older_reasons(version.release),
        ),
        skipped_scores={
            **dict.fromkeys(_unskippable_plugins(profile), 0),
            **{
                name: score
                for changes in changes_after(version.release)
                for name, score in changes.skipped_scores.items()
            },
        },
    )


def _scorers(profile: Profile) -> Iterator[tuple[str, int]]:
    """Score plugins with weights. With only Score disabled, a plugin runs PreScore, may fail there, and weighs 0.

    Source: pkg/scheduler/schedule_one.go, prioritizeNodes
    """
    scored = {entry.name: entry.weight for entry in profile.scores}
    yield from ((name, 0) for name in profile.pre_scores if scored and name not in scored)
    yield from scored.items()


def _unskippable_plugins(profile: Profile) -> Iterator[str]:
    """Score plugins that cannot skip a pod, as their PreScore, which would, does not run."""
    plugins = known_plugins(profile.version)
    for entry in profile.scores:
        if Point.PRE_SCORE in plugins[entry.name].points and entry.name not in profile.pre_scores:
            yield entry.name


class Handover(NamedTuple):
    """A state that a plugin writes at one extension point and reads at later ones."""

    plugin: str
    written: Point
    read: tuple[Point, ...]
    gate: str = ""
    """Feature gate without which nothing is read there."""


HANDOVERS = (
    Handover("NodePorts", Point.PRE_FILTER, (Point.FILTER,)),
    Handover("NodeResourcesFit", Point.PRE_FILTER, (Point.FILTER,)),
    Handover("VolumeRestrictions", Point.PRE_FILTER, (Point.FILTER,)),
    Handover("VolumeBinding", Point.PRE_FILTER, (Point.FILTER, Point.RESERVE)),
    Handover("VolumeBinding", Point.PRE_FILTER, (Point.PRE_SCORE, Point.SCORE), "StorageCapacityScoring"),
    Handover("PodTopologySpread", Point.PRE_FILTER, (Point.FILTER,)),
    Handover("InterPodAffinity", Point.PRE_FILTER, (Point.FILTER,)),
    Handover("DynamicResources", Point.PRE_FILTER, (Point.FILTER, Point.POST_FILTER, Point.SCORE, Point.RESERVE)),
    Handover("NodeDeclaredFeatures", Point.PRE_FILTER, (Point.FILTER,)),
    Handover("TaintToleration", Point.PRE_SCORE, (Point.SCORE,)),
    Handover("PodTopologySpread", Point.PRE_SCORE, (Point.SCORE,)),
    Handover("InterPodAffinity", Point.PRE_SCORE, (Point.SCORE,)),
)
"""Handovers of plugins; pods fail in a profile that runs the point that reads, and not the one that writes."""


def unwritten_states(profile: Profile) -> dict[tuple[str, Point], Point]:
    """Plugins with a state that ``profile`` never writes: where it should, and the first point that reads it."""
    missing: dict[tuple[str, Point], Point] = {}
    for plugin, written, read, gate in HANDOVERS:
        points = profile.points_of(plugin)
        if written not in points and (not gate or profile.version.has(gate)):
            for point in read:
                if point in points:
                    missing.setdefault((plugin, written), point)
    return missing


def post_filters(profile: Profile) -> PostFilters:
    """Plugins of ``profile`` that run when no node fits a pod."""
    plugins, version = configured_plugins(profile), profile.version
    chosen = (plugins.get(name) for name in profile.post_filters)
    return PostFilters(
        [plugin for plugin in chosen if isinstance(plugin, PostFilterPlugin)],
        ends_in_two_periods=version.reaches(26) and not version.reaches(29),
        names_placement=version.reaches(37),
    )


def configured_plugins(profile: Profile) -> Mapping[str, Plugin]:
    """Plugins that judge, score or make room, by name, as ``profile`` configures them."""
    plugins: dict[str, Plugin] = {}
    for plugin in known_plugins(profile.version).values():
        if plugin.make is not None:
            points = profile.points_of(plugin.name)
            plugins[plugin.name] = plugin.make(PluginSetting(profile.version, points, profile.args.get(plugin.name)))
    return plugins
