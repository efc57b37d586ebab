"""The interface of plugins: prepared once for a pod, updated as the cluster changes, and judging all nodes at once.

A plugin's judgment depends on what the type of its state says: nothing that moves (`FixedState`), what a node itself
holds (`OnNodeState`), or counts over many nodes (`CountingState`). A `Specification` beside the plugin declares its
extension points and arguments.

Source: staging/src/k8s.io/kube-scheduler/framework/interface.go, PreFilterPlugin, FilterPlugin, PostFilterPlugin,
    PreScorePlugin, ScorePlugin, Plugin
Source: pkg/scheduler/apis/config/v1/default_plugins.go, getDefaultPlugins, applyFeatureGates
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
    """Extension points in the order kube-scheduler builds them."""

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
"""Names of the extension points in kube-scheduler's errors."""


class Args(KubeObject):
    """Arguments of a plugin as in a configuration, with defaults; the type is named after the plugin."""

    ignored = {"apiVersion": "string", "kind": "string"}
    is_checked_by_plugin: ClassVar[bool] = False
    """True if kube-scheduler checks them only when it builds the plugin."""

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        """Yield kube-scheduler's validation faults; ``path`` is where the file has the arguments."""
        return iter(())


A = TypeVar("A", bound=Args)


def read_as(kind: type[A], args: Args | None) -> A:
    """The arguments as a type; its defaults for a profile without any."""
    if args is None:
        return kind()
    assert isinstance(args, kind)
    return args


class PluginSetting(Struct, frozen=True):
    """Configuration of a plugin in a profile, and the release."""

    version: KubeVersion
    points: frozenset[str]
    """Extension points where the profile runs it."""
    args: Args | None = None
    """Arguments in the profile."""


class Specification(Struct, frozen=True, kw_only=True):
    """One in-tree plugin."""

    name: str
    points: frozenset[str]
    """Extension points that it implements."""
    make: Callable[[PluginSetting], Plugin] | None = None
    """None for a plugin that decides nothing here and is known by name only."""
    args: type[Args] | None = None
    """None for a plugin with arguments that are accepted unread."""
    weight: int = 0
    """Weight in the default profile; 0 for none, which counts as 1."""
    is_default: bool = True
    """False if it is off unless a profile enables it."""
    since: int = 0
    """First minor with the plugin."""
    gate: str = ""
    """Feature gate that it needs to be in the default profile."""
    scores_since: int = 0
    """First minor in which it scores."""

    def points_in(self, version: KubeVersion) -> frozenset[str]:
        """Extension points that it implements in a release."""
        return self.points if version.reaches(self.scores_since) else self.points - {Point.SCORE}

    def weight_in(self, version: KubeVersion) -> int:
        return self.weight if version.reaches(self.scores_since) else 0


MAX_NODE_SCORE = 100


class Code(StrEnum):
    SUCCESS = "Success"
    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    ERROR = "Error"
    NONE = ""
    """The cycle ended in an error before any judgment."""


class Status(Struct, frozen=True):
    """Judgment of a plugin, or of the framework if ``plugin`` is empty."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""


SUCCESS = Status(Code.SUCCESS)
UNJUDGED = Status(Code.NONE)


class SchedulingError(Exception):
    """An error, as opposed to a rejection, that ends the cycle; the text is kube-scheduler's."""


class Verdicts(Struct, frozen=True):
    """One filter's judgment of some nodes: row 0 passes, otherwise ``table[row - 1]`` is the status."""

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
        """Status of the node at ``place`` among the judged ones."""
        row = self.rows.item(place)
        return self.table[row - 1] if row else SUCCESS

    def for_nodes(self, nodes: Positions | None) -> Verdicts:
        return self if nodes is None else Verdicts(self.rows[nodes], self.table)

    def with_status(self, place: int, status: Status) -> Verdicts:
        """The verdicts with another status for one node."""
        rows = self.rows.copy()
        if status.code is Code.SUCCESS:
            rows[place] = 0
            return Verdicts(rows, self.table)
        rows[place] = len(self.table) + 1
        return Verdicts(rows, (*self.table, status))


Extent = tuple[int, ...]
"""Figures over all feasible nodes that normalization needs, such as the highest raw score."""


class State:
    """A plugin prepared for one pod on one cluster; it skips the points of methods that are not overridden.

    No ABC: every placement checks each state's type, which takes many times as long for an ABC.
    """

    def pre_filter_result(self) -> Mask | None:
        """Nodes that may be filtered at all; None for all."""
        return None

    @abstractmethod
    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        """Verdicts on ``nodes`` (None: all); None if the filter skips.

        ``cluster`` is the one the state is prepared for, as it is now.
        """

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        """Data behind the rejection of each of ``nodes``, possibly empty. Never called while pods are placed."""
        return [()] * len(nodes)

    @abstractmethod
    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        """Raw scores of all nodes, meaningless for infeasible ones; None if the plugin skips.

        Raises SchedulingError if PreScore or Score would fail.
        """

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        """Figures that `normalize` needs of the feasible nodes; empty without such a step."""
        return ()

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """Raw scores normalized to 0..100; unchanged without such a step."""
        return raw

    def binding(self, node: int) -> StorageChange | None:
        """Change of claims and volumes when the pod is bound to ``node``, which it fits (Reserve and PreBind)."""
        return None


class FixedState(State):
    """State that depends on nodes and on objects besides pods: no pod that comes or goes changes it."""

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
        """Score of every node, if all have one raw score; else None. Raises SchedulingError if scoring fails."""
        raw = self._scores
        if raw is None or not len(raw) or some(raw != raw[0]):
            return None
        return int(self.normalize(raw[:1], self.extent(raw[:1], np.ones(1, dtype=np.bool_)))[0])

    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        return self._verdicts if self._verdicts is None else self._verdicts.for_nodes(nodes)

    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        return self._scores


class OnNodeState(State):
    """State that depends on each node and its own pods. Its scores are final, not normalized over all nodes."""

    @property
    def reads(self) -> Collection[str] | None:
        """Resources that, with the pod count, are all it reads of a node; None if it reads more."""
        return None

    def filter(self, holdings: Holdings) -> Verdicts | None:
        """Verdicts on the nodes of ``holdings``; None if the filter skips."""
        return None

    def score(self, holdings: Holdings) -> Counts | None:
        """Scores of the nodes of ``holdings``; None if the plugin skips."""
        return None

    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        return self.filter(Holdings(cluster, nodes))

    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        return self.score(Holdings(cluster))

    def extent(self, raw: Counts, feasible: Mask) -> Extent:  # final: see the class
        return ()


class CountingState(Forking, State):
    """State that counts pods over many nodes, and follows every pod that comes or goes."""

    @abstractmethod
    def filter(self, nodes: Positions | None = None) -> Verdicts | None:
        """Verdicts on ``nodes``, None for all."""

    def score(self, feasible: Mask) -> Counts | None:
        return None

    @abstractmethod
    def move(self, moves: Moves) -> None:
        """Count pods that came and went."""

    def move_one(self, kind: KindNumber, node: int, by: int) -> None:
        """Count one pod that came (``by`` 1) or went (-1)."""
        self.move(Moves.from_tuples([(kind, node, by)]))

    def pretend(self, kind: KindNumber, node: int, by: int) -> None:
        """Count a pod as kube-scheduler's AddPod and RemovePod do in a dry run, which may differ from a real one."""
        self.move_one(kind, node, by)

    def follow(self, now: Callable[[], Cluster], moves: Moves) -> None:
        """Catch up with the cluster that ``now`` returns; ``moves`` are the changes not counted yet."""
        self.move(moves)

    @property
    def may_fail(self) -> bool:
        """True if the filter ends the cycle in an error on some node."""
        return False

    def carry_over(self, cluster: Cluster, moves: Moves) -> Self | None:
        """Copy for ``cluster`` after ``moves`` and changes of nodes; None if it may read a changed part of nodes."""
        return None

    def verdicts(self, cluster: Cluster, nodes: Positions | None = None) -> Verdicts | None:
        return self.filter(nodes)

    def raw_scores(self, cluster: Cluster, feasible: Mask) -> Counts | None:
        return self.score(feasible)


class _Skip(FixedState):
    """State of a plugin that skips the pod."""


SKIP = _Skip()


class ZeroScores(FixedState):
    """State of a plugin that skips the pod in Filter and scores every node 0."""

    def __init__(self, nodes: int) -> None:
        self._nodes = nodes

    def score(self) -> Counts:
        return np.zeros(self._nodes, dtype=np.int64)


class Plugin(Struct, frozen=True):
    """A plugin as one profile configures it."""

    name: ClassVar[str]

    @abstractmethod
    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        """Run PreFilter and PreScore. A Status rejects the pod on every node. Raises SchedulingError."""

    def signature(self, pod: Pod) -> Hashable:
        """Everything that the plugin reads of ``pod``: pods with one signature share prepared states. None: pods share
        nothing.

        Only states that no pod on a node changes (`FixedState`, `OnNodeState`) are ever shared.
        """
        return None

    def can_sign(self, cluster: Cluster, pod: Pod) -> bool:
        """True if pods like ``pod`` get the same answer on an unchanged cluster (SignPod)."""
        return True

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield missing data of the cluster's source that the plugin's answer may depend on."""
        return iter(())

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield features of the pod that kube-scheduler's plugin uses and this one does not."""
        return iter(())


class ScaledToHighest(State):
    """State with scores relative to the highest feasible raw score, as of DefaultNormalizeScore, possibly reversed."""

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
