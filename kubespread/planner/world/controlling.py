"""Which controller looks after which kind of object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from kubespread.kube.owners import WorkloadName
from kubespread.planner.world import deployments, jobs, replicas, stateful_sets

if TYPE_CHECKING:
    from kubespread.planner.world.world import World


class Reconcile(Protocol):
    """One pass over one object; whether it did anything."""

    def __call__(self, world: World, name: WorkloadName, /) -> bool: ...


CONTROLLERS: Mapping[str, Reconcile] = {
    "ReplicaSet": replicas.reconcile,
    "ReplicationController": replicas.reconcile,
    "Deployment": deployments.reconcile,
    "StatefulSet": stateful_sets.reconcile,
    "Job": jobs.reconcile,
}
"""By kind. A DaemonSet makes pods where a node is new, not where a pod is gone."""


def makes_others(kind: str) -> bool:
    """Whether objects of the kind make another pod where one is gone."""
    return kind in CONTROLLERS
