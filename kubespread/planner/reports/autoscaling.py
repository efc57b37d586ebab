"""Which nodes an autoscaler adds for pods that wait, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kubespread.planner.reports.parts import Report


class GroupNodes(Report, frozen=True):
    """New nodes of one group in one zone."""

    group: str
    """As the autoscaler has it: NAME/ZONE where a group has several zones."""
    zone: str | None
    nodes: tuple[str, ...]
    """Their names, made up here."""


class ScalingLoop(Report, frozen=True):
    """One look of the autoscaler at the pods that wait, and what kube-scheduler does once the nodes are there."""

    number: int
    added: tuple[GroupNodes, ...]
    pending: int
    """Pods that waited before."""
    expected: int
    """Pods that found room in the autoscaler's own simulation."""
    placed: int
    """Pods that kube-scheduler placed, without those of DaemonSets."""
    left: int
    """Pods that wait after it."""
    why: str | None
    """Why it added no more; null where all pods that the group helps found room."""


class NodeGroupState(Report, frozen=True):
    """One group in one zone, before and after."""

    group: str
    zone: str | None
    made_of: str
    """What a new node is like: ``node NAME``, ``template``, ``nothing`` where nobody knows."""
    minimum: int
    maximum: int | None
    before: int | None
    """null where nothing tells which nodes it has."""
    added: int


class GroupVerdict(Report, frozen=True):
    """What one more node of a group would be to a pod."""

    group: str
    reason: str


class UnhelpedPods(Report, frozen=True):
    """Pods that still wait, and why no further node helps them."""

    workload: str
    """NAMESPACE/Kind/name."""
    pods: tuple[str, ...]
    """NAMESPACE/name."""
    message: str
    """kube-scheduler's."""
    groups: tuple[GroupVerdict, ...]


class LeastNodes(Report, frozen=True):
    """The fewest new nodes with which every pod finds a node, played with kube-scheduler."""

    groups: tuple[GroupNodes, ...]
    total: int
    proven: bool
    """Whether all smaller numbers were played and leave pods pending; else the search ended before."""


class GroupLeast(Report, frozen=True):
    """The same with nodes of one group alone."""

    group: str
    total: int | None
    """null where no number of its nodes is enough."""
    why: str | None
    """What stands in the way then: of an empty node of it, or of all pods once another node would stay empty."""


class AutoscalingReport(Report, frozen=True):
    autoscaler: str
    """``cluster-autoscaler`` or ``karpenter``."""
    waiting: int
    """Pods that waited for a node at first."""
    loops: tuple[ScalingLoop, ...]
    groups: tuple[NodeGroupState, ...]
    pending: tuple[UnhelpedPods, ...]
    least: LeastNodes | None
    """null where no pod waited, or no nodes were found with which all find one."""
    least_per_group: tuple[GroupLeast, ...]
    notes: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        return sum(group.added for group in self.groups)

    @property
    def left(self) -> int:
        """How many pods still wait."""
        return sum(len(each.pods) for each in self.pending)

    def with_notes(self, notes: Iterable[str]) -> AutoscalingReport:
        """The same answer, with more to be said of it."""
        return msgspec.structs.replace(self, notes=(*self.notes, *notes))
