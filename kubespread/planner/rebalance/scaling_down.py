"""Fewer replicas instead of evictions: the pods whose deletion makes constraints hold, marked to be deleted first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubespread.kube.api.annotations import POD_DELETION_COST
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active
from kubespread.planner.rebalance import commands
from kubespread.planner.rebalance.moves import Attempt
from kubespread.planner.reports.rebalance import MarkedPod, ScaleDown
from kubespread.planner.world.editing import scale
from kubespread.planner.world.pod_book import key_of
from kubespread.planner.world.reporting import name_of, workload_text

_SCALED = ("Deployment", "ReplicaSet", "ReplicationController")
"""Other controllers do not read the annotation."""


def scale_downs(start: Attempt, workloads: Sequence[WorkloadName]) -> Iterator[ScaleDown]:
    """For each workload with violated constraints the smallest scale-down that makes them hold, played to prove it."""
    for workload in workloads:
        owners = start.world.owners_below(workload)
        # Of two revisions the rollout decides which one loses pods.
        if workload.kind not in _SCALED or len(owners) != 1:
            continue
        pods = [pod for pod in start.world.book.of(owners[0]) if is_active(pod) and pod.spec.node_name]
        own = sorted({position for pod in pods for position in start.aim.goals_of(pod)})
        if not any(start.needs[position].moves for position in own):
            continue
        surplus = _surplus(start, own, pods)
        replicas = start.world.owner(owners[0]).replicas
        if surplus and len(surplus) < replicas and _holds(start, workload, own, surplus, replicas):
            yield ScaleDown(
                workload=workload_text(workload),
                replicas=replicas,
                replicas_after=replicas - len(surplus),
                pods=tuple(MarkedPod(pod=name_of(pod), deletion_cost=cost) for pod, cost in _marked(surplus)),
                commands=tuple(commands.set_deletion_cost(key_of(pod), cost) for pod, cost in _marked(surplus)),
            )


def _surplus(start: Attempt, positions: Sequence[int], pods: Sequence[Pod]) -> list[Pod]:
    """Pods without which all of the goals hold, each of the fullest domains; none where that is not to be had."""
    goals, node_of = start.aim.goals, start.world.living.nodes.index
    counts = {position: start.counts[position].copy() for position in positions}
    left, gone = list(pods), list[Pod]()

    def fullness(pod: Pod) -> tuple[int, int, str]:
        above = total = 0
        for position in start.aim.goals_of(pod):
            code = goals[position].domain_of(node_of[pod.spec.node_name])
            if code is not None:
                size = counts[position].item(code) - goals[position].minimum(counts[position])
                above += size > goals[position].constraint.max_skew
                total += size
        return above, total, pod.metadata.name

    while left and not all(goals[position].holds(counts[position]) for position in positions):
        pod = max(left, key=fullness)
        if not fullness(pod)[0]:
            return []
        left.remove(pod)
        gone.append(pod)
        for position in start.aim.goals_of(pod):
            code = goals[position].domain_of(node_of[pod.spec.node_name])
            if code is not None:
                counts[position][code] -= 1
    return gone if left else []


def _holds(
    start: Attempt, workload: WorkloadName, positions: Sequence[int], surplus: Sequence[Pod], replicas: int
) -> bool:
    """Whether the controller deletes what it should, and all of the goals hold then."""
    attempt = start.fork()
    attempt.world.change_pods((pod, _with_cost(pod, cost)) for pod, cost in _marked(surplus))
    scale(attempt.world, workload, replicas - len(surplus))
    attempt.count(attempt.world.next_step())
    return not any(attempt.needs[position].moves for position in positions)


def _marked(surplus: Sequence[Pod]) -> list[tuple[Pod, int]]:
    """Each with its cost, all below 0, which is that of pods without the annotation."""
    return [(pod, place - len(surplus)) for place, pod in enumerate(surplus)]


def _with_cost(pod: Pod, cost: int) -> Pod:
    annotations = {**pod.metadata.annotations, POD_DELETION_COST: str(cost)}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))
