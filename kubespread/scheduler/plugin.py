"""What a plugin is: prepared once for a pod, then asked about all nodes at once.

Source of the rules: kube-scheduler 1.36, pkg/scheduler/framework/interface.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import Cluster, Counts, Mask

MAX_NODE_SCORE = 100


class Code(StrEnum):
    SUCCESS = "Success"
    UNSCHEDULABLE = "Unschedulable"
    UNRESOLVABLE = "UnschedulableAndUnresolvable"
    NONE = ""
    """The cycle ended in an error before there was a judgement."""


@dataclass(frozen=True, slots=True)
class Status:
    """A plugin's judgement, or the framework's own where ``plugin`` is empty."""

    code: Code
    reasons: tuple[str, ...] = ()
    plugin: str = ""


SUCCESS = Status(Code.SUCCESS)
UNJUDGED = Status(Code.NONE)


class SchedulingError(Exception):
    """The cycle ends in an error, not in a rejection; the text is kube-scheduler's."""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """One filter's judgement of every node: 0 passes, otherwise ``table[which - 1]`` says why not."""

    which: NDArray[np.int32]
    table: tuple[Status, ...]

    @classmethod
    def rejecting(cls, rejected: Mask, status: Status) -> Verdicts:
        return cls(rejected.astype(np.int32), (status,))

    @property
    def passes(self) -> Mask:
        passes: Mask = self.which == 0
        return passes

    def status(self, node: int) -> Status:
        """The judgement of the node at position ``node``."""
        which = int(self.which[node])
        return self.table[which - 1] if which else SUCCESS


class CopiesMatter(Enum):
    """What a plugin's judgement of the next copy of a pod depends on, of the copies that are placed already."""

    NOWHERE = "nothing"
    ON_THE_NODE = "how many of them the node itself holds"
    IN_DOMAINS = "how many of them each topology domain holds"


Extent = tuple[int, ...]
"""What normalisation takes from all feasible nodes together, such as the highest raw score."""


class State:
    """A plugin prepared for one pod. A method left as it is here is an extension point the plugin skips for this pod."""

    copies_matter: ClassVar = CopiesMatter.NOWHERE

    def holding(self, copies: int | Counts) -> State:
        """The state as it is when each node holds so many more copies of the pod; for CopiesMatter.ON_THE_NODE."""
        return self

    def fork(self) -> State:
        """The same counts, to be updated apart from these; for CopiesMatter.IN_DOMAINS."""
        return self

    def placed(self, node: int) -> None:
        """One more copy of the pod runs on ``node`` now; for CopiesMatter.IN_DOMAINS."""

    def pre_filter_result(self) -> Mask | None:
        """The only nodes that may be filtered at all, or None for all."""
        return None

    def filter(self) -> Verdicts | None:
        return None

    def rejects(self) -> Mask | None:
        """Which nodes `filter` rejects, where the reasons are not asked for."""
        verdicts = self.filter()
        return None if verdicts is None else ~verdicts.passes

    def score(self, feasible: Mask) -> Counts | None:
        """Raw scores; what stands at nodes that are not feasible has no meaning. Raises SchedulingError where PreScore would fail."""
        return None

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        """What `normalize` has to know of the feasible nodes; empty where the plugin has no such step."""
        return ()

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """Raw scores brought to 0..100; as they are where the plugin has no such step."""
        return raw


SKIP = State()


class Plugin(Protocol):
    name: ClassVar[str]

    def prepare(self, cluster: Cluster, pod: Pod) -> State | Status:
        """PreFilter and PreScore. A Status rejects the pod for every node. Raises SchedulingError."""
        ...


def highest_raw(raw: Counts, feasible: Mask) -> Extent:
    """The extent of `default_normalize`."""
    return (max(0, int(raw[feasible].max(initial=0))),)


def default_normalize(raw: Counts, extent: Extent, *, reverse: bool = False) -> Counts:
    """The highest raw score of the feasible nodes becomes 100, the others their truncated share; ``reverse`` turns it round."""
    (highest,) = extent
    if highest == 0:
        return np.full_like(raw, MAX_NODE_SCORE) if reverse else raw
    scaled = MAX_NODE_SCORE * raw // highest
    return MAX_NODE_SCORE - scaled if reverse else scaled
