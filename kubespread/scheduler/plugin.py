"""The interface of plugins: prepared once for a pod, updated as the cluster changes, and judging all nodes at once.

What a plugin's judgment depends on is the type of its state: nothing that moves (`Fixed`), what a node itself holds
(`OnNode`), or counts over many nodes (`Counted`). A state can only answer in the way of its type. What kube-scheduler
knows of a plugin before running it; declared beside the plugin.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, PreFilterPlugin, FilterPlugin, PostFilterPlugin,
    PreScorePlugin, ScorePlugin
Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins, applyFeatureGates
Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, Plugin
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import ClassVar, Self, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import KubeObject
from kubespread.kube.validation.faults import FieldFault
from kubespread.kube.versions import KubeVersion
from kubespread.scheduler.causes import Causes
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Counts, Forking, Mask, Positions, greatest, some
from kubespread.scheduler.cluster.kinds import KindNumber
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.cluster.storage_index import StorageChange


class Point(StrEnum):
    """The extension points in the order kube-scheduler builds them."""

    PRE_FILTER = "preFilter"
    FILTER = "filter"
    POST_FILTER = "postFilter"
    RESERVE = "reserve"
    PRE_SCORE = "preScore"
    SCORE = "score"
    PRE_BIND = "preBind"
    BIND = "bind"
    POST_BIND = "postBind"
    PERMIT = "permit"
    PRE_ENQUEUE = "preEnqueue"
    QUEUE_SORT = "queueSort"
    PLACEMENT_GENERATE = "placementGenerate"
    PLACEMENT_SCORE = "placementScore"
    POD_GROUP_POST_FILTER = "podGroupPostFilter"


JUDGES: frozenset[str] = frozenset({Point.PRE_FILTER, Point.FILTER})
RANKS: frozenset[str] = frozenset({Point.PRE_SCORE, Point.SCORE})
INTERFACES: Mapping[str, str] = {point.value: f"{point[0].upper()}{point[1:]}Plugin" for point in Point}
"""The names that kube-scheduler gives the extension points in errors."""


class Args(KubeObject):
    """The arguments of a plugin as a configuration writes them, defaults filled in; called after the plugin."""

    ignored = {"apiVersion": "string", "kind": "string"}
    is_checked_by_plugin: ClassVar[bool] = False
    """True if kube-scheduler checks them only where it builds the plugin."""

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        """Yield what kube-scheduler refuses; ``path`` is where the arguments stand in the file."""
        return iter(())


A = TypeVar("A", bound=Args)


def read_as(kind: type[A], args: Args | None) -> A:
    """A plugin's arguments, the defaults where a profile gives none."""
    if args is None:
        return kind()
    assert isinstance(args, kind)
    return args


class Setting(Struct, frozen=True):
    """Setting in which a plugin is to work."""

    version: KubeVersion
    points: frozenset[str]
    """The extension points at which the profile runs it."""
    args: Args | None = None
    """Arguments that the profile gives the plugin."""


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
    is_default: bool = True
    """False: off unless a profile enables it."""
    since: int = 0
    """The first minor that knows it."""
    gate: str = ""
    """The feature gate without which it is not in the default profile."""
    scores_since: int = 0
    """The first minor in which it scores, if it does."""

    def points_in(self, version: KubeVersion) -> frozenset[str]:
        """The extension points it extends in a release."""
        return self.points if version.since(self.scores_since) else self.points - {Point.SCORE}

    def weight_in(self, version: KubeVersion) -> int:
        return self.weight if version.since(self.scores_since) else 0


MAX_NODE_SCORE = 100


class Code(StrEnum):
    SUCCESS = "Success"
    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    ERROR = "Error"
    NONE = ""
    """The cycle ended in an error before there was a judgment."""


class Status(Struct, frozen=True):
    """A plugin's judgment, or the framework's own where ``plugin`` is empty."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""


SUCCESS = Status(Code.SUCCESS)
UNJUDGED = Status(Code.NONE)


class SchedulingError(Exception):
    """The cycle ends in an error, not in a rejection; the text is kube-scheduler's."""


class Verdicts(Struct, frozen=True):
    """One filter's judgment of some nodes: 0 passes, otherwise ``table[row - 1]`` says why not."""

    rows: NDArray[np.int32]
    table: tuple[Status, ...]

    @classmethod
    def rejecting(cls, rejected: Mask, status: Status) -> Verdicts:
        return cls(rejected.astype(np.int32), (status,))

    @property
    def passes(self) -> Mask:
        passes: Mask = self.rows == 0
        return passes

    def status(self, place: int) -> Status:
        """The judgment of the node that is ``place`` among those that were judged."""
        row = self.rows.item(place)
        return self.table[row - 1] if row else SUCCESS

    def for_nodes(self, nodes: Positions | None) -> Verdicts:
        """The judgment of some of the nodes."""
        return self if nodes is None else Verdicts(self.rows[nodes], self.table)

    def with_status(self, place: int, status: Status) -> Verdicts:
        """These verdicts, except for one node."""
        rows = self.rows.copy()
        if status.code is Code.SUCCESS:
            rows[place] = 0
            return Verdicts(rows, self.table)
        rows[place] = len(self.table) + 1
        return Verdicts(rows, (*self.table, status))


Extent = tuple[int, ...]
"""Values that normalization takes from all feasible nodes together, such as the highest raw score."""


class State:
    """A plugin prepared for one pod on one cluster. A method that is not overridden is a point the plugin skips.

    No ABC: every placement asks of each state what it is, and of an ABC that takes many times as long.
    """

    def pre_filter_result(self) -> Mask | None:
        """The only nodes that may be filtered at all, or None for all."""
        return None

    @abstractmethod
    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        """The filter's judgment of ``nodes`` (None: all); None where it skips.

        ``cluster`` is the one the state is prepared for, as it is now.
        """

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """For each of ``nodes``, which the filter rejects on ``cluster``, the data behind its reasons; empty where
        there is none. Never asked for while pods are placed.
        """
        return [()] * len(nodes)

    @abstractmethod
    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        """Raw scores of all nodes; those of infeasible nodes have no meaning. None: skips.

        Raises SchedulingError where PreScore or Score would fail.
        """

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        """Find what `normalize` has to know of the feasible nodes; empty where the plugin has no such step."""
        return ()

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """Raw scores normalized to 0..100; unchanged if the plugin has no such step."""
        return raw

    def binding(self, node: int) -> StorageChange | None:
        """The change of claims and volumes once the pod is bound to ``node``, which it fits (Reserve and PreBind)."""
        return None


class Fixed(State):
    """Depends on the nodes and on objects beside pods: no pod that comes or goes changes anything."""

    def filter(self) -> Verdicts | None:
        return None

    def score(self) -> Counts | None:
        return None

    @cached_property
    def _verdicts(self) -> Verdicts | None:
        return self.filter()

    @cached_property
    def _scores(self) -> Counts | None:
        return self.score()

    @cached_property
    def constant(self) -> int | None:
        """Score of every node, whichever fit, where all have one raw score. Raises SchedulingError as that would."""
        raw = self._scores
        if raw is None or not len(raw) or some(raw != raw[0]):
            return None
        return int(self.normalize(raw[:1], self.extent(raw[:1], np.ones(1, dtype=np.bool_)))[0])

    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        return self._verdicts if self._verdicts is None else self._verdicts.for_nodes(nodes)

    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        return self._scores


class OnNode(State):
    """Depends on what the node itself holds. Its scores are final: there is nothing to normalize over all nodes."""

    @property
    def reads(self) -> Collection[str] | None:
        """The resources whose amounts, beside the numbers of pods, are all that it reads of a node; None: there is
        more.
        """
        return None

    def judge(self, held: Holdings) -> Verdicts | None:
        """The filter's judgment of the nodes ``held`` is about."""
        return None

    def points(self, held: Holdings) -> Counts | None:
        """Scores of those nodes, on the way to 0..100."""
        return None

    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        return self.judge(Holdings(cluster, nodes))

    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        return self.points(Holdings(cluster))

    def extent(self, raw: Counts, feasible: Mask) -> Extent:  # final: see the class
        return ()


class Counted(Forking, State):
    """Counts pods over many nodes; the counts follow every pod that comes or goes, of any kind."""

    @abstractmethod
    def filter(self, nodes: Positions | None = None) -> Verdicts | None:
        """The judgment of ``nodes``, None for all of them."""

    def score(self, feasible: Mask) -> Counts | None:
        return None

    @abstractmethod
    def move(self, moves: Moves) -> None:
        """Pods came and went."""

    def move_one(self, kind: KindNumber, node: int, by: int) -> None:
        """One pod came (``by`` 1) or went (-1)."""
        self.move(Moves.of([(kind, node, by)]))

    def pretend(self, kind: KindNumber, node: int, by: int) -> None:
        """Count a pod as kube-scheduler's AddPod and RemovePod do in a dry run, not always as if it were there."""
        self.move_one(kind, node, by)

    def follow(self, now: Callable[[], Cluster], moves: Moves) -> None:
        """Go on with the cluster that ``now`` gives; ``moves`` are the changes of its pods that are not counted yet."""
        self.move(moves)

    @property
    def may_fail(self) -> bool:
        """True if the filter ends the cycle in an error on some node."""
        return False

    def after(self, cluster: Cluster, moves: Moves) -> Self | None:
        """Such a copy on ``cluster``, which came of its own by ``moves`` and where nodes may have changed; None to
        prepare it again, where it may read something else of them.
        """
        return None

    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        return self.filter(nodes)

    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        return self.score(feasible)


class _Skip(Fixed):
    """Nothing to say about this pod."""


SKIP = _Skip()


class ZeroScores(Fixed):
    """A pod without anything that the plugin looks at, which is scored all the same."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def score(self) -> Counts:
        return np.zeros(self._nodes, dtype=np.int64)


class Plugin(Struct, frozen=True):
    """A plugin as one profile configures it."""

    name: ClassVar[str]

    @abstractmethod
    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        """PreFilter and PreScore. A Status rejects the pod for every node. Raises SchedulingError."""

    def signature(self, pod: Pod) -> Hashable:
        """All that the plugin reads of ``pod``: pods of one signature share what it prepares. None: pods share nothing.

        Only states that no pod on a node changes (`Fixed`, `OnNode`) are ever shared.
        """
        return None

    def signs(self, cluster: Cluster, pod: Pod) -> bool:
        """True if pods like ``pod`` get the same answer on a cluster that is the same (SignPod)."""
        return True

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield what the cluster's source lacks and the plugin's answer could depend on."""
        return iter(())

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield what kube-scheduler's plugin takes into account for this pod and this one does not."""
        return iter(())


class ScaledToHighest(State):
    """The highest raw feasible score becomes 100, the others their truncated share; ``reverses`` turns it round."""

    reverses: ClassVar[bool] = False

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        fitting = raw[feasible]
        return (max(0, greatest(fitting)) if len(fitting) else 0,)

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        (highest,) = extent
        if highest == 0:
            return np.full_like(raw, MAX_NODE_SCORE) if self.reverses else raw
        scaled = MAX_NODE_SCORE * raw // highest
        return MAX_NODE_SCORE - scaled if self.reverses else scaled
