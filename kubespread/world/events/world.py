"""A cluster in which things happen: nodes change, pods go, controllers make new ones, kube-scheduler places them.

Everything happens in one order: nodes first, then departing pods, then controllers by namespace, kind and name, then
the scheduler's queue; placed pods become ready at once. This repeats until nothing changes. Timers and rate limits are
named in reports, not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from kubespread.controllers.deployment import replicas_of
from kubespread.controllers.statefulset import ordinal_of
from kubespread.deadline import check
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, is_active, is_finalizing, is_ready, is_terminating
from kubespread.world.events.controllers import (
    is_ordered_ready,
    ordinals_of,
    reconcile_daemons,
    reconcile_deployment,
    reconcile_job,
    reconcile_operator_pods,
    reconcile_replicas,
    reconcile_stateful_set,
    schedule,
)
from kubespread.world.store.owners import in_order
from kubespread.world.store.store import ABOVE, BELOW, OPERATOR, Store

CONTROLLERS: Mapping[str, Callable[[Store, WorkloadName], bool]] = {
    "ReplicaSet": reconcile_replicas,
    "ReplicationController": reconcile_replicas,
    "Deployment": reconcile_deployment,
    "StatefulSet": reconcile_stateful_set,
    "Job": reconcile_job,
    "DaemonSet": reconcile_daemons,
    OPERATOR: reconcile_operator_pods,
}
"""One pass over one object of each kind; True if it did anything."""
assert CONTROLLERS.keys() == ABOVE | BELOW, "who makes pods has a controller"


class World(Store):
    """One cluster through time, with working controllers and kube-scheduler."""

    def settle(self) -> None:
        """Let controllers and the scheduler work until nothing changes.

        A Deployment is reconciled again once its ReplicaSets have carried out its last change.
        """
        # A Deployment that writes nothing may still have looked at ReplicaSets that have another number of pods.
        while self.reconcile(BELOW) or schedule(self) or self.reconcile(ABOVE) or self.dirty or self.end_terminating():
            pass

    def reconcile(self, kinds: frozenset[str]) -> bool:
        """Run one pass over the dirty objects of these kinds, else over objects that may retry; True if any acted."""
        kind_of = self.controller_kind
        dirty = [name for name in self.dirty if kind_of(name) in kinds]
        return self._pass(dirty) or self._pass(self.api_server.take_retryable(kinds, kind_of))

    def _pass(self, names: Sequence[WorkloadName]) -> bool:
        check()
        if not names:
            return False
        for name in names:
            self.dirty.pop(name, None)
        # What it makes of no pods, and of refused ones, differs too.
        self.book.changed.update(names)
        happenings, chance, has_acted = self.happenings, self.settings.chance, False
        created, departures = len(happenings.created), len(happenings.departures)
        for name in chance.order(names):
            has_acted |= CONTROLLERS[self.controller_kind(name)](self, name)
            if chance.scheduler_is_faster():
                schedule(self)
        if len(names) > 1 and len(happenings.created) > created and len(happenings.departures) > departures:
            happenings.by_chance = True
            happenings.note("whether pods are placed before or after others are deleted at the same time is arbitrary")
        return has_acted


_NOT_YET = "its controller has yet to make them"
_PAUSED = "the Deployment is paused: no ReplicaSet of it is made until it is resumed"


class Unmade(Struct, frozen=True):
    """Desired pods of a controller that do not exist."""

    owner: WorkloadName
    """Direct owner of the pods: a ReplicaSet, not its Deployment. A bare pod is its own owner."""
    count: int
    message: str
    """API server's message for the first pod, or the reason why their controller waits."""
    is_refused: bool
    """True if the API server refuses them."""


def unmade(world: World, among: Collection[WorkloadName] | None = None) -> Iterator[Unmade]:
    """Yield the unmade pods of all controllers, or only of ``among``, by namespace, kind and name."""
    for name in sorted(_controllers(world) if among is None else among, key=in_order):
        match world.controller_kind(name):
            case "ReplicaSet" | "ReplicationController":
                yield from _of_replica_set(world, name)
            case "StatefulSet":
                yield from _of_stateful_set(world, name)
            case "Deployment":
                yield from _of_paused(world, name)
            case _:
                yield from _of_others(world, name)


def _controllers(world: World) -> set[WorkloadName]:
    workloads, refused = world.workloads, world.api_server.refused
    sources = (
        workloads.replica_sets,
        workloads.replication_controllers,
        workloads.stateful_sets,
        (name for name, deployment in workloads.deployments.items() if deployment.spec.paused),
        world.owners,
        refused,
    )
    return {name for names in sources for name in names}


def _replicas(world: World, name: WorkloadName) -> int:
    owner = world.owners.get(name)
    return (world.workloads.replicas(name) or 0) if owner is None else owner.replicas


def _of_replica_set(world: World, name: WorkloadName) -> Iterator[Unmade]:
    replicas = _replicas(world, name)
    missing = replicas - world.book.count(name).active if replicas else 0
    if missing > 0:
        refused = world.api_server.refused.get(name)
        yield Unmade(name, missing, _NOT_YET if refused is None else refused.message, refused is not None)


def _of_paused(world: World, name: WorkloadName) -> Iterator[Unmade]:
    """Pods of a Deployment paused before it has a ReplicaSet: it scales existing ReplicaSets, and creates none.

    Source: pkg/controller/deployment/sync.go, sync
    """
    deployment, replica_sets = world.workloads.deployments.get(name), world.workloads.replica_sets
    if deployment is None or not deployment.spec.paused or not (missing := replicas_of(deployment)):
        return
    if not any(world.workloads.top_owner(owner) == name for owner in replica_sets):
        yield Unmade(name, missing, _PAUSED, is_refused=False)


def _of_stateful_set(world: World, name: WorkloadName) -> Iterator[Unmade]:
    ordinals, pods = ordinals_of(world, name, _replicas(world, name)), _by_ordinal(world, name)
    # Whether a pod comes in the place of one that finalizers keep is not known.
    missing = [
        ordinal
        for ordinal in ordinals
        if (pod := pods.get(ordinal)) is None or not (is_active(pod) or is_finalizing(pod))
    ]
    refused = world.api_server.refused.get(name)
    tried = {ordinal_of(pod, name.name) for pod, _ in refused.pods} if refused is not None else set()
    if refused is not None and (count := len(tried.intersection(missing))):
        yield Unmade(name, count, refused.message, is_refused=True)
    if untried := [ordinal for ordinal in missing if ordinal not in tried]:
        # The first that is not up holds back all others, but in a Parallel one.
        among = None if is_ordered_ready(world, name) else untried
        yield Unmade(name, len(untried), waiting_reason(world, name, among) or _NOT_YET, is_refused=False)


def waiting_reason(world: World, name: WorkloadName, among: Iterable[int] | None = None) -> str | None:
    """Reason a StatefulSet's controller waits for its first unready pod; None without one, or if it is not created yet.

    ``among`` limits the ordinals.
    """
    pods, refused = _by_ordinal(world, name), world.api_server.refused.get(name)
    for ordinal in ordinals_of(world, name, _replicas(world, name)) if among is None else among:
        pod = pods.get(ordinal)
        if pod is None or not is_active(pod) or not is_ready(pod):
            state = _state(pod) if pod is not None else "the API server refuses" if refused is not None else None
            return None if state is None else f"waits for {name.name}-{ordinal}, which {state}"
    return None


def _by_ordinal(world: World, name: WorkloadName) -> dict[int, Pod]:
    return {ordinal: pod for pod in world.book.pods_of(name) if (ordinal := ordinal_of(pod, name.name)) is not None}


def _state(pod: Pod) -> str:
    if is_terminating(pod):
        return "is terminating"
    if not is_active(pod):
        return "has ended"
    return "is not ready" if pod.spec.node_name else "has no node"


def _of_others(world: World, name: WorkloadName) -> Iterator[Unmade]:
    """Pods of controllers that create them one by one: refused pods, and pods that wait for another to end."""
    if refused := world.api_server.refused.get(name):
        yield Unmade(name, len(refused.pods), refused.message, is_refused=True)
    if world.controller_kind(name) in ("Job", OPERATOR) and not world.creates_no_pods(name):
        ending = [pod for pod in world.book.pods_of(name) if is_terminating(pod) and not is_finalizing(pod)]
        leaving = [pod for pod in ending if world.waits_for_the_end(pod, name)]
        if leaving:
            message = f"waits for {leaving[0].metadata.name}, which is terminating"
            yield Unmade(name, len(leaving), message, is_refused=False)
