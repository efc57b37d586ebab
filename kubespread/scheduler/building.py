"""A profile made ready: its plugins, each with its arguments, at the extension points that decide."""

from __future__ import annotations

from collections.abc import Mapping

from kubespread.kube.proposals import EMPTY_BUDGET_SELECTOR
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.cycle_state import missing_state
from kubespread.scheduler.framework import Framework, MessageRules, PreemptionRules
from kubespread.scheduler.plugin import Plugin
from kubespread.scheduler.profile.default_plugins import default_plugins, known_plugins
from kubespread.scheduler.profile.profile import Profile
from kubespread.scheduler.sampling import SearchRules
from kubespread.scheduler.specification import FILTER, Setting


def framework(profile: Profile) -> Framework:
    """The plugins of ``profile``, ready to judge pods."""
    plugins, version = configured_plugins(profile), profile.version
    in_default = [name for name, plugin in default_plugins(version).items() if FILTER in plugin.points]
    return Framework(
        filters=[plugins[name] for name in profile.filters if name in plugins],
        scores=[(plugins[entry.name], entry.weight) for entry in profile.scores if entry.name in plugins],
        pre_filters=[plugins[name] for name in profile.pre_filters if name in plugins],
        disabled=[plugins[name] for name in in_default if name not in profile.filters],
        post_filters=profile.post_filters,
        scheduler_names=profile.scheduler_names,
        batches=version.has("OpportunisticBatching") and not profile.has_extenders,
        search=SearchRules(
            profile.percentage_of_nodes_to_score, takes_first=not profile.scores and not profile.has_extenders
        ),
        missing=missing_state(profile),
        messages=MessageRules(
            counts_excluded_nodes=version.since(32),
            counts_rejection_per_node=not version.since(26),
            older_reasons=_older_reasons(version),
        ),
        preemption=PreemptionRules(
            ends_twice=version.since(26) and not version.since(29),
            names_placement=version.since(37),
            names_claims=not version.since(37),
            honors_empty_selectors=version.proposes(EMPTY_BUDGET_SELECTOR),
        ),
        skipped_scores=_skipped_scores(version),
    )


def configured_plugins(profile: Profile) -> Mapping[str, Plugin]:
    """Every plugin that judges or scores, by name, as ``profile`` configures it."""
    plugins: dict[str, Plugin] = {}
    for plugin in known_plugins(profile.version).values():
        if plugin.make is not None:
            points = profile.points_of(plugin.name)
            plugins[plugin.name] = plugin.make(Setting(profile.version, points, profile.args.get(plugin.name)))
    return plugins


def _older_reasons(version: KubeVersion) -> Mapping[str, tuple[str, ...]]:
    """What a release says instead of today's reasons; reasons that are not there stay as they are."""
    return {
        older.reason: older.said
        for plugin in known_plugins(version).values()
        for older in plugin.older_reasons
        if version.minor <= older.until
    }


def _skipped_scores(version: KubeVersion) -> Mapping[str, int]:
    return {
        plugin.name: plugin.skipped_score.score
        for plugin in known_plugins(version).values()
        if plugin.skipped_score is not None and version.minor <= plugin.skipped_score.until
    }
