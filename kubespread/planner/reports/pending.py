"""The pods of a cluster that find no node, by what keeps them from one."""

from __future__ import annotations

from typing import Literal

from kubespread.planner.reports.advise import Suggestion
from kubespread.planner.reports.parts import API_VERSION, ClusterReference, Report

PendingFor = Literal["filtered", "refused", "gated", "nominated", "otherScheduler", "fits"]


class StuckGroup(Report, frozen=True):
    """Pods that wait for the same thing and that the same change frees."""

    cause: PendingFor
    """``filtered`` where no node fits; ``refused`` where the pod itself is at fault, such as a claim that is missing;
    ``gated``, ``nominated``, ``otherScheduler`` and ``fits`` where it waits for something else.
    """
    why: str
    """``zone ≤ 1: min 0 in zone c (2 tainted)``."""
    message: str
    """kube-scheduler's, for the first of the pods; empty where it says nothing."""
    pods: tuple[str, ...]
    """NAMESPACE/name, in the order kube-scheduler tries them."""
    workloads: tuple[str, ...]
    """NAMESPACE/Kind/name; NAMESPACE/Pod/name for a pod by itself."""
    change: Suggestion | None
    """The least change that was found to free them; its ``placed`` says how many of them find a node then, when they
    are placed one after another and nobody else waits. null where none does, and where none is looked for.
    """

    @property
    def freed(self) -> int:
        """How many the change frees."""
        return 0 if self.change is None else self.change.placed or 0


class PendingReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "PendingReport"
    kube_version: str
    cluster: ClusterReference | None = None
    namespace: str | None
    """The namespace whose pods are asked about, null for all."""
    selector: str
    """The labels of their workloads, empty for all."""
    nodes: int
    """How many the cluster has."""
    pending: int
    """How many pods wait."""
    groups: tuple[StuckGroup, ...]
    """The largest first."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
