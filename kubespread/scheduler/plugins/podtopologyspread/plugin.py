"""The plugin itself: constraints, their filter and their score, prepared for one pod."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import ClassVar, Self

from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubespread.scheduler.cluster.change import Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, Mask, Positions
from kubespread.scheduler.plugin import SKIP, Counted, Extent, SchedulingError, State, Verdicts
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    NodeInclusion,
    PodConstraints,
    pod_constraints,
)
from kubespread.scheduler.plugins.podtopologyspread.filtering import (
    HardConstraint,
    SpreadRules,
    hard_constraints,
    judge,
)
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint, SoftConstraints
from kubespread.scheduler.profile.plugin_args import SpreadArgs


@dataclass(frozen=True)
class PodTopologySpread:
    name: ClassVar[str] = "PodTopologySpread"

    args: SpreadArgs = field(default_factory=SpreadArgs)
    rules: SpreadRules = field(default_factory=SpreadRules)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        declared = pod_constraints(
            pod, self.args, cluster.objects, empty_selector_counts=self.rules.empty_selector_counts
        )
        if problem := declared.problems.get(DO_NOT_SCHEDULE):
            detail = f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}"
            raise SchedulingError(f'running PreFilter plugin "PodTopologySpread": {detail}')
        return SpreadState(cluster, pod, declared, self.rules) if declared.constraints else SKIP


class SpreadState(Counted):
    """One pod's constraints counted over one cluster; what explain shows is read from here."""

    def __init__(self, cluster: Cluster, pod: Pod, declared: PodConstraints, rules: SpreadRules) -> None:
        self.declared = declared
        self._rules = rules
        inclusion = NodeInclusion(cluster.nodes, pod, compares=rules.compares_tolerations)
        hard = [declared.constraints[at] for at in declared.of(DO_NOT_SCHEDULE)]
        soft = [declared.constraints[at] for at in declared.of(SCHEDULE_ANYWAY)]
        self.hard = hard_constraints(cluster, pod, hard, inclusion, rules)
        """The DoNotSchedule constraints in declared order."""
        self.soft = SoftConstraints(cluster, pod, soft, inclusion, strict=declared.strict) if soft else None
        """The ScheduleAnyway constraints in declared order, None when there are none."""

    @property
    def _counted(self) -> Sequence[HardConstraint | SoftConstraint]:
        return (*self.hard, *(self.soft.counted if self.soft is not None else ()))

    def filter(self, nodes: Positions | None = None) -> Verdicts | None:
        return judge(self.hard, self._rules, nodes) if self.hard else None

    def score(self, feasible: Mask) -> Counts | None:
        if problem := self.declared.problems.get(SCHEDULE_ANYWAY):
            detail = f"calculating preScoreState: obtaining pod's soft topology spread constraints: {problem}"
            raise SchedulingError(f'running PreScore plugin "PodTopologySpread": {detail}')
        return self.soft.score(feasible) if self.soft is not None else None

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        return self.soft.extent(raw, feasible) if self.soft is not None else ()

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        return self.soft.normalize(raw, extent) if self.soft is not None else raw

    def fork(self) -> Self:
        fork = copy(self)
        fork.hard = [counted.fork() for counted in self.hard]
        fork.soft = self.soft.fork() if self.soft is not None else None
        return fork

    def move(self, moves: Moves) -> None:
        for counted in self._counted:
            counted.move(moves)

    def move_one(self, kind: int, node: int, by: int) -> None:
        for counted in self._counted:
            counted.move_one(kind, node, by)

    def pretend(self, kind: int, node: int, by: int) -> None:
        """Scores are worked out without dry runs."""
        for counted in self.hard:
            counted.pretend(kind, node, by)
