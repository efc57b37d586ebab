"""Answers of a profile about one pod: verdicts, scores, ranking and the message of the FitError; and, once no node is
left for it, the result of the profile's PostFilter plugins, as a prediction.

Source: pkg/scheduler/schedule_one.go, findNodesThatPassFilters, prioritizeNodes
Source: pkg/scheduler/framework/types.go, FitError, Diagnosis
Source: pkg/scheduler/framework/runtime/framework.go, RunPostFilterPlugins
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Protocol, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from kubespread.kube.api.cluster_objects import ClusterObjects, PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.scheduler.causes import Causes
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts, Mask
from kubespread.scheduler.framework import Framework, PreparedPod
from kubespread.scheduler.plugin import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    UNJUDGED,
    Code,
    Plugin,
    SchedulingError,
    State,
    Status,
    Verdicts,
)

NO_NODES = "no nodes available to schedule pods"


class PluginScore(Struct, frozen=True):
    """Scores of one plugin for all nodes."""

    raw: Counts
    normalized: Counts
    weight: int

    @property
    def weighted_scores(self) -> Counts:
        return self.normalized * self.weight


def evaluate(framework: Framework, cluster: Cluster, pod: Pod, *, is_scored: bool = True) -> Evaluation:
    """Judge and score ``pod`` on every node of ``cluster``. Raises SchedulingError if a PreFilter fails."""
    return evaluate_prepared(framework.prepare(cluster, pod), is_scored=is_scored)


def evaluate_prepared(prepared: PreparedPod, *, is_scored: bool = True) -> Evaluation:
    """Evaluate prepared states as they are now, without scores if only verdicts are needed."""
    framework = prepared.framework
    verdicts, disabled = prepared.verdicts(framework.filters), prepared.verdicts(framework.disabled)
    alone = {**verdicts, **disabled}
    if prepared.nominated_kinds:
        prepared.count_nominated(verdicts, alone)
    evaluation = Evaluation(prepared, verdicts, alone)
    if is_scored:
        evaluation.run_scores({plugin.name: weight for plugin, weight in framework.scores})
    return evaluation


class Evaluation:
    """Verdicts and scores of every plugin for every node, and the results derived from them."""

    def __init__(self, prepared: PreparedPod, verdicts: Mapping[str, Verdicts], alone: Mapping[str, Verdicts]) -> None:
        self.prepared = prepared
        self.cluster = prepared.cluster
        self.pod = prepared.pod
        self.states: Mapping[str, State] = prepared.states
        self.rejection = prepared.rejection
        """The PreFilter judgment that rejected the pod as a whole."""
        self.verdicts = verdicts
        """Verdicts in the cycle as a whole, per filter plugin that did not skip, in profile order."""
        self.alone = alone
        """Verdicts of each plugin on its own, followed by the filters that the profile disables."""
        self._messages = prepared.framework.messages
        self._listing = prepared.listing
        self.scores: dict[str, PluginScore] = {}
        """Per score plugin that did not skip, in profile order."""
        self._scoring = True
        self.filter_error: str | None = None
        """Reason why filtering failed, in which case no node has a verdict."""
        if self.rejection is None:
            self.filter_error = _error_of(verdicts, self.included_nodes)
        self.error = self.filter_error
        """Reason why the cycle failed, in which case kube-scheduler places the pod nowhere."""

    @cached_property
    def included_nodes(self) -> Mask:
        """Nodes that PreFilter plugins leave."""
        included = np.ones(len(self.cluster), dtype=np.bool_)
        for listed in self._listing.values():
            included &= listed
        return included

    @cached_property
    def listing_plugins(self) -> tuple[str, ...]:
        return tuple(sorted(self._listing))

    @cached_property
    def feasible(self) -> Mask:
        if self.rejection is not None or self.filter_error is not None:
            return np.zeros(len(self.cluster), dtype=np.bool_)
        feasible = self.included_nodes.copy()
        for verdicts in self.verdicts.values():
            feasible &= verdicts.passes
        return feasible

    def barred_by(self, plugins: Iterable[str]) -> Mask:
        """Nodes that any of these filter plugins rejects."""
        barred = np.zeros(len(self.cluster), dtype=np.bool_)
        for name in plugins:
            if name in self.verdicts:
                barred |= ~self.verdicts[name].passes
        return barred

    def nodes_reaching(self, plugin: str) -> Mask:
        """Nodes that one filter plugin judges, as all earlier plugins pass them."""
        reached: Mask = np.zeros(len(self.cluster), dtype=np.bool_)
        if self.rejection is not None or plugin not in self.verdicts:
            return reached
        reached = self.included_nodes.copy()
        for name, verdicts in self.verdicts.items():
            if name == plugin:
                break
            reached &= verdicts.passes
        return reached

    def run_scores(self, weights: Mapping[str, int]) -> None:
        """Score the feasible nodes."""
        self._scoring = bool(weights)
        feasible_count = int(np.count_nonzero(self.feasible))
        if not feasible_count:
            return
        failed: str | None = None
        skipped_scores = self.prepared.framework.skipped_scores
        for name, weight in weights.items():
            state = self.states.get(name, SKIP)
            try:
                raw = state.raw_scores(self.cluster, self.feasible)
            except SchedulingError as error:
                failed = failed or str(error)
                continue
            if raw is None and name in skipped_scores:
                raw = np.full(len(self.cluster), skipped_scores[name], dtype=np.int64)
            if weight and raw is not None:
                self.scores[name] = PluginScore(raw, state.normalize(raw, state.extent(raw, self.feasible)), weight)
        # A single node is not scored.
        if feasible_count > 1:
            self.error = failed or invalid_score(self.scores, self.feasible)
            if failed is not None:
                self.scores.clear()

    @cached_property
    def nominated_node(self) -> int | None:
        """Node that an earlier preemption nominated for the pod, if it fits: it is taken without a search."""
        node = self.cluster.nodes.index.get(self.pod.status.nominated_node_name)
        return node if node is not None and self.feasible[node] else None

    @cached_property
    def total(self) -> Counts:
        """Sum of all weighted scores; 1 everywhere in a profile without score plugins."""
        if not self._scoring:
            return np.ones(len(self.cluster), dtype=np.int64)
        weighted = (score.weighted_scores for score in self.scores.values())
        return sum(weighted, np.zeros(len(self.cluster), dtype=np.int64))

    @cached_property
    def ranking(self) -> NDArray[np.int64]:
        """Positions of feasible nodes, best total first, equals by name."""
        feasible = np.flatnonzero(self.feasible)
        order = np.lexsort((self.cluster.nodes.name_rank[feasible], -self.total[feasible]))
        return feasible[order]

    @property
    def fits_nowhere(self) -> bool:
        """True if there are nodes, none fits and nothing failed: only then kube-scheduler runs PostFilter.

        Source: pkg/scheduler/schedule_one.go, schedulingCycle
        """
        return bool(len(self.cluster)) and self.error is None and not self.feasible.any()

    def verdict(self, node: int) -> Status:
        """kube-scheduler's status of a node: the first rejection in profile order."""
        if self.rejection is not None:
            return self.rejection
        if self.filter_error is not None:
            return UNJUDGED
        if not self.included_nodes[node]:
            return self._exclusion
        if self.feasible[node]:
            return SUCCESS
        for name, judged in self.verdicts.items():
            if (status := judged.status(node)).code is not Code.SUCCESS:
                return Status(status.code, status.reasons, name)
        return SUCCESS

    def rejections(self, node: int) -> list[Status]:
        """Statuses of all filter plugins that reject a node, in profile order; disabled plugins come last."""
        return self._rejections.get(node, [])

    @cached_property
    def _rejections(self) -> Mapping[int, list[Status]]:
        rejections: dict[int, list[Status]] = {}
        for name, judged in self.alone.items():
            named = [Status(status.code, status.reasons, name) for status in judged.table]
            rejected = np.flatnonzero(judged.rows)
            for node, row in zip(rejected.tolist(), judged.rows[rejected].tolist(), strict=True):
                if (status := named[row - 1]).code is not Code.SUCCESS:
                    rejections.setdefault(node, []).append(status)
        return rejections

    def causes(self) -> Mapping[str, Mapping[int, Causes]]:
        """Data behind `rejections` by plugin and node.

        Nodes where nominated pods count have none: those pods count in the verdict and not in a state's numbers.
        """
        return {name: dict(self._causes_of(name, verdicts)) for name, verdicts in self.alone.items()}

    def _causes_of(self, plugin: str, judged: Verdicts) -> Iterator[tuple[int, Causes]]:
        state = self.states.get(plugin)
        is_rejected = judged.rows > 0
        is_rejected[list(self.prepared.nominated_kinds)] = False
        for row, status in enumerate(judged.table, start=1):
            if status.code is Code.ERROR:
                is_rejected[judged.rows == row] = False
        nodes = np.flatnonzero(is_rejected)
        if state is not None and len(nodes):
            yield from zip(nodes.tolist(), state.causes(self.cluster, nodes), strict=True)

    @property
    def _exclusion(self) -> Status:
        return Status(Code.UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{' '.join(self.listing_plugins)}]",))

    @property
    def message(self) -> str | None:
        """kube-scheduler's message without its PostFilter part; None if a node fits."""
        return self.message_among(np.ones(len(self.cluster), dtype=np.bool_))

    def message_among(self, nodes: Mask) -> str | None:
        """`message` if only some ``nodes`` are candidates, as in a placement of a pod group."""
        if not nodes.any():
            return NO_NODES
        if self.error is not None:
            return self.error
        return None if (self.feasible & nodes).any() else self._fit_error(nodes)

    def _fit_error(self, nodes: Mask) -> str:
        head = f"0/{int(np.count_nonzero(nodes))} nodes are available:"
        if self.rejection is not None and not self._messages.counts_rejection_per_node:
            return f"{head} {', '.join(self.rejection.reasons)}."
        counts: Counter[str] = Counter()
        for status, number in self._first_rejections(nodes):
            for reason in status.reasons:
                counts[reason] += number
        # Sorted as finished strings, so "11 ..." comes before "2 ...".
        parts = sorted(f"{count} {reason}" for reason, count in counts.items())
        return f"{head} {', '.join(parts)}." if parts else head

    def _first_rejections(self, among: Mask) -> Iterator[tuple[Status, int]]:
        """Yield each `verdict` on the nodes, with the number of nodes that have it."""
        if self.rejection is not None:
            yield self.rejection, int(np.count_nonzero(among))
            return
        unjudged = self.included_nodes & among
        excluded = int(np.count_nonzero(among & ~self.included_nodes))
        if self._messages.counts_excluded_nodes and excluded:
            yield self._exclusion, excluded
        for judged in self.verdicts.values():
            numbers = np.bincount(judged.rows[unjudged], minlength=len(judged.table) + 1).tolist()
            yield from ((status, number) for status, number in zip(judged.table, numbers[1:], strict=True) if number)
            unjudged &= judged.passes


def _error_of(verdicts: Mapping[str, Verdicts], included: Mask) -> str | None:
    """Error of a filter plugin on a node that all earlier plugins pass; it ends the cycle."""
    if not any(status.code is Code.ERROR for judged in verdicts.values() for status in judged.table):
        return None
    reached = included
    for judged in verdicts.values():
        for row, status in enumerate(judged.table, start=1):
            if status.code is Code.ERROR and (reached & (judged.rows == row)).any():
                return status.reasons[0]
        reached = reached & judged.passes
    return None


def invalid_score(scores: Mapping[str, PluginScore], feasible: Mask) -> str | None:
    """kube-scheduler's error for the first plugin with a normalized score outside 0..100, as wrapped sums are."""
    for name, score in scores.items():
        outside = feasible & ((score.normalized < 0) | (score.normalized > MAX_NODE_SCORE))
        if outside.any():
            score_text = f'plugin "{name}" returns an invalid score {int(score.normalized[outside][0])}'
            range_text = f"it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
            return f"applying score defaultWeights on Score plugins: {score_text}, {range_text}"
    return None


class PreemptionCandidate(Struct, frozen=True):
    """A node that would take the pod without its victims, the most important one first."""

    node: str
    victims: tuple[Pod, ...]
    violations: int
    violated_budgets: tuple[tuple[str, ...], ...]
    """Names of the disruption budgets that each victim's eviction violates."""
    tied: tuple[Pod, ...] = ()
    """Pods of the node as important as a victim, which stay only by the order of pods."""
    equal_nodes: tuple[str, ...] = ()
    """Equally good nodes: kube-scheduler picks one at random."""


class Preemption(Struct, frozen=True):
    """The nominated candidate, if any, and the text that kube-scheduler appends to its message."""

    candidate: PreemptionCandidate | None
    tail: str = ""


def outranks_any(cluster: Cluster, pod: Pod) -> bool:
    """True if any pod on a node has a lower priority than ``pod``, so that preemption may help."""
    priority = priority_of(pod)
    return cluster.kinds.lowest_priority < priority and any(
        cluster.kinds[number].priority < priority for number in cluster.running.nodes_of_kind
    )


def budget_gaps(objects: ClusterObjects) -> Iterator[str]:
    """Yield a gap if budgets, which evictions and preemption need, were not listed."""
    return objects.gap(PodDisruptionBudget, "evictions and preemption are predicted as if there were no budgets")


Budgets = Sequence[PodDisruptionBudget]
_T = TypeVar("_T")


class TieOrder(Protocol):
    """Function that puts equals in an order where Kubernetes leaves it open."""

    def __call__(self, equals: Sequence[_T], /) -> Sequence[_T]: ...


def keep_order(equals: Sequence[_T], /) -> Sequence[_T]:
    return equals


class PostFilterPlugin(Plugin, frozen=True):
    """A plugin that runs if no node fits."""

    @abstractmethod
    def post_filter(self, evaluation: Evaluation, budgets: Budgets, order: TieOrder) -> PreemptionCandidate | str:
        """Node to free, else the text it adds to the message. Raises SchedulingError if it fails."""


class PostFilters(Struct, frozen=True):
    """PostFilter plugins of a profile in order, and the release's wording of their results."""

    plugins: Sequence[PostFilterPlugin] = ()
    ends_in_two_periods: bool = False
    """From 1.26 to 1.28 the text ends with two periods."""
    names_placement: bool = True
    """Since 1.37 the text also names the node found by preemption."""


def preempt(
    evaluation: Evaluation, post_filters: PostFilters, *, budgets: Budgets | None = None, order: TieOrder = keep_order
) -> Preemption:
    """Predict preemption for a pod that fits nowhere; ``budgets`` default to the cluster's."""
    if budgets is None:
        budgets = evaluation.cluster.objects.get(PodDisruptionBudget)
    answer = _run_post_filter_plugins(evaluation, post_filters.plugins, budgets, order)
    if (candidate := answer.candidate) is not None:
        # Always in the plural, for one victim too.
        victims = f"preempting {len(candidate.victims)} victims"
        placement = f"preemption: found a potential placement for pod on node {candidate.node}, {victims}"
        return replace(answer, tail=placement) if post_filters.names_placement else answer
    return replace(answer, tail=f"{answer.tail}.") if post_filters.ends_in_two_periods and answer.tail else answer


def _run_post_filter_plugins(
    evaluation: Evaluation, plugins: Sequence[PostFilterPlugin], budgets: Budgets, order: TieOrder
) -> Preemption:
    """Run plugins until one helps or fails; the messages of the others are joined."""
    texts: list[str] = []
    for plugin in plugins:
        try:
            answer = plugin.post_filter(evaluation, budgets, order)
        except SchedulingError as error:
            return Preemption(None, str(error))
        if isinstance(answer, PreemptionCandidate):
            return Preemption(answer)
        texts.append(answer)
    return Preemption(None, ", ".join(filter(None, texts)))
