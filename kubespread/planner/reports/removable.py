"""Which nodes of a cluster can go, alone and together, and what holds the others."""

from __future__ import annotations

from typing import Literal

from kubespread.planner.reports.parts import API_VERSION, ClusterReference, Report

HeldBy = Literal[
    "controlPlane",
    "lastOfDomain",
    "localStorage",
    "noController",
    "daemonSet",
    "budget",
    "noNode",
    "noRoom",
    "preempts",
]


class Hold(Report, frozen=True):
    """What keeps a node from being removed."""

    cause: HeldBy
    """``localStorage``, ``noController`` and ``daemonSet``: kubectl drain refuses. ``budget``: the API server refuses
    an eviction. ``noNode``: a pod finds no other node. ``noRoom``: its pods ask for more than is free elsewhere.
    ``preempts``: its pods push others away that nobody makes again.
    """
    detail: str
    """kubectl's, the API server's or kube-scheduler's own message, or what the cause means."""
    pods: tuple[str, ...] = ()
    """NAMESPACE/name, as far as it is about pods."""


class NodeRemoval(Report, frozen=True):
    node: str
    """Its name."""
    domain: str | None
    """Its zone."""
    pods: int
    """How many a drain would evict."""
    alone: bool
    """Whether it can go while all other nodes stay."""
    place: int | None
    """Its place in the order in which nodes go together, from 1; null where it stays."""
    held: tuple[Hold, ...]
    """Why it cannot go alone; of one that can and stays, why it cannot go after those that do."""
    violated: tuple[str, ...]
    """Workloads that it leaves, going alone, further from a hard constraint than maxSkew allows: ``WORKLOAD: zone
    skew 2 exceeds maxSkew 1``.
    """


class Together(Report, frozen=True):
    """Nodes drained and deleted in one cluster, in groups that are cordoned at once."""

    nodes: tuple[str, ...]
    """In the order in which they are drained."""
    groups: tuple[int, ...]
    """How many of them are cordoned at once, the first so many, the next so many, and so on."""
    moved: int
    """Pods that were placed elsewhere, some of them more than once."""
    preempted: int
    """Pods of lower priority that were preempted, each of which found another node."""
    violated: tuple[str, ...]
    """As for one node."""
    untried: int
    """Nodes that can go alone and were not tried after many in a row did not go."""


class RemovableReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "RemovableReport"
    kube_version: str
    cluster: ClusterReference | None = None
    nodes: int
    """How many the cluster has."""
    rows: tuple[NodeRemoval, ...]
    """The nodes that are asked about: those that go together in their order, then those that can go alone, then the
    others; fewest pods first, then by name.
    """
    together: Together
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
