"""Present spread of workloads: the counts of their constraints, and the causes of uneven spread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, get_args

from msgspec.structs import force_setattr

from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import DO_NOT_SCHEDULE, ZONE
from kubespread.questions.question import Option, WorkloadsQuestion
from kubespread.reports.columns import Col, Fit, Readers
from kubespread.reports.findings import CAUSES, Cause
from kubespread.reports.parts import Finding, Judgment, OfWorkloads, PreemptedPod, Report, preempted_pods
from kubespread.wording import count_of, says, short_key, some_of

if TYPE_CHECKING:
    from kubespread.questions.commands import Commands

Level = Literal["ok", "unjudged", "risk", "uneven", "violated"]
LEVELS: tuple[Level, ...] = get_args(Level)
"""From the least to the worst. ``unjudged``: another scheduler places the pods."""
STATES: dict[Level, str] = {
    "ok": "ok",
    "unjudged": "not judged",
    "risk": "at risk",
    "uneven": "uneven",
    "violated": "violated",
}
RolloutState = Literal["advancing", "waiting", "stuck", "paused", "unknown"]
_MAX_SENTENCES = 20
"""The most findings in an answer's sentences; the rows have all."""
_MAX_NAMED = 3
_FEW = 6
_PEOPLE = Readers.TERMINAL | Readers.PAGES


class DomainPods(Report, frozen=True, kw_only=False, gc=False):
    """Number of a workload's pods in one domain."""

    value: str
    """The domain: a value of the topology key."""
    pods: int
    """Number of pods in it."""


class WorstLoss(Report, frozen=True, kw_only=False, gc=False):
    """The domain with most of a workload's pods, and the number that remain if it is lost."""

    domain: str
    """A value of the topology key."""
    remaining: int
    """Pods in other domains, or on nodes without the label."""


class AuditedConstraint(Report, frozen=True):
    """One constraint in force for the workload's pods, with its present counts."""

    topology_key: str
    when_unsatisfiable: str
    source: str
    """``pod``, or ``profile`` or ``system`` for a default."""
    max_skew: int
    domains: int
    """Number of domains that count: each has a node that the constraint's policies include."""
    skew: int
    """Most minus fewest matching pods of the counted domains; the fewest is 0 below minDomains."""
    most: DomainPods | None
    """The first domain with the most matching pods; null if none counts."""
    least: DomainPods | None
    """The first domain with the fewest; null if none counts."""
    counts: tuple[DomainPods, ...] | None
    """Every counted domain, by value; null if there are more than 16."""
    state: Literal["ok", "violated", "uneven", "vacuous"]
    """Judgment of its counts.

    ``violated``: hard, with a skew above maxSkew. ``uneven``: soft, with such a skew. ``vacuous``: fewer than two
    domains count, or its selector never counts a pod.
    """

    @property
    def is_hard(self) -> bool:
        return self.when_unsatisfiable == DO_NOT_SCHEDULE


class PlacedAfresh(Report, frozen=True, kw_only=True):
    """Result of a trial: unless ``afresh`` is false, all pods of the workload are removed and placed again, one after
    another.
    """

    what: str
    """The change that was made first; empty for none."""
    afresh: bool = True
    """False if the pods stayed where they are."""
    placed: int
    """Number of pods that find a node."""
    counts: tuple[DomainPods, ...] | None
    """Matching pods per domain of the finding's constraint, else own pods per domain of its key; null above 16
    domains.
    """
    skew: int
    """Skew of the finding's constraint; 0 without one."""
    holds: bool
    """True if all are placed, and the constraint holds or the pods are in more than one domain."""

    @property
    def trial_text(self) -> str:
        """``placed afresh without volumes``."""
        return " ".join(part for part in ("placed afresh" if self.afresh else "", self.what) if part)


class RolloutUnderWay(Report, frozen=True):
    """A workload between two revisions."""

    old: int
    """Pods of old revisions to be deleted, without terminating ones."""
    new: int
    """All other pods of the workload."""
    state: RolloutState
    """State that the rollout reaches by itself.

    ``advancing``: it completes. ``waiting``: for pods to become ready or to be deleted. ``stuck``: new pods find no
    node, or are refused, or its Deployment says so. ``paused``: its Deployment is. ``unknown``: its controller is not
    modeled, or fails.
    """
    pending: int
    """New pods that find no node."""
    message: str | None
    """kube-scheduler's message for the first pending pod, the API server's for the first it refuses, or the
    Deployment's own reason.
    """


class AuditFinding(Finding, frozen=True, kw_only=True, rename={"code": "cause", "topology_key": "topologyKey"}):
    meanings: ClassVar = {"code": CAUSES}
    words: ClassVar = CAUSES

    subject: Annotated[str, Col(header="WORKLOAD")] = ""
    level: Annotated[Level, Col()] = "risk"
    code: Annotated[Cause, Col(header="CAUSE")]
    """For a violated constraint, or pods that are all in one domain, the first change that alone ends it; else the kind
    of finding.
    """
    text: Annotated[str, Col(header="FINDING")] = ""
    """The finding and its reason in a sentence."""
    topology_key: str | None = None
    """Topology key of the constraint, or of the domain that all pods are in; null without either."""
    detail: str = ""
    """Plugins, nodes, pods or kube-scheduler's message behind the cause; else the domain that all pods are in."""
    constraint: int | None = None
    """Position, in ``constraints``, of the constraint that does not hold; null without one."""
    select: str | None = None
    """Label, KEY=VALUE, that a selector which misses its own pods probably meant; null if no label is similar."""
    trials: tuple[PlacedAfresh, ...] = ()
    """Trials made to find the cause, in order: the last one shows it, unless it is ``unknown``."""

    @property
    def is_unexplained(self) -> bool:
        """True for pods that are not created, for no reason in the snapshot."""
        return bool(self.numbers.get("fitting"))

    @property
    def remedy(self) -> str | None:
        """``placed afresh: 1/1/1``: the last trial, if it ended the finding."""
        last = self.trials[-1] if self.trials else None
        if last is None or not last.holds or self.code == "unknown":
            return None
        return f"{last.trial_text}: {counts_text(last.counts)}"


class AuditedWorkload(Report, frozen=True, kw_only=True):
    workload: Annotated[WorkloadName, Col(readers=Readers.RECORDS)]
    """NAMESPACE/Kind/name; for pods without a controller that share labels, the first Pod."""
    level: Annotated[Level, Col(readers=Readers.RECORDS)]
    """The worst level of its findings."""
    replicas: Annotated[int, Col(readers=Readers.PIPES)]
    """Desired pods; of a Deployment, in all revisions together."""
    placed: Annotated[int, Col(readers=Readers.PIPES)]
    """Number of pods on nodes that are not terminating."""
    ready: int = 0
    """Number of placed pods that are ready."""
    pending: Annotated[int, Col(readers=Readers.PIPES)]
    """Number of pods without a node."""
    placeable: int | None = None
    """Number of pending pods that find a node now, placed one after another; null if none waits for kube-scheduler, or
    a controller fails.
    """
    terminating: int = 0
    """Number of terminating pods; no other number includes them."""
    rollout: RolloutUnderWay | None = None
    """Null if no rollout is under way."""
    constraints: tuple[AuditedConstraint, ...]
    """Constraints as declared, else the default constraints."""
    budgets: tuple[str, ...] | None = None
    """Disruption budgets that select its pods; null if budgets, or its pods' labels, are not known."""
    zones: Annotated[tuple[DomainPods, ...], Col(value=counts_text)]
    """Number of its pods in each zone of the cluster, by value."""
    domains: Annotated[tuple[DomainPods, ...], Col(value=counts_text)] = ()
    """Number of its pods in each domain of the report's ``topology_key``, by value."""
    worst_loss: dict[str, WorstLoss]
    """Worst loss by topology key: zone, host, the question's key and its constraints' keys, if it has pods in domains.
    """
    left: Annotated[int | None, Col(header="LEFT-IF-DOMAIN-LOST")] = None
    """Number of its pods outside the zone, or the domain of the question's key, with most of them; null if none is in
    one.
    """
    next_fits: Annotated[bool | None, Col(header="ROOM-FOR-+1", readers=Readers.PIPES)]
    """True if one more pod would find a node, which no gated pod does; null if that is unknown."""
    findings: tuple[AuditFinding, ...]
    """The worst first."""

    @property
    def called(self) -> Annotated[str, Col(header="WORKLOAD", readers=Readers.TERMINAL, fit=Fit.NAMES)]:
        """``Deployment/web``; ``Pod/web-0 and 2 more`` of pods by themselves."""
        name = self.workload.short_name
        is_bare, others = self.workload.kind == "Pod", self.replicas - 1
        return f"{name} and {others} more" if is_bare and others else name

    @property
    def pods(self) -> Annotated[str, Col(readers=_PEOPLE, is_number=True)]:
        """``3``, ``2 of 3``."""
        return f"{self.placed}" if self.placed == self.replicas else f"{self.placed} of {self.replicas}"

    @property
    def shown_constraint(self) -> AuditedConstraint | None:
        """The worst constraint, by state, then one over zones, then the first."""
        order = ("violated", "uneven", "ok", "vacuous")
        return min(
            self.constraints,
            key=lambda constraint: (order.index(constraint.state), constraint.topology_key != ZONE),
            default=None,
        )

    @property
    def constraint(self) -> Annotated[str, Col(readers=Readers.PIPES)]:
        shown = self.shown_constraint
        return "" if shown is None else f"{short_key(shown.topology_key)}:{shown.when_unsatisfiable}"

    @property
    def terms(self) -> Annotated[str, Col(header="CONSTRAINT", readers=_PEOPLE)]:
        """The constraint to show, in words."""
        if self.shown_constraint is not None:
            return constraint_text(self.shown_constraint)
        return "?" if self.has("otherScheduler") else "none"

    @property
    def source(self) -> Annotated[str | None, Col(readers=Readers.PIPES)]:
        return None if self.shown_constraint is None else self.shown_constraint.source

    @property
    def skew(self) -> Annotated[int | None, Col(readers=Readers.PIPES)]:
        return None if self.shown_constraint is None else self.shown_constraint.skew

    @property
    def skew_above(self) -> Annotated[str, Col(header="SKEW", readers=_PEOPLE, is_number=True)]:
        """``3 > 1`` where the skew exceeds maxSkew, else the skew."""
        shown = self.shown_constraint
        if shown is None:
            return ""
        return f"{shown.skew} > {shown.max_skew}" if shown.skew > shown.max_skew else f"{shown.skew}"

    @property
    def max_skew(self) -> Annotated[int | None, Col(readers=Readers.PIPES)]:
        return None if self.shown_constraint is None else self.shown_constraint.max_skew

    @property
    def room(self) -> Annotated[str, Col(header="ROOM-FOR-+1", readers=_PEOPLE)]:
        if self.next_fits is None:
            return "?"
        return "yes" if self.next_fits else "gated" if self.has("gated") else "no"

    @property
    def causes(self) -> Annotated[list[Cause], Col(readers=Readers.RECORDS)]:
        return list(dict.fromkeys(finding.code for finding in self.findings))

    @property
    def state(self) -> Annotated[str, Col(readers=Readers.TERMINAL, fit=Fit.SENTENCE)]:
        return STATES[self.level]

    def has(self, cause: Cause) -> bool:
        return cause in self.causes

    @property
    def lacking(self) -> int:
        """Number of desired pods that are not ready."""
        return max(0, self.replicas - self.ready)

    @property
    def is_unconstrained(self) -> bool:
        """True if its pods declare no constraint; False if another scheduler places them."""
        return not self.has("otherScheduler") and all(constraint.source != "pod" for constraint in self.constraints)

    @property
    def lacks_zone_constraint(self) -> bool:
        """True if no constraint in force is over zones; False if constraints were not judged."""
        is_known = bool(self.constraints) or self.next_fits is True
        return is_known and all(constraint.topology_key != ZONE for constraint in self.constraints)

    @property
    def is_unprotected(self) -> bool:
        """True if no budget limits evictions of its pods; pods of a Job end by themselves."""
        return self.replicas > 1 and self.budgets == () and self.workload.kind != "Job"

    @property
    def under_way(self) -> str | None:
        """Sentence on the rollout; None without one, or if it is a finding."""
        rollout = self.rollout
        if rollout is None or rollout.state == "stuck":
            return None
        how = {"waiting": ", waiting for pods to become ready or to be deleted", "paused": ", paused"}
        beside = f"{count_of(rollout.new, 'new pod')} beside {rollout.old:,} old"
        return f"rollout under way, {beside}{how.get(rollout.state, '')}"


class AuditReport(OfWorkloads, frozen=True, kw_only=True):
    kind: str = "AuditReport"
    only_no_counts = True
    nodes: int
    topology_key: str = ZONE
    """Label of the domains that are counted and lost: the zone's, unless the question names another."""
    workloads: tuple[AuditedWorkload, ...]
    """The worst first, then by namespace, kind and name."""
    levels: dict[Level, int] = {}
    """Number of workloads of each level."""
    unconstrained: tuple[WorkloadName, ...] = ()
    """Workloads with no spread constraint in their pods: defaults apply, or none do."""
    made_room: tuple[PreemptedPod, ...] = ()
    """Pods that are preempted once pending pods are placed."""
    unprotected: tuple[WorkloadName, ...] = ()
    """Workloads of several pods that no disruption budget selects, without Jobs; empty if budgets are not known."""

    def count(self, level: Level) -> int:
        return sum(workload.level == level for workload in self.workloads)

    def count_from(self, level: Level) -> int:
        """Count the workloads of a level, or of a worse one."""
        return sum(LEVELS.index(row.level) >= LEVELS.index(level) for row in self.workloads)

    def __post_init__(self) -> None:
        force_setattr(self, "levels", {level: self.count(level) for level in LEVELS})
        bare = tuple(row.workload for row in self.workloads if row.is_unconstrained)
        force_setattr(self, "unconstrained", bare)
        force_setattr(self, "unprotected", tuple(row.workload for row in self.workloads if row.is_unprotected))

    def judge(self) -> Judgment:
        if self.count_from("risk"):
            return "no"
        return "unknown" if self.count_from("unjudged") else "yes"

    @property
    def is_no(self) -> bool:
        return bool(self.count("violated"))

    def all_findings(self) -> Iterable[Finding]:
        return (finding for row in self.workloads for finding in row.findings)

    def worst_finding(self) -> str:
        return next(_finding_sentences(self), "")

    def sentences(self) -> Iterator[str]:
        yield _in_numbers(self)
        if self.unconstrained and len(self.workloads) > 1:
            names = some_of([name.short_name for name in self.unconstrained], _MAX_NAMED)
            have, own = ("has", "its") if len(self.unconstrained) == 1 else ("have", "their")
            yield f"{len(self.unconstrained):,} of them {have} no spread constraint of {own} own: {names}"
        yield from _finding_sentences(self)
        if self.made_room:
            yield f"pods that wait preempt {preempted_pods(self.made_room, _MAX_NAMED)}"
        if self.unprotected:
            yield without_budget(self.unprotected)
        for row in self.workloads:
            if under_way := row.under_way:
                yield f"{row.called}: {under_way}"


def without_budget(workloads: Sequence[WorkloadName]) -> str:
    names = some_of([name.short_name for name in workloads], _MAX_NAMED)
    return f"{says(len(workloads), 'workload', 'have')} several pods and no disruption budget: {names}"


def _in_numbers(report: AuditReport) -> str:
    """Say how many workloads are of each level."""
    bad = reversed(LEVELS[1:])
    counts = [f"{report.levels[level]:,} {STATES[level]}" for level in bad if report.levels[level]]
    workloads = count_of(len(report.workloads), "workload")
    return (
        f"{', '.join(counts)}, {report.levels['ok']:,} fine of {workloads}" if counts else f"{workloads}, nothing found"
    )


def _finding_sentences(report: AuditReport) -> Iterator[str]:
    """Findings, the worst first; workloads with the same sentence are grouped."""
    by_sentence: dict[str, dict[str, None]] = {}
    findings = [(row, finding) for row in report.workloads for finding in row.findings]
    for row, finding in sorted(findings, key=lambda pair: -LEVELS.index(pair[1].level)):
        by_sentence.setdefault(finding.text, {})[row.called] = None
    for text, names in list(by_sentence.items())[:_MAX_SENTENCES]:
        yield f"{some_of([*names], _MAX_NAMED)}: {text}"
    if len(by_sentence) > _MAX_SENTENCES:
        yield f"and {count_of(len(by_sentence) - _MAX_SENTENCES, 'finding')} more"


def misplaced_text(row: AuditedWorkload, finding: AuditFinding) -> str:
    """Sentence on how pods are placed, and why: ``zone skew 3 exceeds maxSkew 1 (5/2/2): placed afresh it would be
    3/3/3``.
    """
    if finding.constraint is not None:
        constraint = row.constraints[finding.constraint]
        head = f"{short_key(constraint.topology_key)} skew {constraint.skew} exceeds maxSkew {constraint.max_skew}"
        return f"{head} ({counts_text(constraint.counts, constraint)}): {_why_exceeded(constraint, finding)}"
    return _why_in_one_domain(row, finding)


def _why_exceeded(constraint: AuditedConstraint, finding: AuditFinding) -> str:
    if finding.code == "unknown":
        unchanged = next((trial for trial in finding.trials if trial.afresh and not trial.what), None)
        would = f"; {_would(unchanged)}" if unchanged is not None else ""
        return f"no change that was tried makes it even ({len(finding.trials)} tried){would}"
    domains = f"{count_of(constraint.domains, 'domain')} {'counts' if constraint.domains == 1 else 'count'}"
    so = CAUSES[finding.code].so.format(them="it", what=finding.detail, where=f"in {finding.detail}", domains=domains)
    return f"{_would(finding.trials[-1])}{so}"


def _would(trial: PlacedAfresh, whose: str = "it") -> str:
    """``placed afresh without volumes it would be 1/1/1``."""
    return f"{trial.trial_text} {whose} would be {counts_text(trial.counts)}"


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
    if row.placed == 1 and finding.code in ("onePod", "unknown"):
        second = "elsewhere" if last.holds else "there too"
        return f"{head}, and a second one {f'would be {second}' if last.placed > 1 else 'fits nowhere'}"
    if finding.code == "unknown":
        return f"{head}, and no change that was tried spreads them ({len(finding.trials)} tried)"
    over = (constraint for constraint in row.constraints if constraint.topology_key == finding.topology_key)
    cause, allowed = CAUSES[finding.code], next(map(constraint_text, over), "")
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


class Audit(WorkloadsQuestion["AuditReport"], frozen=True, kw_only=True):
    """Audit every workload: its own or default constraints, their skew, and why a constraint does not hold.

    The cause is tried, not guessed: pods that wait are placed and rollouts finished, then the pods are placed from
    scratch, as things are and with one thing changed: without terminating pods, volumes, minDomains, cordons, taints,
    affinity or requests, with labels added, without one plugin's score. The first change that ends it is the cause. At
    risk are workloads that losing one zone, or one domain of --key, would wipe out, also those of one pod, and those
    with pods that are pending, not created or not ready, with a stuck rollout, or whose next pod fits nowhere. Rollouts
    under way are named.

    \b
    Examples:
      kubespread audit -A
      kubespread audit -n shop deploy/web -v
      kubespread audit -A --key karpenter.sh/capacity-type
      kubespread audit -A --fail-on risk -S cluster.json.gz
      kubespread audit -A -q -o prometheus > /var/lib/node_exporter/textfile/kubespread.prom
    """

    name = "audit"
    summary = "Show how every workload is spread, and why unevenly."
    yes, no = "nothing is at the level of --fail-on", "something is"
    never_modelled = ("time: pods are judged where they are, not by how they came there",)
    hands_out = True
    doing = "auditing workloads"
    outputs = {"name": "prints the workloads with findings, the worst first", "prometheus": ""}
    by_place = "workloads"

    key: Annotated[
        str,
        Option(
            "Count and lose the domains of this node label, such as a rack or capacity type (default: "
            "zones, or hosts if there is only one zone).",
            metavar="KEY",
        ),
    ] = ""
    fail_on: Annotated[
        Literal["violated", "uneven", "risk", "unjudged"] | None,
        Option(
            "Exit with 1 when a workload is at this level or above: unjudged (placed by another scheduler), "
            "risk, uneven (a soft constraint exceeded), violated (a hard one; the default).",
            is_for_scripts=True,
        ),
    ] = None

    def check(self, report: AuditReport) -> Iterator[str]:
        if self.fail_on is not None and (number := report.count_from(self.fail_on)):
            yield f"--fail-on {self.fail_on}: {count_of(number, 'workload')} at this level or above"

    def next(self, report: AuditReport, commands: Commands) -> str:
        worst = next((row for row in report.workloads if row.level != "ok"), None)
        if worst is None:
            return ""
        # Placed afresh it is even, so moving pods helps.
        if any(finding.code == "drift" for finding in worst.findings):
            return commands.of_workload("rebalance", worst.workload)
        if any(finding.is_unexplained for finding in worst.findings):
            return commands.of_workload("explain", worst.workload)
        if worst.has("pending"):
            return commands.of_workload("pending", worst.workload)
        return "" if self.workloads or len(report.workloads) == 1 else commands.of_workload("audit", worst.workload)
