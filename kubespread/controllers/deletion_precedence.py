"""Which of two pods a ReplicaSet deletes first, asked of all pairs at once.

For each pod the answers are added up: two for a pod that goes after it, one for one that compares equal. No pair is
compared for that, since thousands of pods have millions of pairs: all rules but two are orders, and those two are
orders of UIDs among pods of different times.

Source of the rules: ActivePodsWithRanks.Less of pkg/controller.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kubespread.kube.api.annotations import POD_DELETION_COST
from kubespread.kube.api.core import ContainerStatus, Pod
from kubespread.kube.pod_status import moment, ready_condition
from kubespread.kube.selector import parse_int64

PHASE_ORDER = {"Pending": 0, "Unknown": 1, "Running": 2}
_COST = re.compile(r"-[0-9]+|0|[1-9][0-9]*")
_INT32 = 2**31
_LONGEST = 2**63 - 1
"""The longest of Go's durations, in nanoseconds."""


@dataclass(frozen=True, slots=True)
class _Time:
    """When something was; pods of one bucket are about as old."""

    moment: datetime | None
    bucket: int

    @property
    def place(self) -> tuple[bool, int]:
        """What is not known comes first, then the younger."""
        return self.moment is not None, self.bucket


@dataclass(frozen=True, slots=True)
class Standing:
    """What is compared of one pod."""

    uid: str
    is_ready: bool
    first: tuple[Any, ...]
    """Assigned, phase, ready, deletion cost, crowding: what decides before anything else, smaller first."""
    ready: _Time
    restarts: tuple[int, int]
    created: _Time

    @classmethod
    def of(cls, pod: Pod, rank: int, now: datetime) -> Standing:
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
    """What the annotation says, 0 where it says nothing or no number of 32 bits.

    A positive number may have neither sign nor leading zeros, a negative one may: ``-010`` is -10.
    """
    text = pod.metadata.annotations.get(POD_DELETION_COST, "")
    cost = parse_int64(text) if _COST.fullmatch(text) else None
    return cost if cost is not None and -_INT32 <= cost < _INT32 else 0


Pods = Sequence[tuple[int, Standing]]
"""Some pods, each with its index among all."""
_Rule = Callable[[Pods], Mapping[int, int]]


def precedences(pods: Iterable[Standing]) -> Mapping[int, int]:
    """By the index of each pod: twice how many pods go after it, and once how many compare equal to it."""
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


def _by_key(pods: Pods, key: Callable[[Standing], Any], then: _Rule) -> Mapping[int, int]:
    """The smaller key first; ``then`` decides among those of one key."""
    if len(pods) == 1:
        return {pods[0][0]: 0}
    after, summed = len(pods), {}
    for alike in _alike(pods, key, in_order=True):
        after -= len(alike)
        summed.update({index: among + 2 * after for index, among in then(alike).items()})
    return summed


def _by_time(pods: Pods, time: Callable[[Standing], _Time], then: _Rule) -> Mapping[int, int]:
    """By bucket; in one bucket by UID, except that ``then`` decides among those of the very same time.

    This exception is why a may go before b, b before c, and c before a.
    """

    def in_one_bucket(bucket: Pods) -> Mapping[int, int]:
        uids, summed = sorted(pod.uid for _, pod in bucket), {}
        for alike in _alike(bucket, lambda pod: time(pod).moment, in_order=False):
            own, among = sorted(pod.uid for _, pod in alike), then(alike)
            for index, pod in alike:
                summed[index] = among[index] + _before(pod.uid, uids) - _before(pod.uid, own)
        return summed

    return _by_key(pods, lambda pod: time(pod).place, in_one_bucket)


def _before(uid: str, uids: Sequence[str]) -> int:
    """Twice how many of the sorted ``uids`` are larger, and once how many are the same, itself included."""
    after = len(uids) - bisect_right(uids, uid)
    return 2 * after + bisect_right(uids, uid) - bisect_left(uids, uid)


def _alike(pods: Pods, key: Callable[[Standing], Any], *, in_order: bool) -> Iterable[Pods]:
    groups: dict[Any, list[tuple[int, Standing]]] = {}
    for index, pod in pods:
        groups.setdefault(key(pod), []).append((index, pod))
    return (groups[each] for each in sorted(groups)) if in_order else groups.values()


def most_restarts(pod: Pod) -> tuple[int, int]:
    """The most restarts of a container and of a sidecar, negative: the larger goes first."""
    sidecars = {container.name for container in pod.spec.init_containers if container.restart_policy == "Always"}
    status = pod.status
    return (
        -_most(status.container_statuses),
        -_most(each for each in status.init_container_statuses if each.name in sidecars),
    )


def _most(statuses: Iterable[ContainerStatus]) -> int:
    return max((each.restart_count for each in statuses), default=0)


def _time(pod: Pod, what: str, text: str, now: datetime) -> _Time:
    at = moment(pod, what, text)
    return _Time(at, 0 if at is None else _bucket(now - at))


def _bucket(age: timedelta) -> int:
    """The binary logarithm of the nanoseconds, -1 where the time has not come."""
    nanoseconds = min(age // timedelta(microseconds=1) * 1000, _LONGEST)
    return int(math.log2(float(nanoseconds))) if nanoseconds > 0 else -1
