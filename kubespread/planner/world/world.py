"""A cluster in which things happen: nodes change, pods go, controllers make others, kube-scheduler places them.

What happens follows one order: nodes first, then the pods that go, then controllers by namespace, kind and name, then
the scheduler's queue, whose pods become ready at once; and again until nothing changes. Timers and rate limits are
named in reports, not waited for.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count

from kubespread.controllers.scales import ClusterScales, Scale
from kubespread.kube.api.cluster_objects import FIELDS, ClusterObjects
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.api.meta import ApiObject, OwnerReference
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active
from kubespread.kube.timestamps import format_utc
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.planner.living import Applicant, LivingCluster
from kubespread.planner.world import pods as states
from kubespread.planner.world.budgets import Budgets, KnownScales
from kubespread.planner.world.controlling import CONTROLLERS, makes_others
from kubespread.planner.world.deployments import Rollout
from kubespread.planner.world.happenings import LOST, PREEMPTED, Gone, Happenings
from kubespread.planner.world.owners import Adopters, Making, Owner, Workloads, in_order
from kubespread.planner.world.pod_book import PodBook
from kubespread.planner.world.stateful_sets import StatefulSetRollout
from kubespread.planner.world.waiting import Queue, SchedulerOf, Waiting
from kubespread.scheduler.cluster.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.placing import Choice
from kubespread.snapshot.edits.nodes import NodeChange

BETWEEN_STEPS = datetime.timedelta(minutes=10)
"""How much time passes from one thing that is changed to the next: controllers compare the ages of pods."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a world is told from outside."""

    scheduler_of: SchedulerOf
    making: Making
    time: datetime.datetime
    """When what happens here begins."""
    preempts: bool = True
    stuck: frozenset[WorkloadName] = frozenset()
    """Workloads whose new pods never become ready."""


_ABOVE = frozenset({"Deployment"})
BELOW = frozenset(CONTROLLERS) - _ABOVE
"""The kinds that make pods and delete them themselves."""


class World:
    """One cluster through time."""

    def __init__(
        self, nodes: Sequence[Node], pods: Sequence[Pod], objects: ClusterObjects, surroundings: Surroundings
    ) -> None:
        self.surroundings = surroundings
        self.time = surroundings.time
        self.readiness_unknown = sum(not states.readiness_known(pod) for pod in pods)
        """How many pods do not say whether they are ready, and are taken to be."""
        if self.readiness_unknown:
            pods = [pod if states.readiness_known(pod) else states.taken_to_be_ready(pod) for pod in pods]
        self.workloads = Workloads(objects)
        self.living = LivingCluster(Cluster.of(nodes, pods, objects))
        self.book = PodBook(pods, Adopters(objects))
        self.queue = Queue(surroundings.scheduler_of, preempts=surroundings.preempts)
        self.owners: dict[WorkloadName, Owner] = {}
        self.dirty: dict[WorkloadName, None] = {}
        """What has to look after its pods."""
        self.watchers: dict[WorkloadName, WorkloadName] = {}
        """The Deployments that are being rolled out, by their ReplicaSets."""
        self.rollouts: dict[WorkloadName, Rollout] = {}
        self.stateful_sets: dict[WorkloadName, StatefulSetRollout] = {}
        self._budgets: Budgets | None = None
        self._below: dict[WorkloadName, list[WorkloadName]] = {}
        self._below_when = 0
        """How many owners there were when that was worked out; owners only come."""
        self.happenings = Happenings()
        for pod in self.book:
            if not pod.spec.node_name and is_active(pod):
                self.queue.add(pod, pod)

    def fork(self) -> World:
        """The same cluster, to go on from in another way; nothing has happened in it yet."""
        other = object.__new__(World)
        other.surroundings, other.time, other.readiness_unknown = self.surroundings, self.time, self.readiness_unknown
        other.workloads = self.workloads
        other.living = LivingCluster(self.cluster)
        other.book, other.queue = self.book.fork(), self.queue.fork()
        other.owners = {name: owner.fork() for name, owner in self.owners.items()}
        other.dirty, other.watchers = dict(self.dirty), dict(self.watchers)
        other.rollouts = {name: rollout.fork() for name, rollout in self.rollouts.items()}
        other.stateful_sets = {name: rollout.fork() for name, rollout in self.stateful_sets.items()}
        other.happenings, other._budgets = Happenings(), None
        other._below, other._below_when = self._below, self._below_when
        return other

    @property
    def cluster(self) -> Cluster:
        """Its columns, as it is now."""
        return self.living.cluster

    @property
    def budgets(self) -> Budgets:
        """The disruption budgets, kept up with the pods from the first time somebody asks."""
        if self._budgets is None:
            objects = self.workloads.objects
            scales = KnownScales(ClusterScales(objects), self._scale_of_pods)
            self._budgets = Budgets(objects.pod_disruption_budgets, scales, self.book)
        return self._budgets

    def _scale_of_pods(self, controller: OwnerReference, namespace: str) -> Scale | None:
        """Of a controller that the cluster's source does not have: as many replicas as it runs."""
        kind = next((row for row in POD_CREATORS.values() if row.kind == controller.kind), None)
        if kind is None or self.workloads.objects.knows(kind.cls):
            return None
        name = WorkloadName(controller.kind, namespace, controller.name)
        return Scale(name, self.owner(name).replicas)

    @property
    def timestamp(self) -> str:
        """Now, RFC 3339."""
        return format_utc(self.time)

    def next_step(self) -> Happenings:
        """Time passes; what happened since the last step began."""
        happened, self.happenings = self.happenings, Happenings()
        self.time += BETWEEN_STEPS
        return happened

    def owner(self, name: WorkloadName) -> Owner:
        """What is known of a controller; of one that is not in the cluster's objects it is what its pods tell."""
        known = self.owners.get(name)
        if known is None:
            active = [pod for pod in self.book.of(name) if is_active(pod)]
            replicas = self.workloads.replicas(name)
            template = states.as_template(active[0]) if active else None
            known = self.owners[name] = Owner(name, len(active) if replicas is None else replicas, template)
        return known

    def owners_below(self, workload: WorkloadName) -> list[WorkloadName]:
        """What makes the workload's pods: the ReplicaSets of a Deployment, everything else itself."""
        if workload.kind != "Deployment":
            return [workload]
        owners = self.book.owners
        if len(owners) != self._below_when:
            self._below, self._below_when = {}, len(owners)
            for name in sorted(owners, key=in_order):
                self._below.setdefault(self.workloads.above(name, self.book.of(name)), []).append(name)
        return self._below.get(workload, [])

    def change_nodes(self, change: NodeChange) -> None:
        """Nodes come, go or are other than they were; the pods of those that go are gone with them."""
        cluster = self.cluster
        position_of = cluster.nodes.index
        for name in change.removed:
            self.remove(self.book.on(name), LOST)
        self._use(
            self.cluster.after(
                Change(
                    replaced={position_of[name]: node for name, node in change.replaced.items()},
                    added=change.added,
                    removed=frozenset(position_of[name] for name in change.removed),
                )
            )
        )

    def add_objects(self, objects: Iterable[ApiObject]) -> None:
        """Objects besides pods and nodes came, or are other than they were."""
        known = self.workloads.objects
        fields: dict[str, tuple[ApiObject, ...]] = {}
        for obj in objects:
            field = FIELDS[type(obj)]
            kept = (
                each
                for each in fields.get(field, getattr(known, field))
                if (each.metadata.namespace, each.metadata.name) != (obj.metadata.namespace, obj.metadata.name)
            )
            fields[field] = (*kept, obj)
        if fields:
            changed: ClusterObjects = replace(known, **fields)  # type: ignore[arg-type]  # each field holds its own kind
            self.workloads, self._budgets = Workloads(changed), None
            self._use(self.cluster.with_objects(changed))

    def _use(self, cluster: Cluster) -> None:
        self.living = LivingCluster(cluster)
        self.queue.start_anew()

    def create(self, pod: Pod, template: Pod) -> None:
        """A new pod waits for a node."""
        self.book.add(pod)
        self._note_changed(pod)
        self.queue.add(pod, template)

    def remove(self, pods: Iterable[Pod], why: str) -> None:
        """Pods are gone from the API; those that control them look after what is left."""
        gone: list[tuple[Pod, int]] = []
        for pod in pods:
            self._note_gone(pod, why)
            self.book.remove(pod)
            if self._budgets is not None:
                self._budgets.removed(pod)
            self.queue.remove(pod)
            position = self._position(pod)
            if position is not None:
                gone.append((pod, position))
        if gone:
            self.living.change(gone=gone)

    def terminate(self, pods: Iterable[Pod], why: str) -> None:
        """Pods are deleted on nodes whose kubelet does not answer: they stay, and keep their room."""
        going = [(pod, states.terminating(pod, self.timestamp)) for pod in pods]
        for pod, _ in going:
            self._note_gone(pod, why)
        self.change_pods(going)

    def change_pods(self, changes: Iterable[tuple[Pod, Pod]]) -> None:
        """Pods are in another state than they were, on the nodes they were on."""
        come, gone = list[tuple[Pod, int]](), list[tuple[Pod, int]]()
        for old, new in changes:
            self.book.replace(old, new)
            self._note_changed(new)
            position = self._position(old)
            if position is not None:
                gone.append((old, position))
                come.append((new, position))
            self._touch(self.book.owner_of(new))
        if gone:
            self.living.change(come, gone)

    def _note_changed(self, pod: Pod) -> None:
        if self._budgets is not None:
            self._budgets.changed(pod)

    def _note_gone(self, pod: Pod, why: str) -> None:
        owner = self.book.owner_of(pod)
        is_replaced = owner is not None and makes_others(owner.kind)
        if is_active(pod):
            self.happenings.gone.append(Gone(pod, why, owner if is_replaced else None))
        if owner is not None and is_replaced:
            known = self.owner(owner)
            known.template = known.template or states.as_template(pod)
            if is_active(pod):
                known.gone.append(pod)
            self._touch(owner)

    def _touch(self, owner: WorkloadName | None) -> None:
        """Something is other than it was with a pod of ``owner``."""
        if owner is not None and makes_others(owner.kind):
            self.dirty[owner] = None
            if (watcher := self.watchers.get(owner)) is not None:
                self.dirty[watcher] = None

    def _position(self, pod: Pod) -> int | None:
        """Of its node in the cluster's columns, None for a pod that is not there."""
        return None if pod.status.phase in ENDED_PHASES else self.living.nodes.index.get(pod.spec.node_name)

    def settle(self) -> None:
        """Let controllers and the scheduler work until nothing changes any more.

        A Deployment is looked at again once its ReplicaSets have done what it wanted last.
        """
        while self.reconcile(BELOW) or self.schedule() or self.reconcile(_ABOVE):
            pass

    def reconcile(self, kinds: frozenset[str]) -> bool:
        """One pass over every object of these kinds that has something to look after; whether any did anything."""
        dirty = sorted((each for each in self.dirty if each.kind in kinds), key=in_order)
        for name in dirty:
            del self.dirty[name]
        changed = [CONTROLLERS[name.kind](self, name) for name in dirty]
        return any(changed)

    def schedule(self) -> bool:
        """Place the pods that wait, as long as any finds a node; whether any did."""
        placed = 0
        waiting = self.queue.in_order()
        while waiting:
            left = [each for each in waiting if not self._place(each)]
            if len(left) == len(waiting):
                break
            placed += len(waiting) - len(left)
            waiting = left
        return placed > 0

    def _place(self, waiting: Waiting) -> bool:
        found = self.queue.choose(waiting, self.living)
        if found is None and (freed := self._preempted_for(waiting)) is not None:
            found = freed
        if found is None:
            return False
        applicant, choice = found
        self._bind(waiting, applicant, choice)
        return True

    def _preempted_for(self, waiting: Waiting) -> tuple[Applicant, Choice] | None:
        candidate = self.queue.victims(waiting, self.living, lambda: self.budgets.current(self.time))
        if candidate is None:
            return None
        self.remove(candidate.victims, PREEMPTED)
        return self.queue.applicant_on(waiting, self.living, self.cluster.nodes.index[candidate.node])

    def _bind(self, waiting: Waiting, applicant: Applicant, choice: Choice) -> None:
        pod = waiting.pod
        owner = self.book.owner_of(pod)
        ready = owner is None or self.workloads.above(owner, [pod]) not in self.surroundings.stuck
        node = self.living.nodes.names[choice.node]
        placed = states.on_node(pod, node, states.running_since(self.timestamp, ready=ready))
        applicant.take(choice, placed)
        self.book.replace(pod, placed)
        self._note_changed(placed)
        self.queue.remove(pod)
        self.happenings.placed.append(placed)
        self.happenings.choices.append(choice)
        self._touch(owner)

    def free_name(self, owner: Owner) -> str:
        """A name for another pod that nobody has yet."""
        for number in count(owner.number + 1):
            name = f"{owner.name.name}-{number}"
            if (owner.name.namespace, name) not in self.book:
                owner.number = number
                return name
        raise AssertionError  # numbers do not end

    @property
    def waiting(self) -> list[Waiting]:
        """The pods without a node, in the order they are tried."""
        return list(self.queue.waiting.values())

    def message(self, waiting: Waiting) -> str:
        """Why a pod has no node."""
        return self.queue.message(waiting, self.living)
