"""The plugin itself: constraints, their filter and their score, prepared for one pod."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.plugin import SKIP, CopiesMatter, Extent, SchedulingError, State, Verdicts
from kubespread.scheduler.plugin_args import SpreadArgs
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    DO_NOT_SCHEDULE,
    SCHEDULE_ANYWAY,
    NodeInclusion,
    PodConstraints,
    pod_constraints,
)
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint, SpreadRules, count_hard, judge, rejected
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraints


@dataclass(frozen=True)
class PodTopologySpread:
    name: ClassVar[str] = "PodTopologySpread"

    args: SpreadArgs = field(default_factory=SpreadArgs)
    rules: SpreadRules = field(default_factory=SpreadRules)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        declared = pod_constraints(pod, self.args, cluster.objects, empty_selector_counts=self.rules.empty_selector_counts)
        if problem := declared.problems.get(DO_NOT_SCHEDULE):
            detail = f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}"
            raise SchedulingError(f'running PreFilter plugin "PodTopologySpread": {detail}')
        return SpreadState(cluster, pod, declared, self.rules) if declared.constraints else SKIP


class SpreadState(State):
    """One pod's constraints counted over one cluster; what explain shows is read from here."""

    copies_matter = CopiesMatter.IN_DOMAINS

    def __init__(self, cluster: Cluster, pod: Pod, declared: PodConstraints, rules: SpreadRules) -> None:
        self._cluster = cluster
        self._pod = pod
        self.declared = declared
        self._rules = rules

    @cached_property
    def _inclusion(self) -> NodeInclusion:
        return NodeInclusion(self._cluster, self._pod, compares=self._rules.compares_tolerations)

    @cached_property
    def hard(self) -> list[HardConstraint]:
        """The DoNotSchedule constraints in declared order."""
        constraints = [self.declared.constraints[at] for at in self.declared.of(DO_NOT_SCHEDULE)]
        return count_hard(self._cluster, self._pod, constraints, self._inclusion, self._rules)

    @cached_property
    def soft(self) -> SoftConstraints | None:
        """The ScheduleAnyway constraints in declared order, None when there are none."""
        constraints = [self.declared.constraints[at] for at in self.declared.of(SCHEDULE_ANYWAY)]
        if not constraints:
            return None
        return SoftConstraints(self._cluster, self._pod, constraints, self._inclusion, strict=self.declared.strict)

    def filter(self) -> Verdicts | None:
        return judge(self.hard, self._rules) if self.hard else None

    def rejects(self) -> Mask | None:
        return rejected(self.hard, self._rules) if self.hard else None

    def score(self, feasible: Mask) -> Counts | None:
        if problem := self.declared.problems.get(SCHEDULE_ANYWAY):
            detail = f"calculating preScoreState: obtaining pod's soft topology spread constraints: {problem}"
            raise SchedulingError(f'running PreScore plugin "PodTopologySpread": {detail}')
        return self.soft.score(feasible) if self.soft is not None else None

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        return self.soft.extent(raw, feasible) if self.soft is not None else ()

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        return self.soft.normalize(raw, extent) if self.soft is not None else raw

    def fork(self) -> State:
        fork = copy(self)
        fork.__dict__["hard"] = [counted.fork() for counted in self.hard]
        fork.__dict__["soft"] = self.soft.fork() if self.soft is not None else None
        return fork

    def placed(self, node: int) -> None:
        for counted in (*self.hard, *(self.soft.counted if self.soft is not None else ())):
            counted.placed(node)
