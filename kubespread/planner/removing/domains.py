"""Domains that go with their nodes: a zone without nodes is none that anything is spread over."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.planner.world.spread import constraints_on
from kubespread.planner.world.world import World
from kubespread.wording import short_key


class CountingDomains:
    """The domains of a settled world without which pods have fewer to be spread over.

    Zones, whoever counts them, and those that some hard constraint counts; not hosts, of which every node is the only
    one. Constraints that are only preferred keep no node.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        kinds = world.cluster.kinds
        running = (kinds[number].pod for number in world.cluster.running.nodes_of_kind)
        self._pods = _by_hard_key((*running, *(each.template for each in world.waiting)))
        self._keys = [key for key in dict.fromkeys((ZONE, *self._pods)) if key == ZONE or _has_shared(world, key)]
        self._counts = cache(self._asked)

    def lost(self, world: World, names: Sequence[str]) -> Iterator[str]:
        """Those that have no node left without the nodes ``names``, ``zone c``, and ``the cluster`` itself; over the
        last domain of a key nothing is spread. ``world`` is this one, or what has become of it.
        """
        if len(names) == len(world.living.nodes):
            yield "the cluster"
        positions = np.array([world.living.nodes.index[name] for name in names], dtype=np.intp)
        for key in self._keys:
            column = world.living.nodes.label(key)
            size = len(column.values)
            there = np.bincount(column.codes[column.present], minlength=size)
            codes = column.codes[positions]
            going = np.bincount(codes[codes >= 0], minlength=size)
            if np.count_nonzero(there) > 1:
                for code in np.flatnonzero((there > 0) & (going == there)).tolist():
                    if key == ZONE or self._counts(key, column.values[code]):
                        yield f"{short_key(key)} {column.values[code]}"

    def _asked(self, key: str, value: str) -> bool:
        """Whether some hard constraint counts a domain: those of nodes where its pod may not run it does not."""
        world = self._world
        return any(
            domain.value == value and domain.eligible_nodes > 0
            for pod in self._pods[key]
            for constraint in constraints_on(world.cluster, pod, world.surroundings.scheduler_of)
            if constraint.is_hard and constraint.topology_key == key
            for domain in constraint.domains
        )


def _by_hard_key(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    found: dict[str, list[Pod]] = {}
    for pod in pods:
        keys = (
            each.topology_key
            for each in pod.spec.topology_spread_constraints
            if each.when_unsatisfiable == DO_NOT_SCHEDULE
        )
        for key in dict.fromkeys(keys):
            found.setdefault(key, []).append(pod)
    return found


def _has_shared(world: World, key: str) -> bool:
    column = world.living.nodes.label(key)
    return key != HOSTNAME and int(np.count_nonzero(column.present)) > len(column.values)
