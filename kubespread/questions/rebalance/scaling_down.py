"""Scale-downs instead of evictions: the pods whose deletion makes constraints hold, marked to be deleted first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubespread.kube.api.annotations import POD_DELETION_COST
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.pod_status import is_active
from kubespread.questions.rebalance.moves import Attempt
from kubespread.questions.rebalance.report import MarkedPod, ScaleDown
from kubespread.questions.remedies import kubectl
from kubespread.world.events.editing import scale
from kubespread.world.store.pod_book import key_of

MAX_PLAYED = 20
"""The most workloads for which scale-downs are played."""
_SCALED = ("Deployment", "ReplicaSet", "ReplicationController")
"""Other controllers do not read the annotation."""


def scale_downs(start: Attempt, workloads: Sequence[WorkloadName]) -> Iterator[ScaleDown]:
    """For some workloads, the smallest scale-down that makes their constraints hold, proven by playing it."""
    for workload in workloads:
        (owner,) = start.world.owners_below(workload)
        pods = _placed(start, owner)
        own = sorted({position for pod in pods for position in start.aim.goals_of(pod)})
        surplus = _surplus(start, own, pods)
        replicas = start.world.owner(owner).replicas
        if surplus and len(surplus) < replicas and _holds(start, workload, own, surplus, replicas):
            yield ScaleDown(
                workload=workload,
                replicas=replicas,
                replicas_after=replicas - len(surplus),
                pods=tuple(MarkedPod(pod=NamespacedName.of(pod), deletion_cost=cost) for pod, cost in _marked(surplus)),
                commands=tuple(kubectl.set_deletion_cost(key_of(pod), cost) for pod, cost in _marked(surplus)),
            )


def in_need(start: Attempt, workloads: Sequence[WorkloadName]) -> list[WorkloadName]:
    """Workloads with violated constraints that a scale-down with deletion costs might fix."""
    return [
        workload
        for workload in workloads
        # With two revisions, the rollout decides which one loses pods.
        if workload.kind in _SCALED and len(owners := start.world.owners_below(workload)) == 1
        if any(start.needs[position].moves for pod in _placed(start, owners[0]) for position in start.aim.goals_of(pod))
    ]


def _placed(start: Attempt, owner: WorkloadName) -> list[Pod]:
    return [pod for pod in start.world.book.of(owner) if is_active(pod) and pod.spec.node_name]


def _surplus(start: Attempt, positions: Sequence[int], pods: Sequence[Pod]) -> list[Pod]:
    """Pods, each from the fullest domains, without which all of the goals hold; empty where there is no such set."""
    goals, node_of = start.aim.goals, start.world.living.nodes.index
    counts = {position: start.counts[position].copy() for position in positions}
    remaining, gone = list(pods), list[Pod]()

    def fullness(pod: Pod) -> tuple[int, int, str]:
        above = total = 0
        for position in start.aim.goals_of(pod):
            code = goals[position].domain_of(node_of[pod.spec.node_name])
            if code is not None:
                size = counts[position].item(code) - goals[position].minimum(counts[position])
                above += size > goals[position].constraint.max_skew
                total += size
        return above, total, pod.metadata.name

    while remaining and not all(goals[position].holds(counts[position]) for position in positions):
        pod = max(remaining, key=fullness)
        if not fullness(pod)[0]:
            return []
        remaining.remove(pod)
        gone.append(pod)
        for position in start.aim.goals_of(pod):
            code = goals[position].domain_of(node_of[pod.spec.node_name])
            if code is not None:
                counts[position][code] -= 1
    return gone if remaining else []


def _holds(
    start: Attempt, workload: WorkloadName, positions: Sequence[int], surplus: Sequence[Pod], replicas: int
) -> bool:
    """Whether the controller deletes the intended pods, and all of the goals hold then."""
    attempt = start.fork()
    attempt.world.change_pods((pod, _with_cost(pod, cost)) for pod, cost in _marked(surplus))
    scale(attempt.world, workload, replicas - len(surplus))
    attempt.count(attempt.world.next_step())
    return not any(attempt.needs[position].moves for position in positions)


def _marked(surplus: Sequence[Pod]) -> list[tuple[Pod, int]]:
    """Each pod with its cost: all negative, since unmarked pods cost 0."""
    return [(pod, place - len(surplus)) for place, pod in enumerate(surplus)]


def _with_cost(pod: Pod, cost: int) -> Pod:
    annotations = {**pod.metadata.annotations, POD_DELETION_COST: str(cost)}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))
