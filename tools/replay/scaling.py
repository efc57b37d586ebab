"""Which pods a ReplicaSet that shrinks deletes: ours beside the ReplicaSet controller's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations

import kubespread
from kubespread.controllers.adoption import PodsByController, pods_of
from kubespread.controllers.replicaset import crowding, deletion_order, pods_to_delete
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import WorkloadName, is_active
from kubespread.questions.scheduler import Scheduler
from kubespread.questions.worlds import world_of
from kubespread.world.events.controllers import related_pods
from tools.replay.cases import Data, Difference, Recorded


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """What counts, how crowded it is, and in which groups it goes; then every scale-down there can be."""
    ours = _ours(recorded.case)
    expect = {"cyclic": [], **recorded.expect}
    for what, wanted in expect.items():
        if ours[what] != wanted:
            yield Difference(recorded.name, what, wanted, ours[what])
    if ours["order"] == expect["order"]:
        yield from _of_victims(recorded, ours)


def active_pods_of(replica_set: ReplicaSet, pods: Sequence[Pod]) -> list[Pod]:
    """What ``spec.replicas`` is compared with: what ``replica_set`` owns or adopts, neither ended nor terminating.

    Source: pkg/controller/replicaset/replica_set.go, syncReplicaSet
    """
    meta = replica_set.metadata
    workload = WorkloadName("ReplicaSet", meta.namespace, meta.name)
    return [pod for pod in pods_of(workload, [replica_set], (), PodsByController(pods)) if is_active(pod)]


def _ours(case: Data) -> Data:
    pods = [{"apiVersion": "v1", "kind": "Pod", **pod} for pod in case["pods"]]
    snapshot = kubespread.Snapshot.from_objects([*case["replicaSets"], *pods])
    shrinking = next(each for each in snapshot.objects.get(ReplicaSet) if each.metadata.name == case["replicaSet"])
    active = active_pods_of(shrinking, snapshot.pods)
    world = world_of(snapshot, Scheduler())
    related = related_pods(world, WorkloadName("ReplicaSet", shrinking.metadata.namespace, shrinking.metadata.name))
    ranks, now = crowding(active, related), datetime.fromisoformat(case["now"])
    order = deletion_order(active, ranks, now)
    return {
        "active": sorted(_names(active)),
        "ranks": ranks,
        "order": [_names(group) for group in order],
        "cyclic": [index for index, group in enumerate(order) if _is_circle(group, ranks, now)],
        "victims": [pods_to_delete(active, count, related, now) for count in range(len(active) + 1)],
    }


def _is_circle(group: Sequence[Pod], ranks: Mapping[str, int], now: datetime) -> bool:
    """Whether some two of them do not compare equal."""
    return any(len(deletion_order(pair, ranks, now)) > 1 for pair in combinations(group, 2))


def _of_victims(recorded: Recorded, ours: Data) -> Iterator[Difference]:
    """A scale-down takes the first pods of the order, and says where it ends inside a group."""
    names = [name for group in recorded.expect["order"] for name in group]
    ends = {sum(map(len, recorded.expect["order"][:count])) for count in range(len(recorded.expect["order"]) + 1)}
    for count, chosen in enumerate(ours["victims"]):
        wanted = sorted(names[:count]), count not in ends
        found = sorted(_names(chosen.pods)), chosen.arbitrary
        if found != wanted:
            yield Difference(recorded.name, f"scaled down by {count}", wanted, found)


def _names(pods: Sequence[Pod]) -> list[str]:
    return [pod.metadata.name for pod in pods]
