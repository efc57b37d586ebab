"""What has to change for a pod, or for all replicas of a workload, to fit.

One pod in its cluster, and the effect of changes to the pod or the cluster.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from kubespread.candidate.manifest import Manifest, choose
from kubespread.candidate.settings import Operation, operations, text_diff
from kubespread.candidate.sources import read_once
from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import UNKNOWN, Kind, pod_creator
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of, priority_of
from kubespread.kube.pod_requests import pod_requests
from kubespread.kube.versions import KubeVersion
from kubespread.manifest.objects import KubernetesObject
from kubespread.questions.advise.question import Advise
from kubespread.questions.advise.report import AdviseReport, Gathered
from kubespread.questions.causes.bars import bars
from kubespread.questions.causes.not_modelled import not_modelled
from kubespread.questions.editing import edited
from kubespread.questions.patches import commands, named, patch_command, reference
from kubespread.questions.queue.queue import Outcome
from kubespread.questions.remedies.change import Answer, Change, Goal, Revise
from kubespread.questions.remedies.edited_worlds import Edited, EditedWorlds, PlayedGoal
from kubespread.questions.remedies.families import FAMILIES, WAIT, Stuck
from kubespread.questions.remedies.freeing import AlikePods, AllFreed, pod_reviser
from kubespread.questions.remedies.search import advice, options
from kubespread.questions.remedies.spreading import by_domain, is_gathered, lacking, spreading
from kubespread.questions.resolving import Resolved, resolve, reviser
from kubespread.questions.room import PODS, free
from kubespread.questions.scene import Scene
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.simulate.demand import Demand
from kubespread.questions.simulate.placing import Posed, Queue, pose
from kubespread.questions.simulate.question import Simulate
from kubespread.questions.worlds import as_snapshot, world_of
from kubespread.reports.advise import Advice, PatchOperation, Suggestion
from kubespread.reports.judged_nodes import constraint_reports
from kubespread.reports.parts import PodReference
from kubespread.scheduler.cluster.cluster import Change as ClusterChange
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import scheduler_amounts
from kubespread.scheduler.evaluation import evaluate, has_lower
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.scheduler.profile.profile import Profile, framework
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

_PER_EVALUATION, _NODES_PER_MILLISECOND = 2, 400


class Spreading(Struct, frozen=True):
    """A topology spread constraint for a workload of which one domain holds most replicas."""

    change: Change
    key: str
    domain: str
    count: int
    """How many it holds."""
    after: Mapping[str, int]
    """How many each holds with the constraint."""


class Judged(Struct, frozen=True):
    """A pod, or all replicas of a workload, as judged without any change."""

    report: AdviseReport
    not_modelled: Callable[[], tuple[str, ...]]
    """Called last: what it assumes of the cluster is said after what changes assume."""
    goal: Goal
    """What is asked again after each change."""
    stuck: Stuck | None = None
    """What could be changed; None where nothing has to be, or nothing tells what."""
    spread: Spreading | None = None
    """The topology spread constraint that the workload lacks, where one zone or node holds most of its replicas."""


def _judged(
    pod: Pod,
    cluster: Cluster,
    profile: Profile,
    goal: Goal,
    stuck: Stuck | None = None,
    spread: Spreading | None = None,
    **fields: Any,
) -> Judged:
    report = AdviseReport(
        kube_version=str(profile.version),
        scheduler_name=profile.scheduler_name,
        pod=PodReference(namespace=pod.metadata.namespace, name=pod.metadata.name),
        nodes=len(cluster),
        **fields,
    )
    return Judged(report, partial(not_modelled, pod, framework(profile), cluster, profile), goal, stuck, spread)


def judge_pod(resolved: Resolved, scheduler: Scheduler, given: Sequence[Node] = (), *, preempts: bool) -> Judged:
    """About one pod; ``given`` are the nodes before any edits."""
    candidate, profile, cluster = resolved.candidates[0], resolved.profiles[0], resolved.cluster
    pod, plugins = candidate.pod, framework(profile)
    worlds = EditedWorlds(
        lambda: world_of(resolved.snapshot, scheduler, preempts=preempts, assumed=cluster.assumed),
        pod.metadata.namespace,
    )
    goal = OnePod(pod, cluster, plugins, reviser(resolved), worlds, preempts)
    judged = partial(
        _judged,
        pod,
        cluster,
        profile,
        goal,
        notes=tuple(candidate.notes),
        admission=tuple(candidate.admission),
        workload=None if candidate.workload is None else f"{candidate.workload.kind}/{candidate.workload.name}",
    )
    try:
        evaluation = evaluate(plugins, cluster, pod)
    except SchedulingError as error:
        # Without a judgment nothing suggests what to change.
        return judged(message=str(error))
    fitting = int(evaluation.feasible.sum())
    if fitting and evaluation.error is None:
        return judged(fitting=fitting)
    if evaluation.error is None and (placed := goal.by_preemption(pod)) is not None:
        victims = tuple(NamespacedName.of(gone.pod) for gone in placed.preempted)
        return judged(message=evaluation.message, victims=victims)
    return judged(Stuck(evaluation, profile.version, given=given), message=evaluation.message)


@dataclass
class OnePod(PlayedGoal):
    """A pod that needs a node; edits are played in a world, as for ``--uncordon`` and the like."""

    pod: Pod
    cluster: Cluster
    plugins: Framework
    revise: Revise
    worlds: EditedWorlds
    preempts: bool = True
    """Whether pods of lower priority are evicted for it, as kube-scheduler does."""

    def ask_in(self, worlds: EditedWorlds, change: Change) -> Answer | None:
        revised = self.revise(change.settings)
        edited = worlds.after(change.edits) if change.edits else None
        if revised is None or (change.edits and edited is None):
            return None
        self.spent += _PER_EVALUATION + len(self.cluster) / _NODES_PER_MILLISECOND
        cluster = self.cluster if edited is None else _without(edited.world, key_of(self.pod))
        try:
            evaluation = evaluate(self.plugins, revised.dressed(cluster), revised.pod)
        except SchedulingError:
            return Answer(0)
        fitting = 0 if evaluation.error is not None else int(evaluation.feasible.sum())
        if not fitting and (placed := self.by_preemption(revised.pod, change.edits, worlds)) is not None:
            fitting, edited = 1, placed
        return self.answered(worlds, edited, fitting)

    def by_preemption(
        self, pod: Pod, edits: tuple[Edit, ...] = (), worlds: EditedWorlds | None = None
    ) -> Edited | None:
        """What happens once the pod, which fits nowhere, preempts others; None where it cannot."""
        if not self.preempts or self.cluster.kinds.lowest_priority >= priority_of(pod):
            return None
        edited = (worlds or self.worlds).after(edits)
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
        return edited.then(world)

    def is_own(self, pod: Pod) -> bool:
        return key_of(pod) == key_of(self.pod)


def _without(world: World, own: PodKey) -> Cluster:
    """The cluster without the pod itself, which it may hold."""
    cluster = world.cluster
    if own not in world.book:
        return cluster
    stored = world.book[own]
    position = cluster.nodes.index.get(stored.spec.node_name)
    if position is not None:
        cluster = cluster.after(ClusterChange(gone=[(stored, position)]))
    return cluster


# What has to change for all replicas of a workload to find a node: each change is made, and all are placed again.


_PER_QUESTION, _PER_POD, _PER_COPY, _PER_COPY_AND_NODE = 15, 0.01, 0.1, 0.0004
"""Milliseconds."""


class Placed(Struct, frozen=True):
    """The outcome for all replicas."""

    count: int
    """How many have a node in the end, those that run already among them."""
    outcome: Outcome
    victims: tuple[NamespacedName, ...]
    """NAMESPACE/name of the pods that are preempted for them."""
    landed: Callable[[str], Mapping[str, int]]
    """How many are in each domain of a topology key."""


@dataclass
class Replicas(PlayedGoal):
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

    def __post_init__(self) -> None:
        question, assumed = self.question, self.assumed
        self.worlds = EditedWorlds(
            lambda: world_of(self._snapshot, self.scheduler, preempts=question.preemption, assumed=assumed),
            question.namespace or self.snapshot.origin.namespace or DEFAULT_NAMESPACE,
        )

    def ask_in(self, worlds: EditedWorlds, change: Change) -> Answer | None:
        after = worlds.after(change.edits) if change.edits else None
        if change.edits and after is None:
            return None
        self.spent += _PER_QUESTION + _PER_POD * len(self._snapshot.pods)
        snapshot = self._snapshot if after is None else as_snapshot(after.world, self._snapshot)
        revised = msgspec.structs.replace(self.question, settings=(*self.question.settings, *change.settings))
        try:
            posed = pose(revised, snapshot, self.scheduler)
            (demand,) = posed.demands
            may_preempt = revised.preemption and has_lower(posed.cluster, demand.pod)
            if not may_preempt and (most := _most_running(posed.cluster, demand)) < self.replicas:
                return Answer(most, self.replicas)
            placed = self.placed(posed)
        except (KubespreadError, SchedulingError):
            return None
        self.spent += placed.count * (_PER_COPY + _PER_COPY_AND_NODE * len(posed.cluster))
        harm = [f"preempting {victim}" for victim in placed.victims if victim not in self.victims]
        return self.answered(worlds, after, placed.count, self.replicas, harm)

    def is_own(self, pod: Pod) -> bool:
        return workload_of(self.worlds.unchanged.world, pod) == self.workload

    def placed(self, posed: Posed) -> Placed:
        (demand,) = posed.demands
        queue = Queue(posed, partial(world_of, posed.resolved.snapshot, self.scheduler, assumed=self.assumed))
        (outcome,), _ = queue.placed(posed.manner.ways(len(posed.cluster))[0])
        self.assumed.update(dict.fromkeys((*posed.resolved.lacking, *posed.cluster.assumed)))
        nodes = (*demand.present.values(), *(choice.node for choice in outcome.choices))
        landed = partial(by_domain, posed.cluster, nodes)
        if (played := demand.change.played) is not None:
            count = self.replicas - played.report.pending - played.report.not_created
            return Placed(count, outcome, tuple(victim.pod for victim in played.preempted), landed)
        count = len(demand.present) - len(outcome.lost) + len(outcome.choices)
        return Placed(count, outcome, tuple(NamespacedName.of(victim.pod) for _, victim in outcome.preempted), landed)

    def awaited(self, demand: Demand, version: KubeVersion) -> AllFreed:
        """The goal where a rollout waits: its new pods, as they are; what they are to replace may run on."""
        world, keys = self.worlds.unchanged.world, set(map(key_of, demand.growth.waiting))
        kinds = AlikePods.kinds(waiting for waiting in world.waiting if key_of(waiting.pod) in keys)
        return AllFreed(self.worlds, kinds, pod_reviser(self._snapshot, version))

    def spread(self, demand: Demand, placed: Placed) -> Spreading | None:
        """The first constraint with which no domain holds most of them, while all find a node."""
        for constraint in lacking(placed.landed, demand.pod.spec.topology_spread_constraints):
            change, key = spreading(constraint), constraint.topology_key
            revised = msgspec.structs.replace(self.question, settings=(*self.question.settings, *change.settings))
            try:
                tried = self.placed(pose(revised, self.snapshot, self.scheduler))
            except (KubespreadError, SchedulingError):
                continue
            if tried.count >= self.replicas and not is_gathered(after := tried.landed(key)):
                before = placed.landed(key)
                return Spreading(change, key, max(before, key=before.__getitem__), max(before.values()), after)
        return None

    @cached_property
    def _snapshot(self) -> Snapshot:
        """The cluster after the question's own edits."""
        return edited(self.snapshot, self.scheduler, self.question.namespace, preempts=self.question.preemption)[0]


def judge_replicas(resolved: Resolved, replicas: Replicas) -> Judged:
    """About all ``replicas``, which count those that run already. Raises UsageError for a DaemonSet."""
    if resolved.candidates[0].is_daemon:
        raise UsageError("a DaemonSet has no replicas: ask about one of its pods, without --replicas")
    posed = pose(replicas.question, replicas.snapshot, replicas.scheduler)
    (demand,) = posed.demands
    as_it_is = replicas.placed(posed)
    placed, outcome, replicas.victims = as_it_is.count, as_it_is.outcome, as_it_is.victims
    goal: Goal = replicas
    wanted, started = replicas.replicas, placed or demand.change.played is not None
    if demand.growth.outdated:
        goal = awaited = replicas.awaited(demand, posed.resolved.version)
        wanted, placed, started = len(awaited), len(outcome.choices), bool(outcome.choices)
    judged = partial(
        _judged,
        demand.pod,
        posed.cluster,
        demand.profile,
        goal,
        workload=demand.workload,
        replicas=wanted,
        placed=placed,
        notes=demand.notes,
        admission=tuple(demand.candidate.admission),
    )
    if placed >= wanted:
        return judged(spread=replicas.spread(demand, as_it_is), victims=replicas.victims)
    evaluation = outcome.unplaced
    if evaluation is None:
        # Where nothing else tells what could be changed, one more replica does.
        with suppress(SchedulingError):
            evaluation = evaluate(framework(demand.profile), posed.cluster, demand.pod)
    message = outcome.stopped or demand.growth.created.refusal
    if evaluation is None or not demand.growth.further:
        return judged(message=message)
    stuck = Stuck(
        evaluation,
        demand.profile.version,
        wanted - placed,
        placed,
        None if started else wanted,
        replicas.snapshot.nodes,
    )
    return judged(stuck, message=message)


def _most_running(cluster: Cluster, demand: Demand) -> int:
    """An upper bound on the replicas with a node, whatever else keeps them off: those running, and as many more as cpu,
    memory and the number of pods leave room for.
    """
    if demand.change.played is not None or NodeResourcesFit.name not in demand.profile.filters:
        return sys.maxsize
    requests = scheduler_amounts(pod_requests(demand.pod))
    room = free(cluster, PODS)
    for resource in ("cpu", "memory"):
        if requested := requests.get(resource, 0):
            room = np.minimum(room, free(cluster, resource) // requested)
    return len(demand.present) + int(room.sum())


_ANOTHER_TEMPLATE = "its workload's template has no such field by now: the pod is of another revision"
_IMMUTABLE = "a pod's own fields cannot be changed: delete the pod and create it anew"


class _Patched(Struct, frozen=True):
    """The object whose fields are set: its plain data and its source."""

    data: Mapping[str, Any]
    row: Kind
    reference: str = ""
    """KIND/NAME and namespace for kubectl, of what is in the cluster."""
    manifest: Manifest | None = None
    item: KubernetesObject | None = None


def with_patches(
    advice: Advice, changes: Sequence[Change], resolved: Resolved, settings: Sequence[str], name: str | None
) -> Advice:
    """The advice, each suggestion with the patch of its change. ``settings`` were made already, and belong to each."""
    patched = _patched(resolved, name)
    enough = tuple(
        _with_patch(suggestion, change, patched, settings, resolved.snapshot)
        for suggestion, change in zip(advice.enough, changes, strict=True)
    )
    return msgspec.structs.replace(advice, enough=enough)


def _gathered(
    spread: Spreading, replicas: int, resolved: Resolved, settings: Sequence[str], name: str | None
) -> Gathered:
    change = spread.change
    suggestion = Suggestion(
        change=change.said,
        family=change.family,
        options=options(change),
        nodes=None,
        placed=replicas,
        brief=change.brief,
    )
    return Gathered(
        topology_key=spread.key,
        domain=spread.domain,
        replicas=spread.count,
        then=max(spread.after.values()),
        suggestion=_with_patch(suggestion, change, _patched(resolved, name), settings, resolved.snapshot),
    )


def _with_patch(
    suggestion: Suggestion, change: Change, patched: _Patched | None, settings: Sequence[str], snapshot: Snapshot
) -> Suggestion:
    made = [] if change.family == WAIT else list(commands(change, snapshot))
    notes = suggestion.notes
    changed: list[Operation] = []
    diff = None
    if change.settings and patched is not None:
        try:
            changed = operations(patched.data, patched.row, (*settings, *change.settings))
        except UsageError:
            # During a rollout, a pod of an old revision has fields that the workload's template no longer has.
            notes = (*notes, _ANOTHER_TEMPLATE)
        if patched.reference and not _can_be_set(patched.row, changed):
            changed, notes = [], (*notes, _IMMUTABLE)
    if changed and patched is not None:
        if patched.manifest is not None and patched.item is not None and patched.manifest.text is not None:
            diff = text_diff(patched.manifest.file, patched.manifest.text, patched.item, changed)
        if patched.reference:
            made.insert(0, patch_command(patched.reference, changed))
    return msgspec.structs.replace(
        suggestion, patch=tuple(map(_reported, changed)), commands=tuple(made), diff=diff, notes=notes
    )


def _can_be_set(row: Kind, changed: Sequence[Operation]) -> bool:
    """Whether the API server allows the change: in a pod, only added tolerations."""
    return row.cls is not Pod or all(operation.path[1] == "tolerations" for operation in changed)


def _reported(operation: Operation) -> PatchOperation:
    # ``add`` also replaces an existing field.
    op = "remove" if operation.removes else "add"
    return PatchOperation(op=op, path=operation.pointer, value=operation.value)


def _patched(resolved: Resolved, name: str | None) -> _Patched | None:
    """None where the source is no longer in the cluster."""
    source, snapshot = resolved.source, resolved.snapshot
    if isinstance(source, Manifest):
        item = source.chosen or choose(source, name, snapshot.origin.namespace or DEFAULT_NAMESPACE)
        return _Patched(item.data, pod_creator(item.api_version, item.kind) or UNKNOWN, manifest=source, item=item)
    namespace = source.namespace or resolved.candidates[0].pod.metadata.namespace
    obj, row = named(source.kind, namespace, source.name, snapshot), source.kind
    if obj is None:
        return None
    while (above := _controller(obj, snapshot)) is not None:
        row, obj = above
    return _Patched(msgspec.to_builtins(obj), row, reference(row, obj))


def _controller(obj: ApiObject, snapshot: Snapshot) -> tuple[Kind, ApiObject] | None:
    owner = controller_of(obj)
    row = pod_creator(owner.api_version, owner.kind) if owner is not None else None
    if owner is None or row is None or not row.is_kept:
        return None
    controller = named(row, obj.metadata.namespace, owner.name, snapshot)
    return None if controller is None else (row, controller)


def answer(question: Advise, scene: Scene) -> AdviseReport:
    """For one pod, or for all replicas of its workload."""
    scheduler, preempts = scene.scheduler, question.preemption
    pods = [read_once(pod, question.template_path) for pod in question.pods]
    resolved = resolve(
        scene.snapshot, pods, scheduler, question.choosing, settings=question.settings, preempts=preempts
    )
    candidate, replicas = resolved.candidates[0], question.replicas
    if replicas is None and candidate.workload is not None and not candidate.is_daemon:
        replicas = candidate.replicas
    if replicas is None:
        judged = judge_pod(resolved, scheduler, scene.snapshot.nodes, preempts=preempts)
    else:
        placing = Simulate(
            pods=tuple(pods),
            replicas=question.replicas,
            named=question.named,
            namespace=question.namespace,
            recursive=question.recursive,
            template_path=question.template_path,
            settings=question.settings,
            preemption=preempts,
            deals=1,
        )
        assumed = resolved.cluster.assumed
        judged = judge_replicas(
            resolved, Replicas(placing, replicas, scene.snapshot, scheduler, assumed, candidate.workload)
        )
    report, stuck, advised = judged.report, judged.stuck, None
    if stuck is not None:
        advised = with_patches(*advice(stuck, FAMILIES, judged.goal), resolved, question.settings, question.named)
    if judged.spread is not None:
        gathered = _gathered(judged.spread, report.replicas or 0, resolved, question.settings, question.named)
        report = report.revised(gathered=gathered)
    # After the search: what each part assumes of the cluster is a gap, in this order.
    unknown = judged.not_modelled()
    if stuck is not None:
        states, feasible = stuck.evaluation.states, stuck.evaluation.feasible
        constraints, conclusion = tuple(constraint_reports(states, feasible)), bars(stuck.evaluation)
        report = report.revised(constraints=constraints, conclusion=conclusion, advice=advised)
        unknown = (*unknown, *Advise.never_modelled)
    return report.revised(cluster=scene.source, not_modelled=unknown, gaps=resolved.gaps_of(candidate))
