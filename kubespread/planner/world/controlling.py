"""Which controller looks after which kind of object."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from kubespread.controllers.outage import Replacement, replacement
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, controller_of
from kubespread.kube.pod_status import is_active, is_terminating
from kubespread.planner.world import daemons, deployments, jobs, replicas, stateful_sets
from kubespread.planner.world.happenings import LOST, SCALED_DOWN, UNSELECTED

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
    "DaemonSet": daemons.reconcile,
}
"""By kind."""
ABOVE = frozenset({"Deployment"})
BELOW = frozenset(CONTROLLERS) - ABOVE
"""The kinds that make pods and delete them themselves."""


def controlled_as(world: World, name: WorkloadName) -> str:
    """The kind whose controller looks after an object: its own, or what one that is not known is taken for."""
    owner = world.owners.get(name)
    return "ReplicaSet" if owner is not None and owner.is_foreign else name.kind


def makes_others(world: World, name: WorkloadName) -> bool:
    """Whether it makes another pod where one is gone."""
    return controlled_as(world, name) in CONTROLLERS


def not_modelled(owner: WorkloadName) -> str:
    """What to say of a controller of another kind."""
    name = f"{owner.kind}/{owner.name}"
    return f"{name} is not a controller that is modeled: whether it makes other pods is not known"


def misses(world: World, pod: Pod, owner: WorkloadName, why: str, *, stays: bool) -> bool:
    """Whether ``owner`` makes another pod now that ``pod`` goes; ``stays``: now that it is terminating and no more."""
    if not makes_others(world, owner):
        # A static pod is its kubelet's.
        if owner.kind != "Node":
            world.happenings.note(not_modelled(owner))
        return False
    if why in (SCALED_DOWN, UNSELECTED) or not _makes_another(world, pod, owner, why):
        return False
    waits = waits_for_the_end(world, pod, owner)
    if is_active(pod):
        if stays and waits:
            world.happenings.note(
                f"{owner.kind}/{owner.name} makes no other pod as long as the one it lost is terminating"
            )
        return not (stays and waits)
    return waits and not stays and is_terminating(pod)


def _makes_another(world: World, pod: Pod, owner: WorkloadName, why: str) -> bool:
    if owner.kind == "DaemonSet":
        return why != LOST and daemons.belongs(world, pod)
    return not (owner.kind == "Job" and jobs.makes_none(world, owner))


def waits_for_the_end(world: World, pod: Pod, owner: WorkloadName) -> bool:
    """Whether a pod has to be gone before there is another one; one that was adopted names no controller."""
    if owner.kind == "StatefulSet":
        return True
    return replacement(controller_of(pod), world.workloads.jobs.get(owner)) is Replacement.WHEN_GONE
