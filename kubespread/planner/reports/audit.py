"""How every workload of a cluster is spread, which constraints do not hold, and why."""

from __future__ import annotations

from typing import Literal, get_args

from kubespread.kube.well_known import DO_NOT_SCHEDULE, ZONE
from kubespread.planner.reports.parts import API_VERSION, ClusterReference, Report

Level = Literal["ok", "unjudged", "risk", "uneven", "violated"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From the least to the worst. ``unjudged``: another scheduler places the pods."""
Cause = Literal[
    "drift",
    "otherPods",
    "volumes",
    "missingLabel",
    "unavailableNodes",
    "capacity",
    "outweighed",
    "defaultNotApplied",
    "noConstraint",
    "loose",
    "noRoom",
    "gated",
    "otherScheduler",
    "unknown",
]


class DomainPods(Report, frozen=True, kw_only=False, gc=False):
    """How many pods of a workload are in one domain."""

    value: str
    """The domain: a value of the topology key."""
    pods: int
    """How many pods are in it."""


class WorstLoss(Report, frozen=True, kw_only=False, gc=False):
    """The domain of a key whose loss takes most of a workload's pods along, and how many then remain."""

    domain: str
    """A value of the topology key."""
    remaining: int
    """Pods in other domains, or on nodes without the label."""


class AuditedConstraint(Report, frozen=True):
    """One constraint in force for the workload's pods, with what it counts now."""

    topology_key: str
    when_unsatisfiable: str
    source: str
    """``pod``, or ``profile`` or ``system`` for a default."""
    max_skew: int
    min_domains: int | None
    selector: str
    domains: int
    """How many domains count: those with a node that the constraint's policies let count."""
    skew: int
    """Most minus least matching pods of these; the least is 0 while they are fewer than minDomains."""
    most: DomainPods | None
    """The first domain with the most matching pods; null where none counts."""
    least: DomainPods | None
    """The first domain with the fewest; null where none counts."""
    counts: tuple[DomainPods, ...] | None
    """Every domain that counts, by value; null where they are more than 16."""
    state: Literal["ok", "violated", "uneven", "vacuous"]
    """``violated``: hard, and the skew is above maxSkew. ``uneven``: the same of a soft one. ``vacuous``: fewer than
    two domains count, or no pod does, so that it holds wherever pods are.
    """

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


class PlacedAfresh(Report, frozen=True):
    """What would come of the workload's pods placed afresh: all are gone, then one after another finds a node."""

    what: str
    """What was changed; empty for the cluster as it is."""
    placed: int
    """How many of the pods find a node."""
    counts: tuple[DomainPods, ...] | None
    """Matching pods by domain of the constraint in question; null where the domains are more than 16."""
    skew: int
    """That of the constraint in question; 0 where the finding is about none."""
    holds: bool
    """Whether all are placed, and no further apart than maxSkew."""


class AuditFinding(Report, frozen=True):
    level: Level
    """How bad it is."""
    cause: Cause
    """``drift``: placed afresh the pods would be even, so a scale-down, a rollout or lost nodes left them as they are.
    ``otherPods``: the constraint counts pods of others too. ``volumes``: their volumes hold them where they are.
    ``missingLabel``: nodes lack the topology key. ``unavailableNodes``: nodes of a domain that counts take no pods.
    ``capacity``: there is too little room. ``outweighed``: a soft constraint gives way to other scores.
    ``defaultNotApplied``: no default constraint applies. ``noConstraint``: none is about the zone, or the host, that
    all pods are in. ``loose``: one is, and its maxSkew allows that. ``noRoom``: the next pod fits nowhere.
    ``gated``: pods wait, or the next one will, behind the scheduling gates in ``detail``. ``otherScheduler``: the pods
    name the scheduler in ``detail``, which is not modeled; a risk where some of them wait for it.
    ``unknown``: no single change that was tried makes the pods even.
    """
    topology_key: str | None
    """That of the constraint, or of the domains that all pods are in; null where it is about neither."""
    detail: str
    """Plugins, nodes, or kube-scheduler's message: what the cause is made of."""
    constraint: int | None = None
    """The place among the workload's ``constraints`` of the one that is not kept; null where it is about none."""
    trials: tuple[PlacedAfresh, ...] = ()
    """What was tried to find the cause, in order; the last one tells it."""


class AuditedWorkload(Report, frozen=True):
    workload: str
    """NAMESPACE/Kind/name; of pods without a controller that share their labels the first one's, as a Pod."""
    level: Level
    """The worst of its findings'."""
    replicas: int
    """How many pods it is to have."""
    placed: int
    """How many of its pods are on nodes and not terminating."""
    pending: int
    """How many of its pods wait for a node."""
    constraints: tuple[AuditedConstraint, ...]
    """As they are declared; default constraints where it has none of its own."""
    zones: tuple[DomainPods, ...]
    """Its pods by zone, by value, for all zones of the cluster."""
    worst_loss: dict[str, WorstLoss]
    """By topology key: the zone's, the host's and those of its constraints, as far as it has pods in their domains. It
    survives the loss of any one domain where some pod remains.
    """
    next_fits: bool | None
    """Whether one more pod would find a node, which none behind a scheduling gate does; null where nobody can say."""
    findings: tuple[AuditFinding, ...]
    """The worst first."""

    @property
    def left(self) -> int | None:
        """How many of its pods are left without the zone that has most of them; None where there are no zones."""
        zone = self.worst_loss.get(ZONE)
        return None if zone is None else zone.remaining

    @property
    def is_bare(self) -> bool:
        """Whether its pods are by themselves."""
        return self.workload.split("/")[1] == "Pod"


class AuditReport(Report, frozen=True, kw_only=True):
    api_version: str = API_VERSION
    kind: str = "AuditReport"
    kube_version: str
    cluster: ClusterReference | None = None
    asked: tuple[str, ...] = ()
    """The workloads named in the question, NAMESPACE/Kind/name; empty if all selected ones were audited."""
    namespace: str | None
    """The namespace whose workloads are asked about, null for all."""
    selector: str
    """The labels of those workloads, empty for all."""
    nodes: int
    """How many the cluster has."""
    workloads: tuple[AuditedWorkload, ...]
    """The worst first, then by namespace, kind and name."""
    gaps: tuple[str, ...] = ()
    not_modelled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def count(self, level: Level) -> int:
        """How many workloads are of one level."""
        return sum(each.level == level for each in self.workloads)
