"""A scenario from its first step to its last, and what became of the cluster on the way."""

from __future__ import annotations

import msgspec

from kubespread.planner.reports.autoscaling import AutoscalingReport
from kubespread.planner.reports.happened import Happened
from kubespread.planner.reports.parts import API_VERSION, ClusterReference, Report
from kubespread.planner.reports.rollout import RolloutReport
from kubespread.planner.reports.upgrade import UpgradeReport


class StepReport(Report, frozen=True):
    """One step, once nothing changes anymore."""

    number: int
    """From 1."""
    name: str | None
    """What the scenario calls it; null where it has no name."""
    text: str
    """The step on one line: ``drain zone=a --ignore-daemonsets``."""
    failed: str | None
    """Why it was not done, or not to its end: something is not there by then, or kubectl refuses it."""
    happened: Happened
    rollouts: tuple[RolloutReport, ...]
    """Of every workload whose pods were replaced for another template."""
    upgrades: tuple[UpgradeReport, ...]
    """Of the nodes that were replaced."""
    autoscaling: AutoscalingReport | None = None
    """Of the nodes that were added for pods that found none."""

    @property
    def is_blocked(self) -> bool:
        """Whether it did not do all that it was to."""
        is_stuck = not all([*(each.complete for each in self.rollouts), *(each.complete for each in self.upgrades)])
        return self.failed is not None or bool(self.happened.blocked) or is_stuck


class PlayReport(Report, frozen=True, kw_only=True):
    """What a scenario came to."""

    api_version: str = API_VERSION
    kind: str = "PlayReport"
    kube_version: str
    cluster: ClusterReference | None = None
    scenario: str | None
    """What it is called."""
    nodes: int
    """How many there are in the beginning."""
    preemption: bool
    """Whether pods may preempt others."""
    start: Happened
    """What happened before the first step: pods that were waiting are placed where they fit."""
    steps: tuple[StepReport, ...]
    """In the order of the scenario."""
    pending: int
    """Pods that wait for a node in the end and did not in the beginning."""
    blocked: tuple[int, ...]
    """The numbers of the steps that were not done, or not to their end."""
    notes: tuple[str, ...]
    gaps: tuple[str, ...]
    not_modelled: tuple[str, ...]

    @property
    def all_notes(self) -> tuple[str, ...]:
        """Its own, and those of its steps."""
        of_steps = (
            note if note.startswith(step.text) else f"step {step.number}: {note}"
            for step in self.steps
            for note in step.happened.notes
        )
        return (*self.notes, *of_steps)

    def about(self, cluster: ClusterReference) -> PlayReport:
        """The same answer, with the cluster it is about."""
        return msgspec.structs.replace(self, cluster=cluster)

    def with_gaps(self, missing: tuple[str, ...]) -> PlayReport:
        """The same answer, with what its source lacked named first."""
        return msgspec.structs.replace(self, gaps=tuple(dict.fromkeys((*missing, *self.gaps))))
