"""Reports on happenings in a world, and on pods that disruption budgets protect now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from kubespread.controllers.disruption import LET_THROUGH, evict
from kubespread.kube.admission import quota
from kubespread.kube.api.core import Pod
from kubespread.kube.gotext import parse_int64
from kubespread.kube.owners import WorkloadName, controller_of, full_name, is_active
from kubespread.kube.well_known import DESIRED_REPLICAS
from kubespread.reports import outcome as reports
from kubespread.reports.parts import PreemptedPod, SkewChange, skew_now
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.world.events.world import Unmade, World
from kubespread.world.store.happenings import Happenings
from kubespread.world.store.owners import in_order
from kubespread.world.store.pod_book import key_of
from kubespread.world.store.waiting import constraints_on


def desired_replicas(world: World, workload: WorkloadName) -> int:
    """Number of desired pods of a workload.

    A Deployment's own number counts, since its ReplicaSets have more during a rollout; if it is missing, the number
    that its controller noted on each ReplicaSet.
    """
    deployment = world.workloads.deployments.get(workload)
    if deployment is not None and deployment.spec.replicas is not None:
        return deployment.spec.replicas
    replica_sets = world.workloads.replica_sets
    below = dict.fromkeys((*world.workloads.orphans.get(workload, ()), *world.owners_below(workload)))
    noted = (replica_sets[owner].metadata.annotations.get(DESIRED_REPLICAS) for owner in below if owner in replica_sets)
    stated = [number for text in noted if text is not None and (number := parse_int64(text)) is not None]
    return max(stated) if len(below) > 1 and stated else sum(world.owner(owner).replicas for owner in below)


def preempted_pods(happenings: Happenings) -> Iterator[PreemptedPod]:
    for departure in happenings.departures:
        if departure.made_room_for is not None:
            owner = controller_of(departure.pod)
            yield PreemptedPod(
                pod=full_name(departure.pod),
                node=departure.pod.spec.node_name,
                owner=None if owner is None else f"{owner.kind}/{owner.name}",
                made_room_for=full_name(departure.made_room_for),
                broken_budgets=departure.broken_budgets,
            )


def workload_of(world: World, pod: Pod) -> WorkloadName:
    """Top-level workload of a pod; the bare pod itself."""
    owner = world.book.owner_of(pod)
    if owner is None:
        return WorkloadName("Pod", *key_of(pod))
    return world.workloads.top_owner(owner, [pod])


def unmade_pods(world: World, missing: Collection[Unmade]) -> Iterator[reports.UnmadePods]:
    """Yield desired pods that do not exist, by workload."""
    groups: dict[WorkloadName, list[Unmade]] = {}
    for row in missing:
        groups.setdefault(world.top_owner(row.owner), []).append(row)
    lacking = refused_by_owner(world, missing)
    for workload, rows in sorted(groups.items(), key=lambda group: in_order(group[0])):
        count, owner = sum(pods.count for pods in rows), rows[0].owner
        quotas = world.api_server.quotas
        allowing = quota.enough(quotas, lacking[owner][0], lacking.values()) if owner in lacking else ""
        yield reports.UnmadePods(workload=workload, count=count, message=rows[0].message, enough=allowing)


def refused_by_owner(world: World, missing: Iterable[Unmade]) -> dict[WorkloadName, tuple[Pod, int]]:
    """One of the pods of each owner that the API server refused, and the number of its ``missing`` pods."""
    refused = {owner: tried.pods for owner, tried in world.api_server.refused.items() if tried.pods}
    return {row.owner: (refused[row.owner][0][0], row.count) for row in missing if row.owner in refused}


def skew_changes(
    world: World, before: Cluster, step: Happenings, of: Callable[[Pod], WorkloadName | None]
) -> dict[WorkloadName, tuple[SkewChange, ...]]:
    """Skew, before and after a step, of each constraint in force for workloads with moved or waiting pods."""
    removed_pods = (departure.pod for departure in step.departures)
    pods = (*removed_pods, *step.placed, *(waiting.pod for waiting in world.waiting))
    # The last one speaks for the workload: its template is the newest.
    newest = {workload: pod for pod in pods if (workload := of(pod)) is not None}
    return {
        workload: tuple(_skews(world, before, pod))
        for workload, pod in newest.items()
        if workload.kind not in ("Pod", "DaemonSet")
    }


def _skews(world: World, before: Cluster, pod: Pod) -> Iterator[SkewChange]:
    scheduler_of = world.settings.scheduler_of
    after, was = (constraints_on(cluster, pod, scheduler_of) for cluster in (world.cluster, before))
    if len(was) != len(after):
        # Default constraints take their selectors from Services and workloads, which may have been added or removed.
        same_objects = Cluster.build(before.nodes.objects, before.running.pods, world.cluster.objects)
        was = constraints_on(same_objects, pod, scheduler_of)
    for then, now in zip(was, after, strict=True):
        yield SkewChange(
            topology_key=now.topology_key,
            when_unsatisfiable=now.when_unsatisfiable,
            max_skew=now.max_skew,
            before=skew_now(then),
            after=skew_now(now),
        )


GO_WITH_THEIR_NODES = frozenset({"DaemonSet", "Node"})
"""Controllers that run a pod per node, which never moves."""


def without_daemons(counts: Callable[[WorkloadName], bool]) -> Callable[[WorkloadName], bool]:
    """Filter that excludes workloads with a pod per node."""
    return lambda workload: workload.kind not in GO_WITH_THEIR_NODES and counts(workload)


class CountedWorkloads:
    """Lookup of the workload of a pod, if it counts; computed once per controller, as clusters have many more pods."""

    def __init__(self, world: World, counts: Callable[[WorkloadName], bool]) -> None:
        self._world, self._counts = world, counts
        self._workloads: dict[WorkloadName, WorkloadName | None] = {}

    def __call__(self, pod: Pod) -> WorkloadName | None:
        """The pod itself where nothing controls it; None where it does not count."""
        owner = self._world.book.owner_of(pod)
        if owner is None:
            return self._if_counted(workload_of(self._world, pod))
        if owner not in self._workloads:
            self._workloads[owner] = self._if_counted(self._world.workloads.top_owner(owner, [pod]))
        return self._workloads[owner]

    def _if_counted(self, workload: WorkloadName) -> WorkloadName | None:
        return workload if self._counts(workload) else None


WorkloadOf = Callable[[Pod], WorkloadName | None]
"""Workload of a pod that counts; None for others."""


def movable_workloads(world: World, counts: Callable[[WorkloadName], bool]) -> WorkloadOf:
    """Lookup of an active pod's workload, if it counts and its pods can run on other nodes."""
    counted = CountedWorkloads(world, without_daemons(counts))
    return lambda pod: counted(pod) if is_active(pod) else None


def unevictable_pods(world: World, workload: WorkloadOf, node: str) -> list[Pod]:
    """Pods on a node that the API server would not evict now."""
    return [
        pod
        for pod in world.book.pods_on(node)
        if workload(pod) is not None
        and evict(pod, world.budgets.protecting(pod, world.time), world.time).code != LET_THROUGH
    ]
