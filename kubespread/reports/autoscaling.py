"""Nodes that an autoscaler adds for pending pods, and the effect they have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.parts import Report
from kubespread.wording import count_of, some_of

_MAX_NAMED = 3


class GroupNodes(Report, frozen=True):
    """New nodes of one group in one zone."""

    group: str
    """Autoscaler's name for the group: NAME/ZONE if it has several zones."""
    zone: str | None
    nodes: tuple[str, ...]
    """Made-up names of the nodes."""
    types: tuple[str, ...] = ()
    """Instance type of each node, in the same order; empty if none were given."""


class ScalingLoop(Report, frozen=True):
    """One loop of the autoscaler over the pending pods, and of kube-scheduler after it."""

    number: int
    added: tuple[GroupNodes, ...]
    """New nodes of this loop."""
    pending: int
    """Number of pods pending before."""
    expected: int
    """Number of pods with room in the autoscaler's own simulation."""
    placed: int
    """Number of pods that kube-scheduler placed, without pods of DaemonSets."""
    left: int
    """Number of pods pending after it."""
    why: str | None
    """Reason it added no more; null if all helped pods had room."""
    tied: tuple[str, ...] = ()
    """Other groups that the expanders leave: cluster-autoscaler picks one of them, or the one in
    ``added``, at random.
    """


class NodeGroupState(Report, frozen=True):
    """One group in one zone, before and after."""

    group: str
    zone: str | None
    maximum: int | None
    """Most nodes it may have; null for no limit."""
    before: int | None
    """Number of nodes at first; null if unknown."""
    added: int
    """Number of new nodes."""
    pool: str
    """Name of the node group, the same in all its zones."""


class LaunchedType(Report, frozen=True):
    """New nodes of one instance type and price."""

    name: str
    """Instance type."""
    nodes: int
    """Number of these nodes."""
    price: str | None
    """Price of one node, in the file's unit; null without one."""


class GroupVerdict(Report, frozen=True):
    """Verdict on adding a node of one group for some pods."""

    group: str
    reason: str
    """Reason another node of it does not help, or cannot be added."""
    too_large: bool = False
    """True if the pod requests more than the limits of its NodePool leave, whatever the nodes are like."""


class UnhelpedPods(Report, frozen=True):
    """Pods that stay pending, and why no further node helps them."""

    workload: WorkloadName
    pods: tuple[NamespacedName, ...]
    """NAMESPACE/name of the pods."""
    message: str
    """kube-scheduler's message."""
    groups: tuple[GroupVerdict, ...]
    """One verdict per group."""


class AutoscalingReport(Report, frozen=True, kw_only=True):
    """Nodes that an autoscaler adds for pending pods, and their effect."""

    autoscaler: str
    """``cluster-autoscaler`` or ``karpenter``."""
    expanders: tuple[str, ...] = ()
    """Expanders of cluster-autoscaler, in order; empty for Karpenter."""
    waiting: int
    """Number of pods pending at first."""
    loops: tuple[ScalingLoop, ...]
    """In order, until no pod is pending or no further node helps."""
    groups: tuple[NodeGroupState, ...]
    """Each group in each of its zones."""
    types: tuple[LaunchedType, ...] = ()
    """Instance types of the new nodes, by name, if types were given."""
    pending: tuple[UnhelpedPods, ...]
    """Pods that no further node helps."""
    unknown_groups: tuple[str, ...] = ()
    """Karpenter's pools of unknown instance types that may take all pods still pending, judged by taints and labels."""
    notes: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()

    @property
    def added_nodes(self) -> int:
        return sum(group.added for group in self.groups)

    @property
    def pods_left(self) -> int:
        return sum(len(kind.pods) for kind in self.pending)

    def reasons(self, kind: UnhelpedPods) -> Iterator[str]:
        """Yield the reasons pods are pending; with unknown instance types, only NodePool limits too small for a pod."""
        return (verdict.reason for verdict in kind.groups if verdict.too_large or not self.unknown_groups)

    @property
    def waiting_reasons(self) -> dict[WorkloadName, str]:
        """Reason the pods of each workload are still pending: ``cluster-autoscaler: it may have 3
        nodes and has them``.
        """
        reasons = {kind.workload: list(dict.fromkeys(self.reasons(kind))) for kind in self.pending}
        unknown = [whether_taken(self.unknown_groups, "them")] if self.unknown_groups else []
        texts = ((workload, some_of([*unknown, *own], _MAX_NAMED)) for workload, own in reasons.items())
        return {workload: f"{self.autoscaler}: {text}" for workload, text in texts if text}

    def with_notes(self, notes: Iterable[str]) -> AutoscalingReport:
        return msgspec.structs.replace(self, notes=(*self.notes, *notes))


def autoscaler_sentence(report: AutoscalingReport) -> str:
    """``cluster-autoscaler adds 3 nodes for 10 pending pods, 2 still pending``."""
    adds = f"adds {count_of(report.added_nodes, 'node')}" if report.added_nodes else "adds no node"
    waiting = count_of(report.waiting, "pending pod")
    if not report.unknown_groups:
        return f"{report.autoscaler} {adds} for {waiting}, {report.pods_left or 'none'} still pending"
    before, whom = (
        (f" {adds} for {waiting}, but", f"the other {report.pods_left:,}") if report.added_nodes else (":", waiting)
    )
    return f"{report.autoscaler}{before} {whether_taken(report.unknown_groups, whom)}"


def whether_taken(pools: Sequence[str], whom: str) -> str:
    """``whether new nodes of NodePool spot would take them is not known, ...``; ``whom`` names the pods."""
    why = "as their instance types are not in the cluster"
    return f"whether new nodes of {some_of(pools, _MAX_NAMED)} would take {whom} is not known, {why}"


def why_waiting(report: AutoscalingReport) -> Iterator[str]:
    """Yield ``Deployment/web: 2 pods still pending: it may have 3 nodes and has them``."""
    for kind in report.pending[:_MAX_NAMED]:
        waits = "" if report.unknown_groups else f" {count_of(len(kind.pods), 'pod')} still pending:"
        if why := some_of(list(dict.fromkeys(report.reasons(kind))), _MAX_NAMED):
            yield f"{kind.workload.short_name}:{waits} {why}"
