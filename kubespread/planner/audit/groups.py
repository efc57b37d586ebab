"""The workloads of a world with their pods, and pods without a controller that look like one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active
from kubespread.planner.world.asked import AskedWorkloads
from kubespread.planner.world.pods import as_template
from kubespread.planner.world.world import World


@dataclass(slots=True)
class Group:
    """A workload, or pods by themselves that share their labels."""

    name: WorkloadName
    pods: list[Pod] = field(default_factory=list)
    """Those that have neither ended nor are terminating."""
    owners: Counter[WorkloadName] = field(default_factory=Counter)
    """Whose they are directly, how many of each."""

    def template(self, world: World) -> Pod:
        """What its next pod is made of: that of the controller with the most pods, of several the last by name."""
        if not self.owners:
            return as_template(self.pods[0])
        most = max(self.owners, key=lambda owner: (self.owners[owner], owner))
        return world.owner(most).template or as_template(self.pods[0])

    def replicas(self, world: World) -> int:
        """How many pods it is to have."""
        if not self.owners:
            return len(self.pods)
        return sum(world.owner(owner).replicas for owner in world.owners_below(self.name))


def groups(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[Group]:
    """Those with pods, and not the pods of DaemonSets and of nodes themselves, of which every node has its own."""
    found: dict[Hashable, Group] = {}
    asked = AskedWorkloads(world, is_asked)
    for pod in world.book:
        name = asked.of(pod) if is_active(pod) else None
        if name is None:
            continue
        owner = world.book.owner_of(pod)
        key = name if owner is not None or not pod.metadata.labels else _alike(pod)
        group = found.setdefault(key, Group(name))
        group.pods.append(pod)
        if owner is not None:
            group.owners[owner] += 1
    yield from found.values()


def _alike(pod: Pod) -> Hashable:
    """What makes pods by themselves one group: the same labels."""
    return pod.metadata.namespace, tuple(sorted(pod.metadata.labels.items()))
