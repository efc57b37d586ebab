"""Which pods are a workload's: those it controls, and orphans that its selector matches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubespread.controllers.deployment import replica_sets_of
from kubespread.controllers.statefulset import ordinal_of
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ApiObject, LabelSelector
from kubespread.kube.api.workloads import LabelSelectingWorkload, ReplicaSet, ReplicationController
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.selector import Selector, SelectorError, from_label_selector, from_map

_Owner = tuple[str, str]
"""Kind and name."""


def pods_of(
    workload: WorkloadName,
    companions: Iterable[ApiObject],
    replica_sets: Iterable[ReplicaSet],
    pods: Iterable[Pod],
) -> list[Pod]:
    """The workload's pods that are there to stay: those of a Deployment belong to any of its ReplicaSets.

    A controller counts what is its own and matches its selector, and adopts what matches and has no controller.
    ``companions`` are the objects that come with the workload, whose selectors are known even where the cluster does
    not have them; ``replica_sets`` are the cluster's.
    """
    owners = _owners(workload, companions, replica_sets)
    return [
        pod
        for pod in pods
        if pod.metadata.namespace == workload.namespace
        and pod.metadata.deletion_timestamp is None
        and _belongs(pod, owners)
    ]


def _belongs(pod: Pod, owners: Mapping[_Owner, Selector | None]) -> bool:
    labels, owner = pod.metadata.labels, controller_of(pod)
    if owner is None:
        # A StatefulSet adopts only what is called like one of its pods.
        return any(
            selector is not None and selector.matches(labels)
            for (kind, name), selector in owners.items()
            if kind != "StatefulSet" or ordinal_of(pod, name) is not None
        )
    if (owner.kind, owner.name) not in owners:
        return False
    selector = owners[owner.kind, owner.name]
    return selector is None or selector.matches(labels)


def _owners(
    workload: WorkloadName, companions: Iterable[ApiObject], replica_sets: Iterable[ReplicaSet]
) -> Mapping[_Owner, Selector | None]:
    """Each object that the workload's pods are controlled by, and its selector, None where that is not known."""
    selecting = [found for found in companions if isinstance(found, LabelSelectingWorkload | ReplicationController)]
    if workload.kind == "Deployment":
        selecting += replica_sets_of(workload, replica_sets)
    owners = {(type(found).__name__, found.metadata.name): _selector(found.spec.selector) for found in selecting}
    return owners if workload.kind == "Deployment" else {(workload.kind, workload.name): None, **owners}


def _selector(selector: LabelSelector | Mapping[str, str] | None) -> Selector | None:
    """None also for an empty one: it would match everything, and no controller that adopts may have it."""
    try:
        read = from_label_selector(selector) if isinstance(selector, LabelSelector) else from_map(dict(selector or {}))
    except SelectorError:
        return None
    return None if read.is_empty else read
