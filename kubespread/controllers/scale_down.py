"""Which pods a ReplicaSet or ReplicationController deletes when it has too many.

Source of the rules: ActivePodsWithRanks of pkg/controller and manageReplicas of pkg/controller/replicaset, with the
gates PodDeletionCost and LogarithmicScaleDown at their default, on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from kubespread.controllers.deletion_precedence import Standing, precedences
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector, OwnerReference
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import controller_of
from kubespread.kube.pod_status import is_active
from kubespread.kube.selector import NOTHING, Selector, SelectorError, from_label_selector

BURST_REPLICAS = 500
"""How many pods one pass of the controller deletes, or creates, at most."""


Pick = Callable[[Sequence[Pod], int], Sequence[Pod]]
"""Which of equal pods, of which so many are to go; all of them stand by name."""


def first_by_name(equals: Sequence[Pod], count: int) -> Sequence[Pod]:
    return equals[:count]


@dataclass(frozen=True, slots=True)
class Victims:
    pods: tuple[Pod, ...]
    """In the order they are chosen."""
    arbitrary: bool
    """Whether pods that were kept could as well have gone, in place of some of these."""


def related_pods(replica_set: ReplicaSet, replica_sets: Iterable[ReplicaSet], pods: Iterable[Pod]) -> list[Pod]:
    """The active pods of all ReplicaSets with the controller of ``replica_set``, by selector, each once.

    They need not be owned. A ReplicaSet without a controller has none. Source of the rule: getIndirectlyRelatedPods.
    """
    owner, namespace = controller_of(replica_set), replica_set.metadata.namespace
    if owner is None:
        return []
    selectors = [
        _selector(each.spec.selector)
        for each in replica_sets
        if each.metadata.namespace == namespace and _is_same(controller_of(each), owner)
    ]
    return [
        pod
        for pod in pods
        if pod.metadata.namespace == namespace
        and is_active(pod)
        and any(selector.matches(pod.metadata.labels) for selector in selectors)
    ]


def crowding(active: Iterable[Pod], related: Iterable[Pod]) -> dict[str, int]:
    """For each pod of ``active``, by name, how many of the ``related`` pods are on its node, itself included."""
    on_node = Counter(pod.spec.node_name for pod in related)
    return {pod.metadata.name: on_node[pod.spec.node_name] for pod in active}


def deletion_order(pods: Sequence[Pod], ranks: Mapping[str, int], now: datetime) -> list[list[Pod]]:
    """The active ``pods`` of one controller in groups, those that are deleted first in the first group.

    ``ranks`` is `crowding`; a pod that is not in it has rank 0. Kubernetes' comparison is not an order: pods of one
    group compare equal, or each before the next in a circle, and which of them goes first depends on how they were
    listed. Inside a group they stand by name. Raises SnapshotError for a time that cannot be read.

    A group ends where every pod before goes before every pod after. There, the standings of those before sum up to
    what the pods before win among each other and over all after them, and nowhere else.
    """
    standing = precedences([Standing.of(pod, ranks.get(pod.metadata.name, 0), now) for pod in pods])
    groups: list[list[Pod]] = []
    begun, total = 0, 0
    order = sorted(range(len(pods)), key=lambda index: (-standing[index], pods[index].metadata.name))
    for taken, index in enumerate(order, start=1):
        total += standing[index]
        if total == taken * (taken - 1) + 2 * taken * (len(pods) - taken):
            group = [pods[each] for each in order[begun:taken]]
            groups.append(sorted(group, key=lambda pod: pod.metadata.name))
            begun = taken
    return groups


def victims(
    pods: Sequence[Pod], count: int, related: Sequence[Pod], now: datetime, pick: Pick = first_by_name
) -> Victims:
    """The ``count`` of the active ``pods`` of one controller that go when it is scaled down by as many.

    ``related`` is what `related_pods` finds; none for a ReplicationController. Ranks are counted once a pass, and a
    pass deletes at most `BURST_REPLICAS` pods. Raises SnapshotError for a time that cannot be read.
    """
    chosen: list[Pod] = []
    remaining, arbitrary = list(pods), False
    while len(chosen) < count < len(pods):
        gone = {id(pod) for pod in chosen}
        ranks = crowding(remaining, (pod for pod in related if id(pod) not in gone))
        room = min(count - len(chosen), BURST_REPLICAS)
        for group in deletion_order(remaining, ranks, now):
            is_cut = 0 < room < len(group)
            chosen += pick(group, room) if is_cut else group[:room]
            arbitrary |= is_cut
            room -= min(room, len(group))
        gone = {id(pod) for pod in chosen}
        remaining = [pod for pod in remaining if id(pod) not in gone]
    # All of them go without being ranked.
    return Victims(tuple(chosen if count < len(pods) else pods), arbitrary)


def _is_same(controller: OwnerReference | None, other: OwnerReference) -> bool:
    # A snapshot may have lost its UIDs, so that the UID alone does not do.
    return controller is not None and (controller.uid, controller.kind, controller.name) == (
        other.uid,
        other.kind,
        other.name,
    )


def _selector(selector: LabelSelector | None) -> Selector:
    try:
        return from_label_selector(selector)
    except SelectorError:
        return NOTHING
