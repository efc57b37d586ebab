"""Amounts of resources on nodes as columns."""

from __future__ import annotations

import numpy as np

from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts

PODS = "pods"
ALWAYS = ("cpu", "memory", PODS)


def resource_names(cluster: Cluster) -> list[str]:
    """cpu, memory and pods, then the other resources that nodes offer, by name."""
    others = (name for name, amounts in cluster.nodes.allocatable.items() if name not in ALWAYS and amounts.any())
    return [*ALWAYS, *sorted(others)]


def allocatable(cluster: Cluster, name: str) -> Counts:
    if name == PODS:
        return cluster.nodes.allowed_pods
    return cluster.nodes.allocatable.get(name, np.zeros(len(cluster), dtype=np.int64))


def usage(cluster: Cluster, name: str) -> Counts:
    running = cluster.running.usage
    return running.pod_count if name == PODS else running.requested.get(name, np.zeros(len(cluster), dtype=np.int64))


def free(cluster: Cluster, name: str) -> Counts:
    """Amount left on each node, 0 if more is requested than there is."""
    available: Counts = np.maximum(allocatable(cluster, name) - usage(cluster, name), 0)
    return available
