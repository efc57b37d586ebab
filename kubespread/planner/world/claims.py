"""Claims that controllers create for the pods of a world."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kubespread.controllers.claims import admitted_claims
from kubespread.kube.api.storage import PersistentVolumeClaim
from kubespread.planner.claims import to_create
from kubespread.scheduler.cluster.change import StorageChange

if TYPE_CHECKING:
    from kubespread.planner.world.world import World


def create_claims(world: World, claims: Iterable[PersistentVolumeClaim]) -> None:
    """The claims that are made for a new pod, those that are not there yet."""
    admitted = admitted_claims(claims, world.workloads.objects)
    if created := to_create(admitted, world.cluster.storage):
        world.living.change_storage(StorageChange(created))
