"""NodePorts: the pod's host ports must be free on the node.

Source of the rules: kube-scheduler 1.36, nodeports/node_ports.go, and HostPortInfo.
"""

from __future__ import annotations

from collections.abc import Hashable, Set
from dataclasses import dataclass
from typing import ClassVar

from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.holdings import Holdings
from kubespread.scheduler.cluster.host_ports import ANY_ADDRESS, HostPort, host_ports
from kubespread.scheduler.plugin import SKIP, Code, OnNode, Plugin, State, Status, Verdicts
from kubespread.scheduler.specification import JUDGES, Specification, Unprepared

NOT_FREE = Status(Code.UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",))


@dataclass(frozen=True)
class NodePorts(Plugin):
    name: ClassVar[str] = "NodePorts"

    checks_sidecars: bool = True
    """Since 1.33."""

    def signature(self, pod: Pod) -> Hashable:
        return host_ports(pod, sidecars=self.checks_sidecars)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        wanted = host_ports(pod, sidecars=self.checks_sidecars)
        return NodePortsState(wanted) if wanted else SKIP


@dataclass
class NodePortsState(OnNode):
    wanted: frozenset[HostPort]

    def judge(self, held: Holdings) -> Verdicts:
        return Verdicts.rejecting(held.judged_by_ports(self._taken), NOT_FREE)

    def _taken(self, used: Set[HostPort]) -> bool:
        return any(_conflict(wanted, port) for wanted in self.wanted for port in used)


def _conflict(wanted: HostPort, used: HostPort) -> bool:
    """Addresses are compared as text, so ``::`` is no wildcard."""
    address, *port = wanted
    used_address, *used_port = used
    return port == used_port and (address == used_address or ANY_ADDRESS in (address, used_address))


SPECIFICATION = Specification(
    name=NodePorts.name,
    points=JUDGES,
    make=lambda setting: NodePorts(checks_sidecars=setting.version.since(33)),
    unprepared=Unprepared(filter='reading "PreFilterNodePorts" from cycleState: not found'),
)
