"""Running one pod through a profile: PreFilter, Filter, PreScore, Score, normalisation, weights, and the FitError.

Source of the rules: kube-scheduler 1.36 (pkg/scheduler/framework/runtime and schedule_one.go). Unlike it, every filter
plugin judges every node, so that all reasons are known; the verdict is still the first rejection in profile order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.objects import Pod
from kubespread.kube.priority import is_same_pod, priority_of
from kubespread.scheduler.cluster.change import Change, Moves
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.kinds import PodKind
from kubespread.scheduler.cluster.labels import Counts, Mask
from kubespread.scheduler.cycle_state import MissingState
from kubespread.scheduler.plugin import (
    MAX_NODE_SCORE,
    SKIP,
    SUCCESS,
    UNJUDGED,
    Code,
    Counted,
    OnNode,
    Plugin,
    SchedulingError,
    State,
    Status,
    Verdicts,
)

NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class PluginScore:
    """One plugin's scores of all nodes."""

    raw: Counts
    normalized: Counts
    weight: int

    @property
    def weighted(self) -> Counts:
        return self.normalized * self.weight


@dataclass(frozen=True, slots=True)
class MessageRules:
    """How a release words its failure message."""

    counts_excluded_nodes: bool = True
    """Up to 1.31 nodes outside a PreFilter plugin's node list are not counted."""
    counts_rejection_per_node: bool = False
    """Up to 1.25 a PreFilter rejection is counted like a reason of every node."""
    wording: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Reasons the release puts otherwise."""

    def reword(self, status: Status) -> Status:
        reasons = (older for reason in status.reasons for older in self.wording.get(reason, (reason,)))
        return Status(status.code, tuple(reasons), status.plugin)


@dataclass(frozen=True, slots=True)
class Framework:
    """The plugins of one profile at the two extension points that decide: filters in order, scores with their weights."""

    filters: Sequence[Plugin]
    scores: Sequence[tuple[Plugin, int]]
    pre_filters: Sequence[Plugin] = ()
    """Those that may reject the pod as a whole or leave nodes out beforehand, in the order they are asked."""
    disabled: Sequence[Plugin] = ()
    """Filters the profile does not run. They are asked all the same, since what they would say is worth knowing."""
    post_filters: Sequence[str] = ()
    """Names of the plugins that are asked once no node is left, in order."""
    messages: MessageRules = field(default_factory=MessageRules)
    missing: MissingState = field(default_factory=MissingState)
    """What fails because the profile switches off the extension points that come before it."""

    def reaches(self, plugin: str, rejection: Status | None) -> bool:
        """Whether PreFilter of ``plugin`` runs although that of another plugin makes ``rejection``."""
        names = [found.name for found in self.pre_filters]
        return plugin in names and (rejection is None or names.index(plugin) <= names.index(rejection.plugin))

    def prepare(self, cluster: Cluster, pod: Pod) -> Prepared:
        """Everything about ``pod`` on ``cluster`` that can be known beforehand. Raises SchedulingError when a PreFilter fails."""
        return Prepared(self, cluster, pod)

    def evaluate(self, cluster: Cluster, pod: Pod) -> Evaluation:
        """Judge and score ``pod`` on every node of ``cluster``. Raises SchedulingError when a PreFilter fails."""
        return self.prepare(cluster, pod).evaluation()


class Prepared:
    """The profile's plugins prepared for one pod: for each a state to ask, or a status that rejects the pod as a whole."""

    def __init__(self, framework: Framework, cluster: Cluster, pod: Pod) -> None:
        self.framework, self.cluster, self.pod = framework, cluster, pod
        self.states: dict[str, State] = {}
        self._statuses: dict[str, Status] = {}
        self.rejection: Status | None = None
        """The first PreFilter's judgement that rejects the pod as a whole; kube-scheduler asks no further."""
        for plugin in framework.pre_filters:
            self._pre_filter(plugin)
        self._add((*framework.filters, *(plugin for plugin, _ in framework.scores), *framework.disabled))

    def _pre_filter(self, plugin: Plugin) -> None:
        if self.rejection is not None:
            self._add([plugin])
            return
        self._prepare(plugin)
        self.rejection = self._statuses.get(plugin.name)

    def _add(self, plugins: Iterable[Plugin]) -> None:
        """Prepare plugins that kube-scheduler does not ask beforehand; one that would fail then has nothing to say."""
        for plugin in plugins:
            if plugin.name in self.states or plugin.name in self._statuses:
                continue
            try:
                self._prepare(plugin)
            except SchedulingError:
                self.states[plugin.name] = SKIP

    def _prepare(self, plugin: Plugin) -> None:
        prepared = plugin.prepare(self.cluster, self.pod)
        if isinstance(prepared, State):
            self.states[plugin.name] = prepared
        else:
            self._statuses[plugin.name] = self.framework.messages.reword(Status(prepared.code, prepared.reasons, plugin.name))

    @property
    def listing(self) -> dict[str, Mask]:
        """The node lists of the PreFilter plugins that have one, by plugin."""
        lists = (
            (plugin.name, self.states[plugin.name].pre_filter_result())
            for plugin in self.framework.pre_filters
            if plugin.name in self.states
        )
        return {name: listed for name, listed in lists if listed is not None}

    def after(self, cluster: Cluster, change: Change, moves: Moves) -> Prepared:
        """The same for ``cluster``, which came of this one's by ``change``; this one is as it was."""
        states = {name: state.after(cluster, change, moves) for name, state in self.states.items()}
        if change.touches_nodes or any(state is None for state in states.values()):
            return Prepared(self.framework, cluster, self.pod)
        other = copy(self)
        other.cluster = cluster
        other.states = {name: state for name, state in states.items() if state is not None}
        return other

    def fork(self) -> Prepared:
        """The same, its counts to be moved apart from these."""
        other = copy(self)
        other.states = {name: state.fork() if isinstance(state, Counted) else state for name, state in self.states.items()}
        return other

    @cached_property
    def nominated(self) -> Mapping[int, tuple[PodKind, ...]]:
        """Per node the pods nominated to it that count there in the first pass: of the candidate's priority at least."""
        found: dict[int, list[PodKind]] = {}
        for other in self.cluster.nominated:
            if priority_of(other) >= priority_of(self.pod) and not is_same_pod(other, self.pod):
                node = self.cluster.nodes.index[other.status.nominated_node_name]
                found.setdefault(node, []).append(self.cluster.kinds[self.cluster.kinds.number_of(other)])
        return {node: tuple(kinds) for node, kinds in found.items()}

    def verdicts(self, plugins: Iterable[Plugin]) -> dict[str, Verdicts]:
        """What each plugin says of every node; a plugin that rejects the pod rejects all of them, one that skips is not there."""
        everywhere = np.ones(len(self.cluster), dtype=np.bool_)
        found: dict[str, Verdicts] = {}
        for plugin in plugins:
            if plugin.name in self._statuses:
                found[plugin.name] = Verdicts.rejecting(everywhere, self._statuses[plugin.name])
            elif (verdicts := self.states[plugin.name].verdicts(self.cluster)) is not None:
                found[plugin.name] = Verdicts(verdicts.which, tuple(map(self.framework.messages.reword, verdicts.table)))
        return found

    def evaluation(self) -> Evaluation:
        """What follows from the states as they are now."""
        enabled, disabled = self.verdicts(self.framework.filters), self.verdicts(self.framework.disabled)
        if self.nominated and self.rejection is None:
            for found in (enabled, disabled):
                self._count_nominated(found)
        evaluation = Evaluation(self, enabled, disabled)
        evaluation.run_scores({plugin.name: weight for plugin, weight in self.framework.scores})
        return evaluation

    def _count_nominated(self, verdicts: dict[str, Verdicts]) -> None:
        """A plugin's first pass, with the pods nominated to a node on it, comes before its second."""
        for node, kinds in self.nominated.items():
            with DryRun(self, node) as dry_run:
                for kind in kinds:
                    dry_run.move(kind, 1)
                for name, judged in verdicts.items():
                    status = dry_run.status_of(name)
                    if status.code is not Code.SUCCESS:
                        verdicts[name] = judged.with_status(node, self.framework.messages.reword(status))


class DryRun:
    """One node with pods on it that are not there, or without some that are; what is pretended is taken back in the end."""

    def __init__(self, prepared: Prepared, node: int, counted_already: Sequence[tuple[PodKind, int]] = ()) -> None:
        """``counted_already`` are pods on the node that the states count and the cluster does not hold yet."""
        self._prepared = prepared
        self._node = node
        self._positions = np.array([node], dtype=np.intp)
        self._held = Holdings(prepared.cluster, self._positions, tuple(counted_already))
        self._pretended: list[tuple[PodKind, int]] = []
        self._counted = [state for state in prepared.states.values() if isinstance(state, Counted)]

    def __enter__(self) -> DryRun:
        return self

    def __exit__(self, *_: object) -> None:
        for kind, by in self._pretended:
            for state in self._counted:
                state.pretend(kind.number, self._node, -by)

    def move(self, kind: PodKind, by: int) -> None:
        """Put a pod on the node (``by`` 1), or take one away (-1)."""
        self._held = self._held.plus(kind, by)
        self._pretended.append((kind, by))
        for state in self._counted:
            state.pretend(kind.number, self._node, by)

    def status_of(self, plugin: str) -> Status:
        """What one filter plugin says of the node now."""
        state = self._prepared.states.get(plugin)
        if state is None:
            return SUCCESS
        judged = state.judge(self._held) if isinstance(state, OnNode) else state.verdicts(self._prepared.cluster, self._positions)
        return SUCCESS if judged is None else judged.status(0)

    def first_rejection(self, plugins: Iterable[str]) -> Status:
        """The first of these filter plugins that rejects the node now; those that skip this pod must be left out."""
        statuses = (self.status_of(name) for name in plugins)
        return next((status for status in statuses if status.code is not Code.SUCCESS), SUCCESS)


class Evaluation:
    """What every plugin said about every node, and what follows from it."""

    def __init__(self, prepared: Prepared, verdicts: Mapping[str, Verdicts], disabled: Mapping[str, Verdicts]) -> None:
        self.prepared = prepared
        self.cluster = prepared.cluster
        self.pod = prepared.pod
        self.states: Mapping[str, State] = prepared.states
        self.rejection = prepared.rejection
        """The PreFilter judgement that rejected the pod as a whole."""
        self.verdicts = verdicts
        """Per filter plugin that did not skip, in profile order."""
        self._disabled = disabled
        self._messages = prepared.framework.messages
        self._missing = prepared.framework.missing
        self._listing = prepared.listing
        self.scores: dict[str, PluginScore] = {}
        """Per score plugin that did not skip, in profile order."""
        self._scoring = True
        self.filter_error: str | None = None
        """Why filtering failed, in which case no node has a verdict."""
        if self.rejection is None:
            filters = [plugin.name for plugin in prepared.framework.filters]
            self.filter_error = self._missing.filter_error(filters, verdicts, self.included) or _error_of(verdicts, self.included)
        self.error = self.filter_error
        """Why the cycle failed, in which case kube-scheduler places the pod nowhere."""

    @cached_property
    def included(self) -> Mask:
        """Nodes inside the PreFilter plugins' node lists."""
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
        feasible = self.included.copy()
        for verdicts in self.verdicts.values():
            feasible &= verdicts.passes
        return feasible

    def run_scores(self, weights: Mapping[str, int]) -> None:
        """Score the feasible nodes. With a single one kube-scheduler does not score, so a failing PreScore goes unnoticed."""
        self._scoring = bool(weights)
        if not self.feasible.any():
            return
        scored = np.count_nonzero(self.feasible) > 1
        for name, weight in weights.items():
            state = self.states.get(name, SKIP)
            try:
                raw = state.raw_scores(self.cluster, self.feasible)
            except SchedulingError as error:
                if scored:
                    self.error = str(error)
                    self.scores.clear()
                    return
                continue
            if raw is None and name in self._missing.unskipped:
                raw = np.zeros(len(self.cluster), dtype=np.int64)
            if raw is not None and name not in self._missing.scores:
                self.scores[name] = PluginScore(raw, state.normalize(raw, state.extent(raw, self.feasible)), weight)
        if scored and self._missing.scores:
            self.error = next(iter(self._missing.scores.values()))
            self.scores.clear()
        else:
            self.error = (invalid_score(self.scores, self.feasible) if scored else None) or self._missing.reserve

    @cached_property
    def nominee(self) -> int | None:
        """The node nominated to the pod by an earlier preemption, if it fits: it is taken without looking further."""
        node = self.cluster.nodes.index.get(self.pod.status.nominated_node_name)
        return node if node is not None and self.feasible[node] else None

    @cached_property
    def total(self) -> Counts:
        """The sum of all weighted scores; 1 everywhere in a profile without any score plugin."""
        if not self._scoring:
            return np.ones(len(self.cluster), dtype=np.int64)
        return sum((score.weighted for score in self.scores.values()), np.zeros(len(self.cluster), dtype=np.int64))

    @cached_property
    def ranking(self) -> NDArray[np.int64]:
        """Positions of the feasible nodes, best total first, equal totals by name."""
        feasible = np.flatnonzero(self.feasible)
        order = np.lexsort((self.cluster.nodes.name_rank[feasible], -self.total[feasible]))
        return feasible[order]

    def verdict(self, node: int) -> Status:
        """What kube-scheduler says about one node: the first rejection in profile order."""
        if self.rejection is not None:
            return self.rejection
        if self.filter_error is not None:
            return UNJUDGED
        if not self.included[node]:
            return self._excluded
        return next(iter(_rejections(self.verdicts, node)), SUCCESS)

    def rejections(self, node: int) -> list[Status]:
        """Every filter plugin that, asked alone, rejects one node, in profile order; those the profile disables come last."""
        return _rejections(self.verdicts, node) + _rejections(self._disabled, node)

    @property
    def _excluded(self) -> Status:
        return Status(Code.UNRESOLVABLE, (f"node(s) didn't satisfy plugin(s) [{' '.join(self.listing_plugins)}]",))

    @property
    def message(self) -> str | None:
        """Why the pod stays pending, as kube-scheduler words it without its PostFilter part; None when a node fits."""
        if not len(self.cluster):
            return NO_NODES
        if self.error is not None:
            return self.error
        return None if self.feasible.any() else self._fit_error()

    def _fit_error(self) -> str:
        head = f"0/{len(self.cluster)} nodes are available:"
        if self.rejection is not None and not self._messages.counts_rejection_per_node:
            return f"{head} {', '.join(self.rejection.reasons)}."
        counts: Counter[str] = Counter()
        for node in range(len(self.cluster)):
            if self._messages.counts_excluded_nodes or self.included[node] or self.rejection is not None:
                counts.update(self.verdict(node).reasons)
        # Sorted as finished strings, so "11 ..." comes before "2 ...".
        parts = sorted(f"{count} {reason}" for reason, count in counts.items())
        return f"{head} {', '.join(parts)}." if parts else head


def _error_of(verdicts: Mapping[str, Verdicts], included: Mask) -> str | None:
    """The error a filter plugin meets on a node that those before it let pass; it ends the cycle."""
    if not any(status.code is Code.ERROR for found in verdicts.values() for status in found.table):
        return None
    reached = included
    for found in verdicts.values():
        for which, status in enumerate(found.table, start=1):
            if status.code is Code.ERROR and (reached & (found.which == which)).any():
                return status.reasons[0]
        reached = reached & found.passes
    return None


def _rejections(verdicts: Mapping[str, Verdicts], node: int) -> list[Status]:
    judged = ((name, found.status(node)) for name, found in verdicts.items())
    return [Status(status.code, status.reasons, name) for name, status in judged if status.code is not Code.SUCCESS]


def invalid_score(scores: Mapping[str, PluginScore], feasible: Mask) -> str | None:
    """kube-scheduler's error for the first plugin whose score, after normalization, is outside 0..100; wrapped sums do that."""
    for name, score in scores.items():
        outside = feasible & ((score.normalized < 0) | (score.normalized > MAX_NODE_SCORE))
        if outside.any():
            found = f'plugin "{name}" returns an invalid score {int(score.normalized[outside][0])}'
            wanted = f"it should in the range of [0, {MAX_NODE_SCORE}] after normalizing"
            return f"applying score defaultWeights on Score plugins: {found}, {wanted}"
    return None
