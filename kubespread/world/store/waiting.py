"""The cluster that all pods of a queue see, with a journal of its changes, and kube-scheduler's queue of pods that wait
for a node.

Pods are tried by priority, then in the order they came; a pod that fits nowhere is tried again once something has
changed, and preempts pods of lower priority where kube-scheduler would. Counts of topology spread constraints at any
moment of a world.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.reports.judged_nodes import constraint_reports
from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import ABSENT, Forking, Mask
from kubespread.scheduler.cluster.memo import Recent
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.running import Moves, NodeUsage
from kubespread.scheduler.cluster.storage_index import StorageChange
from kubespread.scheduler.evaluation import Evaluation, PreemptionCandidate, TieOrder, outranks_any, preempt
from kubespread.scheduler.framework import Framework, PreparedPod
from kubespread.scheduler.placing import Choice, OnNodeAnswers, Placing, Tiebreaker, first_in_heap, on_node_answers
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.scheduler.profile.profile import Profile, post_filters
from kubespread.wording import behind_gates
from kubespread.world.store.pod_book import PodKey, key_of, reuse_if_alike

_FIRST_SIZE = 1024
_MOST_CHANGES = 1000
"""Number of changes that a newly prepared pod follows one by one."""
_MOST_CELLS = 6_000_000
"""Number of results that a cluster keeps, times the number of its nodes: each holds on to columns over all of them."""


class _Journal:
    """Journal of changes, in order: the kind of a pod, its node, and whether it came (1) or left (-1).

    All other changes are marks between these.
    """

    def __init__(self, begins: int) -> None:
        self._rows, self.begins, self.length = np.empty((3, _FIRST_SIZE), dtype=np.int32), begins, begins
        self._marks: list[int] = []
        """The positions after them."""

    def add(self, kind: int, node: int, by: int) -> None:
        row = self._row(self.length)
        self._make_room(row + 1)
        self._rows[:, row] = kind, node, by
        self.length += 1

    def add_all(self, moves: Moves) -> None:
        row = self._row(self.length)
        self._make_room(row + len(moves))
        self._rows[:, row : row + len(moves)] = moves.kind, moves.node, moves.by
        self.length += len(moves)

    def mark(self) -> int:
        """Record another change; return the position after it."""
        self.length += 1
        self._marks.append(self.length)
        return self.length

    def _row(self, position: int) -> int:
        return position - self.begins - bisect_right(self._marks, position)

    def _make_room(self, rows: int) -> None:
        while rows > self._rows.shape[1]:
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)], axis=1)

    def moves(self, since: int, until: int) -> Moves:
        return Moves(*self._rows[:, self._row(since) : self._row(until)])


class _SharedPod(Struct, eq=False):
    """A pod that forks share, prepared when it is needed for the second time."""

    plugins: Framework
    pod: Pod
    prepared: PreparedPod | None = None
    position: int = -1


class LivingCluster:
    """A cluster through time: a journal of changes, and results computed from it.

    Each result has a position in the journal, and follows later entries when it is needed. A fork begins with copies of
    the results up to then.
    """

    def __init__(self, cluster: Cluster, parent: LivingCluster | None = None) -> None:
        self._parent = parent
        """Cluster that this is a fork of: the journal goes on where its was then."""
        self._journal = journal = _Journal(0 if parent is None else parent.length)
        self._joined = cluster
        """Cluster as it was when `_joined_at` of the journal had happened."""
        self._usage = cluster.running.usage
        self._joined_at = self._usage_at = journal.length
        self._since: list[tuple[Pod, int, int]] = []
        """The pods that came to a node (1) or left it (-1) since it was joined, in order."""
        self._storage: StorageChange | None = None
        """Changes of claims and volumes since."""
        self.begun_at = self._changed_at = self._storage_at = 0
        """Journal positions of the last changes: of objects or positions of nodes, which nothing follows; of nodes or
        nominations; of storage.
        """
        self._answers, self._shared_pods = Recent[Hashable](), Recent[tuple[int, int]]()
        """Answers by signature; pods that forks share, by the ids of a profile and of a pod."""
        self.most_cached = _MOST_CELLS // max(1, len(cluster))
        """Number of results with columns to cache, of each kind."""

    @property
    def cluster(self) -> Cluster:
        if self._since or self._storage is not None:
            # Each leaves by its own kind: a pod that only equals its template may be of another kind in the journal.
            added_pods, removed_pods = _net(self._since)
            joined = self._joined.apply(
                ClusterChange(added_pods=added_pods, removed_pods=removed_pods, storage=self._storage), self.usage
            )
            self._joined, self._since, self._storage, self._joined_at = joined, [], None, self.length
        return self._joined

    @property
    def usage(self) -> NodeUsage:
        if self._usage_at < self.length:
            self._usage = self._usage.move(self._joined.kinds, self._journal.moves(self._usage_at, self.length))
            self._usage_at = self.length
        return self._usage

    @property
    def nodes(self) -> Nodes:
        return self._joined.nodes

    @property
    def lowest_priority(self) -> int:
        """Lower bound on the priority of any pod that was ever here: the lowest one, at most 0."""
        return self._joined.kinds.lowest_priority

    @property
    def length(self) -> int:
        return self._journal.length

    def fork(self) -> LivingCluster:
        """Copy that continues separately."""
        return LivingCluster(self.cluster, self)

    def use(self, cluster: Cluster) -> None:
        """Continue with ``cluster``, in which something other than pods changed."""
        is_followed = cluster.objects is self._joined.objects and cluster.nodes.names is self.nodes.names
        self._joined, self._usage, self._since, self._storage = cluster, cluster.running.usage, [], None
        self._joined_at = self._usage_at = self._changed_at = self._journal.mark()
        self._shared_pods.clear()
        if not is_followed:
            self.begun_at, self._parent = self.length, None
            self.most_cached = _MOST_CELLS // max(1, len(cluster))
            self._answers.clear()

    def place(self, pod: Pod, kind: int, node: int) -> None:
        """Record a pod that came to a node."""
        self._since.append((pod, node, 1))
        self._journal.add(kind, node, 1)

    def change(self, added_pods: Sequence[tuple[Pod, int]] = (), removed_pods: Sequence[tuple[Pod, int]] = ()) -> None:
        """Record pods that came and went, each with its node."""
        # Who has which device depends on the order in which pods came and went.
        in_turn = self._joined.claim_history.may_have_uses or any(
            pod.spec.resource_claims for pod, _ in (*removed_pods, *added_pods)
        )
        if in_turn or self._storage is not None:
            _ = self.cluster
        self._journal.add_all(self._joined.moves(ClusterChange(added_pods=added_pods, removed_pods=removed_pods)))
        self._since += [(pod, node, -1) for pod, node in removed_pods]
        self._since += [(pod, node, 1) for pod, node in added_pods]
        if in_turn:
            _ = self.cluster

    def change_storage(self, change: StorageChange) -> None:
        """Record new or changed claims and volumes."""
        self._storage = change if self._storage is None else self._storage.followed_by(change)
        self._storage_at = self._journal.mark()

    def prepare(self, plugins: Framework, pod: Pod) -> tuple[PreparedPod, int]:
        """Prepared ``pod``, and its journal position. Raises SchedulingError."""
        has_claims, parent = self.has_claims(pod), self._unchanged_parent
        if parent is not None and not has_claims and (prepared := parent._prepared_for_forks(plugins, pod)) is not None:
            position = parent.length
            return (prepared.fork(), position) if self._changed_at <= position else self.catch_up(prepared, position)
        # The current cluster, or that of a few changes ago: a prepared pod follows them.
        cluster = self.cluster if has_claims or len(self._since) > _MOST_CHANGES else self._joined
        return plugins.prepare(cluster, pod), self._joined_at

    @property
    def _unchanged_parent(self) -> LivingCluster | None:
        """Cluster that this was forked of, if nothing has happened there since."""
        parent = self._parent
        return parent if parent is not None and parent.length == self._journal.begins else None

    def _prepared_for_forks(self, plugins: Framework, pod: Pod) -> PreparedPod | None:
        """The pod prepared on this cluster as it is; None when it is needed for the first time."""
        shared = self._shared_pods.get_or_make(
            (id(plugins), id(pod)), lambda: _SharedPod(plugins, pod), most=self.most_cached
        )
        if shared.position < 0:
            shared.position = 0
        elif shared.prepared is None:
            shared.prepared, shared.position = plugins.prepare(self.cluster, pod), self.length
        elif shared.position < self.length:
            moves = self._journal.moves(shared.position, self.length)
            shared.prepared, shared.position = shared.prepared.carry_over(self.cluster, moves), self.length
        return shared.prepared

    def has_claims(self, pod: Pod) -> bool:
        """True if the pod may use claims, which are read from the current cluster."""
        spec = pod.spec
        return bool(spec.has_scheduled_volumes or spec.resource_claims or self._joined.claim_history.provided)

    def can_be_followed(self, pod: Pod, since: int) -> bool:
        """True if the pod prepared at a position can catch up instead of being prepared again."""
        return self.begun_at <= since and (max(self._changed_at, self._storage_at) <= since or not self.has_claims(pod))

    def catch_up(self, prepared: PreparedPod, since: int) -> tuple[PreparedPod, int]:
        """Bring the prepared pod up to the last change of nodes; also its new position."""
        if self._changed_at <= since:
            return prepared, since
        return prepared.carry_over(self._joined, self._journal.moves(since, self._joined_at)), self._joined_at

    def moves(self, since: int) -> Moves:
        """Pods that came and left since a position."""
        return self._journal.moves(since, self.length)

    def answers_for(self, prepared: PreparedPod) -> OnNodeAnswers:
        """Current answers shared by all pods of the same signature."""
        signature = prepared.on_node_signature
        if signature is None:
            return self._new_answers(prepared)
        answers = self._answers.get_or_make(
            signature, lambda: self._answers_of_parent(prepared) or self._new_answers(prepared), most=self.most_cached
        )
        if answers.revision < self._changed_at and not answers.carry_over_to(self._joined):
            answers = self._answers[signature] = self._new_answers(prepared)
        self.bring_up_to_date(answers)
        return answers

    def _new_answers(self, prepared: PreparedPod) -> OnNodeAnswers:
        answers = on_node_answers(prepared, self.cluster)
        answers.revision = self.length
        return answers

    def _answers_of_parent(self, prepared: PreparedPod) -> OnNodeAnswers | None:
        """The answers that all forks go on with, where nodes have the same for pods as when this was forked."""
        parent = self._unchanged_parent
        if parent is None or not self.nodes.have_same_allocatable_as(parent.nodes):
            return None
        answers = parent.answers_for(prepared).fork()
        return answers if answers.carry_over_to(self._joined) else None

    def bring_up_to_date(self, answers: OnNodeAnswers) -> None:
        """Let the answers catch up with the journal."""
        if answers.revision < self.length:
            answers.follow(lambda: self.cluster, self.usage, self.moves(answers.revision).node.tolist())
            answers.revision = self.length


def _net(happened: Sequence[tuple[Pod, int, int]]) -> tuple[list[tuple[Pod, int]], list[tuple[Pod, int]]]:
    """Pods that came and are still there, and pods that were there before and left."""
    net = dict[tuple[int, int], tuple[Pod, int]]()
    for pod, node, by in happened:
        key = id(pod), node
        net[key] = pod, net.get(key, (pod, 0))[1] + by
    added_pods, removed_pods = (
        [(pod, node) for (_, node), (pod, by) in net.items() for _ in range(sign * by)] for sign in (1, -1)
    )
    return added_pods, removed_pods


class Applicant:
    """A pod that looks for nodes in a living cluster, for itself and its copies."""

    def __init__(
        self, living: LivingCluster, pod: Pod, plugins: Framework, *, binds: bool = True, candidates: Mask | None = None
    ) -> None:
        """``binds``: claims that wait for the pod are bound once it has a node. ``candidates`` are the nodes that may
        be chosen, None for all of them.
        """
        self.pod, self.plugins, self._binds, self._candidates = pod, plugins, binds, candidates
        self._living = living
        self._placing: Placing | None = None
        self._position = 0
        self._tried_at = self._stuck_at = self.helpless_at = -1
        """Number of happenings when the pod was tried last, when it fitted nowhere, when preemption did not help."""

    def placing(self) -> Placing:
        """Placement of the pod on the current cluster. Raises SchedulingError if a PreFilter fails."""
        living, placing = self._living, self._placing
        self._tried_at = living.length
        if placing is not None and self._position == living.length:
            return placing
        if placing is None or not living.can_be_followed(self.pod, self._position):
            prepared, position = living.catch_up(*living.prepare(self.plugins, self.pod))
        else:
            prepared, position = living.catch_up(placing.prepared, self._position)
        if placing is not None and prepared is placing.prepared:
            living.bring_up_to_date(placing.answers)
        else:
            placing = Placing(prepared, living.answers_for(prepared), self._candidates, lambda: living.cluster)
        if position < living.length:
            placing.follow(living.moves(position))
        self._placing, self._position = placing, living.length
        return placing

    def take(self, choice: Choice, pod: Pod | None = None) -> None:
        """Run the pod, or its copy ``pod``, on the node that `placing` just chose."""
        placing, living = self.placing(), self._living
        binding = placing.binding(choice.node) if self._binds else None
        placing.place(choice.node)
        living.place(pod or self.pod, placing.kind.number, choice.node)
        self._position = placing.answers.revision = living.length
        if binding is not None:
            living.change_storage(binding)

    @property
    def is_outdated(self) -> bool:
        """True if something happened since the pod was tried last."""
        return self._tried_at < self._living.length

    def choose(self, break_tie: Tiebreaker) -> Choice | None:
        """Choose kube-scheduler's node for the pod now; None if it fits nowhere. It is not tried again until something
        happens.
        """
        if self._stuck_at == self._living.length:
            return None
        try:
            choice = self.placing().choose(break_tie)
        except SchedulingError:
            choice = None
        if choice is None:
            self._stuck_at = self._living.length
        return choice

    def release(self) -> None:
        """Release the columns: for many workloads they would take too much memory."""
        self._placing = None


def constraints_on(cluster: Cluster, pod: Pod, scheduler_of: SchedulerOf) -> list[ConstraintReport]:
    """Constraints in force for ``pod``, with their counts on ``cluster``; only their plugin is run."""
    scheduled = scheduler_of(pod)
    plugins = scheduled[1].evaluators if scheduled is not None else []
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
    """Number of ``pods`` in each domain of ``key``, without pods outside of domains."""
    column = cluster.nodes.label(key)
    positions = (cluster.nodes.index.get(pod.spec.node_name) for pod in pods)
    codes = (int(column.codes[position]) for position in positions if position is not None)
    counts = Counter(code for code in codes if code != ABSENT)
    return {column.values[code]: count for code, count in counts.items()}


Scheduled = tuple[Profile, Framework]
SchedulerOf = Callable[[Pod], Scheduled | None]
"""Profile that schedules a pod; None for another scheduler."""
CurrentBudgets = Callable[[], Sequence[PodDisruptionBudget]]


class Waiting(Struct):
    """A pod without a node."""

    pod: Pod
    template: Pod
    """Shared by copies, which schedule identically."""
    before: Waiting | None = None
    """Entry of a pod before its nomination, by which it preempted others."""


class Queue(Forking):
    """Pods without a node, over successive living clusters."""

    _copied = ("waiting",)

    def __init__(self, scheduler_of: SchedulerOf, *, preempts: bool = True) -> None:
        self._scheduler_of = scheduler_of
        self._preempts = preempts
        self.waiting: dict[PodKey, Waiting] = {}
        self._applicants = Recent[int]()
        """Applicants by the id of a template."""
        self._begun_at = 0

    def fork(self) -> Self:
        other = super().fork()
        other._applicants = Recent()
        return other

    def add(self, pod: Pod, template: Pod) -> None:
        self.waiting[key_of(pod)] = Waiting(pod, template)

    def add_all(self, pods: Iterable[Pod]) -> None:
        """Add initially waiting pods, in order of arrival; equal ones share a template."""
        templates: dict[tuple[str, int], Pod] = {}
        for pod in pods:
            # Pods of one template share their labels.
            key = pod.metadata.namespace, id(pod.metadata.labels)
            template = templates[key] = reuse_if_alike(pod, templates.get(key))
            self.add(pod, template)

    def remove(self, pod: Pod) -> None:
        self.waiting.pop(key_of(pod), None)

    def in_order(self, only: Sequence[PodKey] | None = None) -> list[Waiting]:
        """Pods in the order they are tried, all or ``only`` some, without gated ones."""
        among = self.waiting.values() if only is None else (self.waiting[key] for key in only if key in self.waiting)
        ready = [pod for pod in among if not pod.pod.spec.scheduling_gates]
        return sorted(ready, key=lambda pod: -priority_of(pod.pod))

    def choose(
        self, waiting: Waiting, living: LivingCluster, break_tie: Tiebreaker = first_in_heap
    ) -> tuple[Applicant, Choice] | None:
        """Choose kube-scheduler's node for the pod now; None if it fits nowhere or another scheduler has it."""
        applicant = self._applicant(waiting, living)
        choice = applicant.choose(break_tie) if applicant is not None else None
        return None if applicant is None or choice is None else (applicant, choice)

    def preemption_candidate(
        self, waiting: Waiting, living: LivingCluster, budgets: CurrentBudgets, order: TieOrder
    ) -> PreemptionCandidate | None:
        """Node that kube-scheduler would free for a pod that fits nowhere, with the pods it would evict; None if that
        does not help.
        """
        applicant = self._applicant(waiting, living)
        if not self._preempts or applicant is None or applicant.helpless_at == living.length:
            return None
        candidate = self._candidate(waiting, living, budgets, order)
        if candidate is None:
            applicant.helpless_at = living.length
        return candidate

    def _candidate(
        self, waiting: Waiting, living: LivingCluster, budgets: CurrentBudgets, order: TieOrder
    ) -> PreemptionCandidate | None:
        if living.lowest_priority >= priority_of(waiting.pod) or not outranks_any(living.cluster, waiting.pod):
            return None
        evaluation = self.evaluation(waiting, living)
        scheduled = self._scheduler_of(waiting.pod)
        if evaluation is None or scheduled is None or not evaluation.fits_nowhere:
            return None
        profile, _ = scheduled
        return preempt(evaluation, post_filters(profile), budgets=budgets(), order=order).candidate

    def nominate(self, waiting: Waiting, node: str) -> Pod:
        """The pod with a nominated node, which sets it apart from its copies."""
        pod = waiting.pod
        nominated = replace(pod, status=replace(pod.status, nominated_node_name=node))
        self.waiting[key_of(pod)] = Waiting(nominated, nominated, waiting.before or waiting)
        return nominated

    def evaluation(self, waiting: Waiting, living: LivingCluster) -> Evaluation | None:
        """Evaluation of the pod now; None if another scheduler has it or scheduling fails."""
        applicant = self._applicant(waiting, living)
        try:
            return applicant.placing().evaluation() if applicant is not None else None
        except SchedulingError:
            return None

    def message(self, waiting: Waiting, living: LivingCluster) -> str:
        """Reason the pod has no node, in kube-scheduler's words if it is kube-scheduler's reason."""
        if gates := waiting.pod.spec.scheduling_gates:
            return behind_gates([gate.name for gate in gates])
        applicant = self._applicant(waiting, living)
        if applicant is None:
            return f'scheduled by "{waiting.pod.spec.scheduler_name}", which is not modeled'
        try:
            return applicant.placing().evaluation().message or "fits, but is not placed yet"
        except SchedulingError as error:
            return str(error)

    def _applicant(self, waiting: Waiting, living: LivingCluster) -> Applicant | None:
        if self._begun_at != living.begun_at:
            # None of them goes on, and each holds on to columns.
            self._applicants.clear()
            self._begun_at = living.begun_at
        applicant: Applicant | None = self._applicants.pop(id(waiting.template), None)
        if applicant is None:
            scheduled = self._scheduler_of(waiting.pod)
            if scheduled is None:
                return None
            applicant = Applicant(living, waiting.template, scheduled[1])
        # The least recently used one is dropped, and prepared from scratch if it is needed again.
        return self._applicants.get_or_make(id(waiting.template), lambda: applicant, most=living.most_cached)
