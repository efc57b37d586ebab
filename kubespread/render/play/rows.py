"""What a step of a scenario comes to, in figures and words that several formats share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kubespread.planner.reports.happened import PendingPods, TouchedWorkload
from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.planner.reports.rollout import RevisionSkew, RolloutReport
from kubespread.planner.reports.simulate import SkewChange
from kubespread.render.arithmetic import short_key


@dataclass(frozen=True, slots=True)
class WorstSkew:
    """Of the workloads that a step touched, the constraint that is furthest off."""

    workload: str
    """Its name alone."""
    change: SkewChange

    @property
    def exceeds(self) -> bool:
        return self.change.after > self.change.max_skew


def worst_skew(step: StepReport) -> WorstSkew | None:
    """The constraint whose skew is furthest above its maxSkew, of several the one that grew most."""
    found = [WorstSkew(_name(each), change) for each in step.happened.workloads for change in each.skew]
    return max(
        found,
        key=lambda each: (
            each.change.after - each.change.max_skew,
            each.change.after - each.change.before,
            each.change.after,
        ),
        default=None,
    )


def pending_count(step: StepReport) -> int:
    """How many pods wait once the step is over, whoever made them wait."""
    return sum(len(each.pods) for each in step.happened.pending)


def newly_pending(report: PlayReport) -> Iterator[tuple[StepReport, list[PendingPods]]]:
    """Each step with those that wait then, as far as any pod of them did not wait before."""
    known = {pod for each in report.start.pending for pod in each.pods}
    for step in report.steps:
        yield step, [each for each in step.happened.pending if not known.issuperset(each.pods)]
        known = {pod for each in step.happened.pending for pod in each.pods}


def lost(step: StepReport) -> int:
    """How many pods left that nobody makes again, though nobody asked for fewer."""
    return sum(gone.lost_for_good for gone in step.happened.gone)


def count_of(number: int, what: str) -> str:
    """``1 pod``, ``2 pods``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def workload_name(workload: str) -> str:
    """``Deployment/web`` of ``default/Deployment/web``, with a namespace that is not the default one."""
    namespace, _, name = workload.partition("/")
    return name if namespace == "default" else workload


def rollout_sentence(rollout: RolloutReport) -> str:
    """How a rollout ended, and how even its pods are."""
    # Why pods are pending is said of them.
    cause = f"{count_of(rollout.pending, 'new pod')} pending" if rollout.pending else rollout.wedged_on
    ending = "complete" if rollout.complete else f"not complete: {cause}"
    said = [ending, f"fewest ready {rollout.fewest_ready} of {rollout.replicas}"]
    others = rollout.with_match_label_keys or rollout.final
    pairs = list(zip(rollout.final, others, strict=True))
    # Of those that are as even as they are asked to be, the first one says so for all.
    telling = [(own, other) for own, other in pairs if own.skew > own.max_skew or own.skew != other.skew]
    said += [_final(own, other) for own, other in telling or pairs[:1]]
    return "; ".join(said)


def _final(own: RevisionSkew, other: RevisionSkew) -> str:
    """``zone skew of the new pods 2 > 1 (0 with matchLabelKeys: [pod-template-hash])``."""
    exceeds = f" > {own.max_skew}" if own.skew > own.max_skew else ""
    instead = f" ({other.skew} with matchLabelKeys: [pod-template-hash])" if own.skew != other.skew else ""
    return f"{short_key(own.topology_key)} skew of the new pods {own.skew}{exceeds}{instead}"


def answer(report: PlayReport) -> str:
    """The last line: what is wrong in the end, or that nothing is."""
    said = [f"{count_of(len(report.steps), 'step')}: {report.pending} pending"]
    if report.blocked:
        plural = "" if len(report.blocked) == 1 else "s"
        said.append(f"not done in full: step{plural} {', '.join(map(str, report.blocked))}")
    else:
        said.append("every step done in full")
    return ", ".join(said)


def _name(workload: TouchedWorkload) -> str:
    return workload.workload.rpartition("/")[2]
