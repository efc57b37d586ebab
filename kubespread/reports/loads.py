"""Part of each node that pods request, and where a change shows in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kubespread.reports.parts import Report
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts

_USUAL, _PODS = ("cpu", "memory"), "pods"


class NodeLoad(Report, frozen=True, gc=False):
    """Part of a node that pods take, where a change shows in it."""

    node: str
    """Its name."""
    pods: int
    """Number of pods that run there, terminating ones included: they take room until they are gone."""
    percent: dict[str, int | None]
    """Percentage of each resource that is requested, by its name: of cpu, memory and pods, and what else some pod
    requests. Rounded down; null where nothing is allocatable.
    """


def resources_of(cluster: Cluster) -> tuple[str, ...]:
    """cpu, memory and pods, and what else some pod requests."""
    requested = cluster.running.taken.requested
    others = sorted(name for name, amounts in requested.items() if name not in _USUAL and amounts.any())
    return (*_USUAL, *others, _PODS)


def amounts_of(cluster: Cluster, resources: Sequence[str]) -> Iterator[tuple[str, Counts, Counts]]:
    """Per resource what is requested of each node, and what it has."""
    taken, nodes = cluster.running.taken, cluster.nodes
    none = np.zeros(len(cluster), dtype=np.int64)
    for name in resources:
        if name == _PODS:
            yield name, taken.pod_count, nodes.allowed_pods
        else:
            yield name, taken.requested.get(name, none), nodes.allocatable.get(name, none)


def percent_of(requested: int, allocatable: int) -> int | None:
    """Percentage requested, rounded down; None where nothing is allocatable."""
    return 100 * requested // allocatable if allocatable > 0 else None


def changed_loads(before: Cluster, now: Cluster) -> Iterator[NodeLoad]:
    """The nodes of ``now`` that were not there ``before``, or of which pods take more or less."""
    resources = list(dict.fromkeys((*resources_of(before), *resources_of(now))))
    names, were = now.nodes.names, before.nodes.index
    # Hardly any change is one of nodes.
    are_same = names == before.nodes.names
    places = np.arange(len(names)) if are_same else np.array([were.get(name, -1) for name in names], dtype=np.intp)
    kept, changed = np.flatnonzero(places >= 0), places < 0
    amounts = list(amounts_of(now, resources))
    for (_, *old), (_, *new) in zip(amounts_of(before, resources), amounts, strict=True):
        for was, is_now in zip(old, new, strict=True):
            changed[kept] |= was[places[kept]] != is_now[kept]
    for position in np.flatnonzero(changed).tolist():
        percent = {name: percent_of(int(used[position]), int(total[position])) for name, used, total in amounts}
        yield NodeLoad(node=names[position], pods=int(now.running.taken.pod_count[position]), percent=percent)
