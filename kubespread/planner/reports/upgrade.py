"""How nodes are replaced one batch after another, and what stops that."""

from __future__ import annotations

import msgspec

from kubespread.planner.reports.happened import BlockedPod, PendingPods
from kubespread.planner.reports.parts import API_VERSION, ClusterReference, Report


class UpgradeStep(Report, frozen=True):
    """One batch: new nodes join, the old ones are cordoned, drained and deleted, and the rest of the new ones join."""

    nodes: tuple[str, ...]
    """The nodes that are replaced."""
    added: tuple[str, ...]
    """Nodes that joined in this step, before or after the drain."""
    evicted: int
    """Pods that were evicted from them."""
    placed: int
    """Pods that found a node, those of DaemonSets on the new nodes included."""
    pending: int
    """Pods that wait in the end and did not before the upgrade."""
    pods: dict[str, int] = msgspec.field(default_factory=dict)
    """How many pods of any kind each node holds, of those where some came or went, by name."""


class Blocked(Report, frozen=True):
    """Where it stops: these nodes stay cordoned."""

    nodes: tuple[str, ...]
    """Those of the batch."""
    refusal: str | None
    """kubectl's, where it does not begin to drain."""
    pods: tuple[BlockedPod, ...]
    """Pods whose eviction the API server refuses as long as nothing else changes."""
    workloads: tuple[str, ...]
    """NAMESPACE/Kind/name of what these pods belong to."""


class UpgradeReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "UpgradeReport"
    kube_version: str = ""
    cluster: ClusterReference | None = None
    nodes: tuple[str, ...]
    """The nodes to replace, in the order they are."""
    surge: int
    """How many new nodes join before those they replace go."""
    batch: int
    """How many nodes are replaced at a time."""
    steps: tuple[UpgradeStep, ...]
    """Those that got through, and the one that is blocked."""
    replaced: int
    """How many nodes were drained and deleted."""
    blocked: Blocked | None
    """Null where all were replaced."""
    pending: tuple[PendingPods, ...]
    """Pods that wait in the end and did not before."""
    remedies: tuple[str, ...] = ()
    """Options that each, alone, get all nodes replaced with no pod left pending, verified by a full replay."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether all nodes were replaced."""
        return self.blocked is None

    @property
    def left_pending(self) -> int:
        """How many pods wait in the end that did not before."""
        return sum(len(group.pods) for group in self.pending)
