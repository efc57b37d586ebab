"""What a step of a scenario comes to, in figures and words that several formats share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from kubespread.planner.reports.autoscaling import AutoscalingReport
from kubespread.planner.reports.happened import Happened, TouchedWorkload
from kubespread.planner.reports.parts import SkewChange
from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.wording import count_of


@dataclass(frozen=True, slots=True)
class Lacking:
    """A workload that lacks pods."""

    workload: str
    count: int
    what: str
    """``pending``, ``not created`` or ``not made yet``."""
    message: str


@dataclass(frozen=True, slots=True)
class WorstSkew:
    """Of the workloads that a step touched, the constraint that is furthest off."""

    workload: str
    """Its name alone."""
    change: SkewChange

    @property
    def exceeds(self) -> bool:
        return self.change.most_after > self.change.max_skew


def worst_skew(report: PlayReport, step: StepReport) -> WorstSkew | None:
    """The constraint whose skew is furthest above its maxSkew, hard ones first, of several the one that grew most: of
    the workload that is asked about where there is one, else of those whose pods the step moved.
    """
    found = [
        WorstSkew(_name(each), change)
        for each in step.happened.workloads
        if (each.is_moved if report.workload is None else each.workload == report.workload)
        for change in each.skew
    ]
    return max(
        found,
        key=lambda each: (
            each.change.is_violated,
            each.change.most_after - each.change.max_skew,
            each.change.most_after - each.change.before,
            each.change.most_after,
        ),
        default=None,
    )


def newly_lacking(report: PlayReport) -> Iterator[tuple[StepReport, list[Lacking]]]:
    """Each step with those that lack pods then, as far as they did not lack as many before."""
    before = report.start
    for step in report.steps:
        known = {pod for each in before.pending for pod in each.pods}
        pending = [
            Lacking(each.workload, len(each.pods), "pending", each.message)
            for each in step.happened.pending
            if not known.issuperset(each.pods)
        ]
        counts = Counter({(each.what, each.workload): each.count for each in unmade(before)})
        more = [each for each in unmade(step.happened) if each.count > counts[each.what, each.workload]]
        yield step, [*more, *pending]
        before = step.happened


def unmade(happened: Happened) -> list[Lacking]:
    """The workloads that lack pods which do not exist."""
    kinds = {"not created": happened.not_created, "not made yet": happened.not_made_yet}
    return [Lacking(each.workload, each.count, what, each.message) for what, rows in kinds.items() for each in rows]


def _name(workload: TouchedWorkload) -> str:
    return workload.workload.rpartition("/")[2]


def autoscaling_sentence(report: AutoscalingReport) -> str:
    """How many nodes came, of which groups."""
    came = Counter[str]()
    for group in (group for loop in report.loops for group in loop.added):
        came[group.group] += len(group.nodes)
    nodes = ", ".join(f"{name} +{count}" for name, count in sorted(came.items()))
    if report.unknown_groups:
        nodes = f"{nodes or 'no node'}, instance types of {', '.join(report.unknown_groups)} unknown"
    nodes = nodes or "no node helps"
    return f"{report.autoscaler}: {nodes} in {count_of(len(report.loops), 'loop')}"
