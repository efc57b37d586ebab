"""What happened in a world, as a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active, is_ready
from kubespread.planner.node_states import states_of
from kubespread.planner.reports.happened import (
    BlockedPod,
    GonePod,
    Happened,
    PendingPods,
    PlacedPod,
    TouchedWorkload,
)
from kubespread.planner.reports.simulate import SkewChange
from kubespread.planner.skew import skew_now
from kubespread.planner.world.happenings import Happenings
from kubespread.planner.world.owners import in_order
from kubespread.planner.world.pod_book import key_of
from kubespread.planner.world.spread import constraints_on
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World
from kubespread.scheduler.cluster.cluster import Cluster


def happened(world: World, before: Cluster) -> Happened:
    """What happened in ``world`` since its step began, when it was ``before``."""
    happenings = world.happenings
    were, are = before.nodes.index.keys(), world.cluster.nodes.index.keys()
    closed, were_closed = (states_of(cluster.nodes.objects) for cluster in (world.cluster, before))
    return Happened(
        nodes_joined=tuple(sorted(are - were)),
        nodes_left=tuple(sorted(were - are)),
        node_states={
            name: closed.get(name, ())
            for name in sorted((closed.keys() | were_closed.keys()) & are)
            if closed.get(name) != were_closed.get(name)
        },
        gone=tuple(
            GonePod(
                pod=name_of(gone.pod),
                node=gone.pod.spec.node_name or None,
                why=gone.why,
                lost_for_good=gone.is_lost_for_good,
            )
            for gone in happenings.gone
        ),
        placed=tuple(PlacedPod(pod=name_of(pod), node=pod.spec.node_name) for pod in happenings.placed),
        blocked=tuple(
            BlockedPod(
                pod=name_of(each.pod),
                node=each.pod.spec.node_name,
                budget=each.budget,
                message=each.message,
                cause=each.cause,
            )
            for each in happenings.blocked
        ),
        pending=tuple(pending_pods(world, world.waiting)),
        workloads=tuple(_touched(world, before, happenings)),
        notes=tuple(happenings.notes),
    )


def name_of(pod: Pod) -> str:
    """NAMESPACE/name."""
    return "/".join(key_of(pod))


def workload_text(name: WorkloadName) -> str:
    """NAMESPACE/Kind/name."""
    return f"{name.namespace}/{name.kind}/{name.name}"


def workload_of(world: World, pod: Pod) -> WorkloadName:
    """What people call the workload of a pod; the pod itself where it has none."""
    owner = world.book.owner_of(pod)
    if owner is None:
        return WorkloadName("Pod", *key_of(pod))
    return world.workloads.above(owner, [pod])


def pending_pods(world: World, waiting: Iterable[Waiting]) -> Iterator[PendingPods]:
    """Pods that wait, those of one workload that hear the same together, by workload."""
    groups: dict[tuple[WorkloadName, str], list[str]] = {}
    messages: dict[int, str] = {}
    for each in waiting:
        # Pods of one template all hear the same.
        template = id(each.template)
        if template not in messages:
            messages[template] = world.message(each)
        groups.setdefault((workload_of(world, each.pod), messages[template]), []).append(name_of(each.pod))
    for (workload, message), pods in sorted(groups.items(), key=lambda group: (in_order(group[0][0]), group[0][1])):
        yield PendingPods(workload=workload_text(workload), pods=tuple(pods), message=message)


def _touched(world: World, before: Cluster, happenings: Happenings) -> Iterator[TouchedWorkload]:
    pods: dict[WorkloadName, Pod] = {}
    for pod in (*(gone.pod for gone in happenings.gone), *happenings.placed, *(each.pod for each in world.waiting)):
        workload = workload_of(world, pod)
        if workload.kind not in ("Pod", "DaemonSet"):
            # The last one speaks for the workload: its template is the newest.
            pods[workload] = pod
    for workload in sorted(pods, key=in_order):
        yield _workload(world, before, workload, pods[workload])


def _workload(world: World, before: Cluster, workload: WorkloadName, pod: Pod) -> TouchedWorkload:
    own = [each for owner in world.owners_below(workload) for each in world.book.of(owner) if is_active(each)]
    scheduler_of = world.surroundings.scheduler_of
    after = constraints_on(world.cluster, pod, scheduler_of)
    was = constraints_on(before, pod, scheduler_of)
    if len(was) != len(after):
        # Default constraints take their selectors from Services and workloads, which have come or gone meanwhile.
        same_objects = Cluster.of(before.nodes.objects, before.running.pods, world.cluster.objects)
        was = constraints_on(same_objects, pod, scheduler_of)
    return TouchedWorkload(
        workload=workload_text(workload),
        replicas=sum(world.owner(owner).replicas for owner in world.owners_below(workload)),
        ready=sum(map(is_ready, own)),
        pending=sum(not each.spec.node_name for each in own),
        skew=tuple(
            SkewChange(
                topology_key=now.topology_key,
                when_unsatisfiable=now.when_unsatisfiable,
                max_skew=now.max_skew,
                before=skew_now(then),
                after=skew_now(now),
            )
            for then, now in zip(was, after, strict=True)
        ),
    )
