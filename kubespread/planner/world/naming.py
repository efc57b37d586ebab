"""Names of new pods: numbered, where Kubernetes takes random letters."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from kubespread.kube.owners import WorkloadName
from kubespread.planner.world.owners import Owner

if TYPE_CHECKING:
    from kubespread.planner.world.world import World


def free_name(world: World, owner: Owner) -> str:
    """A name for another pod of ``owner`` that nobody has yet, and no StatefulSet of the same name will need."""
    namespace, base = owner.name.namespace, owner.name.name
    namesake = WorkloadName("StatefulSet", namespace, base)
    if namesake in world.workloads.stateful_sets or namesake in world.book.owners:
        base += "-new"
    for number in count(owner.number + 1):
        if (namespace, name := f"{base}-{number}") not in world.book:
            owner.number = number
            return name
    raise AssertionError  # numbers do not end
