"""The workloads of a world with their pods, and pods without a controller that look like one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName
from kubespread.kube.pod_status import is_active
from kubespread.planner.world.pods import as_template
from kubespread.planner.world.world import World

_OF_NODES = frozenset({"DaemonSet", "Node"})


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
        return sum(world.owner(owner).replicas for owner in self.owners) if self.owners else len(self.pods)


def groups(world: World, is_asked: Callable[[WorkloadName], bool]) -> Iterator[Group]:
    """Those with pods, and not the pods of DaemonSets and of nodes themselves, of which every node has its own."""
    found: dict[Hashable, Group] = {}
    above: dict[WorkloadName, WorkloadName | None] = {}
    for pod in world.book:
        if not is_active(pod):
            continue
        owner = world.book.owner_of(pod)
        if owner is None:
            group = _bare(found, pod, is_asked)
        else:
            if owner not in above:
                name = world.workloads.above(owner, [pod])
                above[owner] = name if name.kind not in _OF_NODES and is_asked(name) else None
            known = above[owner]
            group = None if known is None else found.setdefault(known, Group(known))
        if group is not None:
            group.pods.append(pod)
            if owner is not None:
                group.owners[owner] += 1
    yield from found.values()


def _bare(found: dict[Hashable, Group], pod: Pod, is_asked: Callable[[WorkloadName], bool]) -> Group | None:
    """Pods of the same labels are one group, named after the first; a pod without labels is by itself."""
    meta = pod.metadata
    name = WorkloadName("Pod", meta.namespace, meta.name)
    if not is_asked(name):
        return None
    key = (meta.namespace, tuple(sorted(meta.labels.items()))) if meta.labels else name
    return found.setdefault(key, Group(name))
