"""Where the replicas of a workload are, and what the loss of a topology domain would leave of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from kubespread.planner.reports.simulate import Loss, NodeReplicas
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import ABSENT


def worst_losses(cluster: Cluster, nodes: Sequence[int], keys: Iterable[str]) -> dict[str, Loss]:
    """Per topology key that some node has: the domain that holds most replicas, whose ``nodes`` are given by position,
    once a replica.
    """
    replicas = np.bincount(np.array(nodes, dtype=np.int64), minlength=len(cluster))
    losses = {}
    for key in dict.fromkeys(keys):
        column = cluster.nodes.label(key)
        there = column.codes != ABSENT
        if not there.any():
            continue
        held = np.bincount(column.codes[there], weights=replicas[there], minlength=len(column.values)).astype(np.int64)
        # Of equals the first value.
        worst = int(column.sorted_codes[held[column.sorted_codes].argmax()])
        losses[key] = Loss(
            domain=column.values[worst],
            remaining=int(replicas.sum() - held[worst]),
            domains=int(np.count_nonzero(held)),
            least=int(held.min()),
        )
    return losses


def nodes_of_replicas(
    cluster: Cluster, placed: Iterable[int], present: Iterable[int], keys: Iterable[str]
) -> Iterator[NodeReplicas]:
    """The nodes, given by position once a replica, by name, each with its values of ``keys``."""
    newly, already = Counter(placed), Counter(present)
    names = cluster.nodes.names
    columns = {key: cluster.nodes.label(key) for key in keys}
    for node in sorted(newly.keys() | already.keys(), key=names.__getitem__):
        codes = {key: int(column.codes[node]) for key, column in columns.items()}
        domains = {key: columns[key].values[code] for key, code in codes.items() if code != ABSENT}
        yield NodeReplicas(name=names[node], domains=domains, present=already[node], placed=newly[node])
