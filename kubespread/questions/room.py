"""Amounts of resources on nodes as columns, and pods with given requests."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec.structs import replace

from kubespread.kube.api.core import Pod, ResourceRequirements
from kubespread.kube.api.meta import ResourceList
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts

PODS = "pods"
ALWAYS = ("cpu", "memory", PODS)


def resource_names(cluster: Cluster) -> list[str]:
    """cpu, memory and pods, then all other resources that some node offers, by name."""
    others = (name for name, amounts in cluster.nodes.allocatable.items() if name not in ALWAYS and amounts.any())
    return [*ALWAYS, *sorted(others)]


def allocatable(cluster: Cluster, name: str) -> Counts:
    """The amount each node offers to pods."""
    if name == PODS:
        return cluster.nodes.allowed_pods
    return cluster.nodes.allocatable.get(name, np.zeros(len(cluster), dtype=np.int64))


def requested(cluster: Cluster, name: str) -> Counts:
    """The amount requested by the pods of each node."""
    taken = cluster.running.taken
    return taken.pod_count if name == PODS else taken.requested.get(name, np.zeros(len(cluster), dtype=np.int64))


def free(cluster: Cluster, name: str) -> Counts:
    """The amount left on each node, 0 where more is requested than there is."""
    available: Counts = np.maximum(allocatable(cluster, name) - requested(cluster, name), 0)
    return available


def asking_for(pod: Pod, requests: Mapping[str, int]) -> Pod:
    """``pod`` with one container that makes all ``requests``, in the integers kube-scheduler counts."""
    texts: ResourceList = {name: f"{amount}m" if name == "cpu" else str(amount) for name, amount in requests.items()}
    container = replace(pod.spec.containers[0], resources=ResourceRequirements(requests=texts))
    return replace(pod, spec=replace(pod.spec, containers=[container], init_containers=[], resources=None, overhead={}))
