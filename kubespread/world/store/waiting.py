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
from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import PodDisruptionBudget
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import priority_of
from kubespread.reports.judged_nodes import constraint_reports
from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import ABSENT, Codes, Mask
from kubespread.scheduler.cluster.kinds import KindNumber
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.cluster.running import Moves, Taken
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
_MOST_CHANGES = 1000
"""How many changes what is newly prepared follows one by one."""
_MAX_COLUMN_CELLS = 6_000_000
"""How many applicants a queue keeps, and how many pods a cluster prepares for its forks, times how many nodes there
are: each holds on to columns over all of them.
"""
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


class Known(Struct, frozen=True):
    """A pod as it was prepared before nodes were changed."""

    prepared: Prepared
    seen: int
    """How much of the log it knows."""
    applicant: int = _NOBODY
    """Whose placements it knows, besides."""


@dataclass(slots=True, eq=False)
class SharedAnswers:
    """Answers of plugins that judge nodes by what they hold, for all pods that these plugins cannot tell apart."""

    number: int
    answers: OnNodeAnswers
    seen: int
    """How much of the log they know of."""


class _Origin(Struct, frozen=True):
    """Where a fork began: what is prepared there serves all forks, as long as nothing has happened there since."""

    living: LivingCluster
    length: int
    """How much had happened there."""

    @property
    def is_unchanged(self) -> bool:
        return self.living.length == self.length


class LivingCluster:
    """A cluster whose nodes stay as they are while pods come and go one after another, and a log from which everyone
    catches up.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._origin: _Origin | None = None
        """What this is a fork of: its log begins there."""
        self._asked: dict[tuple[int, int], tuple[Framework, Pod, Prepared | None]] = {}
        """What forks asked for, by the identities of a profile and of a pod, prepared from the second time on."""
        self._joined = cluster
        """As it was when `joined_at` of the log had happened."""
        self.joined_at = 0
        self._taken, self._taken_at = cluster.running.taken, 0
        self._since: list[tuple[Pod, int, int]] = []
        """The pods that came to a node (1) or left it (-1) since, in order."""
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
        if self._since or self._storage is not None:
            # Each by its own kind, as it leaves: one that only equals its template is of another than the log says.
            come, gone = _stayed(self._since)
            joined = self._joined.after(ClusterChange(come=come, gone=gone, storage=self._storage), self.taken)
            self._joined, self._since, self._storage, self.joined_at = joined, [], None, self.length
        return self._joined

    def fork(self) -> LivingCluster:
        """A copy to go on from in another way."""
        other = LivingCluster(self.cluster)
        other._origin = _Origin(self, self.length)
        other._take_answers_of(self)
        return other

    def on(self, cluster: Cluster) -> LivingCluster:
        """Another in the place of this one, that goes on with ``cluster``, in which something else than pods was
        changed. Where it has the same nodes, changed or not, so does the log.
        """
        other = LivingCluster(cluster)
        if cluster.objects is not self._joined.objects or cluster.nodes.names is not self.nodes.names:
            return other
        other._log, other.joined_at = self._log, self.length
        other._taken_at = self.length
        other._origin, other.applicants, other.storage_changes = self._origin, self.applicants, self.storage_changes
        other._take_answers_of(self)
        return other

    def goes_on_from(self, other: LivingCluster) -> bool:
        """Whether this one took the place of another, and its log goes on."""
        return self._log is other._log

    def _take_answers_of(self, other: LivingCluster) -> None:
        """What was asked last is not worked out again where nodes have the same for pods."""
        if self._joined.nodes.give_the_same_as(other.nodes):
            for signature in list(other._shared)[-_MOST_KEPT:]:
                shared = other._shared[signature]
                answers = shared.answers.on(self._joined, self.taken, other._touched_since(shared))
                if answers is not None:
                    self._share(signature, answers)

    def now(self) -> Cluster:
        """As it is whenever that is asked."""
        return self.cluster

    def prepared(self, plugins: Framework, pod: Pod, earlier: Known | None = None) -> tuple[Prepared, int]:
        """``pod`` prepared, and how much of the log that knows. Raises SchedulingError.

        What counts pods goes on from ``earlier``, or from where this was forked, unless what it reads of nodes changed.
        """
        if self._is_bound(pod):
            return plugins.prepare(self.cluster, pod), self.length
        begun = earlier or self._begun(plugins, pod)
        # As it is, or was a few changes ago, which the log tells: what is prepared follows them.
        is_late = begun is not None and begun.seen > self.joined_at
        cluster = self.cluster if is_late or len(self._since) > _MOST_CHANGES else self._joined
        if begun is None:
            return plugins.prepare(cluster, pod), self.joined_at
        return begun.prepared.after(cluster, self._moves(begun.seen, self.joined_at, begun.applicant)), self.joined_at

    def _begun(self, plugins: Framework, pod: Pod) -> Known | None:
        origin = self._origin
        if origin is None or not origin.is_unchanged or self.length > _MOST_CHANGES:
            return None
        prepared = origin.living._prepared_for_forks(plugins, pod)
        return None if prepared is None else Known(prepared, 0)

    def _prepared_for_forks(self, plugins: Framework, pod: Pod) -> Prepared | None:
        """The pod prepared on this cluster as it is; None where it is asked for the first time."""
        key = id(plugins), id(pod)
        asked = self._asked.pop(key, None)
        if len(self._asked) * len(self.nodes) >= _MAX_COLUMN_CELLS:
            del self._asked[next(iter(self._asked))]
        prepared = None if asked is None else asked[2] or plugins.prepare(self.cluster, pod)
        self._asked[key] = plugins, pod, prepared
        return prepared

    def _is_bound(self, pod: Pod) -> bool:
        """Whether the pod depends on claims, which the log does not tell of."""
        spec = pod.spec
        return bool(spec.has_scheduled_volumes or spec.resource_claims or self._joined.claim_users.provided)

    @property
    def taken(self) -> Taken:
        """What pods take up of all nodes now."""
        if self._taken_at < self.length:
            rows = self._log.since(self._taken_at)
            self._taken = self._taken.moved(self._joined.kinds, Moves(rows[_KIND], rows[_NODE], rows[_BY]))
            self._taken_at = self.length
        return self._taken

    @property
    def nodes(self) -> Nodes:
        """Its nodes, which never change."""
        return self._joined.nodes

    @property
    def lowest_priority(self) -> int:
        """No pod that was ever here has a lower one."""
        return self._joined.kinds.lowest_priority

    @property
    def length(self) -> int:
        """How much happened so far."""
        return len(self._log)

    def add(self, pod: Pod, kind: KindNumber, choice: Choice, applicant: int, shared: SharedAnswers) -> None:
        """A pod of ``applicant`` was placed, which ``shared`` know already."""
        self._since.append((pod, choice.node, 1))
        if shared.seen == self.length:
            shared.seen += 1
        self._log.add((kind, choice.node, 1, applicant, shared.number))

    def change(self, come: Sequence[tuple[Pod, int]] = (), gone: Sequence[tuple[Pod, int]] = ()) -> None:
        """Pods came and went otherwise, each with its node."""
        # Who has which device depends on the order in which pods came and went.
        in_turn = self._joined.claim_users.can_be_any or any(pod.spec.resource_claims for pod, _ in (*gone, *come))
        if in_turn or self._storage is not None:
            _ = self.cluster
        self._log.add_all(self._joined.moves(ClusterChange(come=come, gone=gone)))
        self._since += [(pod, node, -1) for pod, node in gone]
        self._since += [(pod, node, 1) for pod, node in come]
        if in_turn:
            _ = self.cluster

    def change_storage(self, change: StorageChange) -> None:
        """Claims and volumes are new or have changed."""
        self._storage = change if self._storage is None else self._storage.then(change)
        self.storage_changes += 1

    def moves_since(self, mark: int, but: int = _NOBODY) -> Moves:
        """What happened since ``mark``, except the placements of the applicant ``but``."""
        return self._moves(mark, self.length, but)

    def _moves(self, mark: int, until: int, but: int) -> Moves:
        rows = self._log.since(mark)[:, : until - mark]
        moves = Moves(rows[_KIND], rows[_NODE], rows[_BY])
        return moves if but == _NOBODY else moves.only(rows[_OWNER] != but)

    def answers_for(self, prepared: Prepared) -> SharedAnswers:
        """Answers that every pod of the same signature shares, up to date."""
        signature = prepared.on_node_signature
        shared = self._shared.get(signature) if signature is not None else None
        if shared is None:
            answers = self._answers_of_origin(prepared) if signature is not None else None
            shared = self._share(signature, answers or on_node_answers(prepared, self.cluster))
        self.bring_up_to_date(shared)
        return shared

    def _answers_of_origin(self, prepared: Prepared) -> OnNodeAnswers | None:
        """The answers that all forks go on with, where nodes have the same for pods as when this was forked."""
        origin = self._origin
        if origin is None or not origin.is_unchanged or not self.nodes.give_the_same_as(origin.living.nodes):
            return None
        answers = origin.living.answers_for(prepared).answers
        return answers.on(self._joined, self.taken, self._log.since(0)[_NODE].tolist())

    def _share(self, signature: Hashable, answers: OnNodeAnswers) -> SharedAnswers:
        shared = SharedAnswers(self._answers, answers, self.length)
        self._answers += 1
        if signature is not None:
            self._shared[signature] = shared
        return shared

    def _touched_since(self, shared: SharedAnswers) -> list[int]:
        """The nodes of what happened since, that these answers do not know already."""
        rows = self._log.since(shared.seen)
        touched: list[int] = rows[_NODE, rows[_ANSWERS] != shared.number].tolist()
        return touched

    def bring_up_to_date(self, shared: SharedAnswers) -> None:
        """Let answers know what pods of other signatures did."""
        if shared.seen == self.length:
            return
        if touched := self._touched_since(shared):
            shared.answers.follow(self.now, self.taken, touched)
        shared.seen = self.length


def _stayed(happened: Sequence[tuple[Pod, int, int]]) -> tuple[list[tuple[Pod, int]], list[tuple[Pod, int]]]:
    """The pods that came and are still there, and those that were there before and left."""
    come: list[tuple[Pod, int] | None] = []
    gone: list[tuple[Pod, int]] = []
    places: dict[tuple[int, int], list[int]] = {}
    for pod, node, by in happened:
        came = places.setdefault((id(pod), node), [])
        if by > 0:
            came.append(len(come))
            come.append((pod, node))
        elif came:
            come[came.pop()] = None
        else:
            gone.append((pod, node))
    return [each for each in come if each is not None], gone


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
        self._earlier: Known | None = None
        self._tried_at = self._helpless_at = _NOBODY
        """How much had happened when the pod was tried last, and when preemption did not help."""
        self._is_stuck = False
        """Whether it fitted nowhere then."""

    def go_on_in(self, living: LivingCluster) -> bool:
        """Whether it can, where nodes were changed."""
        if living is self._living:
            return True
        if not living.goes_on_from(self._living):
            return False
        if self._current is not None:
            self._earlier = Known(self._current[0].prepared, self._seen, self._number)
            self._current = None
        self._living, self._tried_at, self._helpless_at = living, _NOBODY, _NOBODY
        return True

    def placing(self) -> Placing:
        """The pod on the cluster as it is now. Raises SchedulingError when a PreFilter fails."""
        living = self._living
        self._tried_at = living.length
        if self._storage_seen != living.storage_changes and self.pod.spec.has_scheduled_volumes:
            self._current = None
        if self._current is None:
            self._storage_seen = living.storage_changes
            prepared, known = living.prepared(self.plugins, self.pod, self._earlier)
            moves, self._earlier = living.moves_since(known), None
            shared = living.answers_for(prepared)
            placing = Placing(prepared, shared.answers, self._candidates, living.now)
            self._current, self._seen = (placing, shared), living.length
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
        return self._tried_at < self._living.length

    def choose(self, break_tie: Tiebreaker) -> Choice | None:
        """Where kube-scheduler would put the pod now, None when it fits nowhere: as long as nothing happens it is not
        tried again.
        """
        if self._is_stuck and not self.is_outdated:
            return None
        try:
            choice = self.placing().choose(break_tie)
        except SchedulingError:
            choice = None
        self._is_stuck = choice is None
        return choice

    @property
    def is_helpless(self) -> bool:
        """Whether preemption did not help, and nothing has happened since."""
        return self._helpless_at == self._living.length

    def note_helpless(self) -> None:
        self._helpless_at = self._living.length

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
        """By template."""

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
        """What pods ask for has changed: everything about them is worked out again."""
        self._applicants.clear()

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
        choice = applicant.choose(break_tie) if applicant is not None else None
        return None if applicant is None or choice is None else (applicant, choice)

    def victims(
        self, waiting: Waiting, living: LivingCluster, budgets: CurrentBudgets, turns: Turns
    ) -> PreemptionCandidate | None:
        """The node that kube-scheduler would free for a pod that fits nowhere, and which pods it would evict there."""
        applicant = self._applicant(waiting, living)
        if not self._preempts or applicant is None or applicant.is_helpless:
            return None
        candidate = self._candidate(waiting, living, budgets, turns)
        if candidate is None:
            applicant.note_helpless()
        return candidate

    def _candidate(
        self, waiting: Waiting, living: LivingCluster, budgets: CurrentBudgets, turns: Turns
    ) -> PreemptionCandidate | None:
        if living.lowest_priority >= priority_of(waiting.pod) or not has_lower(living.cluster, waiting.pod):
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
        if cached is None or not cached.go_on_in(living):
            scheduled = self._scheduler_of(waiting.pod)
            if scheduled is None:
                return None
            cached = Applicant(living, waiting.template, scheduled[1])
        if len(self._applicants) * len(living.nodes) >= _MAX_COLUMN_CELLS:
            # The one asked longest ago; asked again it is prepared from scratch.
            del self._applicants[next(iter(self._applicants))]
        self._applicants[template] = cached
        return cached
