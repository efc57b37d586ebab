"""DefaultPreemption: which node would be nominated, and which of its pods would be evicted.

Where the scheduler starts at a random node, this starts at the first by name. The caller's `TieOrder` decides between
equal nodes, and between equal pods.

Source: pkg/scheduler/framework/preemption/preemption.go, Preempt, DryRunPreemption, pickOneNodeForPreemption,
    findCandidates
Source: pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go, SelectVictimsOnNode,
    PodEligibleToPreemptOthers, filterPodsWithPDBViolation
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
from msgspec import field
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import Int32
from kubespread.kube.owners import priority_of
from kubespread.kube.selector import SelectorError, from_label_selector
from kubespread.kube.validation.faults import FieldFault, range_faults
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import BY_SCHEDULER, DISRUPTION_TARGET
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import (
    Budgets,
    Evaluation,
    PostFilterPlugin,
    PreemptionCandidate,
    TieOrder,
    budget_gaps,
)
from kubespread.scheduler.framework import DryRun
from kubespread.scheduler.plugin import (
    SKIP,
    Args,
    Code,
    PluginSetting,
    Point,
    SchedulingError,
    Specification,
    State,
    Status,
    read_as,
)

NO_VICTIMS = "No preemption victims found for incoming pod"
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NEVER = "not eligible due to preemptionPolicy=Never."
WAITS = "not eligible due to a terminating pod on the nominated node."
_NEVER_STARTED = "9999"
_OFFSET = 2**31


class DefaultPreemptionArgs(Args):
    """Number of candidates that ends the search, as a percentage of the potential nodes and as a minimum."""

    min_candidate_nodes_percentage: Int32 = 10
    min_candidate_nodes_absolute: Int32 = 100

    def enough_of(self, nodes: int) -> int:
        """Number of candidates that suffices among so many nodes."""
        return min(max(nodes * self.min_candidate_nodes_percentage // 100, self.min_candidate_nodes_absolute), nodes)

    def faults(self, path: str, version: KubeVersion) -> Iterator[FieldFault]:
        percentage, absolute = self.min_candidate_nodes_percentage, self.min_candidate_nodes_absolute
        yield from range_faults(percentage, 0, 100, f"{path}.minCandidateNodesPercentage")
        if absolute < 0:
            yield FieldFault(f"{path}.minCandidateNodesAbsolute", "must not be negative")
        if percentage == 0 and absolute == 0:
            for name in ("minCandidateNodesPercentage", "minCandidateNodesAbsolute"):
                yield FieldFault(f"{path}.{name}", "one of the two must be greater than 0")


class DefaultPreemption(PostFilterPlugin, frozen=True):
    name: ClassVar[str] = "DefaultPreemption"

    args: DefaultPreemptionArgs = field(default_factory=DefaultPreemptionArgs)
    honors_empty_selectors: bool = False
    """Since 1.38 a budget's selector ``{}`` matches all pods, and other selectors can match pods without labels."""

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        return SKIP

    def post_filter(self, evaluation: Evaluation, budgets: Budgets, order: TieOrder) -> PreemptionCandidate | str:
        """Choose a candidate by dry runs; their errors are the answer only without any candidate."""
        if (refusal := _refusal(evaluation)) is not None:
            return f"preemption: {refusal}"
        search = _DryRuns(evaluation, self, budgets, order)
        if candidates := search.run():
            best, *others = order(_best(candidates))
            return replace(best, equal_nodes=tuple(other.node for other in others))
        if search.errors:
            # As Go's aggregate of errors is worded: equal ones once, several in brackets.
            text = ", ".join(dict.fromkeys(search.errors))
            raise SchedulingError(f"preemption: [{text}]" if len({*search.errors}) > 1 else f"preemption: {text}")
        return f"preemption: {search.message}"


def _refusal(evaluation: Evaluation) -> str | None:
    """Reason why no node is tried; None if some are."""
    if evaluation.pod.spec.preemption_policy == "Never":
        return NEVER
    if _waits_for_victims(evaluation):
        return WAITS
    size = len(evaluation.cluster)
    return None if evaluation.rejection is None else f"0/{size} nodes are available: {size} {NOT_HELPFUL}."


def _waits_for_victims(evaluation: Evaluation) -> bool:
    """True if an earlier preemption nominated a node where its victims are still terminating."""
    cluster, pod = evaluation.cluster, evaluation.pod
    node = cluster.nodes.index.get(pod.status.nominated_node_name)
    if node is None or evaluation.verdict(node).code is Code.UNRESOLVABLE:
        return False
    others = (cluster.running.pods[index] for index in np.flatnonzero(cluster.running.node == node).tolist())
    return any(priority_of(other) < priority_of(pod) and _is_preempted(other) for other in others)


def _is_preempted(pod: Pod) -> bool:
    if pod.metadata.deletion_timestamp is None:
        return False
    target = next((condition for condition in pod.status.conditions if condition.type == DISRUPTION_TARGET), None)
    return target is not None and target.status == "True" and target.reason == BY_SCHEDULER


class _DryRuns:
    """Dry runs on the nodes where removing pods might help."""

    def __init__(self, evaluation: Evaluation, plugin: DefaultPreemption, budgets: Budgets, order: TieOrder) -> None:
        self._args, self._honors_empty, self._order = plugin.args, plugin.honors_empty_selectors, order
        self._budgets = list(_selecting(budgets, honors_empty=self._honors_empty))
        self._evaluation = evaluation
        self._prepared = evaluation.prepared.fork()
        # A plugin that skipped this pod stays skipped, no matter what a dry run puts on the node.
        self._filters = tuple(evaluation.verdicts)
        self._cluster = evaluation.cluster
        self._failures: dict[int, tuple[str, ...]] = {}
        self.errors: list[str] = []
        """Errors of dry runs, which neither fit nor were rejected."""

    def run(self) -> list[PreemptionCandidate]:
        """Candidates in the order of names, until enough are found and one of them violates no budget."""
        helpful = [
            node for node in range(len(self._cluster)) if self._evaluation.verdict(node).code is Code.UNSCHEDULABLE
        ]
        enough = self._args.enough_of(len(helpful))
        candidates: list[PreemptionCandidate] = []
        for node in sorted(helpful, key=self._cluster.nodes.names.__getitem__):
            candidate = self._dry_run(node)
            if candidate is not None:
                candidates.append(candidate)
            if len(candidates) >= enough and any(candidate.violations == 0 for candidate in candidates):
                break
        return candidates

    @cached_property
    def _lower(self) -> Mapping[int, list[int]]:
        """Per node the pods of lower priority than the candidate, by position."""
        priority = priority_of(self._evaluation.pod)
        lower = np.array([kind.priority < priority for kind in self._cluster.kinds.all], dtype=np.bool_)
        (pods,) = lower[self._cluster.running.kind].nonzero()
        node = self._cluster.running.node[pods]
        order = node.argsort(kind="stable")
        nodes, starts = np.unique(node[order], return_index=True)
        lists = (part.tolist() for part in np.split(pods[order], starts[1:]))
        return dict(zip(nodes.tolist(), lists, strict=False))

    def _dry_run(self, node: int) -> PreemptionCandidate | None:
        """Remove every pod of lower priority, then put back pods that can stay, the most important first."""
        lower = self._lower.get(node)
        if not lower:
            self._failures[node] = (NO_VICTIMS,)
            return None
        kind = {index: self._cluster.kinds[self._cluster.running.kind_of(index)] for index in lower}
        with DryRun(self._prepared, node) as dry_run:
            for index in lower:
                dry_run.move(kind[index], -1)
            status = self._verdict(dry_run, node)
            if status.code is Code.ERROR:
                self.errors += status.reasons
                return None
            if status.code is not Code.SUCCESS:
                self._failures[node] = status.reasons
                return None
            important = self._most_important_first(self._order(lower))
            violating = self._violating(important)
            victims = list[int]()
            for index in sorted(important, key=lambda index: index not in violating):
                dry_run.move(kind[index], 1)
                if self._verdict(dry_run, node).code is not Code.SUCCESS:
                    dry_run.move(kind[index], -1)
                    victims.append(index)
        if 0 < len(violating) < len(important):
            victims = self._most_important_first(victims)
        pods = self._cluster.running.pods
        broken = tuple(tuple(violating.get(index, ())) for index in victims)
        # Pods of one template are copies.
        equals = {self._importance(pods[index]): kind[index] for index in victims}
        stays = ((index, self._importance(pods[index])) for index in important if index not in victims)
        return PreemptionCandidate(
            self._cluster.nodes.names[node],
            tuple(pods[index] for index in victims),
            sum(map(bool, broken)),
            broken,
            tuple(pods[index] for index, importance in stays if equals.get(importance, kind[index]) is not kind[index]),
        )

    def _most_important_first(self, indexes: Sequence[int]) -> list[int]:
        """Pods by priority, then by how long they have run.

        One that has not started counts as started now, which is later at each comparison: so of several the last
        comes first, as Go's sort of up to twelve leaves them.
        """

        def order(place: int) -> tuple[int, str, int]:
            pod = self._cluster.running.pods[indexes[place]]
            return *self._importance(pod), 0 if pod.status.start_time else -place

        return [indexes[place] for place in sorted(range(len(indexes)), key=order)]

    @staticmethod
    def _importance(pod: Pod) -> tuple[int, str]:
        return -priority_of(pod), pod.status.start_time or _NEVER_STARTED

    def _verdict(self, dry_run: DryRun, node: int) -> Status:
        """The candidate's verdict with the pods nominated to the node there, then without them."""
        nominated = self._prepared.nominated_kinds.get(node, ())
        if nominated:
            for kind in nominated:
                dry_run.move(kind, 1)
            status = dry_run.first_rejection(self._filters)
            for kind in reversed(nominated):
                dry_run.move(kind, -1)
            if status.code is not Code.SUCCESS:
                return status
        return dry_run.first_rejection(self._filters)

    def _violating(self, important: Sequence[int]) -> Mapping[int, list[str]]:
        """Violated disruption budgets by pod: the most important pods use up the allowed disruptions first."""
        self._cluster.assume(budget_gaps(self._cluster.objects))
        allowed = [budget.status.disruptions_allowed for budget, _ in self._budgets]
        violating: dict[int, list[str]] = {}
        for index in important:
            meta = self._cluster.running.pods[index].metadata
            for position, (budget, matches) in enumerate(self._budgets):
                same_namespace = budget.metadata.namespace == meta.namespace
                if (
                    (not meta.labels and not self._honors_empty)
                    or not same_namespace
                    or meta.name in budget.status.disrupted_pods
                    or not matches(meta.labels)
                ):
                    continue
                allowed[position] -= 1
                if allowed[position] < 0:
                    violating.setdefault(index, []).append(budget.metadata.name)
        return violating

    @property
    def message(self) -> str:
        """Message that says why no node qualified: the reasons of the dry runs, or that none was tried."""
        counts: Counter[str] = Counter()
        for node in range(len(self._cluster)):
            counts.update(self._failures.get(node, (NOT_HELPFUL,)))
        parts = sorted(f"{count} {reason}" for reason, count in counts.items())
        return f"0/{len(self._cluster)} nodes are available: {', '.join(parts)}."


def _selecting(
    budgets: Budgets, *, honors_empty: bool
) -> Iterator[tuple[PodDisruptionBudget, Callable[[dict[str, str]], bool]]]:
    """Budgets that select pods, with their selectors; an empty selector selects pods only if it is honored."""
    for budget in budgets:
        try:
            selector = from_label_selector(budget.spec.selector)
        except SelectorError:
            continue
        if not selector.nothing and (honors_empty or not selector.is_empty):
            yield budget, selector.matches


def _best(candidates: Sequence[PreemptionCandidate]) -> list[PreemptionCandidate]:
    """Candidates with fewest violations, least important victims, fewest victims and latest start, by name."""

    def order(candidate: PreemptionCandidate) -> tuple[int, int, int, int]:
        victims = candidate.victims
        top = priority_of(victims[0]) if victims else 0
        total = sum(priority_of(victim) + _OFFSET for victim in victims)
        return candidate.violations, top, total, len(victims)

    least = min(order(candidate) for candidate in candidates)
    tied = [candidate for candidate in candidates if order(candidate) == least]
    latest_start = max(_first_start(candidate) for candidate in tied)
    last = (candidate for candidate in tied if _first_start(candidate) == latest_start)
    return sorted(last, key=lambda candidate: candidate.node)


def _first_start(candidate: PreemptionCandidate) -> str:
    """Start time of the most important victim; of several, the earliest."""
    top = priority_of(candidate.victims[0]) if candidate.victims else 0
    starts = [victim.status.start_time or _NEVER_STARTED for victim in candidate.victims if priority_of(victim) == top]
    return min(starts, default="")


def _make(setting: PluginSetting) -> DefaultPreemption:
    return DefaultPreemption(read_as(DefaultPreemptionArgs, setting.args), setting.version.reaches(38))


DEFAULT_PREEMPTION = Specification(
    name=DefaultPreemption.name,
    points=frozenset({Point.PRE_ENQUEUE, Point.POST_FILTER}),
    make=_make,
    args=DefaultPreemptionArgs,
)
