"""Report of the spread of every workload of a cluster, the constraints that do not hold, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, get_args

from msgspec import Struct
from msgspec.structs import force_setattr

from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import DO_NOT_SCHEDULE, ZONE
from kubespread.reports.parts import Judgment, OfWorkloads, PreemptedPod, Report, Share, preempted_pods
from kubespread.reports.reason_words import reasons_in
from kubespread.wording import count_of, says, short_key, some_of

Level = Literal["ok", "unjudged", "risk", "uneven", "violated"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""Levels from the least to the worst. ``unjudged``: another scheduler places the pods."""
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
    "missesOwnPods",
    "stuckRollout",
    "pending",
    "notCreated",
    "notReady",
    "noRoom",
    "refused",
    "gated",
    "otherScheduler",
    "unknown",
]
RolloutState = Literal["advancing", "waiting", "stuck", "paused", "unknown"]
_MAX_SAID = 20
"""The most findings in an answer's sentences; the rows have all."""
_MAX_NAMED = 3
_FEW = 6


class CauseRow(Struct, frozen=True, kw_only=True):
    """One cause: what is said of it. How it is undone is a row of `causes.UNDONE`."""

    means: str
    """Meaning for the documentation: which change ends it, else what it is."""
    so: str = ""
    """Sentence on the trial that ended it. ``{them}`` are the pods, ``{what}`` is what the cause is made of."""
    place: str = ""
    """Sentence on pods that are all in one domain, before that trial."""
    said: str = ""
    """The sentence where it is not about where pods are."""
    level: Level = "risk"
    """Level of the finding, where no constraint has one."""
    badness: Literal["critical", "warning", "notice"] | None = None
    """Badness in a report on the cluster, of what is about pods that are missing."""
    is_pending: bool = False
    """True if it is what pods wait for, which the question of that name tells."""


CAUSES: Mapping[Cause, CauseRow] = {
    "underWay": CauseRow(means="none, once pods that wait are placed and rollouts are done"),
    "drift": CauseRow(
        means="none, once its pods are placed afresh",
        so=", so a scale-down, a rollout, lost nodes or the like left {them}",
    ),
    "terminating": CauseRow(
        means="pods that are terminating are gone",
        so=", so terminating pods still hold room: {what}; evict again once they are gone",
    ),
    "otherPods": CauseRow(
        means="the constraint does not count pods of others",
        so=", so the pods of others that it counts make it uneven: {what}",
    ),
    "volumes": CauseRow(means="its pods have none", so=", so its volumes hold {them}: {what}"),
    "minDomains": CauseRow(means="there is none", so=", so minDomains {what} makes the minimum 0, as {domains}"),
    "missingLabel": CauseRow(
        means="nodes have the topology key; of a constraint that holds: pods on nodes without it count nowhere, or a "
        "hard constraint lets none come there",
        so=", so nodes without the label are missing: {what}",
        said="nodes without the label {key} count in none of its domains{detail}",
    ),
    "unavailableNodes": CauseRow(
        means="nodes are without cordons and taints", so=", so nodes that take no pods hold {them} there: {what}"
    ),
    "nodeAffinity": CauseRow(means="its pods require none", so=", so its {what} holds {them} there"),
    "podAffinity": CauseRow(means="its pods require none", so=", so its {what} holds {them} there"),
    "otherConstraints": CauseRow(means="it has no others", so=", so its other constraints hold {them} there: {what}"),
    "capacity": CauseRow(means="its pods ask for no resources", so=", so there is too little room {where}"),
    "outweighed": CauseRow(means="a soft constraint outweighs other scores", so=", so it is outweighed by {what}"),
    "onePod": CauseRow(means="there is another pod"),
    "defaultNotApplied": CauseRow(
        means="the default constraints apply to it",
        place=": no Service and no controller with a selector gives them default constraints",
    ),
    "noConstraint": CauseRow(
        means="it has one over the zone, or the host", place=", and no constraint is about {key}s"
    ),
    "loose": CauseRow(means="the one it has is tighter", place=", which {allowed} allows"),
    "missesOwnPods": CauseRow(
        means="the constraint selects the pods' own labels: it counts none of them",
        said="{what}: the constraint over {key} counts none of its {pods}{select}",
    ),
    "stuckRollout": CauseRow(
        means="pods of its new revision find no node, or are refused",
        badness="critical",
        said="rollout stuck{new}: {reasons}",
    ),
    "pending": CauseRow(
        means="pods wait for a node",
        is_pending=True,
        said="{placed} of {pods} on nodes, {pending} pending{now}{detail}",
    ),
    "notCreated": CauseRow(
        means="it is to have more pods than there are",
        badness="critical",
        said="not all of its {pods} are created{detail}",
    ),
    "notReady": CauseRow(
        means="pods on nodes are not", badness="critical", said="{ready} of {pods} ready; not ready{detail}"
    ),
    "noRoom": CauseRow(means="its next pod fits nowhere", badness="notice", said="its next pod fits nowhere{detail}"),
    "refused": CauseRow(
        means="the API server refuses its pods when they are made again",
        badness="warning",
        said="a pod of it that goes is not created again{detail}",
    ),
    "gated": CauseRow(
        means="pods wait, or the next one will, behind the scheduling gates in ``detail``",
        badness="notice",
        is_pending=True,
        said="its next pod waits behind scheduling gate {what}",
    ),
    "otherScheduler": CauseRow(
        means="the pods name the scheduler in ``detail``, which is not modeled; a risk where some of them wait for it",
        level="unjudged",
        badness="notice",
        is_pending=True,
        said="placed by scheduler {what}, which is not modeled{unknown}",
    ),
    "unknown": CauseRow(means="no change that was tried ends it"),
}


class DomainPods(Report, frozen=True, kw_only=False, gc=False):
    """Number of a workload's pods in one domain."""

    value: str
    """The domain: a value of the topology key."""
    pods: int
    """Number of pods in it."""


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
    domains: int
    """Number of domains that count: those with a node that the constraint's policies let count."""
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
    """Outcome for the workload's pods placed afresh: all are gone, then one after another finds a node."""

    what: str
    """Change that was made; empty for the cluster as it is."""
    afresh: bool = True
    """True if they are placed afresh; where not, they stay where they are."""
    placed: int
    """Number of the pods that find a node."""
    counts: tuple[DomainPods, ...] | None
    """Matching pods by domain of the constraint in question, else the workload's own by domain of the key that all are
    in one of; null where the domains are more than 16.
    """
    skew: int
    """Skew of the constraint in question; 0 where the finding is about none."""
    holds: bool
    """True if all are placed, and the constraint holds, or they are in more than one domain."""

    @property
    def how(self) -> str:
        """Name what was tried."""
        return " ".join(part for part in ("placed afresh" if self.afresh else "", self.what) if part)


class RolloutUnderWay(Report, frozen=True):
    """A workload between two revisions."""

    old: int
    """Pods of old revisions that will be deleted, without terminating ones."""
    new: int
    """All of its other pods."""
    state: RolloutState
    """State it comes to when nobody does anything: its controller and kube-scheduler go on. ``advancing``: it gets
    done. ``waiting``: for pods to become ready or to be deleted. ``stuck``: new pods find no node, or are refused, or
    its Deployment says so. ``paused``: its Deployment is. ``unknown``: its controller is not known.
    """
    pending: int
    """New pods that find no node."""
    message: str | None
    """kube-scheduler's, for the first of these, the API server's, for the first that it refuses, or the reason that the
    Deployment gives.
    """


class AuditFinding(Report, frozen=True):
    meanings: ClassVar = {"cause": CAUSES}

    level: Level
    """Level of the finding."""
    cause: Cause
    """First change that alone ends it, of those that were tried, for a constraint that does not hold and for pods that
    are all in one domain; else what there is to say.
    """
    topology_key: str | None
    """Topology key of the constraint, or of the domains that all pods are in; null where it is about neither."""
    detail: str
    """Plugins, nodes, pods or kube-scheduler's message that the cause is made of; else the domain all pods are in."""
    constraint: int | None = None
    """The place among the workload's ``constraints`` of the one that is not kept; null where it is about none."""
    select: str | None = None
    """The label that a selector which misses its own pods was probably to select, KEY=VALUE; null where none is like
    it.
    """
    trials: tuple[PlacedAfresh, ...] = ()
    """Trials made to find the cause, in order: the last one tells it, unless it is ``unknown``."""

    @property
    def remedy(self) -> str | None:
        """``placed afresh: 1/1/1``: the last trial, where it ended what was found."""
        last = self.trials[-1] if self.trials else None
        if last is None or not last.holds or self.cause == "unknown":
            return None
        return f"{last.how}: {counts_text(last.counts)}"

    @classmethod
    def of(cls, cause: Cause, detail: str, topology_key: str | None = None) -> AuditFinding:
        """Make a finding that no constraint and no trial says more about."""
        return cls(level=CAUSES[cause].level, cause=cause, topology_key=topology_key, detail=detail)


class AuditedWorkload(Report, frozen=True, kw_only=True):
    workload: WorkloadName
    """NAMESPACE/Kind/name; of pods without a controller that share their labels the first one's, as a Pod."""
    level: Level
    """The worst of its findings'."""
    replicas: int
    """Desired pods; a Deployment's in all of its revisions together."""
    placed: int
    """Number of its pods that are on nodes and not terminating."""
    ready: int = 0
    """Number of these that are ready."""
    pending: int
    """Number of its pods that wait for a node."""
    placeable: int | None = None
    """Number of these that find one now, each after those before it; null where none waits for kube-scheduler."""
    terminating: int = 0
    """Number of its pods that are on their way out; no other number counts them."""
    rollout: RolloutUnderWay | None = None
    """Rollout under way; null where there is none."""
    constraints: tuple[AuditedConstraint, ...]
    """Constraints as they are declared; default constraints where it has none of its own."""
    budgets: tuple[str, ...] | None = None
    """The names of the disruption budgets that select its pods; null where budgets, or its pods' labels, are not known.
    """
    zones: tuple[DomainPods, ...]
    """Its pods by zone, by value, for all zones of the cluster."""
    domains: tuple[DomainPods, ...] = ()
    """Its pods by domain of the report's ``topology_key``, by value, for all domains of the cluster."""
    worst_loss: dict[str, WorstLoss]
    """Worst loss by topology key: the zone's, the host's, the question's and those of its constraints, if it has pods
    in their domains. It survives the loss of any one domain if some pod remains.
    """
    left: int | None = None
    """Number of its pods on nodes that are left without the zone, or the domain of the question's key, that has most of
    them; null where none is in one.
    """
    next_fits: bool | None
    """True if one more pod would find a node, which no gated pod does; null where it cannot be told."""
    findings: tuple[AuditFinding, ...]
    """The worst first."""

    @property
    def called(self) -> str:
        """``Deployment/web``; ``Pod/web-0 and 2 more`` of pods by themselves."""
        name = self.workload.called
        is_bare, others = self.workload.kind == "Pod", self.replicas - 1
        return f"{name} and {others} more" if is_bare and others else name

    @property
    def lacking(self) -> int:
        """Number of pods it is to have that are not ready."""
        return max(0, self.replicas - self.ready)

    @property
    def is_unconstrained(self) -> bool:
        """True if its pods have no constraint of their own, as far as it is judged."""
        is_judged = all(finding.cause != "otherScheduler" for finding in self.findings)
        return is_judged and all(constraint.source != "pod" for constraint in self.constraints)

    @property
    def is_free(self) -> bool:
        """True if no constraint in force is over zones; not known of a pod that is rejected before they are judged."""
        is_known = bool(self.constraints) or self.next_fits is True
        return is_known and all(constraint.topology_key != ZONE for constraint in self.constraints)

    @property
    def is_unprotected(self) -> bool:
        """True if no budget keeps an eviction from taking all of its pods; those of a Job end by themselves."""
        return self.replicas > 1 and self.budgets == () and self.workload.kind != "Job"

    @property
    def under_way(self) -> str | None:
        """The sentence on a rollout under way, None where it is a finding, or where there is none."""
        rollout = self.rollout
        if rollout is None or rollout.state == "stuck":
            return None
        how = {"waiting": ", waiting for pods to become ready or to be deleted", "paused": ", paused"}
        beside = f"{count_of(rollout.new, 'new pod')} beside {rollout.old:,} old"
        return f"rollout under way, {beside}{how.get(rollout.state, '')}"


class AuditReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "AuditReport"
    nodes: int
    """Number of nodes in the cluster."""
    topology_key: str = ZONE
    """The label whose domains are counted and lost: the zone's, unless the question names another."""
    workloads: tuple[AuditedWorkload, ...]
    """The worst first, then by namespace, kind and name."""
    levels: dict[Level, int] = {}
    """Number of workloads of each level."""
    unconstrained: tuple[WorkloadName, ...] = ()
    """The workloads whose pods have no spread constraint of their own: defaults apply, or nothing does."""
    made_room: tuple[PreemptedPod, ...] = ()
    """Pods that those without a node preempt in the end."""
    unprotected: tuple[WorkloadName, ...] = ()
    """The workloads of several pods that no disruption budget selects, without Jobs; empty where budgets are not known.
    """

    def count(self, level: Level) -> int:
        """Count the workloads of one level."""
        return sum(workload.level == level for workload in self.workloads)

    def reaches(self, level: Level) -> int:
        """Count the workloads of a level, or of a worse one."""
        return sum(LEVELS.index(row.level) >= LEVELS.index(level) for row in self.workloads)

    def __post_init__(self) -> None:
        force_setattr(self, "levels", {level: self.count(level) for level in LEVELS})
        bare = tuple(row.workload for row in self.workloads if row.is_unconstrained)
        force_setattr(self, "unconstrained", bare)
        force_setattr(self, "unprotected", tuple(row.workload for row in self.workloads if row.is_unprotected))

    def judged(self) -> Judgment:
        if self.reaches("risk"):
            return "no"
        return "unknown" if self.reaches("unjudged") else "yes"

    @property
    def is_no(self) -> bool:
        return bool(self.count("violated"))

    def worst_finding(self) -> str:
        return next(_finding_sentences(self), "")

    def share(self) -> Share:
        rank = max((LEVELS.index(row.level) for row in self.workloads), default=0)
        return Share(self.reaches("risk"), len(self.workloads), "workloads", rank)

    def sentences(self) -> Iterator[str]:
        yield _in_numbers(self)
        if self.unconstrained and len(self.workloads) > 1:
            names = some_of([name.called for name in self.unconstrained], _MAX_NAMED)
            have, own = ("has", "its") if len(self.unconstrained) == 1 else ("have", "their")
            yield f"{len(self.unconstrained):,} of them {have} no spread constraint of {own} own: {names}"
        yield from _finding_sentences(self)
        if self.made_room:
            yield f"pods that wait preempt {preempted_pods(self.made_room, _MAX_NAMED)}"
        if self.unprotected:
            yield without_budget(self.unprotected, _MAX_NAMED)
        for row in self.workloads:
            if under_way := row.under_way:
                yield f"{row.called}: {under_way}"


def without_budget(workloads: Sequence[WorkloadName], most: int) -> str:
    names = some_of([name.called for name in workloads], most)
    return f"{says(len(workloads), 'workload', 'have')} several pods and no disruption budget: {names}"


def _in_numbers(report: AuditReport) -> str:
    """Say how many workloads are of each level."""
    words: dict[Level, str] = {"violated": "violated", "uneven": "uneven", "risk": "at risk", "unjudged": "not judged"}
    counts = [f"{report.levels[level]:,} {word}" for level, word in words.items() if report.levels[level]]
    workloads = count_of(len(report.workloads), "workload")
    return (
        f"{', '.join(counts)}, {report.levels['ok']:,} fine of {workloads}" if counts else f"{workloads}, nothing found"
    )


def _finding_sentences(report: AuditReport) -> Iterator[str]:
    """Findings, the worst first; workloads with the same sentence are grouped."""
    by_sentence: dict[str, list[str]] = {}
    findings = [(row, finding) for row in report.workloads for finding in row.findings]
    for row, finding in sorted(findings, key=lambda pair: -LEVELS.index(pair[1].level)):
        by_sentence.setdefault(sentence(row, finding), []).append(row.called)
    for text, names in list(by_sentence.items())[:_MAX_SAID]:
        yield f"{some_of(names, _MAX_NAMED)}: {text}"
    if len(by_sentence) > _MAX_SAID:
        yield f"and {count_of(len(by_sentence) - _MAX_SAID, 'finding')} more"


def sentence(row: AuditedWorkload, finding: AuditFinding) -> str:
    """Say what is found, and why: ``zone skew 3 exceeds maxSkew 1 (5/2/2): placed afresh it would be 3/3/3``."""
    if finding.constraint is not None:
        constraint = row.constraints[finding.constraint]
        head = f"{short_key(constraint.topology_key)} skew {constraint.skew} exceeds maxSkew {constraint.max_skew}"
        return f"{head} ({counts_text(constraint.counts, constraint)}): {_why_exceeded(constraint, finding)}"
    if finding.trials or finding.cause in ("onePod", "unknown"):
        return _why_in_one_domain(row, finding)
    new = row.rollout.pending if row.rollout is not None else 0
    return CAUSES[finding.cause].said.format(
        what=finding.detail,
        detail=f": {finding.detail}" if finding.detail else "",
        key=short_key(finding.topology_key or ""),
        pods=count_of(row.replicas, "pod"),
        select=f"; select {finding.select}" if finding.select else "",
        placed=row.placed,
        ready=row.ready,
        pending=row.pending,
        now=f", {row.placeable} of them placeable now" if row.placeable else "",
        new=f", {count_of(new, 'new pod')} pending" if new else "",
        reasons=reasons_in(finding.detail).removesuffix("."),
        unknown=f"; {row.pending} pending" if row.pending else ", so how it is spread is not judged",
    )


def _why_exceeded(constraint: AuditedConstraint, finding: AuditFinding) -> str:
    if finding.cause == "unknown":
        as_it_is = next((trial for trial in finding.trials if trial.afresh and not trial.what), None)
        would = f"; {_would(as_it_is)}" if as_it_is is not None else ""
        return f"no change that was tried makes it even ({len(finding.trials)} tried){would}"
    domains = f"{count_of(constraint.domains, 'domain')} {'counts' if constraint.domains == 1 else 'count'}"
    so = CAUSES[finding.cause].so.format(them="it", what=finding.detail, where=f"in {finding.detail}", domains=domains)
    return f"{_would(finding.trials[-1])}{so}"


def _would(trial: PlacedAfresh, whose: str = "it") -> str:
    """``placed afresh without volumes it would be 1/1/1``."""
    return f"{trial.how} {whose} would be {counts_text(trial.counts)}"


def _why_in_one_domain(row: AuditedWorkload, finding: AuditFinding) -> str:
    key = short_key(finding.topology_key or "")
    loss = row.worst_loss.get(finding.topology_key or "")
    domain = finding.detail if loss is None else loss.domain
    place = f"on node {domain}" if key == "hostname" else f"in {key} {domain}"
    one = "one pod" if row.replicas == 1 else "one pod on a node"
    several = "both pods are" if row.placed == 2 else f"all {row.placed:,} pods are"
    head = f"{one}, {place}" if row.placed == 1 else f"{several} {place}"
    if not finding.trials:
        return head
    last = finding.trials[-1]
    if row.placed == 1 and finding.cause in ("onePod", "unknown"):
        second = "elsewhere" if last.holds else "there too"
        return f"{head}, and a second one {f'would be {second}' if last.placed > 1 else 'fits nowhere'}"
    if finding.cause == "unknown":
        return f"{head}, and no change that was tried spreads them ({len(finding.trials)} tried)"
    over = (constraint for constraint in row.constraints if constraint.topology_key == finding.topology_key)
    cause, allowed = CAUSES[finding.cause], next(map(constraint_text, over), "")
    so = cause.so.format(them="them", what=finding.detail, where="elsewhere")
    return f"{head}{cause.place.format(key=key, allowed=allowed)}; {_would(last, 'they')}{so}"


def constraint_text(constraint: AuditedConstraint) -> str:
    """``zone ≤ 1``, with anything unusual: ``zone ≤ 5 soft, default``."""
    extras = [*([] if constraint.is_hard else ["soft"]), *(["default"] if constraint.source != "pod" else [])]
    text = f"{short_key(constraint.topology_key)} ≤ {constraint.max_skew}"
    return f"{text} {', '.join(extras)}" if extras else text


def counts_text(counts: Sequence[DomainPods] | None, constraint: AuditedConstraint | None = None) -> str:
    """``3/2/1``, of many domains ``1 to 3``."""
    if counts is not None and len(counts) <= _FEW:
        return "/".join(str(count.pods) for count in counts) or "-"
    if counts:
        return f"{min(count.pods for count in counts)} to {max(count.pods for count in counts)}"
    if constraint is not None and constraint.most is not None and constraint.least is not None:
        return f"{constraint.least.pods} to {constraint.most.pods}"
    return "-"
