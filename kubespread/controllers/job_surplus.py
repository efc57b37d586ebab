"""Which of its running pods a Job deletes when it has too many.

Source of the rules: activePodsForRemoval of k8s.io/kubernetes/pkg/controller/job, and ActivePods of pkg/controller.
Unlike those of a ReplicaSet, a Job's pods are in an order: neither cost nor crowding nor UID is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kubespread.controllers.deletion_precedence import PHASE_ORDER, most_restarts
from kubespread.controllers.job_indexes import completion_index
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import moment, ready_condition, ready_since

_Key = tuple[Any, ...]
_SORTED_BY_INSERTION = 12
"""Go sorts up to as many elements by insertion: equal ones stay as they were, and indexes are in order before."""


@dataclass(frozen=True, slots=True)
class Surplus:
    """What goes. Kubernetes does not say which of equal pods; those chosen here have the smallest names."""

    chosen: tuple[Pod, ...] = ()
    always: tuple[Pod, ...] = ()
    """Those that go whatever the order in which the pods were listed."""
    sometimes: tuple[Pod, ...] = ()
    """Equal pods, some of which go."""


def surplus(pods: Sequence[Pod], at_least: int, completions: int | None) -> Surplus:
    """What goes of the active ``pods``, at least ``at_least`` of them. ``completions``: of an Indexed Job, else None.

    Of an Indexed Job pods without a valid index, and all but the last of each index, go even where there are not too
    many. Raises SnapshotError for a time that cannot be read.
    """
    keys = {id(pod): _key(pod) for pod in pods}

    def key(pod: Pod) -> _Key:
        return keys[id(pod)]

    ordered = sorted(pods, key=lambda pod: (key(pod), pod.metadata.name))
    always, slots = ([], [[pod] for pod in ordered]) if completions is None else _duplicates(ordered, key, completions)
    slots.sort(key=lambda slot: key(slot[-1]))
    chosen = [*always, *(pod for slot in slots for pod in slot[:-1])]
    more = max(0, at_least - len(chosen))
    chosen += [slot[-1] for slot in slots[:more]]
    tied = None if completions is not None and len(slots) <= _SORTED_BY_INSERTION else _tied(slots, key, more)
    sometimes: list[Pod] = []
    for position, slot in enumerate(slots):
        is_tied = key(slot[-1]) == tied
        if position < more and not is_tied:
            always += slot
        elif is_tied or len(slot) > 1:
            sometimes += slot
    return Surplus(tuple(chosen), tuple(always), tuple(sometimes))


def _tied(slots: Sequence[Sequence[Pod]], key: Callable[[Pod], _Key], more: int) -> _Key | None:
    """What the last one that goes and the first one that stays have in common, where nothing decides between them."""
    if not 0 < more < len(slots):
        return None
    last_going, first_staying = key(slots[more - 1][-1]), key(slots[more][-1])
    return last_going if last_going == first_staying else None


def _duplicates(
    ordered: Sequence[Pod], key: Callable[[Pod], _Key], completions: int
) -> tuple[list[Pod], list[list[Pod]]]:
    """The pods that go for their index, and per index the equal ones of which one, here the last, is kept."""
    by_index: dict[int | None, list[Pod]] = {}
    for pod in ordered:
        by_index.setdefault(completion_index(pod, completions), []).append(pod)
    going = by_index.pop(None, [])
    slots = []
    for _, pods in sorted(by_index.items(), key=lambda item: item[0] or 0):
        slot = [pod for pod in pods if key(pod) == key(pods[-1])]
        going += pods[: -len(slot)]
        slots.append(slot)
    return going, slots


def _key(pod: Pod) -> _Key:
    """What is compared, smaller first."""
    since = ready_since(pod)
    created = moment(pod, "metadata.creationTimestamp", pod.metadata.creation_timestamp)
    return (
        bool(pod.spec.node_name),
        PHASE_ORDER.get(pod.status.phase, 0),
        ready_condition(pod) is not None,
        _later_first(since),
        most_restarts(pod),
        _later_first(created),
    )


def _later_first(time: datetime | None) -> tuple[bool, float]:
    """What is not known comes before everything."""
    return time is not None, -time.timestamp() if time is not None else 0.0
