"""What kube-scheduler knows of a plugin before running it; declared beside the plugin.

Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins, applyFeatureGates
Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, Plugin
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct

from kubespread.kube.api.meta import KubeObject
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.plugin import Plugin

PRE_FILTER, FILTER, POST_FILTER, PRE_SCORE, SCORE = "preFilter", "filter", "postFilter", "preScore", "score"
RESERVE, PRE_BIND, BIND, PERMIT, PRE_ENQUEUE, QUEUE_SORT = (
    "reserve", "preBind", "bind", "permit", "preEnqueue", "queueSort",
)  # fmt: skip
PLACEMENT_GENERATE, PLACEMENT_SCORE = "placementGenerate", "placementScore"
POD_GROUP_POST_FILTER = "podGroupPostFilter"
JUDGES = frozenset({PRE_FILTER, FILTER})
RANKS = frozenset({PRE_SCORE, SCORE})
INTERFACES: Mapping[str, str] = {
    PRE_FILTER: "PreFilterPlugin",
    FILTER: "FilterPlugin",
    POST_FILTER: "PostFilterPlugin",
    RESERVE: "ReservePlugin",
    PRE_SCORE: "PreScorePlugin",
    SCORE: "ScorePlugin",
    PRE_BIND: "PreBindPlugin",
    BIND: "BindPlugin",
    "postBind": "PostBindPlugin",
    PERMIT: "PermitPlugin",
    PRE_ENQUEUE: "PreEnqueuePlugin",
    QUEUE_SORT: "QueueSortPlugin",
    PLACEMENT_GENERATE: "PlacementGeneratePlugin",
    PLACEMENT_SCORE: "PlacementScorePlugin",
    POD_GROUP_POST_FILTER: "PodGroupPostFilterPlugin",
}
"""The extension points in the order kube-scheduler builds them, with the names it gives them in errors."""


class Args(KubeObject):
    """The arguments of a plugin as a configuration writes them, defaults filled in; called after the plugin."""

    ignored = frozenset({"apiVersion", "kind"})

    @property
    def durations(self) -> Mapping[str, str | None]:
        """The fields that Go has to read as durations."""
        return {}

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        """What kube-scheduler refuses when it checks the file; ``path`` is where the arguments stand in it."""
        return iter(())

    def building_faults(self, version: KubeVersion) -> Iterator[FieldFault]:
        """What it refuses only when the plugin is built, without the path of the file."""
        return iter(())


A = TypeVar("A", bound=Args)


def read_as(kind: type[A], args: Args | None) -> A:
    """A plugin's arguments, the defaults where a profile gives none."""
    if args is None:
        return kind()
    assert isinstance(args, kind)
    return args


class Setting(Struct, frozen=True):
    """Where a plugin is to work."""

    version: KubeVersion
    points: frozenset[str]
    """The extension points at which the profile runs it."""
    args: Args | None = None
    """What the profile gives it as arguments."""


class Unprepared(Struct, frozen=True):
    """kube-scheduler's errors if a profile switches off an extension point whose result a later one reads.

    Empty where the later extension point computes it itself.
    """

    filter: str = ""
    """Filter without PreFilter, on every node but those that `rejects_before` rejects."""
    rejects_before: frozenset[str] = frozenset()
    """Reasons that Filter finds before it reads that state."""
    score: str = ""
    """Score without PreScore."""
    score_without_pre_filter: str = ""
    """PreScore, where a plugin has one, or Score."""
    reserve: str = ""
    """Reserve without PreFilter."""
    scoring_gate: str = ""
    """The feature gate without which neither PreScore nor Score reads anything."""


class Specification(Struct, frozen=True, kw_only=True):
    """One in-tree plugin."""

    name: str
    points: frozenset[str]
    """The extension points it extends."""
    make: Callable[[Setting], Plugin] | None = None
    """None for a plugin that decides nothing here: its name is known and nothing else."""
    args: type[Args] | None = None
    """None for a plugin whose arguments are accepted unread."""
    weight: int = 0
    """In the default profile; 0 where none is given, which counts as 1."""
    weight_before_multi_point: int | None = None
    """In configurations that list the defaults at every extension point, where it differs."""
    is_default: bool = True
    """False: off unless a profile enables it."""
    since: int = 0
    """The first minor that knows it."""
    gate: str = ""
    """The feature gate without which it is not in the default profile."""
    scores_since: int = 0
    """The first minor in which it scores, if it does."""
    unprepared: Unprepared = Unprepared()

    def points_in(self, version: KubeVersion) -> frozenset[str]:
        """The extension points it extends in a release."""
        return self.points if version.since(self.scores_since) else self.points - {SCORE}

    def weight_in(self, version: KubeVersion) -> int:
        return self.weight if version.since(self.scores_since) else 0
