"""What the pods of nodes ask for together, against what the other nodes have left: no more than that can ever go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np

from kubespread.controllers.drain import DrainFlags
from kubespread.kube.api.core import Pod
from kubespread.kube.pod_status import is_active
from kubespread.planner.capacity.room import PODS, free
from kubespread.planner.details import canonical
from kubespread.planner.reports.details import rounded
from kubespread.planner.world.controlling import makes_others
from kubespread.planner.world.draining import drain_plan
from kubespread.planner.world.pod_book import PodKey, key_of
from kubespread.planner.world.world import World
from kubespread.scheduler.cluster.amounts import BASIC_RESOURCES
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.integers import wrapped


def _is_made_again(world: World, pod: Pod) -> bool:
    """Whether the pod's controller makes another one, which needs room."""
    owner = world.book.owner_of(pod)
    return is_active(pod) and owner is not None and makes_others(world, owner)


class Asks:
    """Nodes of a world in the order in which they are to go; the world stays as it is."""

    def __init__(self, world: World, names: Sequence[str], flags: DrainFlags, waited: Collection[PodKey] = ()) -> None:
        """Pods that ``waited`` before the world settled do not count: they may wait again."""
        self._cluster = world.cluster
        self._positions = np.array([self._cluster.nodes.index[name] for name in names], dtype=np.intp)
        kinds = self._cluster.kinds
        each = []
        for name in names:
            asked: Counter[str] = Counter()
            for pod in filter(partial(_is_made_again, world), drain_plan(world, name, flags).evict):
                if key_of(pod) not in waited:
                    asked.update({PODS: 1, **kinds[kinds.number_of(pod)].requests[0]})
            each.append(asked)
        # Of others there may be more than nodes say, and profiles may ignore them.
        resources = [name for name in (*BASIC_RESOURCES, PODS) if any(asked[name] > 0 for asked in each)]
        self._asked: Mapping[str, Counts] = {
            resource: np.array([wrapped(asked[resource]) for asked in each], dtype=np.int64) for resource in resources
        }
        """By resource, what the pods of each node ask for."""

    def _of(self, resource: str, first: int, count: int | None = None) -> tuple[Counts, Counts]:
        """From node ``first`` on, ``count`` of them: what the first asks for, the first two, and so on, and what all
        others have free then.
        """
        chosen = slice(first, None if count is None else first + count)
        there = free(self._cluster, resource)
        left: Counts = there.sum() - np.cumsum(there[self._positions[chosen]])
        return np.cumsum(self._asked[resource][chosen]), left

    def likely(self, first: int, share: float) -> int:
        """How many of the nodes, from ``first`` on, ask for no more than a share of what the others have left."""
        fits = np.ones(len(self._positions) - first, dtype=np.bool_)
        for resource in self._asked:
            asked, left = self._of(resource, first)
            fits &= asked <= share * left
        return len(fits) if fits.all() else int(fits.argmin())

    def short(self, first: int, count: int) -> str:
        """What ``count`` nodes together ask for too much of; empty where of nothing."""
        for resource in self._asked:
            asked, free_then = self._of(resource, first, count)
            needed, left = asked.item(-1), free_then.item(-1)
            if needed > left:
                said = rounded(canonical(resource, needed), up=True), rounded(canonical(resource, left))
                return f"{resource}: its pods ask for {said[0]}, the nodes that stay have {said[1]} left"
        return ""
