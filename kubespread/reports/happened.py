"""What became of the pods of a cluster when something in it was changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.parts import Report, SkewChange


class PlacedPod(Report, frozen=True):
    pod: NamespacedName
    """NAMESPACE/name."""
    node: str
    """Where it runs now."""


class LandedPods(Report, frozen=True, gc=False):
    """Pods of one workload that found a node, and are still on it."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    node: str
    """Where they run now."""
    pods: int
    """How many."""


ASKED_FOR = frozenset({"evicted", "deleted"})


class GonePod(Report, frozen=True):
    """A pod that left its node, or is on its way out there."""

    pod: NamespacedName
    """NAMESPACE/name."""
    node: str | None
    """The node it left; null where it had none."""
    why: str
    """``evicted``, ``deleted``, ``scaled down``, ``replaced``, ``lost``, ``preempted``, ``evicted by a taint``, and of
    DaemonSets ``no longer selected``.
    """
    lost_for_good: bool
    """Whether it had no controller, so that nobody makes it again."""
    made_room_for: NamespacedName | None = None
    """Of a preempted pod: NAMESPACE/name of the one that took its place."""
    broken_budgets: tuple[str, ...] = ()
    """Of a preempted pod: the names of the disruption budgets that did not allow it, in its namespace."""

    @property
    def is_asked_for(self) -> bool:
        """Whether it was evicted or deleted: whoever does that to a pod that no controller makes again, asks for it."""
        return self.why in ASKED_FOR

    @property
    def is_bad(self) -> bool:
        """Of a preempted pod: whether a budget is broken, or nobody makes the pod again."""
        return bool(self.broken_budgets) or self.lost_for_good


class FewerReady(Report, frozen=True, gc=False):
    """A workload that has fewer ready pods than it is to have, and than before."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    wanted: int
    """Desired pods."""
    ready_before: int
    """Pods that were ready before the first step."""
    ready: int
    """Pods that are ready now."""
    lacking: int
    """How many more of its pods than before are pending or not made."""

    def __str__(self) -> str:
        return f"{self.workload.called} has {self.ready:,} of {self.wanted:,} ready, {self.ready_before:,} before"


class NodeEviction(Report, frozen=True):
    """The pods of a node that failed, deleted because they do not tolerate that."""

    node: str
    """Its name."""
    seconds: int
    """How long after the first node of its zone was tainted: the nodes follow one another at a limited rate, and pods
    tolerate the taint for a while.
    """
    pods: int
    """How many are deleted then."""


def eviction_order(evictions: Sequence[NodeEviction]) -> str:
    """``n0 after 300 s, n1 after 310 s``."""
    return ", ".join(f"{eviction.node} after {eviction.seconds:,} s" for eviction in evictions)


class BlockedPod(Report, frozen=True):
    """A pod whose eviction the API server refuses for good."""

    pod: NamespacedName
    """NAMESPACE/name."""
    node: str
    """Where it stays."""
    budget: str
    """The name of the disruption budget, in the namespace of the pod."""
    message: str
    """The API server's."""
    cause: str
    """The API server's detail: what the budget needs and has."""


class PendingPods(Report, frozen=True):
    """Pods of one workload that wait for a node for the same reason."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    pods: tuple[NamespacedName, ...]
    """NAMESPACE/name."""
    message: str
    """kube-scheduler's."""
    nodes: tuple[str, ...] = ()
    """Which nodes they are for, where each is for one: those of a DaemonSet."""


class UnmadePods(Report, frozen=True):
    """Pods that a workload is to have and that do not exist."""

    workload: WorkloadName
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    count: int
    """How many."""
    message: str
    """What the API server says to the first of them, or what their controller waits for."""


class TouchedWorkload(Report, frozen=True):
    """A workload that lost pods or got some, or lacks some, as it is now."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    replicas: int
    """How many pods it is to have: of a Deployment its own number, though a rollout has more of them for a time."""
    ready: int
    """How many of them are ready."""
    pending: int
    """How many of them wait for a node."""
    skew: tuple[SkewChange, ...]
    """Of each spread constraint in force, before and after."""
    not_created: int = 0
    """How many of them the API server refuses, as a quota does."""
    not_made_yet: int = 0
    """How many of them its controller has yet to make: a StatefulSet waits for those before them."""
    gone: int = 0
    """How many of its pods left their nodes, or are on their way out."""
    created: int = 0
    """How many pods its controllers made."""
    placed: int = 0
    """How many of its pods found a node."""

    def dealt(self, others: Sequence[TouchedWorkload]) -> TouchedWorkload:
        """The same, with the skews of other deals."""
        skews = zip(self.skew, *(other.skew for other in others), strict=True)
        return msgspec.structs.replace(self, skew=tuple(own.dealt(same) for own, *same in skews))

    @property
    def is_moved(self) -> bool:
        """Whether anything became of its pods, as opposed to those that went on waiting."""
        return bool(self.gone or self.created or self.placed)


class Happened(Report, frozen=True, kw_only=True):
    """All of it, in the order it happened."""

    gone: tuple[GonePod, ...]
    """Pods that left their nodes."""
    placed: tuple[PlacedPod, ...]
    """Pods that found a node."""
    blocked: tuple[BlockedPod, ...]
    """Pods that budgets keep."""
    pending: tuple[PendingPods, ...]
    """All that wait now, whoever made them wait."""
    not_created: tuple[UnmadePods, ...] = ()
    """Pods that the API server refuses now, as a quota does, by workload."""
    not_made_yet: tuple[UnmadePods, ...] = ()
    """Pods that their controllers have yet to make, by workload: a StatefulSet waits for those before them."""
    workloads: tuple[TouchedWorkload, ...]
    """Those that lost pods or got some."""
    notes: tuple[str, ...]
    nodes_joined: tuple[str, ...] = ()
    """Nodes that are there now and were not before, by name."""
    nodes_left: tuple[str, ...] = ()
    """Nodes that existed before and no longer exist, by name."""
    node_states: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    """What keeps pods away from the nodes that are there, where that changed, by name: ``cordoned``, ``not ready``;
    nothing where they are open again.
    """
    evictions: tuple[NodeEviction, ...] = ()
    """Of nodes that failed, in order."""

    @property
    def waiting(self) -> Counter[WorkloadName]:
        """How many pods of each workload wait now. Not which: one that is evicted leaves its wait to its successor."""
        counts = Counter[WorkloadName]()
        for kind in self.pending:
            counts[kind.workload] += len(kind.pods)
        return counts

    def dealt(self, others: Sequence[Happened]) -> Happened:
        """The same, with the skews of other deals."""
        rows = [{workload.workload: workload for workload in other.workloads} for other in others]
        workloads = (own.dealt([row[own.workload] for row in rows if own.workload in row]) for own in self.workloads)
        return msgspec.structs.replace(self, workloads=tuple(workloads))
