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
    """Name that the autoscaler uses: NAME/ZONE where a group has several zones."""
    zone: str | None
    """Null where the group has none."""
    nodes: tuple[str, ...]
    """Their names, made up here."""
    types: tuple[str, ...] = ()
    """The instance type of each, in the same order; empty where none were given."""


class ScalingLoop(Report, frozen=True):
    """One look of the autoscaler at the pods that wait, and what kube-scheduler does once the nodes are there."""

    number: int
    """Number of the loop, from 1."""
    added: tuple[GroupNodes, ...]
    """The new nodes of this loop."""
    pending: int
    """Pods that waited before."""
    expected: int
    """Pods that found room in the autoscaler's own simulation."""
    placed: int
    """Pods that kube-scheduler placed, without those of DaemonSets."""
    left: int
    """Pods that wait after it."""
    why: str | None
    """Reason it added no more; null where all pods that the group helps found room."""
    tied: tuple[str, ...] = ()
    """Further groups that the expanders leave: cluster-autoscaler takes any one of them and of that in ``added``."""


class NodeGroupState(Report, frozen=True):
    """One group in one zone, before and after."""

    group: str
    """Name that the autoscaler uses."""
    zone: str | None
    """Null where the group has none."""
    maximum: int | None
    """The most nodes it may have; null for no limit."""
    before: int | None
    """Null where nothing tells which nodes it has."""
    added: int
    """Number of new nodes it gets."""
    pool: str
    """NAME, which the groups of all its zones share."""


class LaunchedType(Report, frozen=True):
    """New nodes of one instance type and price."""

    name: str
    """The instance type."""
    nodes: int
    """Number of new nodes of this type."""
    price: str | None
    """Price of one node, in the unit of the file; null where the file has none."""


class GroupVerdict(Report, frozen=True):
    """Verdict on one more node of a group, as seen by a pod."""

    group: str
    """Name that the autoscaler uses."""
    reason: str
    """Reason a node of it does not help, or why it gets none."""
    too_large: bool = False
    """True if the reason is that the limits of its NodePool leave less than the pod requests, whatever its nodes are
    like.
    """


class UnhelpedPods(Report, frozen=True):
    """Pods that still wait, and why no further node helps them."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    pods: tuple[NamespacedName, ...]
    """NAMESPACE/name."""
    message: str
    """kube-scheduler's."""
    groups: tuple[GroupVerdict, ...]
    """Every group's reason."""


class AutoscalingReport(Report, frozen=True, kw_only=True):
    """Nodes that an autoscaler adds for pending pods, and the effect they have."""

    autoscaler: str
    """``cluster-autoscaler`` or ``karpenter``."""
    expanders: tuple[str, ...] = ()
    """Expanders by which cluster-autoscaler chooses among groups that help, in order; empty for Karpenter."""
    waiting: int
    """Pods that waited for a node at first."""
    loops: tuple[ScalingLoop, ...]
    """Loops in order, until one adds nothing."""
    groups: tuple[NodeGroupState, ...]
    """Each group in each of its zones."""
    types: tuple[LaunchedType, ...] = ()
    """Instance types of the new nodes, by name, where instance types were given."""
    pending: tuple[UnhelpedPods, ...]
    """Pods that no further node helps."""
    unknown_groups: tuple[str, ...] = ()
    """Karpenter's pools without a template that may take all pods that still wait, as far as taints and labels tell: it
    would launch machines of types that the cluster does not tell.
    """
    notes: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()

    @property
    def added(self) -> int:
        return sum(group.added for group in self.groups)

    @property
    def left(self) -> int:
        """Number of pods still pending."""
        return sum(len(kind.pods) for kind in self.pending)

    def reasons(self, kind: UnhelpedPods) -> Iterator[str]:
        """Reasons pods are pending; where nothing tells what new nodes are like, only the limits that keep them off
        any.
        """
        return (verdict.reason for verdict in kind.groups if verdict.too_large or not self.unknown_groups)

    @property
    def why(self) -> dict[WorkloadName, str]:
        """Reason pods of each workload are still pending: ``cluster-autoscaler: it may have 3 nodes and has them``."""
        reasons = {kind.workload: list(dict.fromkeys(self.reasons(kind))) for kind in self.pending}
        unknown = [whether_taken(self.unknown_groups, "them")] if self.unknown_groups else []
        texts = ((workload, some_of([*unknown, *own], _MAX_NAMED)) for workload, own in reasons.items())
        return {workload: f"{self.autoscaler}: {text}" for workload, text in texts if text}

    def with_notes(self, notes: Iterable[str]) -> AutoscalingReport:
        """The report with more to be said of it."""
        return msgspec.structs.replace(self, notes=(*self.notes, *notes))


def autoscaler_sentence(report: AutoscalingReport) -> str:
    """``cluster-autoscaler adds 3 nodes for 10 pending pods, 2 still pending``."""
    adds = f"adds {count_of(report.added, 'node')}" if report.added else "adds no node"
    waiting = count_of(report.waiting, "pending pod")
    if not report.unknown_groups:
        return f"{report.autoscaler} {adds} for {waiting}, {report.left or 'none'} still pending"
    before, whom = (f" {adds} for {waiting}, but", f"the other {report.left:,}") if report.added else (":", waiting)
    return f"{report.autoscaler}{before} {whether_taken(report.unknown_groups, whom)}"


def whether_taken(pools: Sequence[str], whom: str) -> str:
    """Clause about pools without a template: it is not known if their nodes would take the pods."""
    why = "as their instance types are not in the cluster"
    return f"whether new nodes of {some_of(pools, _MAX_NAMED)} would take {whom} is not known, {why}"


def why_waiting(report: AutoscalingReport) -> Iterator[str]:
    """``Deployment/web: 2 pods still pending: it may have 3 nodes and has them``."""
    for kind in report.pending[:_MAX_NAMED]:
        waits = "" if report.unknown_groups else f" {count_of(len(kind.pods), 'pod')} still pending:"
        if why := some_of(list(dict.fromkeys(report.reasons(kind))), _MAX_NAMED):
            yield f"{kind.workload.called}:{waits} {why}"
