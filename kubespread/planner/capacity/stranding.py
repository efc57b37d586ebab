"""What is free on nodes where no pod can use it, and whose fault that is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from kubespread.planner.capacity.obstacles import Obstacle
from kubespread.planner.capacity.room import PODS, free
from kubespread.planner.details import canonical
from kubespread.planner.reports.capacity import Stranded, StrandedBy
from kubespread.scheduler.cluster.cluster import Cluster

_SHARED = ("cpu", "memory")
"""What every running process needs some of."""


def exhausted(cluster: Cluster, nodes: Mapping[int, Obstacle]) -> Mapping[int, Obstacle]:
    """The nodes that have no cpu or no memory left for pods that ask for some, besides ``nodes``, which have worse."""
    found = dict(nodes)
    for name in _SHARED:
        for node in np.flatnonzero(free(cluster, name) == 0).tolist():
            known = found.get(node)
            if known is None:
                found[node] = Obstacle("resource", resources=(name,))
            elif known.cause == "resource" and known.resources == _SHARED[:1]:
                found[node] = Obstacle("resource", resources=_SHARED)
    return found


def stranded(cluster: Cluster, resource: str, nodes: Mapping[int, Obstacle]) -> tuple[Stranded, ...]:
    """What is free of a resource on ``nodes``, by why no pod can have it; the largest amount first."""
    left = free(cluster, resource)
    amounts: dict[tuple[StrandedBy, str], list[int]] = {}
    for node, obstacle in nodes.items():
        if amount := left.item(node):
            amounts.setdefault(_cause(resource, obstacle), []).append(amount)
    return tuple(_sorted(amounts, resource))


def _sorted(amounts: Mapping[tuple[StrandedBy, str], list[int]], resource: str) -> Iterator[Stranded]:
    for (cause, detail), each in sorted(amounts.items(), key=lambda item: (-sum(item[1]), item[0])):
        yield Stranded(cause=cause, detail=detail, nodes=len(each), amount=canonical(resource, sum(each)))


def _cause(resource: str, obstacle: Obstacle) -> tuple[StrandedBy, str]:
    """Of a node with too little of several resources, the first that is not this one; where it is this one itself, the
    others need not be short.
    """
    if obstacle.cause != "resource":
        return obstacle.cause, obstacle.detail
    if resource in obstacle.resources:
        return "remainder", ""
    first = obstacle.resources[0]
    return ("pods", "") if first == PODS else ("resource", first)
