"""Which pods of a cluster are a workload's replicas, and what its further ones are called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from kubespread.candidate.candidate import Candidate, WorkloadName
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import LabelSelector, OwnerReference
from kubespread.kube.api.workloads import LabelSelectingWorkload, ReplicaSet, ReplicationController
from kubespread.kube.selector import Selector, SelectorError, from_label_selector, from_map
from kubespread.snapshot.snapshot import Snapshot

_Owner = tuple[str, str]
"""Kind and name."""


def others(pods: Sequence[Pod], candidate: Candidate) -> Sequence[Pod]:
    """The cluster's pods without the candidate itself, where it is one of them."""
    if not candidate.is_stored:
        return pods
    asked = candidate.pod.metadata
    return tuple(pod for pod in pods if (pod.metadata.namespace, pod.metadata.name) != (asked.namespace, asked.name))


def present_replicas(pods: Iterable[Pod], candidate: Candidate, replica_sets: Sequence[ReplicaSet]) -> list[Pod]:
    """The workload's pods that are there to stay: those of a Deployment belong to any of its ReplicaSets.

    A controller counts what is its own and matches its selector, and adopts what matches and has no controller.
    """
    if candidate.workload is None:
        return []
    owners = _owners(candidate, candidate.workload, replica_sets)
    return [
        pod
        for pod in pods
        if pod.metadata.namespace == candidate.workload.namespace
        and pod.metadata.deletion_timestamp is None
        and _belongs(pod, owners)
    ]


def controller(pod: Pod) -> OwnerReference | None:
    return next((owner for owner in pod.metadata.owner_references if owner.controller), None)


def _belongs(pod: Pod, owners: Mapping[_Owner, Selector | None]) -> bool:
    labels, owner = pod.metadata.labels, controller(pod)
    if owner is None:
        return any(
            selector is not None and selector.matches(labels) and (kind != "StatefulSet" or _is_ordinal(pod, name))
            for (kind, name), selector in owners.items()
        )
    if (owner.kind, owner.name) not in owners:
        return False
    selector = owners[owner.kind, owner.name]
    return selector is None or selector.matches(labels)


def _is_ordinal(pod: Pod, name: str) -> bool:
    """A StatefulSet adopts only what is called like one of its pods."""
    return pod.metadata.name.removeprefix(f"{name}-").isdecimal()


def _owners(
    candidate: Candidate, workload: WorkloadName, replica_sets: Sequence[ReplicaSet]
) -> Mapping[_Owner, Selector | None]:
    """Each object that the workload's pods are controlled by, and its selector, None where that is not known."""
    made = Snapshot.from_objects(candidate.companions).objects
    selecting: tuple[LabelSelectingWorkload | ReplicationController, ...] = (
        *made.replica_sets, *made.stateful_sets, *made.daemon_sets, *made.replication_controllers,
    )  # fmt: skip
    found = {(type(each).__name__, each.metadata.name): _selector(each.spec.selector) for each in selecting}
    if workload.kind != "Deployment":
        return {(workload.kind, workload.name): None, **found}
    for replica_set in replica_sets:
        owned = any(
            (owner.kind, owner.name) == (workload.kind, workload.name)
            for owner in replica_set.metadata.owner_references
        )
        if owned and replica_set.metadata.namespace == workload.namespace:
            found["ReplicaSet", replica_set.metadata.name] = _selector(replica_set.spec.selector)
    return found


def _selector(given: LabelSelector | Mapping[str, str] | None) -> Selector | None:
    """None also for an empty one: it would match everything, and no controller that adopts may have it."""
    try:
        selector = from_label_selector(given) if isinstance(given, LabelSelector) else from_map(dict(given or {}))
    except SelectorError:
        return None
    return None if selector.is_empty else selector


def replica_names(pod: Pod, present: Iterable[Pod]) -> Iterator[str]:
    """What further replicas are called: numbered, by the ordinals no replica has yet where they are a StatefulSet's."""
    taken = {found.metadata.name for found in present}
    owner = controller(pod)
    base = pod.metadata.name if owner is None else owner.name
    ordinal = pod.metadata.name.removeprefix(f"{base}-")
    first = int(ordinal) if owner is not None and owner.kind == "StatefulSet" and ordinal.isdecimal() else 0
    return (name for number in count(first) if (name := f"{base}-{number}") not in taken)
