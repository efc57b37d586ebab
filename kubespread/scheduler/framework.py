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
from kubespread.scheduler.cluster import Cluster, Counts, Mask
from kubespread.scheduler.cycle_state import MissingState
from kubespread.scheduler.plugin import SKIP, SUCCESS, UNJUDGED, Code, Plugin, SchedulingError, State, Status, Verdicts

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

    def judge(self, cluster: Cluster, pod: Pod) -> Evaluation:
        """What the profile's filters say, and nothing else. Raises SchedulingError when a PreFilter fails."""
        prepared = Prepared(self, cluster, pod)
        return Evaluation(prepared, prepared.verdicts(self.filters), {})

    def prepare(self, cluster: Cluster, pod: Pod) -> Prepared:
        """Everything about ``pod`` on ``cluster`` that can be known beforehand. Raises SchedulingError when a PreFilter fails."""
        prepared = Prepared(self, cluster, pod)
        prepared.add([plugin for plugin, _ in self.scores])
        return prepared

    def evaluate(self, cluster: Cluster, pod: Pod) -> Evaluation:
        """Judge and score ``pod`` on every node of ``cluster``. Raises SchedulingError when a PreFilter fails."""
        return self.conclude(self.prepare(cluster, pod))

    def conclude(self, prepared: Prepared) -> Evaluation:
        """What follows from the states as they are now."""
        enabled = prepared.verdicts(self.filters)
        prepared.add(self.disabled)
        evaluation = Evaluation(prepared, enabled, prepared.verdicts(self.disabled))
        evaluation.run_scores({plugin.name: weight for plugin, weight in self.scores})
        return evaluation


class Prepared:
    """Plugins prepared once each for one pod: a state to ask, or a status that rejects the pod as a whole."""

    def __init__(self, framework: Framework, cluster: Cluster, pod: Pod) -> None:
        self.framework, self.cluster, self.pod = framework, cluster, pod
        self.states: dict[str, State] = {}
        self._statuses: dict[str, Status] = {}
        self.rejection: Status | None = None
        """The first PreFilter's judgement that rejects the pod as a whole; kube-scheduler asks no further."""
        for plugin in framework.pre_filters:
            self._pre_filter(plugin)
        self.add(framework.filters)

    def _pre_filter(self, plugin: Plugin) -> None:
        if self.rejection is not None:
            self.add([plugin])
            return
        self._prepare(plugin)
        self.rejection = self._statuses.get(plugin.name)

    def add(self, plugins: Iterable[Plugin]) -> None:
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

    def holding(self, copies: Counts) -> Prepared:
        """The same with so many more copies of the pod on each node, as far as nodes are judged by what they hold."""
        return self.with_states({name: state.holding(copies) for name, state in self.states.items()})

    def with_states(self, states: dict[str, State]) -> Prepared:
        """The same with other states of the same plugins."""
        other = copy(self)
        other.states = states
        return other

    def verdicts(self, plugins: Iterable[Plugin]) -> dict[str, Verdicts]:
        """What each plugin says of every node; a plugin that rejects the pod rejects all of them."""
        everywhere = np.ones(len(self.cluster), dtype=np.bool_)
        found: dict[str, Verdicts] = {}
        for plugin in plugins:
            if plugin.name in self._statuses:
                found[plugin.name] = Verdicts.rejecting(everywhere, self._statuses[plugin.name])
            elif (verdicts := self.states[plugin.name].filter()) is not None:
                found[plugin.name] = Verdicts(verdicts.which, tuple(map(self.framework.messages.reword, verdicts.table)))
        return found


class Evaluation:
    """What every plugin said about every node, and what follows from it."""

    def __init__(self, prepared: Prepared, verdicts: Mapping[str, Verdicts], disabled: Mapping[str, Verdicts]) -> None:
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
            self.filter_error = self._missing.filter_error(filters, verdicts, self.included)
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
                raw = state.score(self.feasible)
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
            self.error = self._missing.reserve

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
        order = np.lexsort((self.cluster.name_rank[feasible], -self.total[feasible]))
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


def _rejections(verdicts: Mapping[str, Verdicts], node: int) -> list[Status]:
    judged = ((name, found.status(node)) for name, found in verdicts.items())
    return [Status(status.code, status.reasons, name) for name, status in judged if status.code is not Code.SUCCESS]
