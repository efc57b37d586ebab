"""ReplicaSets and ReplicationControllers: keeping the desired number of pods.

New pods and their names: numbered, where Kubernetes takes random letters.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, takewhile

from kubespread.controllers.replicaset import victims
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, is_active
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import SCALED_DOWN
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


def reconcile(world: Store, name: WorkloadName) -> bool:
    """Make the pods that are missing, or delete those that are too many; whether any was made or deleted."""
    owner = world.owner(name)
    owner.gone.clear()
    world.api_server.take_refused(name)
    missing = owner.replicas - world.book.count(name).active
    if missing > 0:
        if (template := template_of(world, owner)) is None:
            return False
        # Whoever is refused one pod is refused all that are like it.
        created = sum(takewhile(bool, (create_copy(world, owner, template) for _ in range(missing))))
        return created > 0
    if missing < 0:
        active = [pod for pod in world.book.of(name) if is_active(pod)]
        chosen = victims(active, -missing, _related(world, name), world.time, world.surroundings.chance.pick)
        if chosen.arbitrary:
            world.happenings.by_chance = True
            above = world.workloads.above(name, active)
            world.happenings.note(f"{above.kind}/{above.name}: among equal pods the controller's choice is arbitrary")
        world.delete(chosen.pods, SCALED_DOWN)
    return missing != 0


def template_of(world: Store, owner: Owner) -> Pod | None:
    """What the owner makes copies of; of one without pods it comes from its object. None where the API server refuses
    them.
    """
    if owner.template is None:
        made = world.make(owner.name, f"{owner.name.name}-")
        if made is None:
            return None
        world.add_missing(made.companions)
        owner.template = states.as_template(made.pod)
    return owner.template


def _related(world: Store, name: WorkloadName) -> list[Pod]:
    """The active pods of all ReplicaSets of the same controller; a ReplicaSet without a controller has none."""
    above = world.workloads.above(name, world.book.of(name))
    if above == name:
        return []
    siblings = world.owners_below(above)
    return [pod for sibling in siblings for pod in world.book.of(sibling) if is_active(pod)]
