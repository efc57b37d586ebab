"""Jobs: a pod that is gone is made again, under its own index where it has one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubespread.kube.owners import WorkloadName
from kubespread.planner.world import pods as states

if TYPE_CHECKING:
    from kubespread.planner.world.world import World


def reconcile(world: World, name: WorkloadName) -> bool:
    """Make again what is gone. Losing an active pod leaves what the Job still wants as it was; its back-off is not
    waited for.
    """
    owner = world.owner(name)
    gone, owner.gone = owner.gone, []
    for pod in gone:
        template = states.as_template(pod)
        world.create(states.copy_of(template, world.free_name(owner), world.timestamp), template)
    return bool(gone)
