"""What has to change for all replicas of a workload to find a node: each change is made, and all are placed again."""

from __future__ import annotations

import sys
from functools import cached_property, partial

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.pod_requests import pod_requests
from kubespread.questions.advise.one_pod import Judged
from kubespread.questions.editing import edited
from kubespread.questions.queue.entries import Outcome
from kubespread.questions.remedies.change import Answer, Change
from kubespread.questions.remedies.edited_worlds import EditedWorlds
from kubespread.questions.remedies.stuck import Stuck
from kubespread.questions.resolving import Resolved
from kubespread.questions.room import PODS, free
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.answer import Posed, pose
from kubespread.questions.simulate.placing import outcomes
from kubespread.questions.simulate.posed import Question
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.worlds import as_snapshot, world_of
from kubespread.scheduler.building import framework
from kubespread.scheduler.cluster.amounts import scheduler_amounts
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubespread.scheduler.preemption import has_lower
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.reporting.happenings import workload_of

_PER_QUESTION, _PER_POD, _PER_COPY, _PER_COPY_AND_NODE = 15, 0.01, 0.1, 0.0004
"""Milliseconds."""


class Placed(Struct, frozen=True):
    """The outcome for all replicas."""

    count: int
    """How many have a node in the end, those that run already among them."""
    outcome: Outcome
    victims: tuple[NamespacedName, ...]
    """NAMESPACE/name of the pods that are preempted for them."""


class Replicas(Struct, dict=True):
    """A number of replicas that are all to find a node, as `simulate` places them."""

    question: Simulate
    replicas: int
    snapshot: Snapshot
    scheduler: Scheduler
    assumed: dict[str, None]
    """Filled with the assumptions about the cluster, unchanged and with each change tried."""
    workload: WorkloadName | None = None
    victims: tuple[NamespacedName, ...] = ()
    """The pods preempted for them without any change."""
    _spent: float = 0
    """Effort spent outside of worlds, in milliseconds."""

    def ask(self, change: Change) -> Answer | None:
        return self._ask(change, self._worlds)

    def ask_alone(self, change: Change) -> Answer | None:
        return None if self._alone is None else self._ask(change, self._alone)

    def _ask(self, change: Change, worlds: EditedWorlds) -> Answer | None:
        after = worlds.after(change.edits) if change.edits else None
        if change.edits and after is None:
            return None
        self._spent += _PER_QUESTION + _PER_POD * len(self._snapshot.pods)
        snapshot = self._snapshot if after is None else as_snapshot(after.world, self._snapshot)
        revised = msgspec.structs.replace(self.question, settings=(*self.question.settings, *change.settings))
        try:
            posed = pose(revised, snapshot, self.scheduler)
            question = posed.questions[0]
            may_preempt = revised.preemption and has_lower(posed.cluster, question.pod)
            if not may_preempt and (most := _most_running(posed.cluster, question)) < self.replicas:
                return Answer(most, self.replicas)
            placed = self.placed(posed)
        except (KubespreadError, SchedulingError):
            return None
        self._spent += placed.count * (_PER_COPY + _PER_COPY_AND_NODE * len(posed.cluster))
        victims = [victim for victim in placed.victims if victim not in self.victims]
        harm = [f"preempting {victim}" for victim in victims]
        if after is None:
            return Answer(placed.count, self.replicas, harm=tuple(harm))
        return Answer(
            placed.count, self.replicas, worlds.consequences(after), (*harm, *worlds.harm(after, self._is_own))
        )

    def _is_own(self, pod: Pod) -> bool:
        return workload_of(self._worlds.unchanged.world, pod) == self.workload

    def placed(self, posed: Posed) -> Placed:
        (question,) = posed.questions
        make_world = partial(world_of, posed.resolved.snapshot, self.scheduler, assumed=self.assumed)
        (outcome,) = outcomes(posed.cluster, posed.questions, posed.manner, make_world)
        self.assumed.update(dict.fromkeys((*posed.resolved.lacking, *posed.cluster.assumed)))
        if question.played is not None:
            rollout, preempted = question.played.rollout, question.played.preempted
            count = self.replicas - rollout.pending - rollout.not_created
            return Placed(count, outcome, tuple(victim.pod for victim in preempted))
        count = len(question.present) - len(outcome.lost) + len(outcome.choices)
        return Placed(count, outcome, tuple(NamespacedName.of(victim.pod) for _, victim in outcome.preempted))

    @property
    def effort(self) -> float:
        return self._spent + self._worlds.effort + (self._alone.effort if self._alone is not None else 0)

    @cached_property
    def _snapshot(self) -> Snapshot:
        """The cluster after the question's own edits."""
        return edited(self.snapshot, self.scheduler, self.question.namespace, preempts=self.question.preemption)[0]

    @cached_property
    def _worlds(self) -> EditedWorlds:
        namespace = self.question.namespace or self.snapshot.origin.namespace or DEFAULT_NAMESPACE
        preempts, assumed = self.question.preemption, self.assumed
        return EditedWorlds(
            lambda: world_of(self._snapshot, self.scheduler, preempts=preempts, assumed=assumed), namespace
        )

    @cached_property
    def _alone(self) -> EditedWorlds | None:
        return self._worlds.if_alone(self._is_own)


def judge_replicas(resolved: Resolved, replicas: Replicas) -> Judged:
    """About all ``replicas``, which count those that run already. Raises UsageError for a DaemonSet."""
    if resolved.candidates[0].is_daemon:
        raise UsageError("a DaemonSet has no replicas: ask about one of its pods, without --replicas")
    posed = pose(replicas.question, replicas.snapshot, replicas.scheduler)
    (question,) = posed.questions
    as_it_is = replicas.placed(posed)
    placed, outcome, replicas.victims = as_it_is.count, as_it_is.outcome, as_it_is.victims
    judged = partial(
        Judged,
        pod=question.pod,
        cluster=posed.cluster,
        profile=question.profile,
        asker=replicas,
        workload=question.workload,
        replicas=replicas.replicas,
        placed=placed,
        notes=question.notes,
        admission=question.admission,
    )
    if placed >= replicas.replicas:
        return judged(victims=replicas.victims)
    evaluation = outcome.unplaced or _evaluation(posed, question)
    stopped = outcome.stopped or question.refusal
    if evaluation is None or not question.replicas:
        return judged(message=stopped)
    in_free_room = None if placed or question.played is not None else replicas.replicas
    stuck = Stuck(evaluation, question.profile.version, replicas.replicas - placed, placed, in_free_room)
    return judged(message=stopped, stuck=stuck)


def _evaluation(posed: Posed, question: Question) -> Evaluation | None:
    """The evaluation of one more replica, where nothing else tells what could be changed."""
    try:
        return evaluate(framework(question.profile), posed.cluster, question.pod)
    except SchedulingError:
        return None


def _most_running(cluster: Cluster, question: Question) -> int:
    """An upper bound on the replicas with a node, whatever else keeps them off: those running, and as many more as cpu,
    memory and the number of pods leave room for.
    """
    if question.played is not None or NodeResourcesFit.name not in question.profile.filters:
        return sys.maxsize
    requests = scheduler_amounts(pod_requests(question.pod))
    room = free(cluster, PODS)
    for resource in ("cpu", "memory"):
        if requested := requests.get(resource, 0):
            room = np.minimum(room, free(cluster, resource) // requested)
    return len(question.present) + int(room.sum())
