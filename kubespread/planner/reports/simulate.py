"""What placing replicas one after another came to."""

from __future__ import annotations

import msgspec

from kubespread.planner.reports.parts import API_VERSION, ConstraintReport, PodReference, PreemptionReport, Report


class Placement(Report, frozen=True, gc=False):
    """One replica. ``ties`` nodes shared the best total; the smallest name, or chance, decided among them."""

    replica: int
    pod: str
    node: str
    total: int
    ties: int


class DomainChange(Report, frozen=True, kw_only=False, gc=False):
    """Matching pods of one domain, before the first and after the last placement."""

    value: str
    before: int
    after: int


class SkewChange(Report, frozen=True):
    """Most minus least matching pods of the domains that count; the least is 0 while they are fewer than minDomains."""

    topology_key: str
    max_skew: int
    before: int
    after: int


class Loss(Report, frozen=True):
    """The domain whose loss takes most replicas along, and how many then remain."""

    domain: str
    remaining: int
    domains: int
    """How many domains hold replicas at all."""
    least: int
    """How many replicas the emptiest domain holds."""


class Range(Report, frozen=True):
    """What a figure came to over several runs."""

    minimum: int
    median: int
    maximum: int


class DomainRange(Report, frozen=True):
    value: str
    after: Range


class Runs(Report, frozen=True):
    """Outcomes of several runs that break ties at random."""

    count: int
    placed: Range
    distribution: tuple[tuple[DomainRange, ...], ...]
    """Per constraint, in the order of ``constraints``."""


class LookAhead(Report, frozen=True):
    """Whether replicas that got stuck would all fit in another order."""

    nodes: tuple[str, ...] | None
    """A node for each replica, in order; null when no such order was found."""
    steps: int
    """How many placements the search tried."""
    exhausted: bool
    """Whether every order was tried, so that none exists; otherwise the search found one or ended at its bound."""
    blocking: tuple[str, ...]
    """The constraints without any one of which all would fit."""


class SimulateReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "SimulateReport"
    kube_version: str
    scheduler_name: str
    pod: PodReference
    workload: str | None = None
    """Kind/name of what the replicas belong to."""
    replicas: int | None
    """How many there should be; null when as many as fit were asked for."""
    present: int = 0
    """How many replicas of the workload are already running and stay where they are."""
    placed: int
    placements: tuple[Placement, ...]
    stopped: str | None
    """kube-scheduler's message for the first replica that stays pending; null when all are placed."""
    seed: int | None = None
    """What ties were broken with at random; null when they went as ``ties`` says."""
    ties: str = "scheduler"
    """How ties were broken: ``scheduler``, by kube-scheduler's own order, or ``name``, by node name."""
    created: int | None = None
    """How many of the replicas exist in the end, pending ones included: fewer than ``replicas`` where a quota refuses
    the others or a StatefulSet waits for its last one. Null when as many as fit were asked for.
    """
    constraints: tuple[ConstraintReport, ...] = ()
    """As they stand after the last placement."""
    distribution: tuple[tuple[DomainChange, ...], ...] = ()
    """Per constraint, in the order of ``constraints``."""
    skew: tuple[SkewChange, ...] = ()
    worst_loss: dict[str, Loss] = msgspec.field(default_factory=dict)
    """Per topology key."""
    runs: Runs | None = None
    look_ahead: LookAhead | None = None
    """Only when replicas stay pending though their order could matter."""
    preemption: PreemptionReport | None = None
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    admission: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """Kind/name of what was placed, a pod by itself included."""
        return self.workload or f"Pod/{self.pod.name}"

    @property
    def pending(self) -> int:
        """How many replicas found no node."""
        return 0 if self.replicas is None else max(0, self.replicas - self.present - self.placed)

    @property
    def per_node(self) -> dict[str, int]:
        """How many replicas each node got, in the order of the first placement there."""
        counts: dict[str, int] = {}
        for placement in self.placements:
            counts[placement.node] = counts.get(placement.node, 0) + 1
        return counts

    def skew_of(self, key: str) -> int:
        """The greatest skew of the constraints over ``key``; without one, that of the replicas themselves."""
        constrained = [change.after for change in self.skew if change.topology_key == key]
        if constrained:
            return max(constrained)
        loss = self.worst_loss[key]
        return self.present + self.placed - loss.remaining - loss.least

    def with_gaps(self, missing: tuple[str, ...]) -> SimulateReport:
        """The same answer, with what its source lacked named first."""
        return msgspec.structs.replace(self, gaps=tuple(dict.fromkeys((*missing, *self.gaps))))
