"""A cluster before and after what is planned, and the steps in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, get_args

import msgspec
from msgspec.structs import force_setattr

from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.audit.report import AuditedWorkload
from kubespread.questions.map.report import Load, MapNode
from kubespread.questions.upgrade.report import UpgradeReport
from kubespread.reports.autoscaling import AutoscalingReport, scaled_sentences
from kubespread.reports.cost import UNKNOWN, CostChange, not_counted
from kubespread.reports.happened import FewerReady, GonePod, Happened, RolloutReport, down_meanwhile, of_unknown
from kubespread.reports.parts import Judgment, Range, Report, ScheduledReport
from kubespread.wording import count_of, some_of, verb_of

FailOn = Literal["pending", "blocked", "nothing"]


class StepReport(Report, frozen=True):
    """One step, once nothing changes anymore."""

    number: int
    """From 1."""
    name: str | None
    """What the scenario calls it; null where it has no name."""
    text: str
    """The step on one line: ``drain zone=a --force``."""
    failed: str | None
    """Why it was not done, or not in full: something does not exist by then, or kubectl refuses it."""
    happened: Happened
    rollouts: tuple[RolloutReport, ...]
    """Of every workload whose pods were replaced for another template."""
    upgrades: tuple[UpgradeReport, ...]
    """Of the nodes that were replaced."""
    autoscaling: AutoscalingReport | None = None
    """Of the nodes that were added for pods that found none."""
    pending: int = 0
    """How many more pods wait for a node after it than before the first step, summed over workloads."""
    not_created: int = 0
    """How many more pods the API server refuses after it than before the first step, as a quota does, summed over
    workloads.
    """
    not_made_yet: int = 0
    """How many more pods controllers have yet to make after it than before the first step, summed over workloads: a
    StatefulSet waits for the pods before them.
    """

    short: tuple[FewerReady, ...] = ()
    """Workloads that have fewer ready pods after it than before the first step, and than they are to have."""
    worse: tuple[WorkloadName, ...] = ()
    """Workloads that have more pods pending or not made after it than before the first step, fewer ready, or lost some
    for good that nobody evicted or deleted.
    """
    pending_runs: Range | None = None
    """``pending`` over all runs; null where they agree, or where there is one."""
    stuck_runs: int = 0
    """In how many runs it is not done in full, or leaves pods lacking."""

    @property
    def preempted(self) -> list[GonePod]:
        return [gone for gone in self.happened.gone if gone.made_room_for is not None]

    @property
    def broken_budgets(self) -> list[str]:
        """NAMESPACE/name of the disruption budgets that preemption broke, each once."""
        broken = (f"{gone.pod.namespace}/{name}" for gone in self.preempted for name in gone.broken_budgets)
        return list(dict.fromkeys(broken))

    @property
    def lost_for_good(self) -> int:
        """Pods that are gone and not recreated, though no one asked for fewer."""
        return sum(gone.lost_for_good for gone in self.happened.gone)

    @property
    def is_blocked(self) -> bool:
        """Whether it was not done in full."""
        return self.is_refused or bool(self.happened.blocked)

    @property
    def is_refused(self) -> bool:
        """True if more than finalizers keeps it from being done in full."""
        stopped = (upgrade.blocked for upgrade in self.upgrades)
        is_stuck = not all(rollout.complete for rollout in self.rollouts) or any(
            blocked is not None and not blocked.is_kept for blocked in stopped
        )
        return self.failed is not None or is_stuck or not all(pod.finalizers for pod in self.happened.blocked)

    @property
    def is_stuck(self) -> bool:
        """Whether it is blocked, or leaves more pods lacking than before the first step."""
        return self.is_blocked or bool(self.pending or self.not_created or self.not_made_yet or self.short)

    @property
    def why(self) -> str | None:
        """The first of the messages that say what is not done, or waits; None where there is none."""
        happened, is_unmade = self.happened, bool(self.not_created or self.not_made_yet)
        # Those that waited from the start are not what a step is about that pods are refused in.
        waiting = happened.pending if self.pending or not is_unmade else ()
        messages = (
            *([] if self.failed is None else [" ".join(self.failed.split("\n"))]),
            *(f"{pod.pod} {pod.fate}: {pod.refusal}" if pod.finalizers else pod.refusal for pod in happened.blocked),
            *(rollout.wedged_on for rollout in self.rollouts if rollout.wedged_on is not None),
            *(kind.message for kind in waiting),
            *(row.message for row in (*happened.not_created, *happened.not_made_yet)),
        )
        return next(iter(messages), None)

    def over(self, others: Sequence[StepReport]) -> StepReport:
        """This step, combined with its other runs."""
        played = [self, *others]
        return msgspec.structs.replace(
            self,
            happened=self.happened.over([other.happened for other in others]),
            rollouts=tuple(
                rollout.over([same for other in others for same in other.rollouts if same.workload == rollout.workload])
                for rollout in self.rollouts
            ),
            pending_runs=Range.over(run.pending for run in played),
            stuck_runs=sum(run.is_stuck for run in played),
        )


Change = Literal["worse", "riskier", "new", "gone", "better", "different"]
WORST_FIRST: tuple[Change, ...] = get_args(Change)
_MAX_NAMED, _MAX_STEPS = 3, 8


class PlannedSide(Report, frozen=True, kw_only=True):
    """The cluster before or after."""

    kube_version: str
    """Its release."""
    nodes: int
    """How many it has."""
    replicas: int | None
    """Desired pods, of all workloads but DaemonSets; null where the audit was not finished."""
    ready: int | None
    """How many of them are ready; null where the audit was not finished."""
    pending: int
    """How many pods wait for a node, those of DaemonSets too."""
    can_go: int | None
    """How many nodes can be drained and deleted together, of 100 those with the fewest pods, as `kubespread.removable`
    says it; null where that is not known.
    """
    not_tried: int
    """How many nodes may go beside these: those that were not tried."""
    load: tuple[Load, ...]
    """Of all nodes: cpu and memory, what else some pod requests, and pods."""


class PlannedWorkload(Report, frozen=True, kw_only=True):
    """A workload that changes."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    change: Change
    """``worse``: it has more pods pending or not made, fewer ready than before and than it is to have, or lost pods for
    good, ``riskier``: its level in the audit is worse, or it no longer survives the loss of
    each domain; that all of its pods are in one of several domains is no worse than in the only one. ``better``: the
    opposite of both. ``new`` and ``gone``: only one side has it. ``different``: else.
    """
    before: AuditedWorkload | None
    """Null for a new one."""
    after: AuditedWorkload | None
    """Null for one that is gone."""
    survives_before: bool | None = None
    """Whether it has as many ready pods as before when any one domain is lost, as `kubespread.survive` says it; null
    where no pods of it are ready, there is no such domain, or domains of different keys are lost before and after.
    """
    survives_after: bool | None = None
    """The same after."""
    why: tuple[str, ...] = ()
    """What is riskier: the worst finding of the audit, or that it does not survive what it did; empty where that is not
    so.
    """


class PlannedNode(Report, frozen=True, kw_only=True):
    """A node that comes, goes or is fuller or emptier than before."""

    name: str
    """The node's."""
    before: MapNode | None
    """Null for one that joins."""
    after: MapNode | None
    """Null for one that leaves."""


class PlanReport(ScheduledReport, frozen=True, kw_only=True):
    """What is planned, step by step, and with both sides the cluster before and after."""

    kind: str = "PlanReport"
    name: str | None
    """What the scenario is called; null where it has no name."""
    scenario: str = ""
    """A file of kind Scenario that does what is planned, in this order; empty where only the release changes, and where
    manifests are in no file that it could name.
    """
    node_count: int
    """How many nodes the cluster has at first."""
    start: Happened
    """What happened before the first step: pods that were waiting are placed where they fit."""
    steps: tuple[StepReport, ...]
    """In the order of the scenario."""
    pending: int
    """How many more pods wait for a node in the end than in the beginning: what the last step has."""
    blocked: tuple[int, ...]
    """The numbers of the steps that were not done, or not to their end."""
    not_created: int = 0
    """How many more pods the API server refuses in the end than in the beginning: what the last step has."""
    not_made_yet: int = 0
    """How many more pods controllers have yet to make in the end than in the beginning: what the last step has."""
    short: tuple[FewerReady, ...] = ()
    """Workloads that have fewer ready pods in the end than in the beginning, and than they are to have: what the last
    step has.
    """
    runs: int = 1
    """How often all steps were played: more than once where controllers deleted some of several equal pods. Which ones,
    and which of equal nodes a pod gets, is up to the seed of a run; what is shown is the first run.
    """
    stuck_runs: int = 0
    """In how many of these the answer is no."""
    remedy: str | None = None
    """Where disruption budgets are in the way of a plan, more options with which it gets through: ``--budget
    NAMESPACE/NAME:maxUnavailable=1``. Verified by playing it again; null where none is found.
    """
    refused: str | None = None
    """What would come of the steps in the order in which they were given, where another one is taken because that gets
    through; null where it is the order given.
    """
    before: PlannedSide | None = None
    """Null where only the steps are asked about, as is what follows from both sides."""
    after: PlannedSide | None = None
    """Null where only the steps are asked about."""
    topology_key: str | None = None
    """Whose domains are lost, each by itself: zones, or hosts where there are none; null where nothing can be lost."""
    workloads: tuple[PlannedWorkload, ...] = ()
    """Those that change, the worst first, then by namespace, kind and name."""
    changes: dict[Change, int] = {}
    """How many workloads are of each change."""
    unchanged: int = 0
    """How many are the same before and after."""
    nodes: tuple[PlannedNode, ...] = ()
    """Those that change, by name: first those that join or leave."""
    gone: dict[str, int] = {}
    """How many pods leave their nodes on the way, by why: ``evicted``, ``replaced`` and others; those of DaemonSets and
    of nodes themselves go ``with their nodes``.
    """
    cost: CostChange | None = None
    """What all nodes cost, before and after; null without prices."""

    def __post_init__(self) -> None:
        changes = Counter(row.change for row in self.workloads)
        force_setattr(self, "changes", {change: changes[change] for change in WORST_FIRST} if self.before else {})
        super().__post_init__()

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Its own, and those of its steps."""
        of_steps = (
            note if note.startswith(step.text) else f"step {step.number}: {note}"
            for step in self.steps
            for note in step.happened.notes
        )
        return (*self.notes, *of_steps)

    @property
    def lacking(self) -> list[str]:
        """Phrases for pods that wait in the end, or should exist and do not, for workloads that are short without such
        pods, and for pods lost for good; empty where nothing lacks that did not at first.
        """
        counts = {"pending": self.pending, "not created": self.not_created, "not made yet": self.not_made_yet}
        lost = [f"{len(self.lost_unasked)} lost for good"] if self.lost_unasked else []
        return [*(f"{count} {what}" for what, count in counts.items() if count), *self._short, *lost]

    @property
    def _short(self) -> list[str]:
        return [f"{count_of(len(self.unexplained), 'workload')} degraded"] if self.unexplained else []

    @property
    def unexplained(self) -> list[FewerReady]:
        """Those of ``short`` that lack no pods more than before: what makes their pods is not modeled, or pods are not
        ready.
        """
        return [row for row in self.short if not row.lacking]

    @property
    def stand_ins(self) -> dict[str, str]:
        """By its name each node that replaces another, and that one."""
        every = (upgrade.stand_ins for step in self.steps for upgrade in step.upgrades)
        return {new: old for pairs in every for new, old in pairs.items()}

    @property
    def worse(self) -> tuple[WorkloadName, ...]:
        """What is worse in the end than in the beginning: as the last step has it."""
        return self.steps[-1].worse if self.steps else ()

    @property
    def lost_for_good(self) -> list[GonePod]:
        """Pods that no controller makes again."""
        return [pod for step in self.steps for pod in step.happened.gone if pod.lost_for_good]

    @property
    def lost_unasked(self) -> list[GonePod]:
        """Those of them that nobody evicted or deleted."""
        return [pod for pod in self.lost_for_good if not pod.is_asked_for]

    @property
    def not_done(self) -> list[str]:
        """Steps that were not done in full and why, and budgets that were broken on the way."""
        steps, broken = ", ".join(map(str, self.blocked)), ", ".join(self.broken_budgets)
        plural = "" if len(self.blocked) == 1 else "s"
        why = next((f" ({step.why.rstrip('.')})" for step in self.steps if step.is_blocked and step.why), "")
        shortfalls = {f"not done in full: step{plural} {steps}{why}": steps, f"budgets broken: {broken}": broken}
        return [text for text, is_so in shortfalls.items() if is_so]

    def failures(self, fail_on: Sequence[FailOn]) -> list[str]:
        """The ``fail_on`` conditions that are met. Raises UsageError."""
        if "nothing" in fail_on and len(fail_on) > 1:
            raise UsageError("--fail-on nothing does not go with another --fail-on")
        counts = {"pending": self.lacking, "blocked": self.not_done}
        return [
            f"--fail-on {key}: {', '.join([*counts[key], *self.chances])}"
            for key in dict.fromkeys(fail_on)
            if key != "nothing" and (counts[key] or self.chances)
        ]

    @property
    def broken_budgets(self) -> list[str]:
        """NAMESPACE/name of the disruption budgets that preemption broke in any step, each once."""
        return list(dict.fromkeys(name for step in self.steps for name in step.broken_budgets))

    def over(self, others: Sequence[PlanReport]) -> PlanReport:
        """This answer, combined with its other runs."""
        played = [self, *others]
        steps = zip(self.steps, *(other.steps for other in others), strict=True)
        return self.revised(
            steps=tuple(own.over(same) for own, *same in steps),
            runs=len(played),
            stuck_runs=sum(run.verdict == "no" for run in played),
        )

    @property
    def chances(self) -> list[str]:
        """A phrase where chance decides whether the answer is no; empty where it does not."""
        if not 0 < self.stuck_runs < self.runs:
            return []
        steps = ", ".join(str(step.number) for step in self.steps if step.stuck_runs)
        place = f", in step{'' if len(steps) == 1 else 's'} {steps}" if steps else ""
        return [f"may get stuck ({self.stuck_runs} of {self.runs} runs{place})"]

    def judged(self) -> Judgment:
        if not (self.lacking or self.not_done or self.stuck_runs):
            return "yes"
        if self.broken_budgets or self.stuck_runs or any(step.is_refused for step in self.steps):
            return "no"
        if self.lacking == self._short:
            return "unknown" if all(row.controller_unknown for row in self.unexplained) else "no"
        is_pending_alone = self.lacking == [f"{self.pending} pending"]
        return "unknown" if is_pending_alone and self._unknown_groups else "no"

    @property
    def _unknown_groups(self) -> tuple[str, ...]:
        """Pools whose new nodes might take what is pending in the end."""
        last = self.steps[-1].autoscaling if self.steps else None
        return () if last is None else last.unknown_groups

    @property
    def total(self) -> int:
        """How many workloads either side has."""
        return len(self.workloads) + self.unchanged

    def sentences(self) -> Iterator[str]:
        if self.before is not None and self.after is not None:
            yield from self._compared(self.before, self.after)
        else:
            yield from self._of_steps()
            if self.refused is not None:
                yield in_another_order(self.steps, self.refused)
        for step in self.steps:
            yield from (f"step {step.number}: {text}" for text in down_meanwhile(step.happened.down))

    def _of_steps(self) -> Iterator[str]:
        yield _outcome(self)
        if self.remedy is not None:
            yield f"with {self.remedy} it gets through"
        if self._unknown_groups:
            pools = ", ".join(self._unknown_groups)
            yield f"whether new nodes of {pools} would take them is not known: the cluster does not tell their types"
        for step in self.steps:
            if step.preempted:
                yield f"step {step.number}: {preempted_sentence(step)}"
        yield from (str(row) for row in self.unexplained[:_MAX_NAMED])
        yield from of_unknown(self.unexplained)
        if self.lost_for_good:
            yield f"{count_of(len(self.lost_for_good), 'pod')} gone that no controller makes again"
        if waited := sum(len(kind.pods) for kind in self.start.pending):
            yield f"{count_of(waited, 'pod')} pending before the first step"

    def _compared(self, before: PlannedSide, after: PlannedSide) -> Iterator[str]:
        lost = [f"{count_of(number, 'pod')} lost for good"] if (number := len(self.lost_for_good)) else []
        yield "; ".join((self._fit(before, after), *self.not_done, *self.chances, *lost, *self._worse(before, after)))
        yield from scaled_sentences([step.autoscaling for step in self.steps])
        fill = [
            f"{was.resource} {was.percent}% → {now.percent}%"
            for was in before.load
            for now in after.load
            if was.resource == now.resource in ("cpu", "memory") and None not in (was.percent, now.percent)
        ]
        yield ", ".join((f"nodes {before.nodes:,} → {after.nodes:,}", *fill))
        if before.can_go or after.can_go:
            yield f"nodes that can go together: {_can_go(before)} → {_can_go(after)}"
        if self.cost is not None:
            yield _cost(self.cost)
        gone = ", ".join(f"{number:,} {why}" for why, number in self.gone.items()) or "none"
        ready = [
            "not known" if side.ready is None else f"{side.ready:,} of {side.replicas:,}" for side in (before, after)
        ]
        yield f"ready pods {' → '.join(ready)}; pods that leave their nodes: {gone}"
        if self.refused is not None:
            yield in_another_order(self.steps, self.refused)
        yield from self._of_steps()
        yield from self._lacking()
        for row in [row for row in self.workloads if row.change == "riskier"][:_MAX_NAMED]:
            yield f"{row.workload.called} is riskier: {'; '.join(row.why)}"
        blocked: dict[str, list[int]] = {}
        for step in self.steps:
            if step.is_blocked and step.why:
                blocked.setdefault(step.why, []).append(step.number)
        # The first cause stands in the headline.
        for why, numbers in [*blocked.items()][1:]:
            yield f"step{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}: {why}"

    def _lacking(self) -> Iterator[str]:
        """Who lacks more pods in the end than before the first step, and why."""
        start = self.start
        last = self.steps[-1].happened if self.steps else start
        waiting = last.waiting - start.waiting
        for name, kind in {kind.workload: kind for kind in reversed(last.pending)}.items():
            if name in waiting:
                on = f" on {some_of(kind.nodes, _MAX_NAMED)}" if kind.nodes else ""
                yield f"{name.called}: {count_of(waiting[name], 'more pod')} pending{on}: {kind.message}"
        for what, rows, before in (
            ("not created", last.not_created, start.not_created),
            ("not made yet", last.not_made_yet, start.not_made_yet),
        ):
            were = {row.workload: row.count for row in before}
            for row in rows:
                if (more := row.count - were.get(row.workload, 0)) > 0:
                    yield f"{row.workload.called}: {count_of(more, 'more pod')} {what}: {row.message}"

    def _worse(self, *sides: PlannedSide) -> Iterator[str]:
        """Nothing of a cluster without workloads."""
        worse = [row.workload.called for row in self.workloads if row.change == "worse"]
        of = f"of {count_of(self.total, 'workload')}"
        if any(side.ready is None for side in sides):
            yield "which workloads are worse is not known"
        elif worse:
            yield f"{len(worse):,} {of} {verb_of(len(worse), 'are')} worse: {some_of(worse, _MAX_NAMED)}"
        elif self.total:
            yield f"none {of} is worse"
        if riskier := [row.workload.called for row in self.workloads if row.change == "riskier"]:
            yield f"{len(riskier):,} {verb_of(len(riskier), 'are')} riskier: {some_of(riskier, _MAX_NAMED)}"

    def _fit(self, before: PlannedSide, after: PlannedSide) -> str:
        lacking = {"pending": self.pending, "not created": self.not_created, "not made yet": self.not_made_yet}
        more = [f"{count_of(number, 'more pod')} {what}" for what, number in lacking.items() if number]
        if more:
            return ", ".join(more)
        if self.not_done or self.unexplained:
            return "nothing more is pending"
        if after.pending:
            were = "as before" if after.pending == before.pending else f"of {before.pending:,} before"
            return f"{count_of(after.pending, 'pod')} pending {were}, everything else fits"
        return "everything fits"


def _outcome(report: PlanReport) -> str:
    """What is wrong in the end, or that all is well."""
    left = ", ".join([*([] if report.pending else ["0 pending"]), *report.lacking])
    steps = report.not_done or ([] if report.lacking else ["every step done in full"])
    chance = "".join(f"{sentence}; in the one shown " for sentence in report.chances)
    return ", ".join([f"{chance}{left} after {count_of(len(report.steps), 'step')}", *steps])


def preempted_sentence(step: StepReport) -> str:
    """Who was preempted for whom, and which budgets did not allow it."""
    victims = step.preempted
    winners = dict.fromkeys(gone.made_room_for or "" for gone in victims)
    broken = f", breaking {', '.join(step.broken_budgets)}" if step.broken_budgets else ""
    pods = some_of([gone.pod for gone in victims], _MAX_NAMED)
    return f"{count_of(len(victims), 'pod')} preempted ({pods}) for {some_of(list(winners), _MAX_NAMED)}{broken}"


def in_another_order(played: Sequence[StepReport], refused: str) -> str:
    """That steps were reordered, and what would have come of the order given."""
    steps = some_of([step.text for step in played], _MAX_STEPS)
    return f"played in another order, which gets through: {steps}; in the order given, {refused}"


def _can_go(side: PlannedSide) -> str:
    return "not known" if side.can_go is None else f"{'at least ' if side.not_tried else ''}{side.can_go:,}"


def _cost(cost: CostChange) -> str:
    if cost.before.amount is None and cost.after.amount is None:
        return UNKNOWN
    before, after = (cost.pricing.text(side.amount) for side in (cost.before, cost.after))
    unpriced = not_counted(before=cost.before, after=cost.after)
    return f"the nodes cost {before} before and {after} after: {cost.change}{unpriced}"
