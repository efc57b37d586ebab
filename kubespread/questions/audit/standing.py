"""Standing of the workloads of a world: their pods by revision, the template of the next pod, and missing pods.

Pods without a controller that look alike are one workload. What happens to pods that wait and to rollouts under way if
nobody intervenes is played once, for all workloads.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct, field

from kubespread.controllers.deployment import TEMPLATE_HASH, new_replica_set, replicas_of, revision
from kubespread.controllers.statefulset import REVISION_LABEL, ordinal_of
from kubespread.errors import KubespreadError
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.workloads import Deployment, ReplicaSet
from kubespread.kube.owners import WorkloadName, is_active, is_ready, is_terminating
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.questions.audit import AuditFinding, Level, RolloutState, RolloutUnderWay
from kubespread.reports.findings import Cause
from kubespread.reports.parts import PreemptedPod
from kubespread.reports.reason_words import reasons_in
from kubespread.wording import short_key, some_of
from kubespread.world.events.controllers import rollout_of_cluster
from kubespread.world.events.world import Unmade, World, unmade
from kubespread.world.reporting.happenings import CountedWorkloads, desired_replicas, preempted_pods, without_daemons
from kubespread.world.store.owners import OngoingRollout, in_order, name_of
from kubespread.world.store.pod_book import as_template, key_of
from kubespread.world.store.waiting import SchedulerOf, Waiting


class WorkloadGroup(Struct):
    """A workload, or bare pods that share their labels."""

    name: WorkloadName
    pods: list[Pod] = field(default_factory=list)
    """Active pods: neither ended nor terminating."""
    terminating: list[Pod] = field(default_factory=list)
    owners: dict[WorkloadName, None] = field(default_factory=dict)
    """Direct owners of the pods."""

    @property
    def waiting(self) -> Sequence[Pod]:
        return [pod for pod in self.pods if not pod.spec.node_name]

    def replicas(self, world: World) -> int:
        """Number of desired pods; of bare pods, as many as there are."""
        return len(self.pods) if self.name.kind == "Pod" else desired_replicas(world, self.name)


def groups(world: World, is_selected: Callable[[WorkloadName], bool]) -> Iterator[WorkloadGroup]:
    """Yield workloads that have, or should have, pods; without DaemonSets and static pods, which every node has."""
    by_key: dict[Hashable, WorkloadGroup] = {}
    workloads = CountedWorkloads(world, without_daemons(is_selected))
    for pod in world.book:
        name = workloads(pod) if pod.status.phase not in ENDED_PHASES else None
        if name is None:
            continue
        owner = world.book.owner_of(pod)
        labels = tuple(sorted(pod.metadata.labels.items()))
        key = name if owner is not None or not labels else (pod.metadata.namespace, labels)
        group = by_key.setdefault(key, WorkloadGroup(name))
        (group.terminating if is_terminating(pod) else group.pods).append(pod)
        if owner is not None:
            group.owners[owner] = None
    for name in _without_pods(world, is_selected):
        by_key.setdefault(name, WorkloadGroup(name))
    yield from (
        group for group in by_key.values() if group.pods or (group.name.kind != "Pod" and group.replicas(world))
    )


def _without_pods(world: World, is_selected: Callable[[WorkloadName], bool]) -> Iterator[WorkloadName]:
    """Workloads that may have no pods although they should."""
    workloads = world.workloads
    by_themselves = (
        name
        for name in (*workloads.replica_sets, *workloads.replication_controllers)
        if workloads.top_owner(name) == name and workloads.replicas(name)
    )
    of_controllers = (*workloads.deployments, *workloads.stateful_sets, *workloads.orphans)
    yield from filter(is_selected, (*of_controllers, *by_themselves))


class PodRevisions(Struct, frozen=True):
    """A workload's pods by revision."""

    template: Pod | None
    """Template of the next pod; None if neither a pod nor an object has it."""
    is_old: Callable[[Pod], bool] = lambda _: False
    """Function that is True for a pod of an old revision, to be deleted."""
    is_rolling: bool = False
    """True if pods of an old revision exist, or should."""


class RevisionsOf:
    """Lookup of the revisions of a world's workloads; the world is not changed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._replica_sets: dict[WorkloadName, list[ReplicaSet]] = {}
        for name, replica_set in world.workloads.replica_sets.items():
            self._replica_sets.setdefault(world.workloads.top_owner(name), []).append(replica_set)

    def __call__(self, group: WorkloadGroup) -> PodRevisions:
        if group.name.kind == "StatefulSet":
            return self._of_stateful_set(group)
        replica_sets = self._replica_sets.get(group.name, [])
        if not replica_sets and len(group.owners) < 2:
            return PodRevisions(self._template(group, next(iter(group.owners), group.name), group.pods))
        owner_of, newest = self._world.book.owner_of, self._newest(group, replica_sets)
        if newest is None:
            former = {*map(name_of, replica_sets), *group.owners}
            return PodRevisions(
                self._template(group, group.name, ()), lambda pod: owner_of(pod) in former, is_rolling=True
            )

        def is_old(pod: Pod) -> bool:
            return owner_of(pod) != newest

        new = [pod for pod in group.pods if not is_old(pod)]
        rolling = any(replicas_of(replica_set) for replica_set in replica_sets if name_of(replica_set) != newest)
        return PodRevisions(self._template(group, newest, new), is_old, rolling or len(new) < len(group.pods))

    def makers(self, name: WorkloadName) -> list[WorkloadName]:
        """Owners of a workload's pods, even if it has none: all ReplicaSets of a Deployment."""
        replica_sets = map(name_of, self._replica_sets.get(name, ()))
        return list(dict.fromkeys((*replica_sets, *self._world.owners_below(name)))) or [name]

    def changing(self) -> Iterator[tuple[WorkloadName, OngoingRollout]]:
        """Yield the Deployments with ReplicaSets that their controller would resize."""
        for name, deployment in self._world.workloads.deployments.items():
            replica_sets = self._replica_sets.get(name, [])
            sizes = [size for replica_set in replica_sets if (size := replicas_of(replica_set))]
            desired = replicas_of(deployment)
            if self._lacks_newest(deployment, replica_sets):
                pod = self._make(name)
                if pod is not None and TEMPLATE_HASH in pod.metadata.labels:
                    template_hash = pod.metadata.labels[TEMPLATE_HASH]
                    yield name, OngoingRollout(deployment, replica_sets, as_template(pod), template_hash)
            elif replica_sets and sizes != ([desired] if desired else []):
                yield name, rollout_of_cluster(self._world, name)

    def _newest(self, group: WorkloadGroup, replica_sets: Sequence[ReplicaSet]) -> WorkloadName | None:
        """The ReplicaSet of the newest revision; None where it does not exist yet."""
        deployment = self._world.workloads.deployments.get(group.name)
        if deployment is not None:
            if self._lacks_newest(deployment, replica_sets):
                return None
            if (new := new_replica_set(deployment, replica_sets)) is not None:
                return name_of(new)
        by_name = {name_of(existing): existing for existing in replica_sets}

        def newness(owner: WorkloadName) -> tuple[object, ...]:
            replica_set = by_name.get(owner)
            number = 0 if replica_set is None else revision(replica_set) or 0
            since = "" if replica_set is None else replica_set.metadata.creation_timestamp
            return number, since, sum(self._world.book.owner_of(pod) == owner for pod in group.pods), in_order(owner)

        return max({**by_name, **group.owners}, key=newness)

    def _lacks_newest(self, deployment: Deployment, replica_sets: Sequence[ReplicaSet]) -> bool:
        """True if the Deployment was changed, and its controller has not made the ReplicaSet of its template yet."""
        templates_known = replica_sets and all(replica_set.spec.template is not None for replica_set in replica_sets)
        return bool(templates_known) and new_replica_set(deployment, replica_sets) is None

    def _of_stateful_set(self, group: WorkloadGroup) -> PodRevisions:
        stateful_set = self._world.workloads.stateful_sets.get(group.name)
        update = stateful_set.status.update_revision if stateful_set is not None else ""
        if stateful_set is None or not update:
            return PodRevisions(self._template(group, group.name, group.pods))
        strategy = stateful_set.spec.update_strategy
        rolling = strategy.rolling_update if strategy is not None else None
        partition = (rolling.partition if rolling is not None else None) or 0

        def is_former(pod: Pod) -> bool:
            return pod.metadata.labels.get(REVISION_LABEL, update) != update

        def is_old(pod: Pod) -> bool:
            # Pods below the partition keep their revision.
            return is_former(pod) and (ordinal_of(pod, group.name.name) or 0) >= partition

        new = [pod for pod in group.pods if not is_former(pod)]
        return PodRevisions(self._template(group, group.name, new), is_old, any(map(is_old, group.pods)))

    def _template(self, group: WorkloadGroup, maker: WorkloadName, pods: Sequence[Pod]) -> Pod | None:
        """The template of one of ``pods``; without any, the template of ``maker``, else of any other pod."""
        new_pod = self._make(maker) if not pods else None
        return next((as_template(pod) for pod in (new_pod, *pods, *group.pods) if pod is not None), None)

    def _make(self, maker: WorkloadName) -> Pod | None:
        if maker.kind not in POD_CREATORS:
            return None
        try:
            return self._world.settings.making(maker, self._world.workloads.objects).pod
        except KubespreadError:
            return None


_MAKING = ("ReplicaSet", "ReplicationController", "StatefulSet")


class Outlook:
    """A world after its controllers and kube-scheduler are done; pods that are not ready now never become ready."""

    def __init__(self, world: World, revisions_of: RevisionsOf) -> None:
        """``world`` is not changed."""
        self._world, self._revisions_of = world, revisions_of

    @cached_property
    def end(self) -> World | None:
        """The world in the end; None if a controller fails."""
        world = self._world.fork()
        workloads = world.workloads
        try:
            for name, rollout in self._revisions_of.changing():
                world.rollouts[name] = rollout
                world.dirty[name] = None
            for name in (*world.book.owners, *workloads.replica_sets, *workloads.stateful_sets):
                if name.kind in _MAKING:
                    world.dirty[name] = None
            world.settle()
        except KubespreadError:
            return None
        return world

    @property
    def made_room(self) -> tuple[PreemptedPod, ...]:
        """Pods preempted by waiting pods, if the outcome was computed; else empty."""
        is_computed = "end" in self.__dict__
        return tuple(preempted_pods(self.end.happenings)) if is_computed and self.end is not None else ()

    def pods(self, group: WorkloadGroup) -> list[Pod]:
        """Active pods of a workload in the end; none if that is unknown."""
        world = self.end
        if world is None:
            return []
        if group.name.kind == "Pod":
            pods = [world.book[key] for pod in group.pods if (key := key_of(pod)) in world.book]
        else:
            pods = [pod for owner in world.owners_below(group.name) for pod in world.book.pods_of(owner)]
        return [pod for pod in pods if is_active(pod)]

    def placeable(self, pods: Iterable[Pod]) -> int | None:
        """Number of the waiting ``pods`` that find a node; None if that is unknown."""
        world = self.end
        if world is None:
            return None
        return sum(key in world.book and bool(world.book[key].spec.node_name) for key in map(key_of, pods))

    def first_message(self, pods: Iterable[Pod]) -> str:
        """Reason the first of ``pods`` still waits in the end; empty if none does."""
        return next(map(self._message, self._waiting(pods)), "")

    def unmade(self, group: WorkloadGroup) -> list[Unmade]:
        """Pods of a workload that are not created in the end, and why."""
        world = self.end
        if world is None:
            return []
        makers = {*self._revisions_of.makers(group.name), *world.owners_below(group.name)}
        return list(unmade(world, makers))

    def _waiting(self, pods: Iterable[Pod]) -> list[Waiting]:
        """Pods among ``pods`` that still wait in the end."""
        waiting = self.end.queue.waiting if self.end is not None else {}
        return [waiting[key] for pod in pods if (key := key_of(pod)) in waiting]

    def _message(self, waiting: Waiting) -> str:
        return "" if self.end is None else self.end.message(waiting)

    def rollout(self, group: WorkloadGroup, revisions: PodRevisions, replicas: int) -> RolloutUnderWay | None:
        """Describe how far a rollout is, and how it ends; None without one."""
        if not revisions.is_rolling:
            return None
        end = self.pods(group)
        new = [pod for pod in end if not revisions.is_old(pod)]
        waiting = self._waiting(new)
        old = sum(map(revisions.is_old, group.pods))
        deployment = self._world.workloads.deployments.get(group.name)
        messages = [*map(self._message, waiting), *(row.message for row in self.unmade(group) if row.is_refused)]
        # The Deployment's own condition about a stalled rollout.
        messages += [
            condition.reason
            for condition in (deployment.status.conditions if deployment is not None else ())
            if (condition.type, condition.status) == ("Progressing", "False")
        ]
        is_done = len(end) == len(new) == replicas and all(map(is_ready, new))
        state: RolloutState = "stuck" if messages else "advancing" if is_done else "waiting"
        if self.end is None or (deployment is None and group.name.kind != "StatefulSet"):
            state = "unknown"
        elif deployment is not None and deployment.spec.paused:
            state = "paused"
        return RolloutUnderWay(
            old=old,
            new=len(group.pods) - old,
            state=state,
            pending=len(waiting),
            message=messages[0] if messages else None,
        )


OnNodes = Sequence[tuple[Pod, int]]
"""Pods, each with its node."""
_MAX_NAMED = 3


class Standing(Struct, frozen=True):
    """A workload's current and desired pods."""

    group: WorkloadGroup
    template: Pod | None
    """Template of the next pod; None if nothing has it."""
    replicas: int
    placed: OnNodes
    going: OnNodes
    """Its terminating pods that are on nodes."""
    awaited: Sequence[Pod]
    """Pods that wait for kube-scheduler alone."""
    placeable: int | None
    """Number of awaited pods that find a node now; None without any, or if a controller fails."""
    rollout: RolloutUnderWay | None

    @classmethod
    def build(cls, world: World, group: WorkloadGroup, revisions: PodRevisions, outlook: Outlook) -> Standing:
        scheduler_of, replicas = world.settings.scheduler_of, group.replicas(world)
        awaited = [pod for pod in group.waiting if not pod.spec.scheduling_gates and scheduler_of(pod) is not None]
        return cls(
            group=group,
            template=revisions.template,
            replicas=replicas,
            placed=_on_nodes(world, group.pods),
            going=_on_nodes(world, group.terminating),
            awaited=awaited,
            placeable=outlook.placeable(awaited) if awaited else None,
            rollout=outlook.rollout(group, revisions, replicas),
        )

    @property
    def unready(self) -> Sequence[Pod]:
        return [pod for pod, _ in self.placed if not is_ready(pod)]

    @property
    def ready(self) -> int:
        return len(self.placed) - len(self.unready)

    @property
    def is_changing(self) -> bool:
        """True if controllers or kube-scheduler have work to do."""
        return bool(self.awaited or self.rollout is not None or self.replicas > len(self.group.pods))


def _on_nodes(world: World, pods: Sequence[Pod]) -> OnNodes:
    index = world.living.nodes.index
    return [(pod, position) for pod in pods if (position := index.get(pod.spec.node_name)) is not None]


def make_finding(
    cause: Cause,
    detail: str,
    key: str | None = None,
    level: Level = "risk",
    select: str | None = None,
    **figures: object,
) -> AuditFinding:
    """Finding without a trial."""
    numbers = {"detail": detail, **({"key": short_key(key)} if key else {}), "select": select, **figures}
    return AuditFinding.make(cause, level, numbers=numbers, topology_key=key, detail=detail, select=select)


def missing(standing: Standing, outlook: Outlook, fitting: str) -> Iterator[AuditFinding]:
    """Yield findings for desired pods that are not ready on nodes; ``fitting`` counts nodes for one more."""
    rollout, group, pods = standing.rollout, standing.group, standing.replicas
    if rollout is not None and rollout.state == "stuck":
        reasons = reasons_in(rollout.message or "").removesuffix(".")
        yield make_finding("stuckRollout", rollout.message or "", new=rollout.pending, reasons=reasons)
    elif standing.awaited:
        placed, pending, placeable = len(standing.placed), len(group.waiting), standing.placeable
        message = outlook.first_message(standing.awaited)
        yield make_finding("pending", message, pods=pods, placed=placed, pending=pending, placeable=placeable)
    if pods > len(group.pods):
        message = next((unmade.message for unmade in outlook.unmade(group)), "")
        yield make_finding("notCreated", message, pods=pods, fitting="" if message else fitting)
    if standing.unready and standing.ready < pods:
        names = some_of([pod.metadata.name for pod in standing.unready], _MAX_NAMED)
        yield make_finding("notReady", names, pods=pods, ready=standing.ready)


def gate_findings(group: WorkloadGroup, template: Pod) -> Iterator[AuditFinding]:
    """Yield a finding if pods, or the next one, wait behind scheduling gates."""
    gates = {gate.name for pod in (*group.waiting, template) for gate in pod.spec.scheduling_gates}
    if gates:
        yield make_finding("gated", ", ".join(sorted(gates)))


def scheduled_by_others(group: WorkloadGroup, template: Pod, scheduler_of: SchedulerOf) -> Iterator[AuditFinding]:
    """Yield a finding if another scheduler places the pods: a risk if some wait, else not judged."""
    awaited = {pod.spec.scheduler_name for pod in group.waiting if scheduler_of(pod) is None}
    names = awaited | ({template.spec.scheduler_name} if scheduler_of(template) is None else set())
    if names:
        level: Level = "risk" if awaited else "unjudged"
        yield make_finding("otherScheduler", ", ".join(sorted(names)), level=level, pending=len(group.waiting))
