"""What the descheduler sees of a cluster when a cycle begins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property

from msgspec import Struct

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.well_known import READY
from kubespread.questions.rebalance.descheduler.node_fit import NodeFit
from kubespread.scheduler.cluster.nodes import Nodes


class View(Struct, frozen=True, dict=True):
    """The nodes and pods of a cluster, beside its other objects."""

    nodes: Nodes
    pods: Sequence[Pod]
    objects: ClusterObjects
    time: datetime

    @cached_property
    def fit(self) -> NodeFit:
        return NodeFit(self.nodes, self.pods)

    @cached_property
    def ready(self) -> tuple[bool, ...]:
        """Per node."""
        return tuple(map(is_ready, self.nodes.objects))


def is_ready(node: Node) -> bool:
    """Whether the descheduler looks at the node: one that says nothing of its readiness counts as ready, and neither
    cordons nor taints matter.
    """
    return all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)


def in_listing_order(view: View, pods: Sequence[Pod]) -> Iterator[tuple[Pod, int]]:
    """Those of ``pods`` on nodes, by node, namespace and name, each with its node's position."""
    position_of = view.nodes.index
    placed = [(position_of[pod.spec.node_name], pod) for pod in pods if pod.spec.node_name in position_of]
    placed.sort(key=lambda item: (item[0], item[1].metadata.namespace, item[1].metadata.name))
    return ((pod, node) for node, pod in placed)
