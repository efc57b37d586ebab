"""A scheduling profile: which plugins run at which extension point in which order, and with which weight they score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from kubespread.kube.admission.defaulting import DEFAULT_SCHEDULER
from kubespread.kube.versions import LATEST, KubeVersion
from kubespread.scheduler.specification import (
    FILTER,
    POST_FILTER,
    PRE_FILTER,
    PRE_SCORE,
    RESERVE,
    SCORE,
    Args,
    read_as,
)

A = TypeVar("A", bound=Args)


@dataclass(frozen=True, slots=True)
class PluginEntry:
    name: str
    weight: int = 0


@dataclass(frozen=True, slots=True)
class Expansion:
    """The plugins of one profile at the extension points that have a say here, each in the order it runs them."""

    filters: tuple[str, ...] = ()
    post_filters: tuple[str, ...] = ()
    scores: tuple[PluginEntry, ...] = ()
    pre_filters: tuple[str, ...] = ()
    pre_scores: tuple[str, ...] = ()
    reserves: tuple[str, ...] = ()

    def points_of(self, plugin: str) -> frozenset[str]:
        """The extension points at which ``plugin`` runs."""
        runs = {
            PRE_FILTER: self.pre_filters,
            FILTER: self.filters,
            POST_FILTER: self.post_filters,
            PRE_SCORE: self.pre_scores,
            SCORE: tuple(entry.name for entry in self.scores),
            RESERVE: self.reserves,
        }
        return frozenset(point for point, plugins in runs.items() if plugin in plugins)


@dataclass(frozen=True, slots=True)
class Profile(Expansion):
    """One profile, expanded."""

    scheduler_name: str = DEFAULT_SCHEDULER
    version: KubeVersion = LATEST
    """The release whose behavior its plugins show."""
    args: Mapping[str, Args] = field(default_factory=dict)
    """What the configuration gives to plugins, by their names."""
    scheduler_names: frozenset[str] = frozenset({DEFAULT_SCHEDULER})
    """Those of all profiles beside it, itself included: pods that name another scheduler are in no queue."""
    has_extenders: bool = False
    unread_points: tuple[str, ...] = ()
    """What the configuration names that has no say here: extension points, and plugins that are not modeled."""
    percentage_of_nodes_to_score: int = 0
    """0 lets kube-scheduler choose by the size of the cluster."""

    def args_of(self, plugin: str, kind: type[A]) -> A:
        """The arguments of one plugin, its defaults where the configuration gives none."""
        return read_as(kind, self.args.get(plugin))
