"""Judgment of events in a fork: a baseline, events one after another, and the difference after each.

Names do not show the cause: where one pod of a workload waits and another is evicted, the first may take the place of
the second, whose successor waits under a new name. So pods are counted by workload. Before any event, changes that
are under way in the snapshot continue: rollouts, scalings of StatefulSets and terminating pods.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Self

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.deployment import new_replica_set, replicas_of
from kubespread.controllers.outage import is_silent
from kubespread.controllers.statefulset import REVISION_LABEL, first_ordinal, ordinal_of
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.workloads import ReplicaSet, StatefulSet, UpdateStrategy
from kubespread.kube.owners import WorkloadName, is_active, is_finalizing, is_ready
from kubespread.kube.well_known import HOSTNAME
from kubespread.reports.autoscaling import AutoscalingReport
from kubespread.wording import count_of, some_of
from kubespread.world.events.controllers import rollout_of_cluster, sync_job, with_replicas
from kubespread.world.events.world import Unmade, World, unmade
from kubespread.world.reporting.happenings import GO_WITH_THEIR_NODES, desired_replicas, workload_of
from kubespread.world.store.happenings import DELETED, EVICTED, BlockedPod, Departure, Happenings
from kubespread.world.store.owners import OngoingRollout, in_order, name_of
from kubespread.world.store.waiting import Waiting

_MAX_NAMED = 3
_BY_EDITS = frozenset({EVICTED, DELETED})
NO_DOMAINS: Mapping[str, Collection[str]] = {}


def resume(world: World) -> None:
    """Let terminating pods end, and controllers with unfinished work continue.

    An unready pod is assumed to stay unready, like new pods of the same template, and a note says so.
    """
    stuck = world.settings.stuck | set(_never_ready(world))
    world.settings = replace(world.settings, stuck=stuck)
    world.delete([pod for pod in world.book if pod.metadata.deletion_timestamp is not None], DELETED)
    for name, rollout in _rollouts(world):
        world.rollouts[name] = rollout
        world.dirty[name] = None
        unready = [pod for pod in _pods(world, rollout) if pod.spec.node_name and is_active(pod) and not is_ready(pod)]
        unready_note = f", {count_of(len(unready), 'pod')} of it not ready, and taken to stay so" if unready else ""
        is_paused = rollout.deployment.spec.paused
        going_on = "paused in the snapshot and stays so" if is_paused else "under way in the snapshot and goes on"
        world.happenings.note(f"{name.kind}/{name.name}: its rollout is {going_on}{unready_note}")
    world.dirty.update(dict.fromkeys(_stateful_sets(world)))
    for name in sorted(world.workloads.jobs, key=in_order):
        sync_job(world, name)


def ongoing_rollout_notes(world: World, counts: Callable[[WorkloadName], bool] = lambda _: True) -> tuple[str, ...]:
    """Note on rollouts and scalings of counted workloads that are under way and not continued."""
    names = [*(name for name, _ in _rollouts(world)), *_stateful_sets(world)]
    named = sorted(filter(counts, names), key=in_order)
    return (f"under way in the snapshot, and judged as it stands: {some_of(named, _MAX_NAMED)}",) if named else ()


def _never_ready(world: World) -> Iterator[WorkloadName]:
    """ReplicaSets of Deployments with pods on working nodes, and none of them ready."""
    silent = {"", *(node.metadata.name for node in world.living.nodes.objects if is_silent(node))}
    for name in world.workloads.replica_sets:
        if world.workloads.top_owner(name).kind == "Deployment":
            pods = [pod for pod in world.book.pods_of(name) if is_active(pod) and pod.spec.node_name not in silent]
            if pods and not any(map(is_ready, pods)):
                yield name


def _pods(world: World, rollout: OngoingRollout) -> list[Pod]:
    return [pod for replica_set in rollout.replica_sets for pod in world.book.pods_of(name_of(replica_set))]


def _rollouts(world: World) -> Iterator[tuple[WorkloadName, OngoingRollout]]:
    """Deployments with pods of an older template, or with more or fewer replicas than desired.

    Only Deployments that are known completely count: one of their ReplicaSets has their template. If they are paused,
    which only scales their ReplicaSets, or have no desired replicas, none has to have it.
    """
    below: dict[WorkloadName, list[ReplicaSet]] = {}
    for name, replica_set in world.workloads.replica_sets.items():
        below.setdefault(world.workloads.top_owner(name), []).append(replica_set)
    for name, deployment in world.workloads.deployments.items():
        own = [with_replicas(world, replica_set) for replica_set in below.get(name, ())]
        new = new_replica_set(deployment, own)
        others = [replica_set for replica_set in own if replica_set is not new]
        if new is None:
            if deployment.spec.paused and own:
                yield name, OngoingRollout(deployment, own)
            elif not replicas_of(deployment) and any(map(replicas_of, own)):
                yield name, rollout_of_cluster(world, name)
        elif any(map(replicas_of, others)) or replicas_of(new) != replicas_of(deployment):
            yield name, rollout_of_cluster(world, name)


def _stateful_sets(world: World) -> Iterator[WorkloadName]:
    """Yield StatefulSets with more or fewer pods than desired, or with pods of an older revision."""
    for name, stateful_set in world.workloads.stateful_sets.items():
        pods = [pod for pod in world.book.pods_of(name) if is_active(pod)]
        is_older = any(_is_outdated(stateful_set, pod) for pod in pods)
        if pods and (is_older or len(pods) != world.owner(name).replicas):
            yield name


def _is_outdated(stateful_set: StatefulSet, pod: Pod) -> bool:
    """True if the controller should replace a pod by one of the newer revision."""
    strategy, update = stateful_set.spec.update_strategy or UpdateStrategy(), stateful_set.status.update_revision
    partition = (strategy.rolling_update.partition if strategy.rolling_update is not None else None) or 0
    ordinal = ordinal_of(pod, stateful_set.metadata.name)
    is_reached = ordinal is not None and ordinal - first_ordinal(stateful_set) >= partition
    is_older = bool(update) and pod.metadata.labels.get(REVISION_LABEL, update) != update
    return is_older and is_reached and strategy.type != "OnDelete"


WorkloadFilter = Callable[[WorkloadName], bool]
"""Filter of workloads to count."""
Event = Callable[[World], object]
"""Something that happens in a world."""


class LostPart(Struct, frozen=True):
    """Failed part of a cluster, which no new node can join."""

    domains: Mapping[str, Collection[str]]
    """Lost values by topology key."""
    nodes: Sequence[Node]
    """Lost nodes, which are still models for other nodes of their groups."""

    def takes(self, node: Node) -> bool:
        """True if a new node, on another host, would be in the lost part."""
        labels = node.metadata.labels
        return any(labels.get(key) in values for key, values in self.domains.items() if key != HOSTNAME)


NOTHING_LOST = LostPart({}, ())
Grow = Callable[[World, LostPart], AutoscalingReport]
"""Function that adds an autoscaler's nodes for a world's pending pods."""


def everything(_: WorkloadName) -> bool:
    return True


class Baseline(Struct, frozen=True, dict=True):
    """A cluster before any event. Its world is not changed: events happen in forks."""

    world: World
    happenings: Happenings
    """Happenings while it settled."""
    grow: Grow | None = None
    """Autoscaler to run after the last of several events; None for none."""

    @classmethod
    def settle(cls, world: World, grow: Grow | None = None) -> Self:
        """Let ``world`` itself settle, and make it the baseline.

        Missing pods are created and placed, so that only pods that wait even then count as pending before.
        """
        world.note_owners()
        # A Deployment lacks pods itself only while it is paused.
        lacking = (row.owner for row in unmade(world) if row.owner not in world.workloads.deployments)
        world.dirty.update(dict.fromkeys(owner for owner in lacking if world.recreates_pods(owner)))
        resume(world)
        world.settle()
        happenings = world.next_step()
        world.book.changed.clear()
        return cls(world, happenings, grow)

    def trial(self, counts: WorkloadFilter = everything) -> Trial:
        return Trial(self, self.world.fork(), counts)

    def ready(self, workload: WorkloadName) -> int:
        """Number of ready pods of a workload."""
        return ready_pods(self.world, workload)

    def pending_count(self, counts: WorkloadFilter = everything) -> int:
        """Number of counted pods without a node."""
        return sum(number for workload, number in self.pending.items() if counts(workload))

    @cached_property
    def pending(self) -> Mapping[WorkloadName, int]:
        """Number of pods without a node, by workload."""
        return Counter(workload_of(self.world, waiting.pod) for waiting in self.world.waiting)

    @cached_property
    def unmade(self) -> Mapping[tuple[WorkloadName, bool], int]:
        """Number of pods of each workload that the API server refuses (True), or that are not created yet (False)."""
        counts = Counter[tuple[WorkloadName, bool]]()
        for row in unmade(self.world):
            counts[self.world.top_owner(row.owner), row.is_refused] += row.count
        return counts


class Trial:
    """A fork of a baseline for events, one after another; it can be forked again."""

    def __init__(
        self,
        baseline: Baseline,
        world: World,
        counts: WorkloadFilter = everything,
        happened: tuple[Happenings, ...] = (),
    ) -> None:
        """``happened`` are the steps in ``world`` since the baseline."""
        self.baseline, self.world, self.counts, self.happened = baseline, world, counts, happened
        self._ready: Mapping[WorkloadName, tuple[int, ...]] = {}
        self._growth: AutoscalingReport | None = None
        # What an owner that is nowhere to be seen is to have is what it had then.
        world.origin = baseline.world

    def fork(self) -> Trial:
        other = Trial(self.baseline, self.world.fork(), self.counts, self.happened)
        other._ready = self._ready
        return other

    def advance(self, *events: Event) -> Difference:
        """Difference after ``events`` as a step of their own: time passes before the next ones."""
        difference = self.play(*events)
        self.happened = difference.happened
        ready = {
            name: (*difference.ready_before(name), ready_pods(self.world, name))
            for name in difference.touched_workloads
        }
        self._ready = {**self._ready, **ready}
        self.world.next_step()
        return difference

    def play(self, *events: Event, barred: Mapping[str, Collection[str]] = NO_DOMAINS) -> Difference:
        """Difference after ``events`` that follow each other at once.

        An autoscaler adds nodes after the last one, outside of the ``barred`` domains.
        """
        world = self.world
        stuck = len(world.happenings.blocked)
        for event in events:
            event(world)
            world.settle()
        while self.baseline.grow is not None and world.waiting:
            before, now = self.baseline.world.living.nodes.objects, world.living.nodes.index
            removed = [node for node in before if node.metadata.name not in now]
            self._growth = self.baseline.grow(world, LostPart(barred, removed))
            if not self._growth.added_nodes or len(world.happenings.blocked) == stuck:
                break
            # kubectl goes on asking for as long as a budget waits for pods, which have room now.
            del world.happenings.blocked[stuck:]
            event(world)
            world.settle()
        return self.difference

    @property
    def difference(self) -> Difference:
        happened = (*self.happened, self.world.happenings)
        return Difference(self.baseline, self.world, happened, self.counts, self._growth, self._ready)


class ShortWorkload(Struct, frozen=True, gc=False):
    """A workload with fewer ready pods than desired, and than before."""

    workload: WorkloadName
    desired: int
    ready_before: int
    ready: int
    lacking: int
    """Number of its pods pending or not created, above the number before."""
    controller_unknown: bool = False
    """True if its controller may create other pods: it is not modeled, or waits for a pod that finalizers keep."""


class Difference(Struct, frozen=True, dict=True):
    """Difference in counted pods between a baseline and a later state of its fork; valid until something else happens
    there.
    """

    baseline: Baseline
    world: World
    happened: tuple[Happenings, ...]
    """Happenings since the baseline, by step."""
    counts: WorkloadFilter = everything
    growth: AutoscalingReport | None = None
    """Nodes that an autoscaler added for the last pending pods; None without any."""
    ready: Mapping[WorkloadName, tuple[int, ...]] = field(default_factory=dict)
    """Ready pods of workloads that earlier steps touched: at the baseline and after each of these steps."""

    def ready_before(self, name: WorkloadName) -> tuple[int, ...]:
        """Ready pods of a workload before the last step: at the baseline and after each step that touched it."""
        return self.ready.get(name) or (self.baseline.ready(name),)

    @cached_property
    def waiting(self) -> Sequence[Waiting]:
        """Pods without a node, of each workload only the surplus over before: the last to come."""
        before, now = self.baseline.pending, Counter[WorkloadName]()
        waiting = [(workload_of(self.world, waiting_pod.pod), waiting_pod) for waiting_pod in self.world.waiting]
        more: list[Waiting] = []
        # Pods that waited before come first among the waiting pods of their workload.
        for workload, waiting_pod in waiting:
            now[workload] += 1
            if now[workload] > before.get(workload, 0) and self.counts(workload):
                more.append(waiting_pod)
        return more

    @cached_property
    def pending(self) -> Counter[WorkloadName]:
        """Number of these pods by workload."""
        return Counter(workload_of(self.world, waiting.pod) for waiting in self.waiting)

    @cached_property
    def unmade(self) -> Sequence[Unmade]:
        """Pods that do not exist now, of each workload only the surplus over before; refused ones separately."""
        world, spare = self.world, Counter(self.baseline.unmade)
        # Bare pods that are refused have no owner, and one that has no pods yet is below nothing.
        among = {*world.book.changed, *world.api_server.refused}
        among.update(owner for name in self._changed_workloads for owner in world.owners_below(name))
        rows: list[Unmade] = []
        for row in unmade(world, among):
            workload = world.top_owner(row.owner)
            covered = min(row.count, spare[workload, row.is_refused])
            spare[workload, row.is_refused] -= covered
            if row.count > covered and self.counts(workload):
                rows.append(replace(row, count=row.count - covered))
        return rows

    @cached_property
    def unmade_counts(self) -> Counter[WorkloadName]:
        """Number of these pods by workload."""
        counts = Counter[WorkloadName]()
        for row in self.unmade:
            counts[self.world.top_owner(row.owner)] += row.count
        return counts

    @cached_property
    def _departures(self) -> Sequence[Departure]:
        departures = (departure for step in self.happened for departure in step.departures)
        return [departure for departure in departures if self.counts(workload_of(self.world, departure.pod))]

    @property
    def collateral_losses(self) -> Sequence[Departure]:
        """Pods that no controller recreates, and that nobody evicted or deleted."""
        lost_pods = (departure for departure in self._departures if departure.is_lost_for_good)
        return [departure for departure in lost_pods if departure.why not in _BY_EDITS]

    @property
    def broken_budgets(self) -> Mapping[str, Sequence[Departure]]:
        """Disruption budgets, NAMESPACE/name, that preemption violated, with the evicted pods."""
        broken: dict[str, list[Departure]] = {}
        for departure in self._departures:
            for name in departure.broken_budgets:
                broken.setdefault(f"{departure.pod.metadata.namespace}/{name}", []).append(departure)
        return broken

    @property
    def blocked_pods(self) -> Sequence[BlockedPod]:
        """Pods with a refused eviction, or kept by finalizers."""
        return [blocked for step in self.happened for blocked in step.blocked]

    @cached_property
    def short(self) -> Sequence[ShortWorkload]:
        """Workloads with fewer ready pods than desired, and than before, except for workloads with a pod per node."""
        return [short for name in self.touched_workloads if (short := self._short(name)) is not None]

    @cached_property
    def touched_workloads(self) -> Sequence[WorkloadName]:
        """Workloads with pods that came, went or changed, except for workloads with a pod per node."""
        changed = (
            name for name in self._changed_workloads if name.kind not in GO_WITH_THEIR_NODES and self.counts(name)
        )
        return sorted(changed, key=in_order)

    @cached_property
    def _changed_workloads(self) -> set[WorkloadName]:
        return {self.world.top_owner(owner) for owner in self.world.book.changed}

    def _short(self, name: WorkloadName) -> ShortWorkload | None:
        before, ready = max(self.ready_before(name)), ready_pods(self.world, name)
        if ready >= before or ready >= (desired := desired_replicas(self.world, name)):
            return None
        lacking, owners = self.pending[name] + self.unmade_counts[name], self.world.owners_below(name)
        return ShortWorkload(
            workload=name,
            desired=desired,
            ready_before=before,
            ready=ready,
            lacking=lacking,
            controller_unknown=not all(map(self.world.is_known, owners)) or any(map(self._may_recreate, owners)),
        )

    def _may_recreate(self, owner: WorkloadName) -> bool:
        """True if ``owner`` recreates a pod once its finalizers are removed."""
        return any(
            is_finalizing(pod) and self.world.waits_for_the_end(pod, owner) for pod in self.world.book.pods_of(owner)
        )

    @property
    def is_worse(self) -> bool:
        """True if a workload has more missing or fewer ready pods, pods are lost, or preemption violates a budget."""
        return bool(self.pending or self.unmade_counts or self.short or self.collateral_losses or self.broken_budgets)


def ready_pods(world: World, workload: WorkloadName) -> int:
    return sum(world.book.count(owner).ready for owner in world.owners_below(workload))
