"""Changes that make a pod, or all replicas of a workload, fit: each change is made, and its effect judged anew."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from shlex import quote
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.candidate.candidate import Candidate
from kubespread.candidate.manifest import Manifest, choose, kind_of
from kubespread.candidate.settings import Operation, operations
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.admission.quota import enough, overruns
from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Pod, ResourceQuota
from kubespread.kube.api.kinds import Kind, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.gotext import compact_json
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of, full_name, priority_of
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.versions import KubeVersion
from kubespread.questions.causes.own_pods import claims_at_fault
from kubespread.questions.editing import apply_edits
from kubespread.questions.explain.question import Explain
from kubespread.questions.explain.report import Fix
from kubespread.questions.patches import commands, find, patch_command, reference
from kubespread.questions.queue import ScheduleResult
from kubespread.questions.remedies.change import Answer, Change, Goal, QuestionEdits, Revise
from kubespread.questions.remedies.edited_worlds import (
    AlikePods,
    EditedWorlds,
    EditResult,
    FreeAll,
    PlayedGoal,
    pod_reviser,
)
from kubespread.questions.remedies.families import FAMILIES, WAIT, StuckPod
from kubespread.questions.remedies.search import advice
from kubespread.questions.resolving import quota_refusal, reviser
from kubespread.questions.room import PODS, free
from kubespread.questions.scene import Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate import Simulate
from kubespread.questions.simulate.answer import Demands, pose
from kubespread.questions.simulate.demand import Demand
from kubespread.questions.worlds import as_snapshot, world_of
from kubespread.reports.advice import Advice, NotEnough, Suggestion
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import scheduler_amounts
from kubespread.scheduler.evaluation import evaluate, outranks_any
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.scheduler.profile.profile import framework
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World, unmade
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import refused_by_owner, workload_of
from kubespread.world.store.chance import Chance
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting


class FirstJudgment(Struct, frozen=True):
    """A pod, or all replicas of a workload, judged without any change."""

    fix: Fix
    goal: Goal
    """Goal to try again after each change."""
    stuck: StuckPod | None = None
    """Obstacles to the goal; None if there are none, or if they are unknown."""
    message: str | None = None
    """Reason not all replicas find a node, or a quota refuses a pod; None for one that the explanation covers."""
    advice: Advice | None = None
    """Larger quotas, if quotas refuse pods: no other change is tried then."""
    notes: Sequence[str] = ()

    @property
    def needs_nothing(self) -> bool:
        return self.stuck is None and self.message is None and self.advice is None


def judge(question: Explain, candidate: Candidate, cluster: Cluster, scene: Scene) -> FirstJudgment:
    """Judge the pod, or the replicas of its workload. Raises UsageError for replicas of a DaemonSet."""
    replicas = question.replicas
    edits = QuestionEdits(scene.snapshot.edits, question.settings, candidate.workload)
    if replicas is None and candidate.workload is not None and not candidate.is_daemon:
        # A workload of no replicas is judged by its next one.
        replicas = candidate.replicas or None
    if replicas is None:
        return _judge_pod(candidate, cluster, scene, edits)
    if candidate.is_daemon:
        raise UsageError("a DaemonSet has no replicas: ask about one of its pods, without --replicas")
    placing = Simulate(
        pods=question.pods,
        replicas=question.replicas,
        named=question.named,
        namespace=question.namespace,
        recursive=question.recursive,
        settings=question.settings,
    )
    goal = Replicas(placing, replicas, scene.snapshot, scene.scheduler, cluster.assumed, candidate.workload)
    judge_next = partial(_judge_pod, candidate, cluster, scene, edits) if question.replicas is None else None
    return _judge_replicas(goal, edits, judge_next)


def _judge_pod(candidate: Candidate, cluster: Cluster, scene: Scene, edits: QuestionEdits) -> FirstJudgment:
    pod, surroundings = candidate.pod, candidate.surroundings
    profile = scene.scheduler.profile_for(pod.spec.scheduler_name, surroundings.version)
    plugins = framework(profile)
    worlds = EditedWorlds(
        lambda: world_of(surroundings.snapshot, scene.scheduler, assumed=cluster.assumed), pod.metadata.namespace
    )
    goal = OnePod(pod, cluster, plugins, reviser(candidate), worlds)
    workload = None if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}"
    with_notes = partial(FirstJudgment, goal=goal, notes=candidate.notes)
    try:
        evaluation = evaluate(plugins, cluster, pod)
    except SchedulingError:
        # Without a judgment, no change suggests itself.
        return with_notes(Fix(workload))
    if (refusal := quota_refusal(candidate, cluster, scene.scheduler)) is not None:
        nodes = int(evaluation.feasible.sum()) if evaluation.error is None else 0
        raised = _quotas_raised(cluster.objects, pod, 1, goal, nodes=nodes)
        return with_notes(Fix(workload), message=refusal, advice=raised)
    if claims_at_fault(evaluation) or (evaluation.error is None and evaluation.feasible.any()):
        return with_notes(Fix(workload))
    if evaluation.error is None and (placed := goal.by_preemption(pod)) is not None:
        victims = (departure.pod for departure in placed.departures if departure.why == PREEMPTED)
        return with_notes(Fix(workload, victims=tuple(map(full_name, victims))))
    return with_notes(Fix(workload), stuck=StuckPod(evaluation, profile.version, edits=edits, rivals=goal.rivals))


@dataclass
class OnePod(PlayedGoal):
    """Goal that one pod finds a node; edits such as ``--uncordon`` are played in a world."""

    pod: Pod
    cluster: Cluster
    plugins: Framework
    revise: Revise
    worlds: EditedWorlds

    def ask(self, change: Change) -> Answer | None:
        revised = self.revise(change.settings)
        edited = self.worlds.apply(change.edits) if change.edits else None
        if revised is None or (change.edits and edited is None):
            return None
        cluster = self.cluster if edited is None else _remove_own(edited.world, key_of(self.pod))
        try:
            evaluation = evaluate(self.plugins, revised.dressed(cluster), revised.pod)
        except SchedulingError:
            return Answer(0)
        fitting = 0 if evaluation.error is not None else int(evaluation.feasible.sum())
        if not fitting and (placed := self.by_preemption(revised.pod, change.edits)) is not None:
            fitting, edited = 1, placed
        return self.answer(edited, fitting)

    def by_preemption(self, pod: Pod, edits: tuple[Edit, ...] = ()) -> EditResult | None:
        """Let the pod, which fits nowhere, preempt others; None if it cannot."""
        if self.cluster.kinds.lowest_priority >= priority_of(pod):
            return None
        edited = self.worlds.apply(edits)
        assert edited is not None
        world, key = edited.world.fork(), key_of(pod)
        if key not in world.book:
            world.book.add(pod)
        elif key in world.queue.waiting:
            world.book.replace(world.book[key], pod)
        else:
            return None
        others = {pod_key: waiting for pod_key, waiting in world.queue.waiting.items() if pod_key != key}
        world.queue.waiting = {key: Waiting(pod, pod)}
        world.settle()
        if key in world.queue.waiting:
            return None
        world.queue.waiting.update(others)
        world.settle()
        return edited.extend(world)

    def is_own(self, pod: Pod) -> bool:
        return key_of(pod) == key_of(self.pod)


def _remove_own(world: World, own: PodKey) -> Cluster:
    """The cluster without the pod itself, which it may hold."""
    cluster = world.cluster
    if own not in world.book:
        return cluster
    stored = world.book[own]
    position = cluster.nodes.index.get(stored.spec.node_name)
    if position is not None:
        cluster = cluster.apply(ClusterChange(removed_pods=[(stored, position)]))
    return cluster


class PlacedReplicas(Struct, frozen=True):
    """Result for all replicas."""

    count: int
    """Number of replicas with a node in the end, including running ones."""
    outcome: ScheduleResult
    victims: tuple[NamespacedName, ...]
    """NAMESPACE/name of the pods preempted for them."""


@dataclass
class Replicas(PlayedGoal):
    """Goal that a number of replicas all find a node, placed as by `simulate`."""

    question: Simulate
    replicas: int
    snapshot: Snapshot
    scheduler: Scheduler
    assumed: dict[str, None]
    """Collects the assumptions made about the cluster, unchanged and after each change."""
    workload: WorkloadName | None = None
    victims: tuple[NamespacedName, ...] = ()
    """Pods preempted for them without any change."""

    def __post_init__(self) -> None:
        question, assumed = self.question, self.assumed
        self.worlds = EditedWorlds(
            lambda: world_of(self._snapshot, self.scheduler, assumed=assumed),
            question.namespace or self.snapshot.origin.namespace or DEFAULT_NAMESPACE,
        )

    def ask(self, change: Change) -> Answer | None:
        after = self.worlds.apply(change.edits) if change.edits else None
        if change.edits and after is None:
            return None
        snapshot = self._snapshot if after is None else as_snapshot(after.world, self._snapshot)
        revised = msgspec.structs.replace(self.question, settings=(*self.question.settings, *change.settings))
        try:
            posed = pose(revised, snapshot, self.scheduler)
            (demand,) = posed.demands
            may_preempt = outranks_any(posed.cluster, demand.pod)
            if not may_preempt and (most := _most_running(posed.cluster, demand)) < self.replicas:
                return Answer(most, self.replicas)
            placed = self.place(posed)
        except (KubespreadError, SchedulingError):
            return None
        harm = [f"preempting {victim}" for victim in placed.victims if victim not in self.victims]
        return self.answer(after, placed.count, self.replicas, harm)

    def is_own(self, pod: Pod) -> bool:
        return workload_of(self.worlds.original.world, pod) == self.workload

    def place(self, posed: Demands) -> PlacedReplicas:
        (demand,) = posed.demands
        (outcome,) = posed.place(Chance())
        self.assumed.update(dict.fromkeys((*demand.candidate.gaps, *posed.cluster.assumed)))
        if (played := demand.change.played) is not None:
            count = self.replicas - played.report.pending - played.report.not_created
            return PlacedReplicas(count, outcome, tuple(victim.pod for victim in played.preempted))
        count = len(demand.present) - len(outcome.vacated_nodes) + len(outcome.choices)
        return PlacedReplicas(count, outcome, tuple(full_name(victim.pod) for _, victim in outcome.preempted))

    def await_rollout(self, demand: Demand, version: KubeVersion) -> FreeAll:
        """Goal that the new pods of a waiting rollout find nodes, while its old pods may run on."""
        world, keys = self.worlds.original.world, set(map(key_of, demand.growth.waiting))
        kinds = AlikePods.kinds(waiting for waiting in world.waiting if key_of(waiting.pod) in keys)
        return FreeAll(self.worlds, kinds, pod_reviser(self._snapshot, version))

    @cached_property
    def _snapshot(self) -> Snapshot:
        """The cluster after the question's own edits."""
        return apply_edits(self.snapshot, self.scheduler, self.question.namespace)[0]


def _judge_replicas(
    replicas: Replicas, edits: QuestionEdits, judge_next: Callable[[], FirstJudgment] | None
) -> FirstJudgment:
    """Judge all replicas, running ones included; if all run, and the next pod would not fit, judge that pod."""
    posed = pose(replicas.question, replicas.snapshot, replicas.scheduler)
    (demand,) = posed.demands
    unchanged = replicas.place(posed)
    placed, outcome, replicas.victims = unchanged.count, unchanged.outcome, unchanged.victims
    goal: PlayedGoal = replicas
    desired, started = replicas.replicas, placed or demand.change.played is not None
    started_now = bool(outcome.choices) or demand.change.played is not None
    if demand.growth.outdated:
        goal = awaited = replicas.await_rollout(demand, posed.surroundings.version)
        desired, placed, started = len(awaited), len(outcome.choices), bool(outcome.choices)
    if placed >= desired:
        if judge_next is not None and not started_now and not (further := judge_next()).needs_nothing:
            return further
        return FirstJudgment(Fix(demand.workload, desired, placed, replicas.victims), goal, notes=demand.notes)
    evaluation = outcome.unplaced
    if evaluation is None:
        # Without an unplaced replica, one more shows what could be changed.
        with suppress(SchedulingError):
            evaluation = evaluate(framework(demand.profile), posed.cluster, demand.pod)
    growth = demand.growth
    message = outcome.stopped or growth.created.refusal
    lacking = partial(FirstJudgment, Fix(demand.workload, desired, placed), goal, message=message, notes=demand.notes)
    if growth.further and growth.created.copies is not None and growth.created.copies < growth.further:
        allowed = pose(replicas.question, replicas.snapshot, replicas.scheduler, counts_quotas=False)
        then = replicas.place(allowed).count
        raised = _quotas_raised(
            posed.cluster.objects, demand.pod, growth.further, goal, placed=then if then >= desired else None
        )
        return lacking(message=growth.created.refusal, advice=raised)
    if evaluation is None or not growth.further or claims_at_fault(evaluation):
        return lacking()
    most, are_distinct = None if started else desired, demand.distinct_replicas is not None
    stuck = StuckPod(
        evaluation, demand.profile.version, desired - placed, placed, most, edits, goal.rivals, are_distinct
    )
    return lacking(stuck=stuck)


def _quotas_raised(
    objects: ClusterObjects,
    pod: Pod,
    copies: int,
    goal: PlayedGoal,
    *,
    nodes: int | None = None,
    placed: int | None = None,
) -> Advice:
    """Advice to raise quotas for ``copies`` more pods, and for the missing pods of other workloads.

    The pod then fits ``nodes``, or ``placed`` replicas find a node; None or 0 if larger quotas are not enough.
    """
    quotas, namespace, world = objects.get(ResourceQuota), pod.metadata.namespace, goal.worlds.original.world.fork()
    Baseline.settle(world)
    refused = refused_by_owner(world, list(unmade(world))).values()
    lacking = [(pod, copies), *((other, count) for other, count in refused if not goal.is_own(other))]
    change = enough(quotas, pod, lacking) or "set what the quota requires of containers"
    patches = {name: compact_json({"spec": {"hard": hard}}) for name, hard in overruns(quotas, pod, lacking).items()}
    commands = tuple(
        f"kubectl patch resourcequota {name} -n {namespace} --type=merge -p {quote(patch)}"
        for name, patch in patches.items()
    )
    does = patches and (nodes or placed)
    raised = Suggestion(
        change=change, brief=change, family=_QUOTA, options=(), nodes=nodes, placed=placed, commands=commands
    )
    return Advice(
        families=(_QUOTA,),
        enough=(raised,) if does else (),
        not_enough=() if does else (NotEnough(family=_QUOTA, changes=(change,)),),
        tried=1,
    )


def _most_running(cluster: Cluster, demand: Demand) -> int:
    """Upper bound on replicas with a node: running ones, and as many as cpu, memory and pod limits leave room for."""
    if demand.change.played is not None or NodeResourcesFit.name not in demand.profile.filters:
        return sys.maxsize
    requests = scheduler_amounts(pod_requests(demand.pod))
    room = free(cluster, PODS)
    for resource in ("cpu", "memory"):
        if requested := requests.get(resource, 0):
            room = np.minimum(room, free(cluster, resource) // requested)
    return len(demand.present) + int(room.sum())


_QUOTA = "quota"
_ANOTHER_TEMPLATE = "its workload's template has no such field by now: the pod is of another revision"
_IMMUTABLE = "a pod's own fields cannot be changed: delete the pod and create it anew"


class _PatchedObject(Struct, frozen=True):
    """Object to patch: its plain data and its source."""

    data: Mapping[str, Any]
    row: Kind
    reference: str
    """KIND/NAME and namespace for kubectl, or a manifest's file; empty if it is no file or has other objects too."""
    is_stored: bool = True


def find_changes(stuck: StuckPod, goal: Goal, question: Explain, candidate: Candidate) -> Advice:
    """Find the changes that suffice, each with its patch; patches include the question's settings."""
    result, changes = advice(stuck, FAMILIES, goal)
    patched = _find_patched(candidate, question.named)
    enough = tuple(
        _with_patch(suggestion, change, patched, question.settings, candidate.surroundings.snapshot)
        for suggestion, change in zip(result.enough, changes, strict=True)
    )
    return msgspec.structs.replace(result, enough=enough)


def _with_patch(
    suggestion: Suggestion, change: Change, patched: _PatchedObject | None, settings: Sequence[str], snapshot: Snapshot
) -> Suggestion:
    suggested_commands = [] if change.family == WAIT else list(commands(change, snapshot))
    notes = suggestion.notes
    changed: list[Operation] = []
    if change.settings and patched is not None:
        try:
            changed = operations(patched.data, patched.row, (*settings, *change.settings))
        except UsageError:
            # During a rollout, a pod of an old revision has fields that the workload's template no longer has.
            notes = (*notes, _ANOTHER_TEMPLATE)
        if patched.is_stored and not _can_be_set(patched.row, changed):
            changed, notes = [], (*notes, _IMMUTABLE)
    if changed and patched is not None and patched.reference:
        suggested_commands.insert(0, patch_command(patched.reference, changed))
    return msgspec.structs.replace(suggestion, commands=tuple(suggested_commands), notes=notes)


def _can_be_set(row: Kind, changed: Sequence[Operation]) -> bool:
    """True if the API server allows the change: in a pod, only added tolerations."""
    return row.cls is not Pod or all(operation.path[1] == "tolerations" for operation in changed)


def _find_patched(candidate: Candidate, name: str | None) -> _PatchedObject | None:
    """Find the object that a patch would change; None if the source is no longer in the cluster."""
    source, snapshot = candidate.source, candidate.surroundings.snapshot
    assert source is not None
    if isinstance(source, Manifest):
        item = source.chosen or choose(source, name, snapshot.origin.namespace or DEFAULT_NAMESPACE)
        is_alone = len(source.items) == 1 and not item.template_path and Path(source.file).is_file()
        file = f"--local -o yaml -f {quote(source.file)}" if is_alone else ""
        return _PatchedObject(item.data, kind_of(item), file, is_stored=False)
    namespace = source.namespace or candidate.pod.metadata.namespace
    obj, row = find(source.kind, namespace, source.name, snapshot), source.kind
    if obj is None:
        return None
    while (above := _controller(obj, snapshot)) is not None:
        row, obj = above
    return _PatchedObject(msgspec.to_builtins(obj), row, reference(row, obj))


def _controller(obj: ApiObject, snapshot: Snapshot) -> tuple[Kind, ApiObject] | None:
    owner = controller_of(obj)
    row = pod_creator(owner.api_version, owner.kind) if owner is not None else None
    if owner is None or row is None or not row.is_stored:
        return None
    controller = find(row, obj.metadata.namespace, owner.name, snapshot)
    return None if controller is None else (row, controller)
