"""NodePorts: the pod's host ports must be free on the node.

Source of the rules: kube-scheduler 1.36, nodeports/node_ports.go, and HostPortInfo.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.scheduler.cluster import Cluster, Counts
from kubespread.scheduler.host_ports import ANY_ADDRESS, HostPort, host_ports
from kubespread.scheduler.plugin import SKIP, Code, CopiesMatter, State, Status, Verdicts

NOT_FREE = Status(Code.UNSCHEDULABLE, ("node(s) didn't have free ports for the requested pod ports",))


@dataclass(frozen=True)
class NodePorts:
    name: ClassVar[str] = "NodePorts"

    checks_sidecars: bool = True
    """Since 1.33."""

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        wanted = host_ports(pod, sidecars=self.checks_sidecars)
        return _State(cluster, wanted) if wanted else SKIP


@dataclass
class _State(State):
    copies_matter = CopiesMatter.ON_THE_NODE

    cluster: Cluster
    wanted: frozenset[HostPort]
    copies: int | Counts = 0

    def holding(self, copies: int | Counts) -> State:
        return replace(self, copies=copies)

    def filter(self) -> Verdicts:
        # A copy of the pod has every port that the next one wants.
        taken = np.zeros(len(self.cluster), dtype=np.bool_) | (self.copies > 0)
        for used, nodes in self.cluster.host_ports.items():
            if any(_conflict(port, used) for port in self.wanted):
                taken[nodes] = True
        return Verdicts.rejecting(taken, NOT_FREE)


def _conflict(wanted: HostPort, used: HostPort) -> bool:
    """Addresses are compared as text, so ``::`` is no wildcard."""
    address, *port = wanted
    used_address, *used_port = used
    return port == used_port and (address == used_address or ANY_ADDRESS in (address, used_address))
