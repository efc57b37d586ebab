"""A scenario from its first step to its last, and its effects on the cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from kubespread.errors import UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.upgrade.report import UpgradeReport
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.reports.happened import FewerReady, GonePod, Happened, RolloutReport
from kubespread.reports.parts import ClusterReport, Dealt, Judgment, Report
from kubespread.wording import count_of, some_of

FailOn = Literal["pending", "blocked", "nothing"]
_FEW = 3


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
    pending_dealt: Dealt | None = None
    """``pending`` over all deals; null where they agree, or where nothing was left to chance."""
    stuck_deals: int = 0
    """In how many deals it is not done in full, or leaves pods lacking."""

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
        is_stuck = not all(
            [*(rollout.complete for rollout in self.rollouts), *(upgrade.complete for upgrade in self.upgrades)]
        )
        return self.failed is not None or bool(self.happened.blocked) or is_stuck

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
            *(f"{pod.message} {pod.cause}".strip() for pod in happened.blocked),
            *(rollout.wedged_on for rollout in self.rollouts if rollout.wedged_on is not None),
            *(kind.message for kind in waiting),
            *(row.message for row in (*happened.not_created, *happened.not_made_yet)),
        )
        return next(iter(messages), None)

    def dealt(self, others: Sequence[StepReport]) -> StepReport:
        """The same step, combined with its other deals."""
        played = [self, *others]
        return msgspec.structs.replace(
            self,
            happened=self.happened.dealt([other.happened for other in others]),
            rollouts=tuple(
                rollout.dealt(
                    [same for other in others for same in other.rollouts if same.workload == rollout.workload]
                )
                for rollout in self.rollouts
            ),
            pending_dealt=Dealt.of(deal.pending for deal in played),
            stuck_deals=sum(deal.is_stuck for deal in played),
        )


class PlayReport(ClusterReport, frozen=True, kw_only=True):
    """What a scenario came to."""

    kind: str = "PlayReport"
    scenario: str | None
    """What it is called."""
    workload: WorkloadName | None = None
    """NAMESPACE/Kind/name of the one that is asked about; null where the question is about all of them."""
    nodes: int
    """How many the cluster has at first."""
    preemption: bool
    """Whether pods may preempt others."""
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
    deals: int = 1
    """How often all steps were played: more than once where controllers deleted some of several equal pods. Which ones,
    and which of equal nodes a pod gets, is dealt anew each time; what is shown is the first deal, by name.
    """
    stuck_deals: int = 0
    """In how many of these the answer is no."""

    @property
    def manner(self) -> str:
        return "" if self.preemption else "no preemption"

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
        short = [f"{count_of(len(self.unexplained), 'workload')} short of ready pods"] if self.unexplained else []
        lost = [f"{len(self.lost_unasked)} lost for good"] if self.lost_unasked else []
        return [*(f"{count} {what}" for what, count in counts.items() if count), *short, *lost]

    @property
    def unexplained(self) -> list[FewerReady]:
        """Those of ``short`` that lack no pods more than before: what makes their pods is not modeled, or pods are not
        ready.
        """
        return [row for row in self.short if not row.lacking]

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
        """Which steps were not done in full, and which budgets were broken on the way."""
        steps, broken = ", ".join(map(str, self.blocked)), ", ".join(self.broken_budgets)
        plural = "" if len(self.blocked) == 1 else "s"
        shortfalls = {f"not done in full: step{plural} {steps}": steps, f"budgets broken: {broken}": broken}
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

    def dealt(self, others: Sequence[PlayReport]) -> PlayReport:
        """The same answer, combined with its other deals."""
        played = [self, *others]
        steps = zip(self.steps, *(other.steps for other in others), strict=True)
        return msgspec.structs.replace(
            self,
            steps=tuple(own.dealt(same) for own, *same in steps),
            deals=len(played),
            stuck_deals=sum(deal.verdict == "no" for deal in played),
        )

    @property
    def chances(self) -> list[str]:
        """A phrase where chance decides whether the answer is no; empty where it does not."""
        if not 0 < self.stuck_deals < self.deals:
            return []
        steps = ", ".join(str(step.number) for step in self.steps if step.stuck_deals)
        place = f", in step{'' if len(steps) == 1 else 's'} {steps}" if steps else ""
        return [f"may get stuck ({self.stuck_deals} of {self.deals} deals of equal pods{place})"]

    def judged(self) -> Judgment:
        if not (self.lacking or self.not_done or self.stuck_deals):
            return "yes"
        is_pending_alone = self.lacking == [f"{self.pending} pending"] and not (self.not_done or self.stuck_deals)
        return "unknown" if is_pending_alone and self._unknown_groups else "no"

    @property
    def _unknown_groups(self) -> tuple[str, ...]:
        """Pools whose new nodes might take what is pending in the end."""
        last = self.steps[-1].autoscaling if self.steps else None
        return () if last is None else last.unknown_groups

    def sentences(self) -> Iterator[str]:
        yield _outcome(self)
        if self._unknown_groups:
            pools = ", ".join(self._unknown_groups)
            yield f"whether new nodes of {pools} would take them is not known: the cluster does not tell their types"
        for step in self.steps:
            if step.preempted:
                yield f"step {step.number}: {preempted_sentence(step)}"
        yield from (str(row) for row in self.unexplained[:_FEW])
        if self.lost_for_good:
            yield f"{count_of(len(self.lost_for_good), 'pod')} gone that no controller makes again"
        if waited := sum(len(kind.pods) for kind in self.start.pending):
            yield f"{count_of(waited, 'pod')} pending before the first step"


def _outcome(report: PlayReport) -> str:
    """What is wrong in the end, or that all is well."""
    as_shown = [*([] if report.pending else ["0 pending"]), *report.lacking, *report.not_done]
    if not (report.lacking or report.not_done):
        as_shown.append("every step done in full")
    chance = "".join(f"{sentence}; as dealt here " for sentence in report.chances)
    return f"{count_of(len(report.steps), 'step')}: {chance}{', '.join(as_shown)}"


def preempted_sentence(step: StepReport) -> str:
    """Who was preempted for whom, and which budgets did not allow it."""
    victims = step.preempted
    winners = dict.fromkeys(gone.made_room_for or "" for gone in victims)
    broken = f", breaking {', '.join(step.broken_budgets)}" if step.broken_budgets else ""
    pods = some_of([gone.pod for gone in victims], _FEW)
    return f"{count_of(len(victims), 'pod')} preempted ({pods}) for {some_of(list(winners), _FEW)}{broken}"
