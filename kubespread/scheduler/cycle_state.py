"""Plugins whose Filter, Score or Reserve reads what an earlier extension point of theirs leaves, in profiles that
switch that one off.

Some do without. The others end every scheduling cycle that reaches them in an error, and such a profile places no pod.

Source of the rules: the plugins of kube-scheduler 1.36 and framework/runtime/framework.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.plugin import Verdicts
from kubespread.scheduler.profile.default_plugins import PRE_SCORE, known_plugins
from kubespread.scheduler.profile.profile import Profile

# What Filter says without PreFilter. NodeAffinity, NodeVolumeLimits and VolumeZone work out again what they need.
_FILTERS: Mapping[str, str] = {
    "NodePorts": 'reading "PreFilterNodePorts" from cycleState: not found',
    "NodeResourcesFit": 'error reading "PreFilterNodeResourcesFit" from cycleState: not found',
    "VolumeRestrictions": 'cannot read "PreFilterVolumeRestrictions" from cycleState',
    "VolumeBinding": "not found",
    "PodTopologySpread": 'reading "PreFilterPodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'error reading "PreFilterInterPodAffinity" from cycleState: not found',
    "DynamicResources": "not found",
    "NodeDeclaredFeatures": 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found',
}
# What Filter finds before it reads that state: a node with such a reason is rejected, and no error.
_FOUND_BEFORE: Mapping[str, tuple[str, ...]] = {"VolumeRestrictions": ("node(s) had no available disk",)}
# What Score says without PreScore; the other plugins work out again what they need.
_SCORES: Mapping[str, str] = {
    "TaintToleration": 'failed to read "PreScoreTaintToleration" from cycleState: not found',
    "PodTopologySpread": 'error reading "PreScorePodTopologySpread" from cycleState: not found',
    "InterPodAffinity": 'failed to read "PreScoreInterPodAffinity" from cycleState: not found',
}
# Score and Reserve of these read what PreFilter leaves.
_SCORES_BY_PRE_FILTER: Mapping[str, str] = {"DynamicResources": "not found"}
_RESERVES_BY_PRE_FILTER: Mapping[str, str] = {"VolumeBinding": "not found", "DynamicResources": "not found"}


@dataclass(frozen=True, slots=True)
class MissingState:
    """What goes wrong in a profile for that reason; texts are kube-scheduler's whole errors."""

    filters: Mapping[str, str] = field(default_factory=dict)
    """Per filter plugin that fails on every node it is asked about."""
    scores: Mapping[str, str] = field(default_factory=dict)
    """Per score plugin that fails, in the order they are asked; the first one ends the cycle."""
    unskipped: frozenset[str] = frozenset()
    """Score plugins that cannot skip a pod, since PreScore is where they would say so."""
    reserve: str | None = None
    """Why no node can be reserved for a pod once it is chosen."""

    def filter_error(self, filters: Iterable[str], verdicts: Mapping[str, Verdicts], included: Mask) -> str | None:
        """The error that the first failing plugin of ``filters`` meets on a node that those before it let pass."""
        reached = included
        for name in filters:
            found = verdicts.get(name)
            if name not in self.filters:
                reached = reached if found is None else reached & found.passes
                continue
            # A node that it rejects beforehand is no error; on every other it fails, so none gets any further.
            before = (
                [at for at, status in enumerate(found.table, start=1) if status.reasons == _FOUND_BEFORE.get(name)]
                if found
                else []
            )
            reached = reached if found is None else reached & ~np.isin(found.which, before)
            return self.filters[name] if reached.any() else None
        return None


def missing_state(profile: Profile) -> MissingState:
    """What goes wrong in ``profile``."""
    filtered, scored = frozenset(profile.pre_filters), frozenset(profile.pre_scores)
    known = known_plugins(profile.args.version)
    scores: dict[str, str] = {}
    for entry in profile.scores:
        text = _SCORES.get(entry.name) if entry.name not in scored else None
        if entry.name not in filtered:
            text = text or _SCORES_BY_PRE_FILTER.get(entry.name)
        if text is not None:
            scores[entry.name] = f'running Score plugins: plugin "{entry.name}" failed with: {text}'
    reserves = (name for name in profile.reserves if name in _RESERVES_BY_PRE_FILTER and name not in filtered)
    reserve = next(reserves, None)
    return MissingState(
        filters={
            name: f'running "{name}" filter plugin: {_FILTERS[name]}'
            for name in profile.filters
            if name in _FILTERS and name not in filtered
        },
        scores=scores,
        unskipped=frozenset(
            entry.name for entry in profile.scores if PRE_SCORE in known[entry.name][1] and entry.name not in scored
        ),
        reserve=None if reserve is None else f'running Reserve plugin "{reserve}": {_RESERVES_BY_PRE_FILTER[reserve]}',
    )
