"""Pods that workloads should have but that no node runs: those that wait, and those not made yet.

Names do not show the cause: where one pod of a workload waits and another is evicted, the first may take the
place of the second, whose successor waits under a new name. So pods are counted by workload.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from kubespread.kube.pod_status import is_active
from kubespread.world.events.unmade import Unmade, unmade
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting


def settled(world: World) -> frozenset[PodKey]:
    """Let a world settle before anything happens in it. The pods that waited until then, and have a node by now."""
    waited = [key_of(waiting_pod.pod) for waiting_pod in world.waiting]
    world.settle()
    return frozenset(key for key in waited if key in world.book and world.book[key].spec.node_name)


class Missing:
    """What no node runs before something happens in a world, to compare with what none runs afterwards."""

    def __init__(self, world: World, waited: Collection[PodKey] = ()) -> None:
        """``waited`` are pods that have a node only since the world settled: to lose it is to wait as they did."""
        self._waited = {key: workload_of(world, world.book[key]) for key in waited if key in world.book}
        self._waiting = {key_of(waiting_pod.pod): workload_of(world, waiting_pod.pod) for waiting_pod in world.waiting}
        self._unmade = Counter({(row.owner, row.is_refused): row.count for row in unmade(world)})

    def newly_waiting(self, world: World) -> list[Waiting]:
        """Waiting pods, for each workload only the number it has gained since before."""
        waiting = {key_of(waiting_pod.pod): waiting_pod for waiting_pod in world.waiting}
        new = [waiting_pod for key, waiting_pod in waiting.items() if key not in self._waiting]
        if not new:
            return []
        # Each that waited and does not any more has left its place in the queue to another of its workload.
        relieved = Counter(workload for key, workload in self._waiting.items() if key not in waiting)
        relieved.update(workload for key, workload in self._waited.items() if not _runs(world, key))
        charged: list[Waiting] = []
        for waiting_pod in new:
            workload = workload_of(world, waiting_pod.pod)
            if relieved[workload]:
                relieved[workload] -= 1
            else:
                charged.append(waiting_pod)
        return charged

    def has_more(self, world: World) -> bool:
        """Whether pods wait or are not made beyond those of before."""
        return bool(self.newly_waiting(world)) or any(True for _ in self.newly_unmade(world))

    def newly_unmade(self, world: World, *, has_grown: bool = False) -> Iterator[Unmade]:
        """Pods that their controllers do not make now, for each controller only the number gained since before. Only
        controllers that lost pods are looked at: the others have not changed, unless workloads were to grow.
        """
        lost = (world.book.owner_of(gone.pod) for gone in world.happenings.gone)
        owners = None if has_grown else {owner for owner in lost if owner is not None}
        for row in unmade(world, owners):
            if (more := row.count - self._unmade[row.owner, row.is_refused]) > 0:
                yield replace(row, count=more)


def _runs(world: World, key: PodKey) -> bool:
    return key in world.book and is_active(world.book[key]) and bool(world.book[key].spec.node_name)
