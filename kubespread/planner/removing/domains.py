"""Domains that go with their nodes: a zone without nodes is none that anything is spread over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kubespread.kube.well_known import HOSTNAME, ZONE
from kubespread.planner.world.world import World


def keys_that_count(world: World) -> list[str]:
    """The zone's, and those of all constraints of pods but for the host's, of which every node is the only one."""
    constraints = {
        id(constraint): constraint.topology_key
        for pod in world.book
        for constraint in pod.spec.topology_spread_constraints
    }
    return [key for key in dict.fromkeys((ZONE, *constraints.values())) if key == ZONE or _has_shared(world, key)]


def _has_shared(world: World, key: str) -> bool:
    column = world.living.nodes.label(key)
    return key != HOSTNAME and int(np.count_nonzero(column.present)) > len(column.values)


def lost_domains(world: World, keys: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Those that have no node left without the nodes ``names``, ``zone c``, and ``the cluster`` itself; over the last
    domain of a key nothing is spread.
    """
    if len(names) == len(world.living.nodes):
        yield "the cluster"
    positions = np.array([world.living.nodes.index[name] for name in names], dtype=np.intp)
    for key in keys:
        column = world.living.nodes.label(key)
        size = len(column.values)
        there = np.bincount(column.codes[column.present], minlength=size)
        codes = column.codes[positions]
        going = np.bincount(codes[codes >= 0], minlength=size)
        if np.count_nonzero(there) > 1:
            for code in np.flatnonzero((there > 0) & (going == there)).tolist():
                yield f"{key.rpartition('/')[2]} {column.values[code]}"
