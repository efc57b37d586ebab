"""What happened in a world, as a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain

from kubespread.kube.api.core import Pod
from kubespread.kube.gotext import parse_int64
from kubespread.kube.owners import NamespacedName, WorkloadName, controller_of
from kubespread.kube.selector import pinned_names, required_node_selector
from kubespread.kube.well_known import DESIRED_REPLICAS
from kubespread.reports import happened as reports
from kubespread.reports.parts import PreemptedPod, SkewChange, skew_now
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.wording import Decisive, verb_of
from kubespread.world.events.world import Unmade, World, unmade
from kubespread.world.store.happenings import Gone, Happenings
from kubespread.world.store.owners import in_order
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting, constraints_on


def desired_replicas(world: World, workload: WorkloadName) -> int:
    """How many pods a workload should have. A Deployment's own number counts, since its ReplicaSets have more during a
    rollout; where it is missing, the number its controller noted on each ReplicaSet.
    """
    deployment = world.workloads.deployments.get(workload)
    if deployment is not None and deployment.spec.replicas is not None:
        return deployment.spec.replicas
    replica_sets = world.workloads.replica_sets
    below = dict.fromkeys((*world.workloads.orphaned.get(workload, ()), *world.owners_below(workload)))
    noted = (replica_sets[owner].metadata.annotations.get(DESIRED_REPLICAS) for owner in below if owner in replica_sets)
    stated = [number for text in noted if text is not None and (number := parse_int64(text)) is not None]
    return max(stated) if len(below) > 1 and stated else sum(world.owner(owner).replicas for owner in below)


def node_evictions(happenings: Happenings) -> Iterator[reports.NodeEviction]:
    """Failed nodes whose pods are deleted, as a report has them."""
    return (
        reports.NodeEviction(node=eviction.node, seconds=round(eviction.seconds), pods=eviction.pods)
        for eviction in happenings.evictions
    )


def preempted_pods(happenings: Happenings) -> Iterator[PreemptedPod]:
    """Those that made room for others, in order."""
    for gone in happenings.gone:
        if gone.made_room_for is not None:
            owner = controller_of(gone.pod)
            yield PreemptedPod(
                pod=NamespacedName.of(gone.pod),
                node=gone.pod.spec.node_name,
                owner=None if owner is None else f"{owner.kind}/{owner.name}",
                made_room_for=NamespacedName.of(gone.made_room_for),
                broken_budgets=gone.broken_budgets,
            )


def gone_pods(gone: Iterable[Gone]) -> Iterator[reports.GonePod]:
    """Pods that left, as a report has them."""
    for gone_pod in gone:
        yield reports.GonePod(
            pod=NamespacedName.of(gone_pod.pod),
            node=gone_pod.pod.spec.node_name or None,
            why=gone_pod.why,
            lost_for_good=gone_pod.is_lost_for_good,
            made_room_for=None if gone_pod.made_room_for is None else NamespacedName.of(gone_pod.made_room_for),
            broken_budgets=gone_pod.broken_budgets,
        )


def workload_of(world: World, pod: Pod) -> WorkloadName:
    """What people call the workload of a pod; the pod itself where it has none."""
    owner = world.book.owner_of(pod)
    if owner is None:
        return WorkloadName("Pod", *key_of(pod))
    return world.workloads.above(owner, [pod])


def pending_pods(world: World, waiting: Iterable[Waiting]) -> Iterator[reports.PendingPods]:
    """Waiting pods by workload, those of one workload with the same message together."""
    groups: dict[tuple[WorkloadName, str], list[Pod]] = {}
    messages: dict[int, str] = {}
    for waiting_pod in waiting:
        # Pods of one template all get the same message.
        template = id(waiting_pod.template)
        if template not in messages:
            messages[template] = world.message(waiting_pod)
        groups.setdefault((workload_of(world, waiting_pod.pod), messages[template]), []).append(waiting_pod.pod)
    for (workload, message), pods in sorted(groups.items(), key=lambda group: (in_order(group[0][0]), group[0][1])):
        yield reports.PendingPods(
            workload=workload,
            pods=tuple(map(NamespacedName.of, pods)),
            message=message,
            # Those that a DaemonSet made the pods for.
            nodes=tuple(sorted(chain.from_iterable(map(_pinned, pods)))) if workload.kind == "DaemonSet" else (),
        )


def _pinned(pod: Pod) -> Collection[str]:
    required = required_node_selector(pod)
    return (None if required is None else pinned_names(required.node_selector_terms)) or ()


def unmade_pods(world: World, missing: Iterable[Unmade]) -> Iterator[reports.UnmadePods]:
    """Pods that should exist but do not, by workload."""
    for workload, rows in sorted(_by_workload(world, missing).items(), key=lambda group: in_order(group[0])):
        count = sum(pods.count for pods in rows)
        yield reports.UnmadePods(workload=workload, count=count, message=rows[0].message)


def _by_workload(world: World, missing: Iterable[Unmade]) -> dict[WorkloadName, list[Unmade]]:
    groups: dict[WorkloadName, list[Unmade]] = {}
    for row in missing:
        groups.setdefault(world.above(row.owner), []).append(row)
    return groups


def skew_changes(
    world: World, before: Cluster, step: Happenings, of: Callable[[Pod], WorkloadName | None]
) -> dict[WorkloadName, tuple[SkewChange, ...]]:
    """Each spread constraint in force for the workloads whose pods a step moved or left waiting, before and after."""
    pods = (*(gone.pod for gone in step.gone), *step.placed, *(waiting.pod for waiting in world.waiting))
    # The last one speaks for the workload: its template is the newest.
    newest = {workload: pod for pod in pods if (workload := of(pod)) is not None}
    return {
        workload: tuple(_skews(world, before, pod))
        for workload, pod in newest.items()
        if workload.kind not in ("Pod", "DaemonSet")
    }


def _skews(world: World, before: Cluster, pod: Pod) -> Iterator[SkewChange]:
    scheduler_of = world.surroundings.scheduler_of
    after, was = (constraints_on(cluster, pod, scheduler_of) for cluster in (world.cluster, before))
    if len(was) != len(after):
        # Default constraints take their selectors from Services and workloads, which have come or gone meanwhile.
        same_objects = Cluster.of(before.nodes.objects, before.running.pods, world.cluster.objects)
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
"""Controllers that run a pod per node: where their pods go is never in question."""


class AskedWorkloads:
    """The workloads that a question selects, without those whose pods belong to their node."""

    def __init__(self, world: World, is_asked: Callable[[WorkloadName], bool]) -> None:
        self._world, self._is_asked = world, is_asked
        self._counted: dict[WorkloadName, WorkloadName | None] = {}

    def of(self, pod: Pod) -> WorkloadName | None:
        """What the pod counts for, the pod itself where nothing controls it; None where it does not count."""
        owner = self._world.book.owner_of(pod)
        if owner is None:
            return self._counting(workload_of(self._world, pod))
        # Once per controller: clusters have many more pods.
        if owner not in self._counted:
            self._counted[owner] = self._counting(self._world.workloads.above(owner, [pod]))
        return self._counted[owner]

    def _counting(self, workload: WorkloadName) -> WorkloadName | None:
        return workload if workload.kind not in GO_WITH_THEIR_NODES and self._is_asked(workload) else None


_FEW = 3
NO_TIME = "edits: pods are ready once they have a node; timers, rate limits and back-offs are not waited for"


def consequences_of(edit: str, world: World, waited: Collection[PodKey] = ()) -> Iterator[str]:
    """What ``edit``, just made, led to: no sentences where it touched no pod and there are no notes.

    ``waited`` are the pods that were waiting before it; they are not mentioned.
    """
    happened = world.happenings
    yield from (note if names_edit else f"{edit}: {note}" for note, names_edit in happened.notes.items())
    counts = Counter(gone.why for gone in happened.gone)
    parts = [f"{_pods(count)} {why}" for why, count in sorted(counts.items())]
    if happened.placed:
        parts.append(f"{len(happened.placed)} placed")
    if lost := len(list(happened.lost_for_good())):
        parts.append(f"{lost} that no controller makes again")
    if parts:
        yield f"{edit}: {', '.join(parts)}"
    yield from _not_done(edit, happened)
    pending = list(pending_pods(world, (waiting for waiting in world.waiting if key_of(waiting.pod) not in waited)))
    for group in pending[:_FEW]:
        waits = verb_of(len(group.pods), "wait")
        yield Decisive(f"{edit}: {_pods(len(group.pods))} of {group.workload} {waits} for a node: {group.message}")
    if len(pending) > _FEW:
        yield f"{edit}: pods of {len(pending) - _FEW} more workloads wait for a node"
    touched = {world.book.owner_of(pod) for pod in (*(gone.pod for gone in happened.gone), *happened.created)}
    lacking = [missing for missing in unmade(world) if missing.is_refused or missing.owner in touched]
    for what, is_refused in (("not created", True), ("not made yet", False)):
        for row in unmade_pods(world, (missing for missing in lacking if missing.is_refused == is_refused)):
            yield Decisive(f"{edit}: {_pods(row.count)} of {row.workload} {what}: {row.message}")


def _not_done(edit: str, happened: Happenings) -> Iterator[Decisive]:
    yield from (Decisive(f"{edit}: not done in full: {refused}") for refused in happened.refused)
    for blocked in happened.blocked[:_FEW]:
        text = f"{edit}: pod {NamespacedName.of(blocked.pod)} stays: {blocked.message} {blocked.cause}"
        yield Decisive(text.rstrip())
    if len(happened.blocked) > _FEW:
        yield Decisive(f"{edit}: {len(happened.blocked) - _FEW} more pods stay")


def _pods(count: int) -> str:
    return f"{count} pod{'s' if count != 1 else ''}"
