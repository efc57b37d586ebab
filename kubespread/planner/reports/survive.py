"""What losing each domain of a topology key does to the workloads of a cluster."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.parts import API_VERSION, ClusterReference, Report


class ShortWorkload(Report, frozen=True, gc=False):
    """A workload that has fewer ready pods than it is to have, and fewer than before its domain was lost."""

    workload: str
    """NAMESPACE/Kind/name."""
    wanted: int
    """How many pods it is to have."""
    ready: int
    """Pods that are ready on nodes that work, while the Node objects of the lost domain are still there."""
    ready_after_removal: int
    """The same once these are deleted."""
    why: str
    """kube-scheduler's message, or what keeps its controller from making another pod."""


class DomainLoss(Report, frozen=True):
    """One domain whose nodes all fail: first they are tainted and do not answer, then their Node objects are deleted.

    Only pods of the workloads that are asked about count. Those of DaemonSets and of nodes themselves go with their
    nodes and never count.
    """

    topology_key: str
    domain: str
    """The value that is lost."""
    nodes: int
    """How many nodes have it."""
    lost: int
    """Pods that were on its nodes and are deleted."""
    placed: int
    """Pods that found a node while the Node objects are still there."""
    pending: int
    """Pods without a node then that were not pending before."""
    pending_after_removal: int
    """The same once the Node objects are deleted."""
    preempted: int
    """Pods on other nodes that had to make room."""
    not_made_again: tuple[str, ...]
    """NAMESPACE/name of pods that no controller known here makes again."""
    message: str | None
    """kube-scheduler's, for the first of the pending pods."""
    short: tuple[ShortWorkload, ...]
    """Workloads with fewer ready pods than they are to have."""
    notes: tuple[str, ...]


class SurviveReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "SurviveReport"
    kube_version: str
    cluster: ClusterReference | None = None
    namespace: str | None
    """The namespace whose workloads are asked about, null for all."""
    selector: str
    """The labels of those workloads, empty for all."""
    workloads: int
    """How many workloads are asked about."""
    nodes: int
    """How many the cluster has."""
    pending_before: int
    """Pods of theirs that are pending already, before anything is lost."""
    losses: tuple[DomainLoss, ...]
    """By topology key, in the order asked, and domain."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def by_key(self) -> Iterator[tuple[str, tuple[DomainLoss, ...]]]:
        """The losses of each topology key."""
        for key in dict.fromkeys(loss.topology_key for loss in self.losses):
            yield key, tuple(loss for loss in self.losses if loss.topology_key == key)
