"""Domains that autoscalers of nodes could make, by what their groups are told, and that have no node now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.well_known import ZONE
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.node_matching import matches_required_node_affinity


def without_nodes(key: str, pod: Pod, there: frozenset[str], objects: ClusterObjects) -> Mapping[str, str]:
    """The values of topology key ``key`` beside those that are ``there``, each with the group that could make it.

    Left out are those that the pod's node selector or affinity does not allow, as far as the group says what labels its
    nodes get.
    """
    possible: dict[str, str] = {}
    for name, labels in _groups(key, objects):
        value = labels.get(key, "")
        if value and value not in there and value not in possible and _allows(pod, labels):
            possible[value] = name
    return dict(sorted(possible.items()))


def _allows(pod: Pod, labels: Mapping[str, str]) -> bool:
    """Whether the pod's node selector and affinity allow a node with these labels."""
    node = Node(metadata=ObjectMeta(labels=dict(labels)))
    return bool(matches_required_node_affinity(Nodes((node,)), pod).all())


def _groups(key: str, objects: ClusterObjects) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Each group with the labels of its nodes, once a value that it may give ``key``."""
    for pool in objects.node_pools:
        template = pool.spec.template
        allowed = {each.key: each.values for each in template.spec.requirements if each.operator == "In"}
        one = {name: values[0] for name, values in allowed.items() if len(values) == 1}
        for value in allowed.get(key, [""]):
            yield f"NodePool {pool.metadata.name}", {**one, key: value, **template.metadata.labels}
    for machines in objects.machine_deployments:
        made = machines.spec.template
        zone = {ZONE: made.spec.failure_domain} if made.spec.failure_domain else {}
        yield f"MachineDeployment {machines.metadata.name}", {**zone, **made.metadata.labels}
