"""What a step of a scenario comes to, in figures and words that several formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kubespread.planner.reports.autoscaling import AutoscalingReport
from kubespread.planner.reports.happened import PendingPods, TouchedWorkload
from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.planner.reports.simulate import SkewChange
from kubespread.render.phrases import count_of


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
    """The constraint whose skew is furthest above its maxSkew, hard ones first, of several the one that grew most."""
    found = [WorstSkew(_name(each), change) for each in step.happened.workloads for change in each.skew]
    return max(
        found,
        key=lambda each: (
            each.change.is_violated,
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


def autoscaling_sentence(report: AutoscalingReport) -> str:
    """How many nodes came, of which groups."""
    came = Counter[str]()
    for group in (group for loop in report.loops for group in loop.added):
        came[group.group] += len(group.nodes)
    nodes = ", ".join(f"{name} +{count}" for name, count in sorted(came.items())) or "no node helps"
    return f"{report.autoscaler}: {nodes} in {count_of(len(report.loops), 'loop')}"
