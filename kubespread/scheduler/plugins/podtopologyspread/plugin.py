"""The plugin itself: constraints, their filter and their score, prepared for one pod.

Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, New, getConstraints
Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, PreFilter
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import ClassVar, Self

from kubespread.kube.api.core import Pod, Service
from kubespread.kube.owners import controller_of, find_controller, selects_pods
from kubespread.kube.taint import COMPARISON_GATE
from kubespread.kube.versions import EMPTY_SELECTOR, FULLY_TAINTED_DOMAINS
from kubespread.kube.well_known import DO_NOT_SCHEDULE, SCHEDULE_ANYWAY
from kubespread.scheduler.cluster.change import Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts, Mask, Positions
from kubespread.scheduler.plugin import (
    JUDGES,
    RANKS,
    SKIP,
    Counted,
    Extent,
    Plugin,
    SchedulingError,
    Setting,
    Specification,
    State,
    Unprepared,
    Verdicts,
    read_as,
)
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    SYSTEM_DEFAULTS,
    DefaultConstraints,
    NodeInclusion,
    PodConstraints,
    PodTopologySpreadArgs,
    pod_constraints,
)
from kubespread.scheduler.plugins.podtopologyspread.filtering import (
    HardConstraint,
    SpreadRules,
    hard_constraints,
    judge,
)
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint, SoftConstraints


@dataclass(frozen=True)
class PodTopologySpread(Plugin):
    name: ClassVar[str] = "PodTopologySpread"

    defaults: DefaultConstraints = SYSTEM_DEFAULTS
    rules: SpreadRules = SpreadRules()

    def signs(self, cluster: Cluster, pod: Pod) -> bool:
        return not (pod.spec.topology_spread_constraints or self.defaults.constraints)

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Default constraints take their selector from Services and from the pod's controller."""
        if pod.spec.topology_spread_constraints or not self.defaults.constraints:
            return
        if pod.metadata.labels:
            # No Service selects a pod without any.
            yield from cluster.objects.gap(Service, "default constraints cannot be derived from Services")
        owner = controller_of(pod)
        if owner is None or not selects_pods(owner):
            return
        if find_controller(owner, pod.metadata.namespace, cluster.objects) is None:
            name = f"{owner.kind} {pod.metadata.namespace}/{owner.name}"
            yield f"{name}, the pod's controller, is missing: default constraints cannot be derived from its selector"

    def not_modelled(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        if self.rules.derives_selectors_otherwise and self.defaults.source == "profile" and self.defaults.constraints:
            yield "default constraints: their selector is derived as since 1.22, from the pod's controller"

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        declared = self._declared(cluster, pod)
        if problem := declared.problems.get(DO_NOT_SCHEDULE):
            detail = f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}"
            raise SchedulingError(f'running PreFilter plugin "PodTopologySpread": {detail}')
        return SpreadState(cluster, pod, declared, self.rules) if declared.constraints else SKIP

    def _declared(self, cluster: Cluster, pod: Pod) -> PodConstraints:
        """Parsed once for a pod that is asked about repeatedly."""
        memo, objects = cluster.kinds.memo_of(pod), cluster.objects
        cached = memo.get(PodConstraints)
        if cached is None or cached[0] is not self or cached[1] is not objects:
            parsed = pod_constraints(
                pod, self.defaults, objects, empty_selector_counts=self.rules.empty_selector_counts
            )
            cached = memo[PodConstraints] = (self, objects, parsed)
        constraints: PodConstraints = cached[2]
        return constraints


class SpreadState(Counted):
    """One pod's constraints counted over one cluster; what explain shows is read from here."""

    def __init__(self, cluster: Cluster, pod: Pod, declared: PodConstraints, rules: SpreadRules) -> None:
        self.declared = declared
        self._rules = rules
        inclusion = NodeInclusion.shared(cluster, pod, compares=rules.compares_tolerations)
        hard = [declared.constraints[position] for position in declared.of(DO_NOT_SCHEDULE)]
        soft = [declared.constraints[position] for position in declared.of(SCHEDULE_ANYWAY)]
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
        """Scores are computed without dry runs."""
        for counted in self.hard:
            counted.pretend(kind, node, by)


def _pod_topology_spread(setting: Setting) -> PodTopologySpread:
    version = setting.version
    rules = SpreadRules(
        empty_selector_counts=not version.since(27) or version.since(38) or version.proposes(EMPTY_SELECTOR),
        counts_tainted_domains=version.proposes(FULLY_TAINTED_DOMAINS),
        counts_ineligible_nodes=version.since(19) and not version.since(24),
        passes_without_domains=not version.since(20),
        missing_label_is_resolvable=not version.since(19),
        compares_tolerations=version.has(COMPARISON_GATE),
        derives_selectors_otherwise=not version.since(22),
    )
    return PodTopologySpread(read_as(PodTopologySpreadArgs, setting.args).defaults(version), rules)


SPECIFICATION = Specification(
    name=PodTopologySpread.name,
    points=JUDGES | RANKS,
    make=_pod_topology_spread,
    args=PodTopologySpreadArgs,
    weight=2,
    # A raw score of 0 everywhere was normalized like any other.
    unprepared=Unprepared(
        filter='reading "PreFilterPodTopologySpread" from cycleState: not found',
        score='error reading "PreScorePodTopologySpread" from cycleState: not found',
    ),
)
