"""Smaller requests for cpu or memory: the largest of one container that fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kubespread.kube.pod_requests import amounts, pod_requests
from kubespread.kube.quantity import NANO, Quantity
from kubespread.planner.advise.change import Change, Ladder
from kubespread.planner.advise.stuck import Stuck
from kubespread.planner.capacity.room import free
from kubespread.scheduler.cluster.amounts import scheduler_amounts
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit

REQUESTS = "requests"
_UNITS = {"cpu": NANO // 1000, "memory": NANO}
"""What the scheduler counts in, in 10^-9 units."""
_STEPS = {"cpu": 1, "memory": 2**20}
"""How fine amounts are told apart where pods share nodes."""


def smaller_requests(stuck: Stuck) -> Iterator[Ladder]:
    """Per resource and container, the largest first: for one pod what just fills a node, else every amount."""
    if NodeResourcesFit.name not in stuck.evaluation.verdicts:
        return
    containers = stuck.pod.spec.containers
    total = scheduler_amounts(pod_requests(stuck.pod))
    for resource, step in _STEPS.items():
        for container in containers:
            own = scheduler_amounts(amounts(container.resources.requests)).get(resource, 0)
            key = f"[{container.name}]" if len(containers) > 1 else ""
            rooms = (
                _holes(stuck, resource, total.get(resource, 0) - own)
                if stuck.is_one
                else range(own - own % step, 0, -step)
            )
            # Nothing is left where the request would have to be 0.
            fitting = [room for room in rooms if 0 < room < own]
            if own:
                yield _ladder(resource, key, own, fitting)


def _ladder(resource: str, key: str, now: int, rooms: Sequence[int]) -> Ladder:
    def change(place: int) -> Change:
        amount = rooms[place]
        text = str(Quantity(amount * _UNITS[resource], "DecimalSI" if resource == "cpu" else "BinarySI"))
        said = f"request {resource}{key} {text}"
        return Change(REQUESTS, said, 30 if 2 * amount >= now else 45, (f"{resource}{key}={text}",))

    return Ladder(REQUESTS, f"requesting less {resource}{key}", len(rooms), change)


def _holes(stuck: Stuck, resource: str, beside: int) -> list[int]:
    """What nodes that nothing else rejects have left beside ``beside``, which other containers of the pod ask for."""
    cluster = stuck.evaluation.cluster
    passing = stuck.passing_all_but(NodeResourcesFit.name)
    return sorted({room - beside for room in np.unique(free(cluster, resource)[passing]).tolist()}, reverse=True)
