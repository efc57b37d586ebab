"""The largest pods that fit: such that asking for more of one resource means to ask for less of another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.planner.capacity.room import asking_for, free
from kubespread.planner.details import canonical
from kubespread.planner.reports.capacity import LargestPod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.framework import Framework


def largest(plugins: Framework, cluster: Cluster, pod: Pod, names: Sequence[str], nodes: Mask) -> Iterator[LargestPod]:
    """Copies of ``pod`` that ask for all that is left of the resources ``names`` on one of ``nodes``, which would take
    a pod that asks for nothing. Only those that ask for some of each count, and each is asked about.
    """
    columns = np.stack([free(cluster, name) for name in names], axis=1)
    for amounts in _front(columns[nodes & (columns > 0).all(axis=1)]):
        requests = dict(zip(names, amounts, strict=True))
        feasible = plugins.evaluate(cluster, asking_for(pod, requests)).feasible
        where = np.flatnonzero(feasible)
        if len(where):
            yield LargestPod(
                requests={name: canonical(name, amount) for name, amount in requests.items()},
                node=cluster.nodes.names[int(where[cluster.nodes.name_rank[where].argmin()])],
                nodes=len(where),
            )


def _front(rows: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Iterator[list[int]]:
    """The rows that no other one equals or exceeds everywhere, the largest first by their columns in order."""
    front = np.empty((0, rows.shape[1]), dtype=np.int64)
    for row in rows[np.lexsort(rows.T[::-1])][::-1]:
        # What comes later is no larger in the first column, so it never takes the place of one that is in.
        if not (front >= row).all(axis=1).any():
            front = np.vstack([front, row])
            yield row.tolist()
