"""A profile made ready: its plugins, each with its arguments, at the extension points that decide."""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.releases.changes import changes_after, older_reasons
from kubespread.scheduler.framework import FilterError, Framework, MessageRules, MissingState
from kubespread.scheduler.plugin import FILTER, PRE_SCORE, Plugin, Setting, Unprepared
from kubespread.scheduler.plugins.registry import default_plugins, known_plugins
from kubespread.scheduler.preemption import PostFilterPlugin, PostFilters
from kubespread.scheduler.profile.profile import Profile
from kubespread.scheduler.sampling import SearchRules


def framework(profile: Profile) -> Framework:
    """The plugins of ``profile``, ready to judge pods."""
    plugins, version = configured_plugins(profile), profile.version
    in_default = [name for name, plugin in default_plugins(version).items() if FILTER in plugin.points]
    return Framework(
        filters=[plugins[name] for name in profile.filters if name in plugins],
        scores=[(plugins[entry.name], entry.weight) for entry in profile.scores if entry.name in plugins],
        pre_filters=[plugins[name] for name in profile.pre_filters if name in plugins],
        disabled=[plugins[name] for name in in_default if name not in profile.filters],
        scheduler_names=profile.scheduler_names,
        batches=version.has("OpportunisticBatching") and not profile.has_extenders,
        search=SearchRules(
            profile.percentage_of_nodes_to_score, takes_first=not profile.scores and not profile.has_extenders
        ),
        missing=missing_state(profile),
        messages=MessageRules(
            counts_excluded_nodes=version.since(32),
            counts_rejection_per_node=not version.since(26),
            older_reasons=older_reasons(version.release),
        ),
        skipped_scores={
            name: score for changes in changes_after(version.release) for name, score in changes.skipped_scores.items()
        },
    )


def post_filters(profile: Profile) -> PostFilters:
    """The plugins of ``profile`` that are asked once no node is left for a pod."""
    plugins, version = configured_plugins(profile), profile.version
    chosen = (plugins.get(name) for name in profile.post_filters)
    return PostFilters(
        [plugin for plugin in chosen if isinstance(plugin, PostFilterPlugin)],
        ends_twice=version.since(26) and not version.since(29),
        names_placement=version.since(37),
    )


def configured_plugins(profile: Profile) -> Mapping[str, Plugin]:
    """Every plugin that judges, scores or makes room, by name, as ``profile`` configures it."""
    plugins: dict[str, Plugin] = {}
    for plugin in known_plugins(profile.version).values():
        if plugin.make is not None:
            points = profile.points_of(plugin.name)
            plugins[plugin.name] = plugin.make(Setting(profile.version, points, profile.args.get(plugin.name)))
    return plugins


def _reads_for_score(profile: Profile, unprepared: Unprepared) -> bool:
    return not unprepared.scoring_gate or profile.version.has(unprepared.scoring_gate)


def missing_state(profile: Profile) -> MissingState:
    """What goes wrong in ``profile``."""
    filtered, scored = frozenset(profile.pre_filters), frozenset(profile.pre_scores)
    plugins = known_plugins(profile.version)
    filters: dict[str, FilterError] = {}
    for name in profile.filters:
        unprepared = plugins[name].unprepared
        if unprepared.filter and name not in filtered:
            text = f'running "{name}" filter plugin: {unprepared.filter}'
            filters[name] = FilterError(text, unprepared.rejects_before)
    scores: dict[str, str] = {}
    for name in profile.pre_scores:
        unprepared = plugins[name].unprepared
        if unprepared.score_without_pre_filter and name not in filtered and _reads_for_score(profile, unprepared):
            scores[name] = f'running PreScore plugin "{name}": {unprepared.score_without_pre_filter}'
    for entry in profile.scores:
        unprepared = plugins[entry.name].unprepared
        text = unprepared.score if entry.name not in scored else ""
        if entry.name not in filtered and _reads_for_score(profile, unprepared):
            text = text or unprepared.score_without_pre_filter
        if text and entry.name not in scores:
            scores[entry.name] = f'running Score plugins: plugin "{entry.name}" failed with: {text}'
    reserves = (
        f'running Reserve plugin "{name}": {plugins[name].unprepared.reserve}'
        for name in profile.reserves
        if plugins[name].unprepared.reserve and name not in filtered
    )
    return MissingState(
        filters=filters,
        scores=scores,
        unskipped=frozenset(
            entry.name
            for entry in profile.scores
            if PRE_SCORE in plugins[entry.name].points and entry.name not in scored
        ),
        reserve=next(reserves, None),
    )
