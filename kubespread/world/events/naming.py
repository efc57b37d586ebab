"""New pods and their names: numbered, where Kubernetes takes random letters."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.world.store import pod_states as states
from kubespread.world.store.owners import Owner
from kubespread.world.store.store import Store


def create_copy(world: Store, owner: Owner, template: Pod) -> bool:
    """Create another pod of ``owner``; whether the API server lets it."""
    last = owner.number
    if world.create(states.copy_of(template, _free_name(world, owner), world.timestamp), template):
        return True
    owner.number = last
    return False


def create_copies(world: Store, owner: Owner, templates: Iterable[Pod]) -> int:
    """One of each; how many the API server lets be created."""
    return sum(create_copy(world, owner, template) for template in templates)


def _free_name(world: Store, owner: Owner) -> str:
    """A free name for another pod of ``owner``, which no StatefulSet of the same name will need either."""
    namespace, base = owner.name.namespace, owner.name.name
    namesake = WorkloadName("StatefulSet", namespace, base)
    if namesake in world.workloads.stateful_sets or namesake in world.book.owners:
        base += "-new"
    for number in count(owner.number + 1):
        if (namespace, name := f"{base}-{number}") not in world.book:
            owner.number = number
            return name
    raise AssertionError  # numbers do not end
