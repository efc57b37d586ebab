"""The pods that a plan may evict, those that are alike together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kubespread.kube.api.annotations import MIRROR_POD
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active, is_ready, is_terminating
from kubespread.planner.rebalance.goals import GoalsOf
from kubespread.planner.world.pod_book import PodKey, key_of
from kubespread.planner.world.world import World

REPLACING = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
"""The kinds whose pods are evicted: they make another one, and nothing but its place is lost."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """Pods of one owner on one node, none of which matters more than another."""

    pod: Pod
    """One of them."""
    node: int
    keys: tuple[PodKey, ...]
    """In the order they would be evicted."""


def candidates(
    world: World, workloads: Iterable[WorkloadName], goals_of: GoalsOf
) -> tuple[list[Candidates], Counter[str]]:
    """The pods of ``workloads`` that a plan may evict, and how many others some goal counts, by why they stay."""
    alike: dict[tuple[object, ...], list[Pod]] = {}
    kept: Counter[str] = Counter()
    for pod, owner in _pods(world, workloads):
        why = _stays(pod, owner)
        if why is not None:
            kept[why] += bool(goals_of(pod))
        elif owner is not None and is_active(pod) and pod.spec.node_name in world.living.nodes.index:
            name = pod.metadata.name if owner.kind == "StatefulSet" else ""
            kind = world.cluster.kinds.number_of(pod)
            alike.setdefault((owner, pod.spec.node_name, kind, is_ready(pod), name), []).append(pod)
    position_of = world.living.nodes.index
    found = [
        Candidates(pods[0], position_of[pods[0].spec.node_name], tuple(map(key_of, pods))) for pods in alike.values()
    ]
    return found, +kept


def _pods(world: World, workloads: Iterable[WorkloadName]) -> Iterator[tuple[Pod, WorkloadName | None]]:
    """Each with what controls it; of one workload those that are not ready come first, as they are missed least."""
    for workload in workloads:
        if workload.kind == "Pod":
            yield world.book[workload.namespace, workload.name], None
            continue
        for owner in world.owners_below(workload):
            for pod in sorted(world.book.of(owner), key=lambda each: (is_ready(each), each.metadata.name)):
                yield pod, owner


def _stays(pod: Pod, owner: WorkloadName | None) -> str | None:
    if is_terminating(pod):
        return "terminating"
    if owner is None:
        return "without a controller"
    if owner.kind not in REPLACING:
        return f"of a {owner.kind}"
    return "mirror pod" if MIRROR_POD in pod.metadata.annotations else None
