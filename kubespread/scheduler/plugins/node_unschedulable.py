"""NodeUnschedulable: cordoned nodes take only pods that tolerate the taint a cordon stands for.

Source: pkg/scheduler/framework/plugins/nodeunschedulable/node_unschedulable.go, Filter
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import msgspec

from kubespread.kube.api.core import Pod, Taint
from kubespread.kube.taint import tolerates
from kubespread.kube.well_known import CORDON_TAINT_KEY
from kubespread.scheduler.causes import Causes, CordonDetail
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Positions
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.plugin import FILTER, Code, Fixed, Plugin, Specification, Status, Verdicts

UNSCHEDULABLE = Status(Code.UNRESOLVABLE, ("node(s) were unschedulable",))
# The plugin asks about this taint whether or not the node really carries it.
CORDON_TAINT = Taint(key=CORDON_TAINT_KEY, effect="NoSchedule")


class NodeUnschedulable(Plugin):
    name: ClassVar[str] = "NodeUnschedulable"

    def signature(self, pod: Pod) -> Hashable:
        return msgspec.msgpack.encode(pod.spec.tolerations)

    def prepare(self, cluster: Cluster, pod: Pod) -> NodeUnschedulableState:
        return NodeUnschedulableState(
            cluster.nodes, tolerated=any(tolerates(toleration, CORDON_TAINT) for toleration in pod.spec.tolerations)
        )


@dataclass
class NodeUnschedulableState(Fixed):
    nodes: Nodes
    tolerated: bool

    def filter(self) -> Verdicts:
        rejected = self.nodes.unschedulable
        return Verdicts.rejecting(rejected & (not self.tolerated), UNSCHEDULABLE)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        return [(CordonDetail(),)] * len(nodes)


SPECIFICATION = Specification(
    name=NodeUnschedulable.name, points=frozenset({FILTER}), make=lambda setting: NodeUnschedulable()
)
