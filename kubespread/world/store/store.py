"""Store of a world: nodes, pods, objects and the queue, consistent after every change.

Settings of a world.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Self

from msgspec import Struct, field

from kubespread.controllers.daemonset import should_run
from kubespread.controllers.disruption import PodScale
from kubespread.controllers.outage import Replacement, is_silent, replacement
from kubespread.controllers.persistentvolume import Volumes
from kubespread.controllers.pod_creation import admitted_claims, ephemeral_claims
from kubespread.controllers.registry import last_number
from kubespread.errors import ManifestError
from kubespread.kube.admission.plugins import AdmissionPlugins
from kubespread.kube.api.cluster_objects import (
    ClusterObjects,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
)
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.kinds import OPERATORS, POD_CREATORS, Operator, full_kind, group_of, pod_creator
from kubespread.kube.api.meta import ApiObject, ObjectMeta, OwnerReference
from kubespread.kube.owners import WorkloadName, controller_of, custom_owner, is_active, is_terminating
from kubespread.kube.taint import COMPARISON_GATE
from kubespread.kube.time import format_utc
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Forking
from kubespread.scheduler.placing import Choice
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.store.api_server import ApiServer, Budgets, budget_gaps_of
from kubespread.world.store.chance import Chance
from kubespread.world.store.claims import creation
from kubespread.world.store.happenings import NODE_LOST, PREEMPTED, SCALED_DOWN, UNSELECTED, Departure, Happenings
from kubespread.world.store.owners import (
    Adopters,
    Making,
    OngoingRollout,
    Owner,
    PodCopy,
    StatefulSetRollout,
    Workloads,
    are_namesakes,
    in_order,
    inferred_replicas,
    unknown_replicas,
)
from kubespread.world.store.pod_book import (
    PodBook,
    PodKey,
    as_template,
    assume_ready,
    has_readiness,
    key_of,
    node_of,
    preempt,
    stop,
    terminate,
)
from kubespread.world.store.waiting import LivingCluster, Queue, SchedulerOf, Waiting


class WorldSettings(Struct, frozen=True):
    scheduler_of: SchedulerOf
    making: Making
    time: datetime.datetime
    """Initial time."""
    version: KubeVersion
    """Release of the controllers."""
    preempts: bool = True
    stuck: frozenset[WorkloadName] = frozenset()
    """Workloads, and ReplicaSets of Deployments, with new pods that never become ready."""
    chance: Chance = Chance()
    admission: AdmissionPlugins = AdmissionPlugins(enabled=False)
    """Admission of pods that controllers create."""
    assumed: dict[str, None] = field(default_factory=dict)
    """Shared record of assumptions about the cluster."""
    stops_at_once: bool = False
    """True if deleted pods are gone before their successors are placed, as with a kubelet that runs nothing.

    Otherwise, and for preempted pods, successors are placed while they keep their room.
    """


ABOVE = frozenset({"Deployment"})
OPERATOR = "operator"
"""Stand-in for the kinds of operators that recreate lost pods."""
BELOW = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet", "Job", "DaemonSet", OPERATOR})
"""Kinds that create and delete pods themselves."""
_MODELED = ABOVE | BELOW
BETWEEN_STEPS = datetime.timedelta(minutes=10)
"""Time from one change to the next: controllers compare the ages of pods."""


@cache
def _operator_of(api_version: str, kind: str) -> Operator | None:
    return OPERATORS.get((group_of(api_version), kind))


@cache
def _controller_of(api_version: str, kind: str) -> str:
    """Kind of the controller that handles objects of a kind."""
    if (operator := _operator_of(api_version, kind)) is not None and operator.recreates:
        return operator.acts_as or OPERATOR
    return kind if pod_creator(api_version, kind) is not None else full_kind(api_version, kind)


class Start(Struct, frozen=True):
    """State shared by all worlds of the same objects, never changed by them."""

    pods: Sequence[Pod]
    listed: Mapping[int, Pod]
    """Pods as listed, by the id of the copy that is assumed to be ready."""
    objects: ClusterObjects
    cluster: Cluster
    book: PodBook

    @classmethod
    def build(cls, nodes: Sequence[Node], pods: Sequence[Pod], objects: ClusterObjects) -> Self:
        listed: dict[int, Pod] = {}
        if not all(map(has_readiness, pods)):
            assumed = [pod if has_readiness(pod) else assume_ready(pod) for pod in pods]
            listed = {id(pod): was for pod, was in zip(assumed, pods, strict=True) if pod is not was}
            pods = assumed
        return cls(pods, listed, objects, Cluster.build(nodes, pods, objects), PodBook(pods, Adopters(objects)))


class Store(Forking):
    """One cluster through time: its state, its changes and its happenings."""

    _copied = ("dirty", "watchers", "_top_owners", "_below", "leaving")
    _forked = ("living", "book", "queue", "api_server", "owners", "rollouts", "stateful_sets")

    def __init__(self, start: Start, settings: WorldSettings) -> None:
        self.settings = settings
        self.time = settings.time
        pods, objects = start.pods, start.objects
        self.workloads = Workloads(objects)
        self.living = LivingCluster(start.cluster.fork(settings.assumed))
        self.first_nodes = start.cluster.nodes
        """Nodes from the beginning."""
        self.assumed = settings.assumed
        """Assumptions made so far where the cluster's source does not say."""
        if unready := len(start.listed):
            self.assume([f"pods that do not say whether they are ready are taken to be: {unready}"])
        self.book = start.book.fork(keeps_owners=False)
        self.api_server = ApiServer(settings.admission, settings.version, objects, pods, self.time, self.assume)
        self.queue = Queue(settings.scheduler_of, preempts=settings.preempts)
        self.owners: dict[WorkloadName, Owner] = {}
        self.dirty: dict[WorkloadName, None] = {}
        """Controllers that have to look after their pods."""
        self.watchers: dict[WorkloadName, WorkloadName] = {}
        """The Deployments that are being rolled out, by their ReplicaSets."""
        self.rollouts: dict[WorkloadName, OngoingRollout] = {}
        self.stateful_sets: dict[WorkloadName, StatefulSetRollout] = {}
        self._budgets: Budgets | None = None
        # Top-level workload of each controller: the Deployment or custom controller of a ReplicaSet, any other one
        # itself. A ReplicaSet that is not listed is looked up through its pods, and remembered when they have left.
        self._top_owners: dict[WorkloadName, WorkloadName] = {}
        self._below: dict[WorkloadName, tuple[WorkloadName, ...]] = {}
        self.leaving: dict[PodKey, str] = {}
        """Pods that their kubelets are about to stop, and why."""
        self.happenings = Happenings()
        self.origin: Self | None = None
        """World that this was forked from, if it does not change: owners are looked up there, once for all forks."""
        waiting = (pod for pod in self.book if not pod.spec.node_name and is_active(pod))
        self.queue.add_all(sorted(waiting, key=lambda pod: pod.metadata.creation_timestamp))

    def fork(self) -> Self:
        """Copy that continues separately, without happenings."""
        other = super().fork()
        other.happenings, other._budgets = Happenings(), None
        return other

    @property
    def cluster(self) -> Cluster:
        """Current columns."""
        return self.living.cluster

    @property
    def budgets(self) -> Budgets:
        """Disruption budgets, kept in step with the pods from first use."""
        if self._budgets is None:
            objects = self.workloads.objects
            self.assume(budget_gaps_of(objects))
            self._budgets = Budgets(objects.get(PodDisruptionBudget), self._scale, self.book)
        return self._budgets

    @property
    def objects(self) -> ClusterObjects:
        """Objects other than nodes and pods, including claims bound meanwhile and the usage of quotas."""
        return self.api_server.quotas_in(self.cluster.storage.in_objects(self.workloads.objects))

    def resize(self, name: WorkloadName, replicas: int) -> None:
        """Set the desired pods of a ReplicaSet, ReplicationController or StatefulSet."""
        self.owner(name).replicas = replicas
        if (resized := self.workloads.resize(name, replicas)) is not None:
            self.add_objects([resized])

    def _scale(self, controller: OwnerReference, namespace: str) -> PodScale | None:
        """Scale of a controller that the cluster's source does not have: as many replicas as it runs."""
        if (scale := self.workloads.scales(controller, namespace)) is not None:
            return scale
        kind = next((row for row in POD_CREATORS.values() if row.kind == controller.kind), None)
        if kind is None or self.workloads.objects.knows(kind.cls):
            return None
        name = WorkloadName(controller.kind, namespace, controller.name)
        return PodScale(name, self.owner(name).replicas)

    @property
    def timestamp(self) -> str:
        """Current time, RFC 3339."""
        return format_utc(self.time)

    def next_step(self) -> Happenings:
        """Happenings since the last step; begins another one at a later time."""
        happened, self.happenings = self.happenings, Happenings()
        self.wait()
        return happened

    def wait(self) -> None:
        """Let time pass between two changes."""
        self.time += BETWEEN_STEPS

    def owner(self, name: WorkloadName) -> Owner:
        """Owner as known; one that is not in the cluster is inferred from its pods."""
        record = self.owners.get(name)
        if record is None and self.origin is not None and name in self.origin.book.owners:
            record = self.owners[name] = self.origin.owner(name).fork()
        if record is None:
            pods = self.book.pods_of(name)
            active = [pod for pod in pods if is_active(pod)]
            replicas = self.workloads.replicas(name)
            if self.controller_kind(name) == OPERATOR:
                # Terminating pods are recreated, too.
                replicas = sum(pod.status.phase not in ENDED_PHASES for pod in pods)
            elif replicas is None:
                replicas = inferred_replicas(name, pods)
                self.assume(unknown_replicas(name, self.workloads.objects))
            template = as_template(active[0]) if active else None
            record = self.owners[name] = Owner(name, replicas, template, number=last_number(name, pods))
            if pods:
                # Its top-level workload is inferred from its pods, too.
                self._note_above(name, pods)
        return record

    def assume(self, assumptions: Iterable[str]) -> None:
        """Record assumptions here, in the world this one was forked from, and in its forks."""
        self.assumed.update(dict.fromkeys(assumptions))

    def owners_below(self, workload: WorkloadName) -> list[WorkloadName]:
        """Direct owners of the workload's pods, by name: ReplicaSets of a Deployment that have, or had, pods; else the
        workload itself.
        """
        if len(self._top_owners) != len(self.book.owners):
            self.note_owners()
        owners = self._below.get(workload)
        if owners is None:
            return [] if workload.kind == "Deployment" else [workload]
        return sorted(owners, key=in_order)

    def pods_of(self, workload: WorkloadName) -> list[Pod]:
        """Pods of a workload; a bare pod is its own.

        Owners named by pods may be Pods too, and need not be in the cluster.
        """
        itself = (workload.namespace, workload.name)
        is_bare = workload.kind == "Pod" and itself in self.book and self.book.owner_of(self.book[itself]) is None
        owned = [pod for owner in self.owners_below(workload) for pod in self.book.pods_of(owner)]
        return [self.book[itself], *owned] if is_bare else owned

    def note_owners(self) -> None:
        """Record the owners of all pods while they exist: nothing else shows owners that are not in the cluster."""
        for name in self.book.owners:
            self._note_above(name, self.book.pods_of(name))

    def _note_above(self, name: WorkloadName, pods: Sequence[Pod]) -> None:
        """Record the top-level workload of ``name``, the first time."""
        if name not in self._top_owners:
            above = self._top_owners[name] = self.workloads.top_owner(name, pods)
            self._below[above] = (*self._below.get(above, ()), name)

    def top_owner(self, owner: WorkloadName) -> WorkloadName:
        """Top-level workload of the pods that ``owner`` creates: the Deployment of a ReplicaSet."""
        above = self._top_owners.get(owner)
        return self.workloads.top_owner(owner, self.book.pods_of(owner)) if above is None else above

    def change_nodes(self, change: NodeChange) -> None:
        """Add, change and remove nodes, with the pods on removed ones."""
        cluster = self.cluster
        position_of = cluster.nodes.index
        self.remove([pod for name in change.removed for pod in self.book.pods_on(name)], NODE_LOST)
        replaced = {position_of[name]: node for name, node in change.replaced.items()}
        removed = frozenset(position_of[name] for name in change.removed)
        self.living.use(
            self.cluster.apply(ClusterChange(replaced_nodes=replaced, added_nodes=change.added, removed_nodes=removed))
        )

    def add_objects(self, objects: Iterable[ApiObject]) -> None:
        """Add or replace objects other than pods and nodes."""
        added = list(objects)
        if added:
            self.use_objects(with_objects(self.objects, added), added)

    def use_objects(self, objects: ClusterObjects, changed: Iterable[ApiObject]) -> None:
        """Replace all objects other than pods and nodes; ``changed`` are the new or different ones."""
        self.api_server.use_objects(objects, changed)
        self.workloads, self._budgets = Workloads(objects), None
        self.living.use(self.cluster.with_objects(objects))

    def add_missing(self, companions: Iterable[ApiObject]) -> None:
        """Add objects that come with a created pod; existing ones stay unchanged."""
        # Claims are created with each pod.
        others = (obj for obj in companions if not isinstance(obj, PersistentVolumeClaim))
        self.add_objects(self.workloads.missing(others))

    def make(self, name: WorkloadName, pod_name: str) -> PodCopy | None:
        """Make a pod of the workload's template; None if the API server refuses every such pod, which is recorded for
        the first, ``pod_name``.
        """
        try:
            return self.settings.making(name, self.workloads.objects)
        except ManifestError as error:
            pod = Pod(metadata=ObjectMeta(name=pod_name, namespace=name.namespace))
            fault = error.faults[0]
            field = fault.field.removeprefix(f"{POD_CREATORS[name.kind].template_path}.")
            message = f'Pod "{pod_name}" is invalid: {field}: {fault.message}' if field else fault.message
            self.api_server.refuse(pod, pod, name, message)
            return None

    def create(self, pod: Pod, template: Pod) -> bool:
        """Create a pod, with claims of its ephemeral volumes, that waits for a node; True if the
        API server accepts it.
        """
        owner = self.book.owner_of(pod) or WorkloadName("Pod", *key_of(pod))
        if key_of(pod) in self.book:
            # It names another owner, which may not be there, so no controller of this name adopts or deletes it.
            self.api_server.refuse(pod, template, owner, f'pods "{pod.metadata.name}" already exists')
            return False
        admitted = self.api_server.admit(pod, template, owner)
        if admitted is None:
            return False
        pod, template = admitted
        if ephemeral := ephemeral_claims(pod):
            self.create_claims(ephemeral)
            template = pod
        self.book.add(pod)
        self._note_changed(pod)
        self.queue.add(pod, template)
        self.happenings.created.append(pod)
        return True

    def remove(self, pods: Iterable[Pod], why: str) -> None:
        """Remove pods from the API; their owners are reconciled."""
        removed_pods: list[tuple[Pod, int]] = []
        for pod in pods:
            self._note_departure(pod, why)
            self.book.remove(pod)
            self.api_server.note_removal(pod)
            if self._budgets is not None:
                self._budgets.note_removal(pod)
            self.queue.remove(pod)
            self.leaving.pop(key_of(pod), None)
            self._forget_nomination(pod)
            position = self._position(pod)
            if position is not None:
                removed_pods.append((pod, position))
        if removed_pods:
            self.living.change(removed_pods=removed_pods)

    def delete(self, pods: Iterable[Pod], why: str) -> None:
        """Delete pods.

        Pods with a grace period terminate, and keep their room until `end_terminating`, or for good on a silent node.
        Pods with finalizers stay, without room.
        """
        at_once, staying, ending = self.settings.stops_at_once and why != PREEMPTED, list[Pod](), list[Pod]()
        for pod in pods:
            position = self._position(pod)
            if position is None or pod.spec.termination_grace_period_seconds == 0:
                ending.append(pod)
            elif is_silent(self.living.nodes.objects[position]):
                staying += filter(is_active, [pod])
            elif at_once:
                ending.append(pod)
            else:
                self.leaving[key_of(pod)] = why
                staying += filter(is_active, [pod])
        self._terminate(staying, why, preempt if why == PREEMPTED else terminate)
        self._end(ending, why)

    def end_terminating(self) -> bool:
        """End all terminating pods that their kubelets can stop; True if there were any."""
        going = dict(self.leaving)
        for why in dict.fromkeys(going.values()):
            self._end([self.book[key] for key, reason in going.items() if reason == why], why)
        return bool(going)

    def _end(self, pods: Sequence[Pod], why: str) -> None:
        """Remove deleted pods that have stopped; pods with finalizers stay."""
        if finalizing := [pod for pod in pods if pod.metadata.finalizers]:
            for pod in finalizing:
                self.queue.remove(pod)
                self.leaving.pop(key_of(pod), None)
                self._forget_nomination(pod)
            self._terminate(finalizing, why, stop)
        self.remove([pod for pod in pods if not pod.metadata.finalizers] if finalizing else pods, why)

    def _terminate(self, pods: Iterable[Pod], why: str, state: Callable[[Pod, str], Pod]) -> None:
        """Mark pods as deleted that stay, because of their finalizers or until their kubelets answer."""
        now = self.timestamp
        going = [(pod, state(pod, now)) for pod in pods]
        for pod, _ in going:
            self._note_departure(pod, why, stays=True)
            if key_of(pod) not in self.leaving:
                self.api_server.note_terminating(pod)
        self.change_pods(going)

    def change_pods(self, changes: Iterable[tuple[Pod, Pod]]) -> None:
        """Change the state of pods on their nodes."""
        added_pods, removed_pods = list[tuple[Pod, int]](), list[tuple[Pod, int]]()
        for old, new in changes:
            self.book.replace(old, new)
            self._note_changed(new)
            position = self._position(old)
            if position is not None:
                removed_pods.append((old, position))
                if new.status.phase not in ENDED_PHASES:
                    added_pods.append((new, position))
            # Who looks after pods that terminate knows already.
            if is_active(new):
                self._touch(self.book.owner_of(new))
        if removed_pods:
            self.living.change(added_pods, removed_pods)

    def _note_changed(self, pod: Pod) -> None:
        if self._budgets is not None:
            self._budgets.note_change(pod)

    def _note_departure(self, pod: Pod, why: str, *, stays: bool = False) -> None:
        """Record the departure of a pod; with ``stays`` it terminates first, and its removal is recorded later."""
        owner, lingers = self.book.owner_of(pod), key_of(pod) in self.leaving
        if lingers and not stays and owner is not None and self._ignores_terminating(owner):
            return
        stays_on = stays and (not lingers or bool(pod.metadata.finalizers))
        is_missed = owner is not None and self._misses(pod, owner, why, stays=stays_on)
        if is_active(pod):
            self.happenings.departures.append(Departure(pod, why, owner if is_missed else None))
        if owner is None:
            return
        # An unlisted controller is assumed to want as many pods as it has, so they are counted before one of them goes.
        record = self.owner(owner)
        if not self._touch(owner):
            return
        record.template = record.template or as_template(pod)
        if is_missed and not (stays and self.waits_for_the_end(pod, owner)):
            record.pods_to_recreate.append(pod)

    def _ignores_terminating(self, owner: WorkloadName) -> bool:
        """True if no controller of the pods of ``owner`` counts terminating ones, unlike quotas."""
        is_at_rest = owner not in self.watchers and owner not in self.api_server.refused
        return is_at_rest and self.controller_kind(owner) in ("ReplicaSet", "ReplicationController")

    def _touch(self, owner: WorkloadName | None) -> bool:
        """Mark ``owner`` as dirty after a change of its pods; True if it recreates lost ones."""
        if owner is None or not self.recreates_pods(owner):
            return False
        self.dirty[owner] = None
        if (watcher := self.watchers.get(owner)) is not None:
            self.dirty[watcher] = None
        return True

    def _position(self, pod: Pod) -> int | None:
        """Position of its node in the cluster's columns, None for a pod that is not there."""
        return None if pod.status.phase in ENDED_PHASES else self.living.nodes.index.get(pod.spec.node_name)

    def controller_kind(self, name: WorkloadName) -> str:
        """Kind of the controller that handles an object: its own, or one that works like it."""
        owner = self.owners.get(name)
        if owner is not None and owner.is_foreign:
            return "ReplicaSet"
        return _controller_of(self.book.api_version_of(name), name.kind)

    def operator(self, name: WorkloadName) -> Operator | None:
        """Known operator that controls the pods of ``name``; else None."""
        return _operator_of(self.book.api_version_of(name), name.kind)

    def resolve_name(self, name: WorkloadName) -> WorkloadName:
        """Workload that kubectl calls ``name``, if only pods show its kind; else ``name`` itself."""
        if name.kind in POD_CREATORS:
            return name
        return custom_owner(name, (*self.book, *self.workloads.replica_sets.values())) or name

    def recreates_pods(self, name: WorkloadName) -> bool:
        """True if it recreates lost pods."""
        return self.controller_kind(name) in _MODELED

    def is_known(self, name: WorkloadName) -> bool:
        """True if the fate of its pods is known; a static pod belongs to its kubelet."""
        return self.recreates_pods(name) or name.kind == "Node" or self.operator(name) is not None

    def _misses(self, pod: Pod, owner: WorkloadName, why: str, *, stays: bool) -> bool:
        """True if ``owner`` makes another pod now that ``pod`` goes; ``stays``: now that it is only terminating."""
        if not self.recreates_pods(owner):
            name = f"{owner.kind}/{owner.name}"
            if (operator := self.operator(owner)) is not None:
                self.happenings.note(f"{name}: {operator}", owner=owner)
            elif not self.is_known(owner):
                self.assume([f"{name} is not a controller that is modeled: whether it makes other pods is not known"])
            return False
        if why in (SCALED_DOWN, UNSELECTED) or (owner.kind == "Job" and self.creates_no_pods(owner)):
            return False
        if owner.kind == "DaemonSet" and (why == NODE_LOST or not self.needs_daemon_pod(pod)):
            return False
        if not is_active(pod):
            return not stays and is_terminating(pod) and self.waits_for_the_end(pod, owner)
        return not (stays and self.waits_for_the_end(pod, owner))

    def waits_for_the_end(self, pod: Pod, owner: WorkloadName) -> bool:
        """True if a pod must be gone before its successor is created."""
        operator = self.operator(owner)
        if owner.kind == "StatefulSet" or (operator is not None and operator.keeps_name):
            return True
        workload = self.workloads.jobs.get(owner) or self.workloads.daemon_sets.get(owner)
        return replacement(controller_of(pod), workload) is Replacement.WHEN_GONE

    @property
    def compares(self) -> bool:
        """True if tolerations may compare numbers."""
        return self.settings.version.has(COMPARISON_GATE)

    def needs_daemon_pod(self, pod: Pod) -> bool:
        """True if a DaemonSet would create the pinned ``pod`` for its node now."""
        position = self.living.nodes.index.get(node_of(pod))
        nodes = self.living.nodes.objects
        return position is not None and should_run(as_template(pod), nodes[position], compares=self.compares)

    def creates_no_pods(self, name: WorkloadName) -> bool:
        """True if a Job creates no pods even if some are missing: it has failed or is suspended."""
        job = self.workloads.jobs.get(name)
        return self.owner(name).has_ended or (job is not None and bool(job.spec.suspend))

    def create_claims(self, claims: Iterable[PersistentVolumeClaim]) -> None:
        """Create missing claims of a new pod."""
        admitted = admitted_claims(claims, self.workloads.objects)
        if (created := creation(admitted, self.cluster.storage, self._pick_volume)).claims:
            self.living.change_storage(created)

    def _pick_volume(self, equals: Volumes) -> PersistentVolume:
        if len(equals) > 1:
            self.happenings.by_chance = True
            self.happenings.note("among equal volumes the PersistentVolume controller's choice is arbitrary")
        return self.settings.chance.volume(equals)

    def note_placed(self, pod: Pod, placed: Pod, choice: Choice) -> None:
        """Record that a waiting pod runs on a node, as ``placed``."""
        self.book.replace(pod, placed)
        self._note_changed(placed)
        self.queue.remove(pod)
        self._forget_nomination(pod)
        self.happenings.placed.append(placed)
        self.happenings.choices.append(choice)
        self._touch(self.book.owner_of(placed))

    def nominate(self, waiting: Waiting, node: str) -> None:
        """Reserve room on a node for a waiting pod, against pods that are not more important."""
        self._forget_nomination(waiting.pod)
        self.living.use(self.cluster.nominating((*self.cluster.nominated, self.queue.nominate(waiting, node))))

    def end_nomination(self, waiting: Waiting) -> bool:
        """End the nomination of a waiting pod, which then waits like its copies; True if there was one."""
        if waiting.before is None:
            return False
        self._forget_nomination(waiting.pod)
        self.queue.waiting[key_of(waiting.pod)] = waiting.before
        return True

    def _forget_nomination(self, pod: Pod) -> None:
        """A pod that no longer waits releases the room on its nominated node."""
        if not pod.status.nominated_node_name:
            return
        others = [nominee for nominee in self.cluster.nominated if key_of(nominee) != key_of(pod)]
        if len(others) < len(self.cluster.nominated):
            self.living.use(self.cluster.nominating(others))

    @property
    def waiting(self) -> list[Waiting]:
        """Pods without a node, in the order they are tried."""
        return list(self.queue.waiting.values())

    def message(self, waiting: Waiting) -> str:
        """Reason a pod has no node."""
        return self.queue.message(waiting, self.living)


def with_objects(stored: ClusterObjects, objects: Iterable[ApiObject]) -> ClusterObjects:
    """``stored`` with ``objects`` added, in place of their namesakes."""
    for obj in objects:
        others = (other for other in stored.get(type(obj)) if not are_namesakes(other, obj))
        stored = stored.with_all(type(obj), (*others, obj))
    return stored
