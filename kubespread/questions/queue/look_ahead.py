"""Look-ahead for replicas that get stuck one after another: another order that places them all, or what prevents it.

Each placement of the search is one kube-scheduler would accept, though not always the one it would prefer. The search
is bounded, and says so if it ended for that reason alone.
"""

from __future__ import annotations

import random

import msgspec
import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.reports.parts import LookAhead
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.placing import Placing
from kubespread.scheduler.plugin import SchedulingError

MAX_STEPS = 4000
"""Placements tried in all."""
_MAX_HELD = 1_000_000
"""Nodes times replicas up to which orders are enumerated; beyond, no bound on steps would let it finish."""
_RESTARTS = 20
_SEED = 0


def look_ahead(plugins: Framework, cluster: Cluster, pod: Pod, replicas: int) -> LookAhead | None:
    """Another order for ``replicas`` copies of ``pod``, or what rules it out; None when order cannot matter."""
    start = Placing(plugins.prepare(cluster, pod))
    if not start.order_matters or not start.has_room(replicas):
        return None
    search = Search(replicas)
    order = search.order_from(start)
    if order is not None:
        return LookAhead(
            nodes=tuple(cluster.nodes.names[node] for node in order), steps=search.steps, exhausted=False, blocking=()
        )
    blocking = tuple(name for name, relaxed in _relaxations(pod) if _fits(plugins, cluster, relaxed, replicas))
    return LookAhead(nodes=None, steps=search.steps, exhausted=search.exhausted, blocking=blocking)


class Search:
    """Search for an order of ``replicas`` placements, never trying the same numbers of copies twice."""

    def __init__(self, replicas: int) -> None:
        self._replicas = replicas
        self.steps = 0
        self.exhausted = False
        """True if every order was tried."""

    def order_from(self, start: Placing) -> list[int] | None:
        """A node for each, by position; None when there is none, or the bound was reached."""
        return self._at_random(start) or self._exhaustively(start)

    def _at_random(self, start: Placing) -> list[int] | None:
        """Random fitting nodes, repeatedly: most dead ends are avoided by luck."""
        chance = random.Random(_SEED)
        for _ in range(_RESTARTS):
            placing, path = start.fork(), list[int]()
            while len(path) < self._replicas and self.steps < MAX_STEPS // 2:
                fitting = np.flatnonzero(placing.feasible())
                if not len(fitting):
                    break
                path.append(int(fitting[chance.randrange(len(fitting))]))
                placing.place(path[-1])
                self.steps += 1
            if len(path) == self._replicas:
                return path
        return None

    def _exhaustively(self, start: Placing) -> list[int] | None:
        """Try every order, within the bound; one fork per step of the path is held at a time."""
        if len(start) * self._replicas > _MAX_HELD:
            return None
        seen: set[tuple[int, ...]] = set()
        path: list[int] = []
        trail = [(start, iter(np.flatnonzero(start.feasible()).tolist()))]
        while trail:
            placing, untried = trail[-1]
            node = next(untried, None)
            if node is None:
                trail.pop()
                del path[-1:]
                continue
            if self.steps >= MAX_STEPS:
                return None
            self.steps += 1
            held = tuple(sorted([*path, node]))
            if held in seen:
                continue
            seen.add(held)
            after = placing.fork()
            after.place(node)
            path.append(node)
            if len(path) == self._replicas:
                return path
            trail.append((after, iter(np.flatnonzero(after.feasible()).tolist())))
        self.exhausted = True
        return None


def _fits(plugins: Framework, cluster: Cluster, pod: Pod, replicas: int) -> bool:
    try:
        placing = Placing(plugins.prepare(cluster, pod))
        for _ in range(replicas):
            choice = placing.choose()
            if choice is None:
                return False
            placing.place(choice.node)
    except SchedulingError:
        return False
    return True


def _relaxations(pod: Pod) -> list[tuple[str, Pod]]:
    """The pod without each of the things that make order matter."""
    constraints = pod.spec.topology_spread_constraints
    relaxed = []
    for position, constraint in enumerate(constraints):
        if constraint.when_unsatisfiable == DO_NOT_SCHEDULE:
            rest = constraints[:position] + constraints[position + 1 :]
            name = f"{constraint.topology_key} maxSkew {constraint.max_skew}"
            relaxed.append((name, _with_spec(pod, topology_spread_constraints=rest)))
    affinity = pod.spec.affinity
    for kind in ("pod_affinity", "pod_anti_affinity"):
        if affinity is not None and getattr(affinity, kind) is not None:
            name = kind.replace("pod_anti_affinity", "podAntiAffinity").replace("pod_affinity", "podAffinity")
            relaxed.append((name, _with_spec(pod, affinity=msgspec.structs.replace(affinity, **{kind: None}))))
    return relaxed


def _with_spec(pod: Pod, **changed: object) -> Pod:
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, **changed))
