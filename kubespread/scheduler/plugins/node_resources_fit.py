"""NodeResourcesFit, its filter: enough free cpu, memory, storage, pod slots and named resources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kubespread.kube.objects import Pod
from kubespread.kube.pod_requests import pod_requests
from kubespread.scheduler.cluster import Cluster, Mask
from kubespread.scheduler.framework import Code, State, Status, Verdicts
from kubespread.scheduler.resources import BASIC_RESOURCES, scheduler_amounts

TOO_MANY_PODS = "Too many pods"


class NodeResourcesFit:
    name: ClassVar[str] = "NodeResourcesFit"

    def prepare(self, cluster: Cluster, pod: Pod) -> State:
        wanted = scheduler_amounts(pod_requests(pod))
        named = sorted(name for name in wanted if name not in BASIC_RESOURCES)
        return _State(cluster, {name: wanted[name] for name in (*BASIC_RESOURCES, *named) if wanted.get(name, 0) > 0})


@dataclass
class _State(State):
    cluster: Cluster
    wanted: dict[str, int]

    def filter(self) -> Verdicts:
        """Every shortage of a node is a reason; asking for more than the whole node has makes it unresolvable."""
        resources = self.cluster.resources
        shortages: list[tuple[str, Mask]] = [(TOO_MANY_PODS, resources.pod_count + 1 > resources.allowed_pods)]
        unresolvable = np.zeros(len(self.cluster), dtype=np.bool_)
        for name, wanted in self.wanted.items():
            allocatable = resources.allocatable(name)
            shortages.append((f"Insufficient {name}", wanted > allocatable - resources.requested(name)))
            unresolvable |= wanted > allocatable
        return _combined(shortages, unresolvable)


def _combined(shortages: list[tuple[str, Mask]], unresolvable: Mask) -> Verdicts:
    """Nodes with the same shortages share one entry of the table."""
    rows = np.stack([*(short for _, short in shortages), unresolvable], axis=1)
    distinct, which = np.unique(rows, axis=0, return_inverse=True)
    table: list[Status] = []
    entry = np.zeros(len(distinct), dtype=np.int32)
    for position, row in enumerate(distinct):
        reasons = tuple(reason for (reason, _), short in zip(shortages, row[:-1], strict=True) if short)
        if reasons:
            table.append(Status(Code.UNRESOLVABLE if row[-1] else Code.UNSCHEDULABLE, reasons))
            entry[position] = len(table)
    return Verdicts(entry[which.reshape(-1)], tuple(table))
