"""The one cluster that everyone in a queue sees, what happened to it, in order, and kube-scheduler's queue of pods that
wait for a node.

They are tried by priority, then in the order they came; a pod that fits nowhere is tried again once something has
changed, and preempts pods of lower priority where kube-scheduler would. What the topology spread constraints of a pod
count in a world, now or at any moment of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.reports.judged_nodes import constraint_reports
from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.cluster import Change, Cluster, Moves
from kubespread.scheduler.cluster.columns import ABSENT, Codes, Mask
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.running import Taken
from kubespread.scheduler.cluster.storage_index import StorageChange
from kubespread.scheduler.evaluation import Evaluation, PreemptionCandidate, Turns, has_lower, preempt
from kubespread.scheduler.framework import Framework, Prepared
from kubespread.scheduler.placing import Choice, OnNodeAnswers, Placing, Tiebreaker, first_in_heap, on_node_answers
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile, post_filters
from kubespread.world.store.pod_book import PodKey, alike, key_of

_FIRST_SIZE = 1024
_MOST_KEPT = 16
"""How many answers, those of the last signatures, go on in a cluster that comes of another."""
_MOST_COMING = 1000
"""How many placements what is newly prepared follows one by one."""
_KIND, _NODE, _BY, _OWNER, _ANSWERS = range(5)
_NOBODY = -1


class _Log:
    """What happened, in order: the kind of the pod, the node, whether it came (1) or left (-1), who placed it, and
    which answers know of it already.
    """

    def __init__(self) -> None:
        self._rows = np.empty((5, _FIRST_SIZE), dtype=np.int32)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def add(self, row: tuple[int, int, int, int, int]) -> None:
        if self._length == self._rows.shape[1]:
            self._grow()
        self._rows[:, self._length] = row
        self._length += 1

    def add_all(self, moves: Moves) -> None:
        """What nobody placed."""
        while self._length + len(moves) > self._rows.shape[1]:
            self._grow()
        rows = self._rows[:, self._length : self._length + len(moves)]
        rows[_KIND], rows[_NODE], rows[_BY] = moves.kind, moves.node, moves.by
        rows[_OWNER] = rows[_ANSWERS] = _NOBODY
        self._length += len(moves)

    def _grow(self) -> None:
        self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)

    def since(self, mark: int) -> Codes:
        return self._rows[:, mark : self._length]


@dataclass(slots=True, eq=False)
class SharedAnswers:
    """Answers of plugins that judge nodes by what they hold, for all pods that these plugins cannot tell apart."""

    number: int
    answers: OnNodeAnswers
    seen: int
    """How much of the log they know of."""


class LivingCluster:
    """A cluster whose nodes stay as they are while pods come and go one after another, and a log from which everyone
    catches up.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._joined = cluster
        """As it was when `joined_at` of the log had happened."""
        self.joined_at = 0
        self._taken, self._taken_at = cluster.running.taken, 0
        self._coming: list[tuple[Pod, int]] = []
        self._storage: StorageChange | None = None
        """What became of claims and volumes since."""
        self.storage_changes = 0
        """How often claims and volumes were changed so far."""
        self._log = _Log()
        self._shared: dict[Hashable, SharedAnswers] = {}
        self._answers = 0
        self.applicants = 0
        """How many have looked for nodes so far."""

    @property
    def cluster(self) -> Cluster:
        """As it is now."""
        if self._coming or self._storage is not None:
            # Each by its own kind, as it leaves: one that only equals its template is of another than the log says.
            self._join(self._joined.after(Change(come=self._coming, storage=self._storage)))
        return self._joined

    def on(self, cluster: Cluster) -> LivingCluster:
        """Another, that goes on with ``cluster``: this one as it is, or with changed nodes. What was asked last is not
        worked out again where nodes have the same for pods.
        """
        other = LivingCluster(cluster)
        if cluster.objects is self._joined.objects and cluster.nodes.give_the_same_as(self.nodes):
            for signature in list(self._shared)[-_MOST_KEPT:]:
                shared = self._shared[signature]
                answers = shared.answers.on(cluster, self._touched_since(shared))
                if answers is not None:
                    other._share(signature, answers)
        return other

    def now(self) -> Cluster:
        """As it is whenever that is asked."""
        return self.cluster

    def _join(self, cluster: Cluster) -> None:
        self._joined, self._coming, self._storage = cluster, [], None
        self.joined_at = self._taken_at = self.length
        self._taken = cluster.running.taken

    def lately(self, pod: Pod) -> Cluster:
        """As it is, or was a few placements ago, which the log tells: what is prepared for ``pod`` follows them."""
        spec = pod.spec
        is_bound = spec.has_scheduled_volumes or spec.resource_claims or self._joined.claim_users.provided
        return self.cluster if is_bound or len(self._coming) > _MOST_COMING else self._joined

    @property
    def taken(self) -> Taken:
        """What pods take up of all nodes now."""
        if self._taken_at < self.length:
            rows = self._log.since(self._taken_at)
            self._taken = self._taken.placed(self._joined.kinds, rows[_KIND], rows[_NODE])
            self._taken_at = self.length
        return self._taken

    @property
    def nodes(self) -> Nodes:
        """Its nodes, which never change."""
        return self._joined.nodes

    @property
    def length(self) -> int:
        """How much happened so far."""
        return len(self._log)

    def add(self, pod: Pod, kind: int, choice: Choice, applicant: int, shared: SharedAnswers) -> None:
        """A pod of ``applicant`` was placed, which ``shared`` know already."""
        self._coming.append((pod, choice.node))
        if shared.seen == self.length:
            shared.seen += 1
        self._log.add((kind, choice.node, 1, applicant, shared.number))

    def change(self, come: Sequence[tuple[Pod, int]] = (), gone: Sequence[tuple[Pod, int]] = ()) -> None:
        """Pods came and went otherwise, each with its node."""
        before, change = self.cluster, Change(come=come, gone=gone)
        moves = before.moves(change)
        # Without applicants and answers nobody has anything to catch up with.
        if self.applicants or self._shared:
            self._log.add_all(moves)
        self._join(before.after(change, moves))

    def change_storage(self, change: StorageChange) -> None:
        """Claims and volumes are new or have changed."""
        self._storage = change if self._storage is None else self._storage.then(change)
        self.storage_changes += 1

    def moves_since(self, mark: int, but: int = _NOBODY) -> Moves:
        """What happened since ``mark``, except the placements of the applicant ``but``."""
        rows = self._log.since(mark)
        if but != _NOBODY:
            rows = rows[:, rows[_OWNER] != but]
        return Moves(rows[_KIND], rows[_NODE], rows[_BY])

    def answers_for(self, prepared: Prepared) -> SharedAnswers:
        """Answers that every pod of the same signature shares, up to date."""
        signature = prepared.on_node_signature
        shared = self._shared.get(signature) if signature is not None else None
        if shared is None:
            shared = self._share(signature, on_node_answers(prepared, self.cluster))
        self.bring_up_to_date(shared)
        return shared

    def _share(self, signature: Hashable, answers: OnNodeAnswers) -> SharedAnswers:
        shared = SharedAnswers(self._answers, answers, self.length)
        self._answers += 1
        if signature is not None:
            self._shared[signature] = shared
        return shared

    def _touched_since(self, shared: SharedAnswers) -> Codes:
        """The nodes of what happened since, that these answers do not know already."""
        rows = self._log.since(shared.seen)
        touched: Codes = rows[_NODE, rows[_ANSWERS] != shared.number]
        return touched

    def bring_up_to_date(self, shared: SharedAnswers) -> None:
        """Let answers know what pods of other signatures did."""
        if shared.seen == self.length:
            return
        if len(touched := self._touched_since(shared)):
            shared.answers.follow(self.now, self.taken, touched)
        shared.seen = self.length


class Applicant:
    """A pod that looks for nodes in a living cluster, for itself and for its copies."""

    def __init__(
        self, living: LivingCluster, pod: Pod, plugins: Framework, *, binds: bool = True, candidates: Mask | None = None
    ) -> None:
        """``binds``: claims that wait for the pod are bound once it has a node. ``candidates`` are the nodes that may
        be chosen, None for all of them.
        """
        self.pod, self.plugins, self._binds, self._candidates = pod, plugins, binds, candidates
        self._living = living
        living.applicants += 1
        self._number = living.applicants
        """What tells its placements from another's."""
        self._seen = 0
        self._storage_seen = 0
        self._current: tuple[Placing, SharedAnswers] | None = None
        self.tried_at = -1
        """How much had happened in the living cluster when the pod was tried last."""

    def placing(self) -> Placing:
        """The pod on the cluster as it is now. Raises SchedulingError when a PreFilter fails."""
        living = self._living
        self.tried_at = living.length
        if self._storage_seen != living.storage_changes and self.pod.spec.has_scheduled_volumes:
            self._current = None
        if self._current is None:
            self._storage_seen = living.storage_changes
            prepared = self.plugins.prepare(living.lately(self.pod), self.pod)
            self._seen, moves = living.length, living.moves_since(living.joined_at)
            shared = living.answers_for(prepared)
            placing = Placing(prepared, shared.answers, self._candidates, living.now)
            self._current = placing, shared
        else:
            placing, shared = self._current
            if self._seen == living.length:
                return placing
            moves = living.moves_since(self._seen, self._number)
            living.bring_up_to_date(shared)
            self._seen = living.length
        if len(moves):
            placing.follow(living.now, moves)
        return placing

    def take(self, choice: Choice, pod: Pod | None = None) -> None:
        """The pod, or ``pod`` that is a copy of it, runs where `placing` just chose."""
        assert self._current is not None
        placing, shared = self._current
        binding = placing.binding(choice.node) if self._binds else None
        placing.place(choice.node)
        self._living.add(pod or self.pod, placing.kind.number, choice, self._number, shared)
        self._seen += 1
        if binding is not None:
            self._living.change_storage(binding)

    @property
    def is_outdated(self) -> bool:
        """Whether something happened since the pod was tried last."""
        return self.tried_at < self._living.length

    def forget(self) -> None:
        """Let go of the columns: of many workloads each would hold on to its own."""
        self._current = None


def constraints_on(cluster: Cluster, pod: Pod, scheduler_of: SchedulerOf) -> list[ConstraintReport]:
    """The constraints in force for ``pod``, with what they count on ``cluster``; only their plugin is run."""
    scheduled = scheduler_of(pod)
    plugins = scheduled[1].running if scheduled is not None else []
    plugin = next((candidate for candidate in plugins if isinstance(candidate, PodTopologySpread)), None)
    if plugin is None:
        return []
    try:
        state = plugin.prepare(cluster, pod)
    except SchedulingError:
        return []
    everywhere = np.ones(len(cluster), dtype=np.bool_)
    return constraint_reports({plugin.name: state}, everywhere)


def per_domain(cluster: Cluster, key: str, pods: Iterable[Pod]) -> Mapping[str, int]:
    """How many of ``pods`` are in each domain of ``key``; those on no node, or on one without the label, nowhere."""
    column = cluster.nodes.label(key)
    positions = (cluster.nodes.index.get(pod.spec.node_name) for pod in pods)
    codes = (int(column.codes[position]) for position in positions if position is not None)
    counts = Counter(code for code in codes if code != ABSENT)
    return {column.values[code]: count for code, count in counts.items()}


_MAX_COLUMN_CELLS = 1_000_000
"""How many applicants are kept, times how many nodes there are: each holds on to columns over all of them."""

Scheduled = tuple[Profile, Framework]
SchedulerOf = Callable[[Pod], Scheduled | None]
"""The profile that schedules a pod, None where another scheduler does."""
CurrentBudgets = Callable[[], Sequence[PodDisruptionBudget]]


@dataclass(slots=True)
class Waiting:
    """A pod without a node."""

    pod: Pod
    template: Pod
    """Pods of one template are copies: what is true of one is true of all."""
    before: Waiting | None = None
    """Of a pod that preempted others: as it was before it got a nominated node."""


class Queue:
    """The pods that wait, over one living cluster after another."""

    def __init__(self, scheduler_of: SchedulerOf, *, preempts: bool = True) -> None:
        self._scheduler_of = scheduler_of
        self._preempts = preempts
        self.waiting: dict[PodKey, Waiting] = {}
        self._applicants: dict[int, Applicant] = {}
        self._stuck: set[int] = set()
        """The templates that fitted nowhere when they were tried last."""
        self._helpless: dict[int, int] = {}
        """The templates that preemption did not help, and how much had happened in the living cluster by then."""

    def fork(self) -> Queue:
        other = Queue(self._scheduler_of, preempts=self._preempts)
        other.waiting = dict(self.waiting)
        return other

    def add(self, pod: Pod, template: Pod) -> None:
        self.waiting[key_of(pod)] = Waiting(pod, template)

    def add_all(self, pods: Iterable[Pod]) -> None:
        """Pods that waited before anything happened, in the order they came: those that are alike share a template."""
        templates: dict[tuple[str, int], Pod] = {}
        for pod in pods:
            # Pods of one template share their labels.
            key = pod.metadata.namespace, id(pod.metadata.labels)
            template = templates[key] = alike(pod, templates.get(key))
            self.add(pod, template)

    def remove(self, pod: Pod) -> None:
        self.waiting.pop(key_of(pod), None)

    def start_anew(self) -> None:
        """Nodes have changed: everything about them is worked out again."""
        self._applicants.clear()
        self._stuck.clear()
        self._helpless.clear()

    def in_order(self, only: Sequence[PodKey] | None = None) -> list[Waiting]:
        """The order in which pods (all, or only some, which are given as they came) are tried, without those that have
        scheduling gates.
        """
        among = self.waiting.values() if only is None else (self.waiting[key] for key in only if key in self.waiting)
        ready = [pod for pod in among if not pod.pod.spec.scheduling_gates]
        return sorted(ready, key=lambda pod: -priority_of(pod.pod))

    def choose(
        self, waiting: Waiting, living: LivingCluster, break_tie: Tiebreaker = first_in_heap
    ) -> tuple[Applicant, Choice] | None:
        """Where kube-scheduler would put the pod now, None when it fits nowhere or another scheduler has it."""
        applicant = self._applicant(waiting, living)
        if applicant is None:
            return None
        template = id(waiting.template)
        if template in self._stuck and not applicant.is_outdated:
            return None
        try:
            choice = applicant.placing().choose(break_tie)
        except SchedulingError:
            choice = None
        if choice is None:
            self._stuck.add(template)
            return None
        self._stuck.discard(template)
        return applicant, choice

    def victims(
        self, waiting: Waiting, living: LivingCluster, budgets: CurrentBudgets, turns: Turns
    ) -> PreemptionCandidate | None:
        """The node that kube-scheduler would free for a pod that fits nowhere, and which pods it would evict there."""
        template = id(waiting.template)
        if not self._preempts or self._helpless.get(template) == living.length:
            return None
        candidate = self._candidate(waiting, living, budgets, turns)
        if candidate is None:
            self._helpless[template] = living.length
        return candidate

    def _candidate(
        self, waiting: Waiting, living: LivingCluster, budgets: CurrentBudgets, turns: Turns
    ) -> PreemptionCandidate | None:
        if not has_lower(living.cluster, waiting.pod):
            return None
        evaluation = self.evaluation(waiting, living)
        scheduled = self._scheduler_of(waiting.pod)
        if evaluation is None or scheduled is None or not evaluation.fits_nowhere:
            return None
        profile, _ = scheduled
        return preempt(evaluation, post_filters(profile), budgets=budgets(), turns=turns).candidate

    def nominate(self, waiting: Waiting, node: str) -> Pod:
        """The pod, which is not like its copies any more once it has a nominated node."""
        pod = waiting.pod
        nominated = replace(pod, status=replace(pod.status, nominated_node_name=node))
        self.waiting[key_of(pod)] = Waiting(nominated, nominated, waiting.before or waiting)
        return nominated

    def evaluation(self, waiting: Waiting, living: LivingCluster) -> Evaluation | None:
        """What every plugin says of the pod now; None if another scheduler has it or scheduling fails."""
        applicant = self._applicant(waiting, living)
        try:
            return applicant.placing().evaluation() if applicant is not None else None
        except SchedulingError:
            return None

    def message(self, waiting: Waiting, living: LivingCluster) -> str:
        """Why the pod has no node, in kube-scheduler's words where it is kube-scheduler that says so."""
        if waiting.pod.spec.scheduling_gates:
            names = ", ".join(gate.name for gate in waiting.pod.spec.scheduling_gates)
            return f"waits behind scheduling gates: {names}"
        applicant = self._applicant(waiting, living)
        if applicant is None:
            return f'scheduled by "{waiting.pod.spec.scheduler_name}", which is not modeled'
        try:
            return applicant.placing().evaluation().message or "fits, but is not placed yet"
        except SchedulingError as error:
            return str(error)

    def _applicant(self, waiting: Waiting, living: LivingCluster) -> Applicant | None:
        template = id(waiting.template)
        cached = self._applicants.pop(template, None)
        if cached is None:
            scheduled = self._scheduler_of(waiting.pod)
            if scheduled is None:
                return None
            cached = Applicant(living, waiting.template, scheduled[1])
        if len(self._applicants) * len(living.nodes) >= _MAX_COLUMN_CELLS:
            # The one asked longest ago; asked again it is prepared from scratch.
            oldest = next(iter(self._applicants))
            del self._applicants[oldest]
            self._stuck.discard(oldest)
            self._helpless.pop(oldest, None)
        self._applicants[template] = cached
        return cached
