"""NodePorts: the pod's host ports must be free on the node.

Source: pkg/scheduler/framework/plugins/nodeports/node_ports.go, PreFilter, Filter, fitsPorts
Source: staging/src/k8s.io/kube-scheduler/framework/types.go, HostPortInfo, CheckConflict
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass
from typing import ClassVar

from kubespread.kube.api.core import Pod
from kubespread.scheduler.causes import Causes, HostPortDetail, by_place, name_of
from kubespread.scheduler.cluster.cluster import Cluster, Holdings
from kubespread.scheduler.cluster.columns import Positions
from kubespread.scheduler.cluster.kinds import ANY_ADDRESS, HostPort, host_ports
from kubespread.scheduler.plugin import (
    JUDGES,
    SKIP,
    Code,
    OnNode,
    Plugin,
    Specification,
    State,
    Status,
    Unprepared,
    Verdicts,
)

NOT_FREE = Status(Code.UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",))


@dataclass(frozen=True)
class NodePorts(Plugin):
    name: ClassVar[str] = "NodePorts"

    checks_sidecars: bool = True
    """Since 1.33."""

    def signature(self, pod: Pod) -> Hashable:
        return host_ports(pod, sidecars=self.checks_sidecars)

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        requested = host_ports(pod, sidecars=self.checks_sidecars)
        return NodePortsState(requested) if requested else SKIP


@dataclass
class NodePortsState(OnNode):
    requested: frozenset[HostPort]

    def judge(self, held: Holdings) -> Verdicts:
        return Verdicts.rejecting(held.judged_by_ports(self._taken), NOT_FREE)

    def _taken(self, used: Set[HostPort]) -> bool:
        return any(self._conflicts(port) for port in used)

    def _conflicts(self, used: HostPort) -> bool:
        return any(_conflict(requested, used) for requested in self.requested)

    def causes(self, cluster: Cluster, nodes: Positions) -> Sequence[Causes]:
        running, kinds = cluster.running, cluster.kinds
        taken = {
            number: [port for port in sorted(kinds[number].ports) if self._conflicts(port)]
            for number in running.nodes_of_kind
        }
        place_of = {node: place for place, node in enumerate(nodes.tolist())}
        holders = running.places_of(number for number, ports in taken.items() if ports)
        listed = zip(holders.tolist(), running.node[holders].tolist(), running.kind[holders].tolist(), strict=True)
        pods = running.pods
        return by_place(
            len(nodes),
            (
                (place_of[node], HostPortDetail(port, protocol, address, name_of(pods[holder])))
                for holder, node, kind in listed
                if node in place_of
                for address, protocol, port in taken[kind]
            ),
        )


def _conflict(requested: HostPort, used: HostPort) -> bool:
    """Addresses are compared as text, so ``::`` is no wildcard."""
    address, *port = requested
    used_address, *used_port = used
    return port == used_port and (address == used_address or ANY_ADDRESS in (address, used_address))


SPECIFICATION = Specification(
    name=NodePorts.name,
    points=JUDGES,
    make=lambda setting: NodePorts(checks_sidecars=setting.version.since(33)),
    unprepared=Unprepared(filter='reading "PreFilterNodePorts" from cycleState: not found'),
)
