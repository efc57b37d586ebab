"""ReplicaSets and ReplicationControllers: the pod they create, and the surplus pods they delete.

All pairs of pods are compared at once. Each pod scores two for every pod that goes after it and one for every pod that
compares equal. No pair is compared one by one, since thousands of pods have millions of pairs: all rules but two are
total orders, and the other two order pods of different times by UID.

The gates PodDeletionCost and LogarithmicScaleDown are at their default, on.

Source: pkg/controller/controller_utils.go, ActivePodsWithRanks, compareMaxContainerRestarts, logarithmicRankDiff
Source: pkg/controller/replicaset/replica_set.go, manageReplicas, getPodsToDelete, getIndirectlyRelatedPods,
    getPodsRankedByRelatedPodsOnSameNode
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.pod_creation import NewPod, PodCreator, controlled_by, pod_of_template
from kubespread.kube.api.core import ContainerStatus, Pod
from kubespread.kube.api.workloads import MapSelectingWorkloadSpec, ReplicaSet, ReplicationController
from kubespread.kube.gotext import parse_int64
from kubespread.kube.owners import moment, ready_condition
from kubespread.kube.pod_requests import is_sidecar
from kubespread.kube.well_known import POD_DELETION_COST
from kubespread.regex import regex


def new_pod(replica_set: PodCreator[ReplicaSet]) -> NewPod:
    owner = controlled_by(ReplicaSet, replica_set.name)
    return NewPod(pod_of_template(replica_set, owner), (replica_set.object,))


def new_pod_of_controller(controller: PodCreator[ReplicationController]) -> NewPod:
    owner = controlled_by(ReplicationController, controller.name)
    # API defaulting: an absent selector is the template's labels.
    selector = controller.object.spec.selector or controller.template.metadata.labels
    companion = replace(controller.object, spec=MapSelectingWorkloadSpec(selector=selector))
    return NewPod(pod_of_template(controller, owner), (companion,))


PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST = regex(r"-[0-9]+|0|[1-9][0-9]*")
_INT32 = 2**31
_LONGEST = 2**63 - 1
"""The longest of Go's durations, in nanoseconds."""


class _Time(Struct, frozen=True):
    """Time of an event; pods of one bucket are about equally old."""

    moment: datetime | None
    bucket: int

    @property
    def place(self) -> tuple[bool, int]:
        """Sort key that puts unknown times first, then the younger."""
        return self.moment is not None, self.bucket


class _Standing(Struct, frozen=True):
    """Properties of one pod that are compared."""

    uid: str
    is_ready: bool
    first: tuple[Any, ...]
    """Assigned, phase, ready, deletion cost, crowding: compared before anything else, smaller first."""
    ready: _Time
    restarts: tuple[int, int]
    created: _Time

    @classmethod
    def build(cls, pod: Pod, rank: int, now: datetime) -> _Standing:
        """Raises SnapshotError for a time that cannot be read."""
        meta, condition = pod.metadata, ready_condition(pod)
        ready_at = condition.last_transition_time if condition is not None else ""
        return cls(
            uid=meta.uid,
            is_ready=condition is not None,
            first=(
                bool(pod.spec.node_name),
                PHASE_ORDER.get(pod.status.phase, 0),
                condition is not None,
                deletion_cost(pod),
                -rank,
            ),
            ready=_time(pod, "lastTransitionTime of condition Ready", ready_at, now),
            restarts=most_restarts(pod),
            created=_time(pod, "metadata.creationTimestamp", meta.creation_timestamp, now),
        )


def deletion_cost(pod: Pod) -> int:
    """Value of the annotation; 0 without one, or if it is no 32-bit number.

    A positive number may have neither sign nor leading zeros, a negative one may: ``-010`` is -10.
    """
    text = pod.metadata.annotations.get(POD_DELETION_COST, "")
    cost = parse_int64(text) if _COST.fullmatch(text) else None
    return cost if cost is not None and -_INT32 <= cost < _INT32 else 0


Pods = Sequence[tuple[int, _Standing]]
"""Pods, each with its index among all."""
_Rule = Callable[[Pods], Mapping[int, int]]


def _precedences(pods: Iterable[_Standing]) -> Mapping[int, int]:
    """Precedence by the index of each pod: twice how many pods go after it, and once how many compare equal to it."""
    return _by_key(list(enumerate(pods)), lambda pod: pod.first, _by_ready_time)


def _by_ready_time(pods: Pods) -> Mapping[int, int]:
    ready = pods[0][1].is_ready
    return _by_time(pods, lambda pod: pod.ready, _by_restarts) if ready else _by_restarts(pods)


def _by_restarts(pods: Pods) -> Mapping[int, int]:
    return _by_key(pods, lambda pod: pod.restarts, _by_creation_time)


def _by_creation_time(pods: Pods) -> Mapping[int, int]:
    return _by_time(pods, lambda pod: pod.created, _equal)


def _equal(pods: Pods) -> Mapping[int, int]:
    return {index: len(pods) - 1 for index, _ in pods}


def _by_key(pods: Pods, key: Callable[[_Standing], Any], then: _Rule) -> Mapping[int, int]:
    """Precedence by key, smaller first; ``then`` decides among pods with one key."""
    if len(pods) == 1:
        return {pods[0][0]: 0}
    after, summed = len(pods), {}
    for alike in _groups(pods, key, in_order=True):
        after -= len(alike)
        summed.update({index: among + 2 * after for index, among in then(alike).items()})
    return summed


def _by_time(pods: Pods, time: Callable[[_Standing], _Time], then: _Rule) -> Mapping[int, int]:
    """Precedence by bucket, then by UID, except that ``then`` decides between pods of exactly the same time.

    Because of this exception a may go before b, b before c, and c before a.
    """

    def in_one_bucket(bucket: Pods) -> Mapping[int, int]:
        uids, summed = sorted(pod.uid for _, pod in bucket), {}
        for alike in _groups(bucket, lambda pod: time(pod).moment, in_order=False):
            own, among = sorted(pod.uid for _, pod in alike), then(alike)
            for index, pod in alike:
                summed[index] = among[index] + _double_rank(pod.uid, uids) - _double_rank(pod.uid, own)
        return summed

    return _by_key(pods, lambda pod: time(pod).place, in_one_bucket)


def _double_rank(uid: str, uids: Sequence[str]) -> int:
    """Twice how many of the sorted ``uids`` are larger, and once how many are the same, itself included."""
    after = len(uids) - bisect_right(uids, uid)
    return 2 * after + bisect_right(uids, uid) - bisect_left(uids, uid)


def _groups(pods: Pods, key: Callable[[_Standing], Any], *, in_order: bool) -> Iterable[Pods]:
    groups: dict[Any, list[tuple[int, _Standing]]] = {}
    for index, pod in pods:
        groups.setdefault(key(pod), []).append((index, pod))
    return (groups[group] for group in sorted(groups)) if in_order else groups.values()


def most_restarts(pod: Pod) -> tuple[int, int]:
    """Most restarts of a container and of a sidecar, negated: the larger goes first."""

    def most(statuses: Iterable[ContainerStatus]) -> int:
        return max((status.restart_count for status in statuses), default=0)

    return -most(pod.status.container_statuses), -most(sidecar_statuses(pod))


def sidecar_statuses(pod: Pod) -> list[ContainerStatus]:
    sidecars = {container.name for container in pod.spec.init_containers if is_sidecar(container)}
    return [status for status in pod.status.init_container_statuses if status.name in sidecars]


def _time(pod: Pod, field: str, text: str, now: datetime) -> _Time:
    time = moment(pod, field, text)
    return _Time(time, 0 if time is None else _bucket(now - time))


def _bucket(age: timedelta) -> int:
    """The binary logarithm of the nanoseconds, -1 where the time has not come."""
    nanoseconds = min(age // timedelta(microseconds=1) * 1000, _LONGEST)
    return int(math.log2(float(nanoseconds))) if nanoseconds > 0 else -1


BURST_REPLICAS = 500
"""Most pods that one pass of the controller creates, or deletes."""


Pick = Callable[[Sequence[Pod], int], Sequence[Pod]]
"""Choice of a number of pods among equal ones, sorted by name."""


def first_by_name(equals: Sequence[Pod], count: int) -> Sequence[Pod]:
    return equals[:count]


class PodsToDelete(Struct, frozen=True):
    pods: tuple[Pod, ...]
    """Pods in the order of their choice."""
    arbitrary: bool
    """True if other pods could be deleted instead, as they are equal."""


def crowding(active: Iterable[Pod], related: Iterable[Pod]) -> dict[str, int]:
    """Number of ``related`` pods, including itself, on the node of each pod of ``active``, by name."""
    on_node = Counter(pod.spec.node_name for pod in related)
    return {pod.metadata.name: on_node[pod.spec.node_name] for pod in active}


def deletion_order(pods: Sequence[Pod], ranks: Mapping[str, int], now: datetime) -> list[list[Pod]]:
    """Active ``pods`` of one controller in groups, from the first to be deleted to the last.

    ``ranks`` is `crowding`; a pod that is not in it has rank 0. Kubernetes' comparison is not an order: pods of one
    group compare equal, or each before the next in a circle, and which of them goes first depends on how they were
    listed. Within a group they are sorted by name. Raises SnapshotError for a time that cannot be read.

    A group ends where every pod before goes before every pod after. Only there do the standings of the pods before
    sum up to their wins among each other and over all pods after them.
    """
    standing = _precedences([_Standing.build(pod, ranks.get(pod.metadata.name, 0), now) for pod in pods])
    groups: list[list[Pod]] = []
    begun, total = 0, 0
    order = sorted(range(len(pods)), key=lambda index: (-standing[index], pods[index].metadata.name))
    for count, index in enumerate(order, start=1):
        total += standing[index]
        if total == count * (count - 1) + 2 * count * (len(pods) - count):
            group = [pods[index] for index in order[begun:count]]
            groups.append(sorted(group, key=lambda pod: pod.metadata.name))
            begun = count
    return groups


def pods_to_delete(
    pods: Sequence[Pod], count: int, related: Sequence[Pod], now: datetime, pick: Pick = first_by_name
) -> PodsToDelete:
    """The ``count`` active ``pods`` of one controller that a scale-down deletes.

    ``related`` are the pods that crowd their nodes; none for a ReplicationController. Ranks are counted once per pass,
    and a pass deletes at most `BURST_REPLICAS` pods. Raises SnapshotError for a time that cannot be read.
    """
    chosen: list[Pod] = []
    remaining, arbitrary = list(pods), False
    while len(chosen) < count < len(pods):
        deleted = {id(pod) for pod in chosen}
        ranks = crowding(remaining, (pod for pod in related if id(pod) not in deleted))
        room = min(count - len(chosen), BURST_REPLICAS)
        for group in deletion_order(remaining, ranks, now):
            is_cut = 0 < room < len(group)
            chosen += pick(group, room) if is_cut else group[:room]
            arbitrary |= is_cut
            room -= min(room, len(group))
        deleted = {id(pod) for pod in chosen}
        remaining = [pod for pod in remaining if id(pod) not in deleted]
    # All of them go without being ranked.
    return PodsToDelete(tuple(chosen if count < len(pods) else pods), arbitrary)
