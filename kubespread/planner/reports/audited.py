"""How one workload is spread, which constraints do not hold, and why."""

from __future__ import annotations

from typing import Literal, get_args

from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.planner.reports.parts import Report
from kubespread.wording import count_of, workload_name

Level = Literal["ok", "unjudged", "risk", "uneven", "violated"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From the least to the worst. ``unjudged``: another scheduler places the pods."""
Cause = Literal[
    "underWay",
    "drift",
    "terminating",
    "otherPods",
    "volumes",
    "minDomains",
    "missingLabel",
    "unavailableNodes",
    "nodeAffinity",
    "podAffinity",
    "otherConstraints",
    "capacity",
    "outweighed",
    "onePod",
    "defaultNotApplied",
    "noConstraint",
    "loose",
    "stuckRollout",
    "pending",
    "notCreated",
    "notReady",
    "noRoom",
    "gated",
    "otherScheduler",
    "unknown",
]
RolloutState = Literal["advancing", "waiting", "stuck", "paused", "unknown"]


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


class PlacedAfresh(Report, frozen=True, kw_only=True):
    """What would come of the workload's pods placed afresh: all are gone, then one after another finds a node."""

    what: str
    """What was changed; empty for the cluster as it is."""
    afresh: bool = True
    """Whether they are placed afresh; where not, they stay where they are."""
    placed: int
    """How many of the pods find a node."""
    counts: tuple[DomainPods, ...] | None
    """Matching pods by domain of the constraint in question, else the workload's own by domain of the key that all are
    in one of; null where the domains are more than 16.
    """
    skew: int
    """That of the constraint in question; 0 where the finding is about none."""
    holds: bool
    """Whether all are placed, and the constraint holds, or they are in more than one domain."""

    @property
    def how(self) -> str:
        """What was tried."""
        return " ".join(part for part in ("placed afresh" if self.afresh else "", self.what) if part)


class RolloutUnderWay(Report, frozen=True):
    """A workload between two revisions."""

    old: int
    """Pods of former revisions that are to go, terminating ones not among them."""
    new: int
    """All of its other pods."""
    state: RolloutState
    """What comes of it when nobody does anything: its controller and kube-scheduler go on. ``advancing``: it gets done.
    ``waiting``: for pods to become ready or to be deleted. ``stuck``: new pods find no node, or are refused, or
    its Deployment says so. ``paused``: its Deployment is. ``unknown``: its controller is not known.
    """
    pending: int
    """New pods that find no node."""
    message: str | None
    """kube-scheduler's, for the first of these, the API server's, for the first that it refuses, or the reason that the
    Deployment gives.
    """


class AuditFinding(Report, frozen=True):
    level: Level
    """How bad it is."""
    cause: Cause
    """Of a constraint that does not hold, and of pods that are all in one domain, the first change that ends it alone,
    of those that were tried. ``underWay``: none, once pods that wait are placed and rollouts are done. ``drift``: none,
    once its pods are placed afresh. ``terminating``: pods that are terminating are gone. ``otherPods``: the constraint
    does not count pods of others. ``volumes``: its pods have none. ``minDomains``: there is none. ``missingLabel``:
    nodes have the topology key. ``unavailableNodes``: nodes are without cordons and taints. ``nodeAffinity``,
    ``podAffinity``: its pods require none. ``otherConstraints``: it has no others. ``capacity``: its pods ask for no
    resources. ``outweighed``: a soft constraint outweighs other scores. ``onePod``: there is another pod.
    ``defaultNotApplied``: the default constraints apply to it. ``noConstraint``: it has one over the zone, or the host.
    ``loose``: the one it has is tighter. ``unknown``: no change that was tried ends it.

    What else there is to say: ``stuckRollout``: pods of its new revision find no node, or are refused. ``pending``:
    pods wait for a node. ``notCreated``: it is to have more pods than there are. ``notReady``: pods on nodes are not.
    ``noRoom``: its next pod fits nowhere. ``gated``: pods wait, or the next one will, behind the scheduling gates in
    ``detail``. ``otherScheduler``: the pods name the scheduler in ``detail``, which is not modeled; a risk where some
    of them wait for it. ``missingLabel`` of a constraint that holds: pods on nodes without the topology key count
    nowhere, or a hard constraint lets none come there.
    """
    topology_key: str | None
    """That of the constraint, or of the domains that all pods are in; null where it is about neither."""
    detail: str
    """What the cause is made of: plugins, nodes, pods, or kube-scheduler's message; else the domain all pods are in."""
    constraint: int | None = None
    """The place among the workload's ``constraints`` of the one that is not kept; null where it is about none."""
    trials: tuple[PlacedAfresh, ...] = ()
    """What was tried to find the cause, in order: the last one tells it, unless it is ``unknown``."""


class AuditedWorkload(Report, frozen=True, kw_only=True):
    workload: str
    """NAMESPACE/Kind/name; of pods without a controller that share their labels the first one's, as a Pod."""
    level: Level
    """The worst of its findings'."""
    replicas: int
    """How many pods it is to have, a Deployment in all of its revisions."""
    placed: int
    """How many of its pods are on nodes and not terminating."""
    ready: int = 0
    """How many of these are ready."""
    pending: int
    """How many of its pods wait for a node."""
    placeable: int | None = None
    """How many of these find one now, each after those before it; null where none waits for kube-scheduler."""
    terminating: int = 0
    """How many of its pods are on their way out; no other number counts them."""
    rollout: RolloutUnderWay | None = None
    """Null where none is under way."""
    constraints: tuple[AuditedConstraint, ...]
    """As they are declared; default constraints where it has none of its own."""
    zones: tuple[DomainPods, ...]
    """Its pods by zone, by value, for all zones of the cluster."""
    worst_loss: dict[str, WorstLoss]
    """By topology key: the zone's, the host's and those of its constraints, as far as it has pods in their domains. It
    survives the loss of any one domain where some pod remains.
    """
    left: int | None = None
    """How many of its pods on nodes are left without the zone that has most of them; null where none is in a zone."""
    next_fits: bool | None
    """Whether one more pod would find a node, which none behind a scheduling gate does; null where nobody can say."""
    findings: tuple[AuditFinding, ...]
    """The worst first."""

    @property
    def called(self) -> str:
        """``Deployment/web``; ``Pod/web-0 and 2 more`` of pods by themselves."""
        name = workload_name(self.workload)
        is_bare, others = self.workload.split("/")[1] == "Pod", self.replicas - 1
        return f"{name} and {others} more" if is_bare and others else name

    @property
    def under_way(self) -> str | None:
        """What is said of a rollout that is under way, None where it is a finding, or where there is none."""
        rollout = self.rollout
        if rollout is None or rollout.state == "stuck":
            return None
        how = {"waiting": ", waiting for pods to become ready or to be deleted", "paused": ", paused"}
        beside = f"{count_of(rollout.new, 'new pod')} beside {rollout.old:,} old"
        return f"rollout under way, {beside}{how.get(rollout.state, '')}"
