"""NodeName: a pod that names its node fits nowhere else.

Source: pkg/scheduler/framework/plugins/nodename/node_name.go, Filter, Fits
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.scheduler.causes import Causes, NodeNameDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Positions
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.plugin import FILTER, Code, Fixed, Plugin, Specification, Status, Verdicts

OTHER_NODE = Status(Code.UNRESOLVABLE, ("node(s) didn't match the requested node name",))


class NodeName(Plugin):
    name: ClassVar[str] = "NodeName"

    def signature(self, pod: Pod) -> Hashable:
        return pod.spec.node_name

    def prepare(self, cluster: Cluster, pod: Pod) -> NodeNameState:
        return NodeNameState(cluster.nodes, pod.spec.node_name)


@dataclass
class NodeNameState(Fixed):
    nodes: Nodes
    node_name: str

    def filter(self) -> Verdicts:
        rejected = np.full(len(self.nodes), bool(self.node_name), dtype=np.bool_)
        position = self.nodes.index.get(self.node_name)
        if position is not None:
            rejected[position] = False
        return Verdicts.rejecting(rejected, OTHER_NODE)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        return [(NodeNameDetail(self.node_name),)] * len(nodes)


SPECIFICATION = Specification(name=NodeName.name, points=frozenset({FILTER}), make=lambda setting: NodeName())
