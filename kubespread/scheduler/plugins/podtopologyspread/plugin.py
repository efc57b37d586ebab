"""PodTopologySpread: the hard constraints filter, the soft ones score.

A node passes when matching + self - global minimum <= maxSkew for every hard constraint. It scores higher the fewer
matching pods there are in its domains, weighted by how many domains there are.

Source: pkg/scheduler/framework/plugins/podtopologyspread/plugin.go, New, getConstraints
Source: pkg/scheduler/framework/plugins/podtopologyspread/filtering.go, PreFilter, calPreFilterState, Filter,
    minMatchNum, updateWithPod
Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, countPodsMatchSelector, matchNodeInclusionPolicies
Source: pkg/scheduler/framework/plugins/podtopologyspread/scoring.go, initPreScoreState, Score, scoreForCount,
    topologyNormalizingWeight, NormalizeScore
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, Service
from kubespread.kube.owners import controller_of, find_controller, selects_pods
from kubespread.kube.taint import COMPARISON_GATE
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, SCHEDULE_ANYWAY
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import (
    Counts,
    Forking,
    Mask,
    Positions,
    divide,
    greatest,
    least,
    round_half_away,
)
from kubespread.scheduler.cluster.kinds import KindNumber
from kubespread.scheduler.cluster.memo import Memo
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.plugin import (
    JUDGES,
    MAX_NODE_SCORE,
    RANKS,
    SKIP,
    Code,
    CountingState,
    Extent,
    Plugin,
    PluginSetting,
    SchedulingError,
    Specification,
    State,
    Status,
    Verdicts,
    read_as,
)
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    SYSTEM_DEFAULTS,
    Constraint,
    CountedConstraint,
    DefaultConstraints,
    NodeInclusion,
    PodConstraints,
    PodTopologySpreadArgs,
    has_all_keys,
    pod_constraints,
    pretended_kinds,
)

Shares = NDArray[np.float64]


class SoftConstraint(CountedConstraint):
    """One ScheduleAnyway constraint with its counted pods."""

    def __init__(self, cluster: Cluster, constraint: Constraint, eligible: Mask, namespace: str) -> None:
        column = cluster.nodes.label(constraint.topology_key)
        self.is_hostname = constraint.topology_key == HOSTNAME
        # A node without the label belongs to the domain "", which only matters where such nodes are scored at all.
        self._value_of_node = column.absent_as_empty
        self._sized: tuple[Mask | None, int] = None, 0
        # For kubernetes.io/hostname every node is its own domain, regardless of labels, and the policies do not apply.
        super().__init__(
            cluster,
            constraint,
            namespace,
            eligible=eligible,
            counts_on=np.ones_like(eligible) if self.is_hostname else eligible,
            domain=np.arange(len(column.codes), dtype=np.int32) if self.is_hostname else self._value_of_node,
            domains=len(column.codes) if self.is_hostname else len(column.values) + 1,
        )

    def counts_at(self, nodes: Positions | None = None) -> Counts:
        """Counts as scored: 0 without the key."""
        if self.is_hostname and nodes is None:
            counts = self.counts
        else:
            counts = super().counts_at(nodes)
        if self.column.is_everywhere:
            return counts
        return np.where(self.column.absent if nodes is None else self.column.absent[nodes], 0, counts)

    def size(self, scored: Mask) -> int:
        """Number of domains among the scored nodes. The last answer is kept: mostly the same nodes are scored."""
        if self._sized[0] is not scored:
            if self.is_hostname:
                size = int(np.count_nonzero(scored))
            else:
                size = int(np.count_nonzero(np.bincount(self._value_of_node[scored], minlength=1)))
            self._sized = scored, size
        return self._sized[1]

    def share(self, scored: Mask) -> Shares:
        """Part of each node's raw score; 0 without the key."""
        weight, spare = math.log(self.size(scored) + 2), float(self.constraint.max_skew - 1)
        shares: Shares = np.multiply(self.counts, weight, dtype=np.float64) + spare
        if self.is_hostname:
            return shares if self.column.is_everywhere else np.where(self.column.absent, 0.0, shares)
        # Shares are by domain so far; the last entry is for nodes without the key, which ABSENT indexes.
        shares[-1] = 0.0
        return shares.take(self.column.codes)


class SoftConstraints(Forking):
    """All soft constraints of one pod."""

    _forked = ("counted",)

    def __init__(
        self, cluster: Cluster, pod: Pod, constraints: Sequence[Constraint], inclusion: NodeInclusion, *, all_keys: bool
    ) -> None:
        has_keys = has_all_keys(cluster.nodes, constraints)
        self._compared = has_keys if all_keys else np.ones(len(cluster), dtype=np.bool_)
        """Nodes that are compared with one another where they fit; the others get 0."""
        self._compares_all = bool(self._compared.all())
        self._scored = self._compared, self._compared
        """Feasible nodes of the last call, and the ones among them that are compared."""
        self.counted = [
            SoftConstraint(
                cluster,
                constraint,
                inclusion.by_policies(constraint) & has_keys if all_keys else inclusion.by_policies(constraint),
                pod.metadata.namespace,
            )
            for constraint in constraints
        ]

    def compared_nodes(self, feasible: Mask) -> Mask:
        if self._compares_all:
            return feasible
        if self._scored[0] is not feasible:
            self._scored = feasible, feasible & self._compared
        return self._scored[1]

    def shares(self, feasible: Mask) -> list[Shares]:
        """Part of each constraint in the raw score."""
        scored = self.compared_nodes(feasible)
        return [counted.share(scored) for counted in self.counted]

    def score(self, feasible: Mask) -> Counts:
        """Raw scores, the smaller the better."""
        first, *others = self.shares(feasible)
        for share in others:
            first = first + share
        return round_half_away(first)

    def extent(self, raw: Counts, feasible: Mask) -> Extent:
        counted = raw[self.compared_nodes(feasible)]
        return (max(0, greatest(counted)), least(counted)) if counted.size else (0, 0)

    def normalize(self, raw: Counts, extent: Extent) -> Counts:
        """Invert raw scores, 100 for the least; 0 for nodes left out, and for raw scores equal to invalidScore."""
        highest, lowest = extent
        score = np.full_like(raw, MAX_NODE_SCORE)
        if highest:
            score = divide(MAX_NODE_SCORE * (highest + lowest - raw), highest)
        if lowest < 0:
            score = np.where(raw == _LEFT_OUT, 0, score)
        return score if self._compares_all else np.where(self._compared, score, 0)


_LEFT_OUT = -1
"""kube-scheduler's invalidScore."""


CONSTRAINTS_NOT_MATCHED = Status(Code.UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
LABEL_MISSING = Status(
    Code.UNRESOLVABLE, ("node(s) didn't match pod topology spread constraints (missing required label)",)
)
# What the scheduler takes the minimum of no domains to be: no skew can exceed it.
NO_DOMAINS = 2**31 - 1
_SKEWED, _MISSING = 1, 2


class SpreadRules(Struct, frozen=True):
    """Rules by which a release counts and judges."""

    empty_selector_counts: bool = False
    """Up to 1.26 the selector ``{}`` counts all pods of the namespace, later none, and since 1.38 all again."""
    counts_ineligible_nodes: bool = False
    """From 1.19 to 1.23 pods on any node count in the domain of an eligible node."""
    passes_without_domains: bool = False
    """Up to 1.19 every node passes when no constraint has a domain."""
    missing_label_is_resolvable: bool = False
    """Up to 1.18 a missing label is judged like too much skew."""
    compares_tolerations: bool = False
    """True if tolerations with the operators Gt and Lt count for nodeTaintsPolicy."""
    derives_selectors_otherwise: bool = False
    """Up to 1.21 default constraints derive their selector in another way, which is not modeled."""


class HardConstraint(CountedConstraint):
    """One DoNotSchedule constraint with its counted pods."""

    def __init__(
        self, cluster: Cluster, constraint: Constraint, eligible: Mask, namespace: str, rules: SpreadRules
    ) -> None:
        column = cluster.nodes.label(constraint.topology_key)
        self.is_domain: Mask = np.zeros(len(column.values), dtype=np.bool_)
        self.is_domain[column.codes[eligible]] = True
        self._domains = int(np.count_nonzero(self.is_domain))
        any_eligible = rules.counts_ineligible_nodes and self._domains > 0
        self._pretends_kind = pretended_kinds(cluster, constraint, namespace)
        super().__init__(
            cluster,
            constraint,
            namespace,
            eligible=eligible,
            counts_on=self.is_domain[column.codes] & column.present if any_eligible else eligible,
            domain=column.codes,
            domains=len(column.values),
        )

    def pretend(self, kind: KindNumber, node: int, by: int) -> None:
        """Add or remove a pod as a dry run does, counted before or not."""
        if self.eligible[node] and self._pretends_kind[kind]:
            self.add_one(node, by)

    @property
    def lacks_domains(self) -> bool:
        """True with fewer eligible domains than minDomains, by default 1."""
        return self._domains < (1 if self.constraint.min_domains is None else self.constraint.min_domains)

    @property
    def global_minimum(self) -> int:
        """Fewest matching pods of any domain; 0 below minDomains."""
        if self.lacks_domains:
            return 0
        if self._domains and self._domains == len(self.counts):
            return least(self.counts)
        return least(self.counts[self.is_domain]) if self._domains else NO_DOMAINS

    def judge(self, nodes: Positions | None) -> NDArray[np.int32]:
        """0 for nodes where the constraint holds, else _SKEWED or _MISSING; each domain is judged once."""
        verdicts = np.empty(len(self.counts) + 1, dtype=np.int32)
        most = self.constraint.max_skew + self.global_minimum - self.constraint.self_match
        verdicts[:-1] = self.counts > most  # True is _SKEWED
        # The last entry is for nodes without the key, which ABSENT indexes.
        verdicts[-1] = _MISSING
        return verdicts.take(self.column.codes if nodes is None else self.column.codes[nodes])


def hard_constraints(
    cluster: Cluster, pod: Pod, constraints: Sequence[Constraint], inclusion: NodeInclusion, rules: SpreadRules
) -> list[HardConstraint]:
    """Hard constraints; a node that lacks one of their keys is eligible for none of them."""
    has_keys = has_all_keys(cluster.nodes, constraints)
    namespace = pod.metadata.namespace
    return [
        HardConstraint(cluster, constraint, has_keys & inclusion.by_policies(constraint), namespace, rules)
        for constraint in constraints
    ]


def judge(constraints: Sequence[HardConstraint], rules: SpreadRules, nodes: Positions | None = None) -> Verdicts:
    """Verdicts by the first constraint that a node fails; within one, a missing label comes before the skew."""
    missing = Status(Code.UNSCHEDULABLE, LABEL_MISSING.reasons) if rules.missing_label_is_resolvable else LABEL_MISSING
    table = (CONSTRAINTS_NOT_MATCHED, missing)
    if rules.passes_without_domains and not any(counted.is_domain.any() for counted in constraints):
        size = len(constraints[0].column.codes) if nodes is None else len(nodes)
        return Verdicts(np.zeros(size, dtype=np.int32), table)
    first, *others = (counted.judge(nodes) for counted in constraints)
    for row in others:
        first = np.where(first, first, row)
    return Verdicts(first, table)


class PodTopologySpread(Plugin, frozen=True):
    name: ClassVar[str] = "PodTopologySpread"

    defaults: DefaultConstraints = SYSTEM_DEFAULTS
    rules: SpreadRules = SpreadRules()

    def can_sign(self, cluster: Cluster, pod: Pod) -> bool:
        return not (pod.spec.topology_spread_constraints or self.defaults.constraints)

    def gaps(self, cluster: Cluster, pod: Pod) -> Iterator[str]:
        """Yield gaps for unknown Services or controllers, from which default constraints take their selector."""
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
        declared = self._constraints(cluster, pod)
        if problem := declared.problems.get(DO_NOT_SCHEDULE):
            detail = f"get constraints from pod: obtaining pod's hard topology spread constraints: {problem}"
            raise SchedulingError(f'running PreFilter plugin "PodTopologySpread": {detail}')
        return SpreadState(cluster, pod, declared, self.rules) if declared.constraints else SKIP

    def _constraints(self, cluster: Cluster, pod: Pod) -> PodConstraints:
        """Constraints of the pod, parsed once if it is prepared repeatedly."""
        declared, objects = cluster.kinds.results_of(pod).section(_DECLARED), cluster.objects
        cached = declared.get(None)
        if cached is None or cached[0] is not self or cached[1] is not objects:
            parsed = pod_constraints(
                pod, self.defaults, objects, empty_selector_counts=self.rules.empty_selector_counts
            )
            cached = declared[None] = (self, objects, parsed)
        return cached[2]


_DECLARED = Memo[None, tuple[PodTopologySpread, ClusterObjects, PodConstraints]]()
"""Constraints of a pod as last read, with the plugin and the objects they were read by."""


class SpreadState(CountingState):
    """One pod's constraints, counted on one cluster."""

    _forked = ("hard", "soft")

    def __init__(self, cluster: Cluster, pod: Pod, declared: PodConstraints, rules: SpreadRules) -> None:
        self.declared = declared
        self._nodes, self._pod, self._rules = cluster.nodes, pod, rules
        self.inclusion = inclusion = NodeInclusion.get_or_make(cluster, pod, compares=rules.compares_tolerations)
        hard = [declared.constraints[position] for position in declared.positions(DO_NOT_SCHEDULE)]
        soft = [declared.constraints[position] for position in declared.positions(SCHEDULE_ANYWAY)]
        self.hard = hard_constraints(cluster, pod, hard, inclusion, rules)
        """The DoNotSchedule constraints in declared order."""
        self.soft = SoftConstraints(cluster, pod, soft, inclusion, all_keys=declared.all_keys) if soft else None
        """The ScheduleAnyway constraints in declared order, None when there are none."""

    @property
    def _counting(self) -> Sequence[HardConstraint | SoftConstraint]:
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

    def carry_over(self, cluster: Cluster, moves: Moves) -> Self | None:
        if not cluster.nodes.have_same_labels_as(self._nodes):
            return None
        inclusion = NodeInclusion.get_or_make(cluster, self._pod, compares=self._rules.compares_tolerations)
        reads_taints = any(constraint.honors_taints for constraint in self.declared.constraints)
        if reads_taints and inclusion.excludes_others_than(self.inclusion):
            return None
        fork = self.fork()
        fork._nodes, fork.inclusion = cluster.nodes, inclusion
        fork.move(moves)
        return fork

    def move(self, moves: Moves) -> None:
        for counted in self._counting:
            counted.move(moves)

    def move_one(self, kind: KindNumber, node: int, by: int) -> None:
        for counted in self._counting:
            counted.move_one(kind, node, by)

    def pretend(self, kind: KindNumber, node: int, by: int) -> None:
        """Count a pod in hard constraints: scores are computed without dry runs."""
        for counted in self.hard:
            counted.pretend(kind, node, by)


def _pod_topology_spread(setting: PluginSetting) -> PodTopologySpread:
    version = setting.version
    rules = SpreadRules(
        empty_selector_counts=not version.reaches(27) or version.reaches(38),
        counts_ineligible_nodes=version.reaches(19) and not version.reaches(24),
        passes_without_domains=not version.reaches(20, picked=((18, 11), (19, 4))),
        missing_label_is_resolvable=not version.reaches(19),
        compares_tolerations=version.has(COMPARISON_GATE),
        derives_selectors_otherwise=not version.reaches(22),
    )
    return PodTopologySpread(read_as(PodTopologySpreadArgs, setting.args).defaults(version), rules)


POD_TOPOLOGY_SPREAD = Specification(
    name=PodTopologySpread.name, points=JUDGES | RANKS, make=_pod_topology_spread, args=PodTopologySpreadArgs, weight=2
)
