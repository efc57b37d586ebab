"""Pods that wait for a node, grouped as autoscalers do: identical ones together."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import Struct, field

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import WorkloadName
from kubespread.scheduler.cluster.amounts import allocatable, requested
from kubespread.scheduler.framework import Framework
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting


class PodGroup(Struct, frozen=True):
    """Pods of one controller with the same labels and spec: what is true of one is true of all."""

    plugins: Framework
    waiting: list[Waiting] = field(default_factory=list)

    @property
    def pod(self) -> Pod:
        """One for all of them."""
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


def pod_groups(world: World) -> list[PodGroup]:
    """Those that an autoscaler looks at, in the order they came: kube-scheduler found no node for them."""
    groups: dict[tuple[WorkloadName | PodKey, bytes], PodGroup] = {}
    specs: dict[int, bytes] = {}
    for waiting in world.waiting:
        scheduled = world.surroundings.scheduler_of(waiting.pod)
        if waiting.pod.spec.scheduling_gates or scheduled is None:
            continue
        template = id(waiting.template)
        if template not in specs:
            specs[template] = msgspec.json.encode((waiting.pod.metadata.labels, waiting.pod.spec))
        key = world.book.owner_of(waiting.pod) or key_of(waiting.pod), specs[template]
        groups.setdefault(key, PodGroup(scheduled[1])).waiting.append(waiting)
    return list(groups.values())


def largest_first(groups: Iterable[PodGroup], node: Node) -> list[PodGroup]:
    """By the share of ``node`` that a pod takes, cpu and memory together."""
    offered = allocatable(node)

    def share(group: PodGroup) -> float:
        requests, _ = requested(group.pod)
        return sum(requests.get(name, 0) / offered[name] for name in ("cpu", "memory") if offered.get(name))

    return sorted(groups, key=share, reverse=True)
