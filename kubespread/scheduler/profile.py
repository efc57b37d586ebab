"""A scheduling profile: which plugins filter in which order, which score with which weight, and their arguments.

Source of the rules: kube-scheduler 1.36, apis/config/v1/default_plugins.go and framework/runtime (multiPoint expansion).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from kubespread.kube.admission import DEFAULT_SCHEDULER
from kubespread.kube.versions import LATEST, KubeVersion
from kubespread.scheduler.plugin_args import PluginArgs, args_of

FILTER, POST_FILTER, SCORE, QUEUE_SORT, BIND = "filter", "postFilter", "score", "queueSort", "bind"
MULTI_POINT = "multiPoint"
_INTERFACES = {
    FILTER: "FilterPlugin",
    POST_FILTER: "PostFilterPlugin",
    SCORE: "ScorePlugin",
    QUEUE_SORT: "QueueSortPlugin",
    BIND: "BindPlugin",
}

Plugins = Mapping[str, tuple[int, frozenset[str]]]

# Every plugin of the default profile in order: its weight (0 = none given), and the points above that it extends.
_DEFAULT_PLUGINS: Plugins = {
    "SchedulingGates": (0, frozenset()),
    "PrioritySort": (0, frozenset({QUEUE_SORT})),
    "NodeUnschedulable": (0, frozenset({FILTER})),
    "NodeName": (0, frozenset({FILTER})),
    "TaintToleration": (3, frozenset({FILTER, SCORE})),
    "NodeAffinity": (2, frozenset({FILTER, SCORE})),
    "NodePorts": (0, frozenset({FILTER})),
    "NodeResourcesFit": (1, frozenset({FILTER, SCORE})),
    "VolumeRestrictions": (0, frozenset({FILTER})),
    "NodeVolumeLimits": (0, frozenset({FILTER})),
    "VolumeBinding": (0, frozenset({FILTER, SCORE})),
    "VolumeZone": (0, frozenset({FILTER})),
    "PodTopologySpread": (2, frozenset({FILTER, SCORE})),
    "InterPodAffinity": (2, frozenset({FILTER, SCORE})),
    "DynamicResources": (2, frozenset({FILTER, POST_FILTER, SCORE})),
    "DefaultPreemption": (0, frozenset({POST_FILTER})),
    "NodeResourcesBalancedAllocation": (1, frozenset({SCORE})),
    "ImageLocality": (1, frozenset({SCORE})),
    "DefaultBinder": (0, frozenset({BIND})),
    "NodeDeclaredFeatures": (0, frozenset({FILTER})),
}
_ORDER_BEFORE_1_20 = (
    "NodeUnschedulable", "NodeResourcesFit", "NodeName", "NodePorts", "NodeAffinity", "VolumeRestrictions", "TaintToleration",
    "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
)  # fmt: skip
# In the tree, and off unless a profile enables them.
_OPTIONAL_PLUGINS = frozenset({"GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"})


@dataclass(frozen=True, slots=True)
class Expansion:
    """The plugins of one profile at the extension points that have a say here."""

    filters: tuple[str, ...]
    post_filters: tuple[str, ...]
    scores: tuple[PluginEntry, ...]


class ProfileError(Exception):
    """A profile kube-scheduler would refuse to build; the text is its own."""


@dataclass(frozen=True, slots=True)
class PluginEntry:
    name: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class PluginSet:
    """What a configuration says about one extension point."""

    enabled: Sequence[PluginEntry] = ()
    disabled: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile, expanded."""

    scheduler_name: str = DEFAULT_SCHEDULER
    filters: tuple[str, ...] = ()
    post_filters: tuple[str, ...] = ()
    scores: tuple[PluginEntry, ...] = ()
    args: PluginArgs = field(default_factory=PluginArgs)
    has_extenders: bool = False
    unread_points: tuple[str, ...] = ()
    """Extension points the configuration changes that have no say here."""
    percentage_of_nodes_to_score: int = 0
    """0 lets kube-scheduler choose by the size of the cluster."""


def default_plugins(version: KubeVersion) -> Plugins:
    """Every plugin of a version's default profile in order: its weight, and the extension points it has a say at."""
    plugins = dict(_DEFAULT_PLUGINS)
    if not version.has("NodeDeclaredFeatures"):
        del plugins["NodeDeclaredFeatures"]
    if not version.has("DynamicResourceAllocation"):
        del plugins["DynamicResources"]
    elif not version.since(35):
        plugins["DynamicResources"] = (0, frozenset({FILTER, POST_FILTER}))
    if not version.since(20):
        order = [
            *_ORDER_BEFORE_1_20,
            *(("PodTopologySpread", "InterPodAffinity") if version.since(19) else ("InterPodAffinity", "PodTopologySpread")),
        ]
        plugins = {name: plugins[name] for name in (*(name for name in plugins if name not in order), *order)}
    return plugins


def expand(points: Mapping[str, PluginSet], scheduler_name: str, version: KubeVersion = LATEST) -> Expansion:
    """The plugins of a profile that configures ``points``. Raises ProfileError."""
    known = default_plugins(version)
    try:
        multi = _merge([PluginEntry(name, weight) for name, (weight, _) in known.items()], points.get(MULTI_POINT, PluginSet()))
        expanded = {point: _expand_point(point, points.get(point, PluginSet()), multi, known) for point in _INTERFACES}
        if len(expanded[QUEUE_SORT]) != 1:
            found = len(expanded[QUEUE_SORT])
            raise ProfileError(f'only one queue sort plugin required for profile with scheduler name "{scheduler_name}", but got {found}')
        if not expanded[BIND]:
            raise ProfileError(f'at least one bind plugin is needed for profile with scheduler name "{scheduler_name}"')
        weights = _weights([*_merge([], points.get(SCORE, PluginSet())), *multi], known)
    except ProfileError as error:
        raise ProfileError(f"initializing profiles: creating profile for scheduler name {scheduler_name}: {error}") from error
    scores = tuple(PluginEntry(name, weights[name]) for name in expanded[SCORE])
    return Expansion(tuple(expanded[FILTER]), tuple(expanded[POST_FILTER]), scores)


def _merge(default: Iterable[PluginEntry], custom: PluginSet) -> list[PluginEntry]:
    """The defaults without what is disabled; an enabled name replaces its default in place, others follow in order."""
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
    kept = [entry for entry in custom.enabled if not (entry.name in replaced and entry is replacements[entry.name])]
    return merged + kept


def _expand_point(point: str, custom: PluginSet, multi: Sequence[PluginEntry], known: Plugins) -> list[str]:
    """One extension point's plugins: those named both here and in multiPoint first, multiPoint's rest, then the others."""
    specific: list[str] = []
    for entry in _merge([], custom):
        if point not in _points_of(entry.name, point, known):
            raise ProfileError(f'plugin "{entry.name}" does not extend {_INTERFACES[point]} plugin')
        if entry.name in specific:
            raise ProfileError(f'plugin "{entry.name}" already registered as "{_INTERFACES[point]}"')
        specific.append(entry.name)
    if "*" in custom.disabled:
        return specific
    inherited: list[str] = []
    overridden: set[str] = set()
    for entry in multi:
        if point not in _points_of(entry.name, "preFilter", known) or entry.name in custom.disabled:
            continue
        if entry.name in specific:
            overridden.add(entry.name)
        elif entry.name in inherited:
            raise ProfileError(f'plugin "{entry.name}" already registered as "{_INTERFACES[point]}"')
        else:
            inherited.append(entry.name)
    front = [name for name in specific if name in overridden]
    return front + inherited + [name for name in specific if name not in overridden]


def _points_of(name: str, point: str, known: Plugins) -> frozenset[str]:
    if name in _OPTIONAL_PLUGINS:
        return frozenset()
    if name not in known:
        # An unknown name in multiPoint is first missed when the PreFilter list is built.
        interface = _INTERFACES.get(point, "PreFilterPlugin")
        raise ProfileError(f'{interface} "{name}" does not exist')
    return known[name][1]


def _weights(entries: Iterable[PluginEntry], known: Plugins) -> dict[str, int]:
    """The first entry of a name fixes its weight; none or 0 is 1."""
    weights: dict[str, int] = {}
    total = 0
    for entry in entries:
        if entry.name in weights or SCORE not in known.get(entry.name, (0, frozenset()))[1]:
            continue
        weight = entry.weight or 1
        # Go's guard against overflow overflows itself once the sum is negative, and then refuses every further weight.
        if total < 0 or weight * 100 > 2**63 - 1 - total:
            raise ProfileError("score plugins: total score of Score plugins could overflow")
        weights[entry.name] = weight
        total += weight * 100
    return weights


# Weights before configurations knew multiPoint; those not named here are the same.
_OLD_WEIGHTS = {"TaintToleration": 1, "NodeAffinity": 1, "InterPodAffinity": 1}
# Once separate plugins for one cloud each; they never reject a pod without such volumes.
_CLOUD_LIMITS = frozenset({"EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits"})
RETIRED_PLUGINS = frozenset({
    "NodeLabel", "NodePreferAvoidPods", "NodeResourcesLeastAllocated", "NodeResourcesMostAllocated", "RequestedToCapacityRatio",
    "SelectorSpread", "ServiceAffinity",
})  # fmt: skip


def expand_per_point(points: Mapping[str, PluginSet], scheduler_name: str, version: KubeVersion) -> Expansion:
    """The same for v1beta1 and v1beta2, which list the defaults at every extension point and have no multiPoint. Raises ProfileError."""
    known = default_plugins(version)
    expanded: dict[str, list[PluginEntry]] = {}
    for point in (FILTER, POST_FILTER, SCORE):
        default = [
            PluginEntry(name, _OLD_WEIGHTS.get(name, weight) or 1) for name, (weight, extended) in known.items() if point in extended
        ]
        merged = [entry for entry in _merge(default, points.get(point, PluginSet())) if entry.name not in _CLOUD_LIMITS | RETIRED_PLUGINS]
        for entry in merged:
            if point not in _points_of(entry.name, point, known):
                prefix = f"initializing profiles: creating profile for scheduler name {scheduler_name}: "
                raise ProfileError(f'{prefix}plugin "{entry.name}" does not extend {_INTERFACES[point]} plugin')
        expanded[point] = merged
    scores = tuple(PluginEntry(entry.name, entry.weight or 1) for entry in expanded[SCORE])
    return Expansion(tuple(entry.name for entry in expanded[FILTER]), tuple(entry.name for entry in expanded[POST_FILTER]), scores)


def default_profile(version: KubeVersion = LATEST) -> Profile:
    """kube-scheduler without a configuration file."""
    plugins = expand({}, DEFAULT_SCHEDULER, version)
    return Profile(filters=plugins.filters, post_filters=plugins.post_filters, scores=plugins.scores, args=args_of(version, PluginArgs()))
