"""Every kind of change that is tried, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from msgspec import Struct

from kubespread.kube.pod_requests import amounts, pod_requests
from kubespread.kube.quantity import NANO, Quantity
from kubespread.kube.selector import required_node_selector
from kubespread.questions.remedies.change import Change, Ladder
from kubespread.questions.remedies.families.constraints import max_skews, min_domains, policies, relaxed
from kubespread.questions.remedies.families.cordons import uncordons
from kubespread.questions.remedies.families.evictions import evictions, waits
from kubespread.questions.remedies.families.labels import node_labels
from kubespread.questions.remedies.families.new_nodes import new_nodes
from kubespread.questions.remedies.families.taints import tolerations, untaints
from kubespread.questions.remedies.stuck import SHORT, Stuck
from kubespread.questions.room import PODS, free
from kubespread.scheduler.cluster.columns import scheduler_amounts

# What the pod requires of nodes and of pods near it, dropped: one label, or one topology key, each.


_COSTS = {"nodeSelector": 35, "nodeAffinity": 36, "podAffinity": 45, "podAntiAffinity": 45}


def dropped_requirements(stuck: Stuck) -> Iterator[Ladder]:
    for family, key in dict.fromkeys(_required(stuck)):
        change = Change(family, f"drop {family} {key}", _COSTS[family], (f"{family}[{SHORT.get(key, key)}]=null",))
        yield Ladder.of(change, f"dropping {family} {key}")


def _required(stuck: Stuck) -> Iterator[tuple[str, str]]:
    spec = stuck.pod.spec
    for key in spec.node_selector:
        yield "nodeSelector", key
    required = required_node_selector(stuck.pod)
    for term in required.node_selector_terms if required is not None else ():
        for expression in (*term.match_expressions, *term.match_fields):
            yield "nodeAffinity", expression.key
    if spec.affinity is None:
        return
    for family, near in (
        ("podAffinity", spec.affinity.pod_affinity),
        ("podAntiAffinity", spec.affinity.pod_anti_affinity),
    ):
        for near_term in near.required_during_scheduling_ignored_during_execution if near is not None else ():
            yield family, near_term.topology_key


REQUESTS = "requests"
_UNITS = {"cpu": NANO // 1000, "memory": NANO}
"""The scheduler's counting units, in 10^-9 units."""
_STEPS = {"cpu": 1, "memory": 2**20}
"""The granularity of amounts where pods share nodes."""


def smaller_requests(stuck: Stuck) -> Iterator[Ladder]:
    """Per resource and container, the largest first: for one pod the amounts that just fit a node, else every
    amount.
    """
    containers = stuck.pod.spec.containers
    total = scheduler_amounts(pod_requests(stuck.pod))
    for resource, step in _STEPS.items():
        for container in containers:
            own = scheduler_amounts(amounts(container.resources.requests)).get(resource, 0)
            key = f"[{container.name}]" if len(containers) > 1 else ""
            beside = total.get(resource, 0) - own
            if stuck.is_one:
                smaller: Sequence[int] = _holes(stuck, resource, own, beside)
            else:
                most = own - 1 if stuck.in_free_room is None else min(own - 1, _largest(stuck, resource) - beside)
                smaller = range(most - most % step, 0, -step)
            # None where the request would have to be 0.
            if smaller:
                yield _ladder(resource, key, own, smaller)


def _ladder(resource: str, key: str, now: int, rooms: Sequence[int]) -> Ladder:
    def change(place: int) -> Change:
        amount = rooms[place]
        text = str(Quantity(amount * _UNITS[resource], "DecimalSI" if resource == "cpu" else "BinarySI"))
        text_of_change = f"request {resource}{key} {text}"
        return Change(REQUESTS, text_of_change, 30 if 2 * amount >= now else 45, (f"{resource}{key}={text}",))

    return Ladder(REQUESTS, f"requesting less {resource}{key}", len(rooms), change)


def _holes(stuck: Stuck, resource: str, own: int, beside: int) -> list[int]:
    """The free amounts on nodes after ``beside``, which the pod's other containers request; finally almost nothing."""
    holes = np.unique(free(stuck.evaluation.cluster, resource)) - beside
    fitting = [*holes[(holes > 1) & (holes < own)][::-1].tolist(), 1]
    return fitting if own > 1 else []


def _largest(stuck: Stuck, resource: str) -> int:
    """The largest amount that fits into the free room of nodes once per copy, by arithmetic alone."""
    copies, cluster = stuck.in_free_room or 1, stuck.evaluation.cluster
    room, pods = (free(cluster, name)[stuck.open_to_it] for name in (resource, PODS))
    low, high = 0, int(room.max(initial=0))
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.minimum(room // middle, pods).sum()) >= copies:
            low = middle
        else:
            high = middle - 1
    return low


class Family(Struct, frozen=True):
    """Changes of one kind."""

    least_cost: int
    """The cost of the cheapest: lets a search for one change stop early."""
    changes: Callable[[Stuck], Iterator[Ladder]]
    """The changes available for a pod, the most promising first."""


OF_CONSTRAINTS: Sequence[Family] = (
    Family(9, min_domains),
    Family(10, max_skews),
    Family(15, policies),
    Family(50, relaxed),
)
"""The families of the pod's own constraints, each change settled by one evaluation."""
FAMILIES: Sequence[Family] = (
    Family(5, waits),
    *OF_CONSTRAINTS[:3],
    Family(20, uncordons),
    Family(22, node_labels),
    Family(25, untaints),
    Family(25, tolerations),
    Family(30, smaller_requests),
    Family(35, dropped_requirements),
    Family(35, evictions),
    Family(40, new_nodes),
    *OF_CONSTRAINTS[3:],
)
