"""Running one pod through a profile: PreFilter, Filter, PreScore, Score, normalization, weights, and the FitError.

Unlike kube-scheduler, every filter plugin judges every node, so that all reasons are known; the verdict is still the
first rejection in profile order.

Source: pkg/scheduler/framework/runtime/framework.go, RunPreFilterPlugins, RunFilterPlugins, RunPreScorePlugins,
    RunScorePlugins
Source: pkg/scheduler/schedule_one.go, schedulePod, findNodesThatFitPod, prioritizeNodes
Source: pkg/scheduler/framework/types.go, FitError, Error
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct, field

from kubespread.deadline import check
from kubespread.kube.admission.defaulting import DEFAULT_SCHEDULER
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import is_same_pod, priority_of
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Mask, shallow
from kubespread.scheduler.cluster.kinds import PodKind
from kubespread.scheduler.cluster.memo import Memo
from kubespread.scheduler.cluster.nodes import SearchRules
from kubespread.scheduler.cluster.running import Moves
from kubespread.scheduler.cluster.storage_index import StorageChange
from kubespread.scheduler.plugin import (
    SKIP,
    SUCCESS,
    Code,
    CountingState,
    FixedState,
    OnNodeState,
    Plugin,
    SchedulingError,
    State,
    Status,
    Verdicts,
)


class MessageRules(Struct, frozen=True):
    """Wording of a release's failure message."""

    counts_excluded_nodes: bool = True
    """False up to 1.31: nodes outside a PreFilter plugin's node list are not counted."""
    counts_rejection_per_node: bool = False
    """True up to 1.25: a PreFilter rejection is counted once per node."""
    older_reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Reasons that the release words differently."""

    def reword(self, status: Status) -> Status:
        reasons = (older for reason in status.reasons for older in self.older_reasons.get(reason, (reason,)))
        return Status(status.code, tuple(reasons), status.plugin)


class Framework(Struct, frozen=True):
    """The plugins of one profile: filters in order, and scores with their weights."""

    filters: Sequence[Plugin]
    scores: Sequence[tuple[Plugin, int]]
    pre_filters: Sequence[Plugin] = ()
    """Plugins that may reject the pod as a whole or exclude nodes, in order."""
    disabled: Sequence[Plugin] = ()
    """Filters that the profile does not run; they judge nodes anyway, to show which ones they would reject."""
    scheduler_names: frozenset[str] = frozenset({DEFAULT_SCHEDULER})
    """Names of the schedulers of all profiles. A pod that names none of them is in no queue (eventhandlers.go,
    responsibleForPod).
    """
    messages: MessageRules = field(default_factory=MessageRules)
    skipped_scores: Mapping[str, int] = field(default_factory=dict)
    """Score of every node for a pod that a plugin would skip but cannot, in this release or without PreScore."""
    batches: bool = False
    """True with OpportunisticBatching: since 1.35, unless a profile has extenders."""
    search: SearchRules = field(default_factory=SearchRules)

    @property
    def evaluators(self) -> list[Plugin]:
        """Plugins that filter or score, each once."""
        scoring = (plugin for plugin, _ in self.scores)
        return list({plugin.name: plugin for plugin in (*self.filters, *scoring)}.values())

    def runs_pre_filter(self, plugin: str, rejection: Status | None) -> bool:
        """True if PreFilter of ``plugin`` runs: no plugin before it made the ``rejection`` (None: no plugin did)."""
        names = [plugin.name for plugin in self.pre_filters]
        return rejection is None or names.index(plugin) <= names.index(rejection.plugin)

    def prepare(self, cluster: Cluster, pod: Pod) -> PreparedPod:
        """Prepare all plugins for ``pod`` on ``cluster``. Raises SchedulingError if a PreFilter fails.

        Every evaluation of a pod passes through here, so gaps of the cluster's source that matter to it are noted here.
        """
        check()
        judged_by = cluster.kinds.results_of(pod).section(_JUDGED_BY)
        if judged_by.get(None) is not self:
            judged_by[None] = self
            cluster.assume(gap for plugin in self.evaluators for gap in plugin.gaps(cluster, pod))
        return PreparedPod(self, cluster, pod)


_JUDGED_BY = Memo[None, Framework]()
"""The profile that judged a pod last."""
_SIGNED = Memo[str, tuple[Plugin, Hashable]]()
"""Signature of a pod by plugin, under the plugin's name."""
_STATES = Memo[tuple[int, Hashable], tuple[Plugin, State]]()
"""Shared states by the plugin's id and its signature of a pod; the plugin is stored too, which keeps its id unique."""


class PreparedPod:
    """The profile's plugins prepared for one pod: each with a state, or a status that rejects the pod as a whole."""

    def __init__(
        self,
        framework: Framework,
        cluster: Cluster,
        pod: Pod,
        counted: Mapping[str, CountingState | None] | None = None,
    ) -> None:
        """``counted`` are states carried over to ``cluster``, which need not be prepared."""
        self.framework, self.cluster, self.pod = framework, cluster, pod
        self._carried_over = counted or {}
        self.states: dict[str, State] = {}
        self._statuses: dict[str, Status] = {}
        self._signatures: dict[str, Hashable] = {}
        """Parts of the pod that each plugin reads."""
        self.rejection: Status | None = None
        """Status of the first PreFilter that rejects the pod as a whole; kube-scheduler runs no further one."""
        self._signed = cluster.kinds.results_of(pod).section(_SIGNED)
        self._shareable = cluster.results.section(_STATES)
        for plugin in framework.pre_filters:
            if self.rejection is not None:
                self._add([plugin])
            else:
                self._prepare(plugin)
                self.rejection = self._statuses.get(plugin.name)
        self._add((*framework.filters, *(plugin for plugin, _ in framework.scores), *framework.disabled))

    def _add(self, plugins: Iterable[Plugin]) -> None:
        """Prepare plugins for which kube-scheduler runs no PreFilter; one that fails is skipped."""
        for plugin in plugins:
            if plugin.name in self.states or plugin.name in self._statuses:
                continue
            try:
                self._prepare(plugin)
            except SchedulingError:
                self.states[plugin.name] = SKIP

    def _prepare(self, plugin: Plugin) -> None:
        prepared = self._shared_state(plugin)
        if isinstance(prepared, State):
            self.states[plugin.name] = prepared
        else:
            self._statuses[plugin.name] = self.framework.messages.reword(
                Status(prepared.code, prepared.reasons, plugin.name)
            )

    def _shared_state(self, plugin: Plugin) -> State | Status:
        """Prepare the plugin, sharing its state among pods of one signature unless it depends on counts of pods."""
        signed = self._signed.get(plugin.name)
        if signed is None or signed[0] is not plugin:
            signed = self._signed[plugin.name] = (plugin, plugin.signature(self.pod))
        signature = self._signatures[plugin.name] = signed[1]
        if signature is None:
            carried_over = self._carried_over.get(plugin.name)
            return plugin.prepare(self.cluster, self.pod) if carried_over is None else carried_over
        key = (id(plugin), signature)
        if (shared := self._shareable.get(key)) is not None:
            return shared[1]
        prepared = plugin.prepare(self.cluster, self.pod)
        if isinstance(prepared, FixedState | OnNodeState):
            # The plugin is kept beside its state, so that no other gets its identity.
            self._shareable[key] = plugin, prepared
        return prepared

    @cached_property
    def is_signed(self) -> bool:
        """True if kube-scheduler batches the pod by its signature: pods with the same one get the same answers."""
        framework = self.framework
        plugins = (*framework.pre_filters, *framework.evaluators)
        return framework.batches and all(plugin.can_sign(self.cluster, self.pod) for plugin in plugins)

    @property
    def on_node_signature(self) -> Hashable:
        """Key of the answers of plugins that judge single nodes; None if pods share none."""
        framework, kind = self.framework, self.cluster.kinds[self.cluster.kinds.number_of(self.pod)]
        signature = self._signature_of(OnNodeState, (*framework.filters, *(plugin for plugin, _ in framework.scores)))
        if kind.inline_volumes or signature is None:
            return None
        return signature, id(kind.requests), kind.ports

    @property
    def fixed_signature(self) -> Hashable:
        """Key of the verdicts of filters that no pod on a node changes; None if pods share none."""
        return self._signature_of(FixedState, (*self.framework.pre_filters, *self.framework.filters))

    def _signature_of(self, state_type: type[State], plugins: Iterable[Plugin]) -> Hashable:
        """Signatures by ``plugins`` with one type of state; stored with the framework, which keeps its id unique."""
        states = ((plugin.name, self.states.get(plugin.name, SKIP)) for plugin in plugins)
        read = [
            (name, self._signatures[name])
            for name, state in states
            if isinstance(state, state_type) and state is not SKIP
        ]
        return None if any(signature is None for _, signature in read) else (id(self.framework), *read)

    @property
    def filter_states(self) -> list[State]:
        """States of the filter plugins, in profile order."""
        plugins = self.framework.filters
        return [self.states[plugin.name] for plugin in plugins if plugin.name in self.states]

    @property
    def scorers(self) -> list[tuple[State, int, int]]:
        """Score plugins in profile order: state, weight, and each node's weighted score if the plugin skips the pod.

        Plugins that would fail score nothing. Those without weight are included only if they may fail, which plugins
        that look at single nodes cannot.
        """
        framework, states = self.framework, self.states
        return [
            (states[plugin.name], weight, framework.skipped_scores.get(plugin.name, 0) * weight)
            for plugin, weight in framework.scores
            if plugin.name in states
            if weight or not isinstance(states[plugin.name], OnNodeState)
        ]

    def binding(self, node: int) -> StorageChange | None:
        """Change of claims and volumes when the pod is bound to ``node``, which it fits; None without a change."""
        if not self.pod.spec.has_scheduled_volumes:
            return None
        bindings = (state.binding(node) for state in self.states.values())
        return next((binding for binding in bindings if binding is not None), None)

    @property
    def listing(self) -> dict[str, Mask]:
        """Node lists of the PreFilter plugins that have one."""
        lists = (
            (plugin.name, self.states[plugin.name].pre_filter_result())
            for plugin in self.framework.pre_filters
            if plugin.name in self.states
        )
        return {name: listed for name, listed in lists if listed is not None}

    def carry_over(self, cluster: Cluster, moves: Moves) -> PreparedPod:
        """The pod prepared for ``cluster``, the result of ``moves`` and possibly changed nodes."""
        states = self.states.items()
        counted = {name: state.carry_over(cluster, moves) for name, state in states if isinstance(state, CountingState)}
        return PreparedPod(self.framework, cluster, self.pod, counted)

    def fork(self) -> PreparedPod:
        """Copy with counts that move separately."""
        other = shallow(self)
        other.states = {
            name: state.fork() if isinstance(state, CountingState) else state for name, state in self.states.items()
        }
        return other

    @cached_property
    def nominated_kinds(self) -> Mapping[int, tuple[PodKind, ...]]:
        """Per node, the nominated pods that count there in the first pass: of the candidate's priority or higher, and
        scheduled by a profile.
        """
        kinds_on: dict[int, list[PodKind]] = {}
        for other in self.cluster.nominated:
            if other.spec.scheduler_name not in self.framework.scheduler_names:
                continue
            if priority_of(other) >= priority_of(self.pod) and not is_same_pod(other, self.pod):
                node = self.cluster.nodes.index[other.status.nominated_node_name]
                kinds_on.setdefault(node, []).append(self.cluster.kinds[self.cluster.kinds.number_of(other)])
        return {node: tuple(kinds) for node, kinds in kinds_on.items()}

    def verdicts(self, plugins: Iterable[Plugin]) -> dict[str, Verdicts]:
        """Verdicts on every node by plugin: rejects all nodes if its PreFilter rejects the pod; absent if it skips."""
        everywhere = np.ones(len(self.cluster), dtype=np.bool_)
        judged: dict[str, Verdicts] = {}
        for plugin in plugins:
            if plugin.name in self._statuses:
                judged[plugin.name] = Verdicts.rejecting(everywhere, self._statuses[plugin.name])
            elif (verdicts := self.states[plugin.name].verdicts(self.cluster)) is not None:
                judged[plugin.name] = Verdicts(
                    verdicts.rows, tuple(map(self.framework.messages.reword, verdicts.table))
                )
        return judged

    def count_nominated(self, verdicts: dict[str, Verdicts], alone: dict[str, Verdicts]) -> None:
        """Judge nodes with the pods nominated to them, then without (RunFilterPluginsWithNominatedPods).

        The second pass counts in ``verdicts`` only where every filter passes the node in the first; in ``alone`` either
        pass may reject it.
        """
        for node, kinds in self.nominated_kinds.items():
            with DryRun(self, node) as dry_run:
                for kind in kinds:
                    dry_run.move(kind, 1)
                statuses = {name: self.framework.messages.reword(dry_run.status_of(name)) for name in alone}
            is_rejected = any(statuses[name].code is not Code.SUCCESS for name in verdicts)
            for name, status in statuses.items():
                if status.code is not Code.SUCCESS:
                    alone[name] = alone[name].with_status(node, status)
                if is_rejected and name in verdicts:
                    verdicts[name] = verdicts[name].with_status(node, status)


class DryRun:
    """One node with pretended arrivals and departures of pods, undone on exit."""

    def __init__(self, prepared: PreparedPod, node: int) -> None:
        self._prepared = prepared
        self._node = node
        self._positions = np.array([node], dtype=np.intp)
        self._holdings = Holdings(prepared.cluster, self._positions)
        self._pretended: list[tuple[PodKind, int]] = []
        self._counted = [state for state in prepared.states.values() if isinstance(state, CountingState)]

    def __enter__(self) -> DryRun:
        return self

    def __exit__(self, *_: object) -> None:
        for kind, by in self._pretended:
            for state in self._counted:
                state.pretend(kind.number, self._node, -by)

    def move(self, kind: PodKind, by: int) -> None:
        """Add a pod to the node (``by`` 1), or remove one (-1)."""
        self._holdings = self._holdings.add(kind, by)
        self._pretended.append((kind, by))
        for state in self._counted:
            state.pretend(kind.number, self._node, by)

    def status_of(self, plugin: str) -> Status:
        """Current status of the node by one filter plugin."""
        state = self._prepared.states.get(plugin)
        if state is None:
            return SUCCESS
        judged = (
            state.filter(self._holdings)
            if isinstance(state, OnNodeState)
            else state.verdicts(self._prepared.cluster, self._positions)
        )
        return SUCCESS if judged is None else judged.status(0)

    def first_rejection(self, plugins: Iterable[str]) -> Status:
        """The first of these filter plugins' rejections of the node; plugins that skip this pod must be left out."""
        statuses = (self.status_of(name) for name in plugins)
        return next((status for status in statuses if status.code is not Code.SUCCESS), SUCCESS)
