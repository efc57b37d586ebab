"""How much of a zone has failed, and how fast pods are evicted from it.

Source of the rules: the node lifecycle controller of Kubernetes 1.36 (handleDisruption, ComputeZoneState,
ReducedQPSFunc), with the flags of kube-controller-manager at their defaults.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

from kubespread.kube.api.core import Node
from kubespread.kube.well_known import EXCLUDE_DISRUPTION, READY
from kubespread.kube.zones import zone_key

UNHEALTHY_ZONE_PERCENT = 55
"""--unhealthy-zone-threshold"""
LARGE_CLUSTER_SIZE = 50
"""--large-cluster-size-threshold, compared with the number of nodes in a zone."""
NODES_PER_SECOND = 0.1
"""--node-eviction-rate: how many nodes of a zone get their NoExecute taint."""
REDUCED_NODES_PER_SECOND = 0.01
"""--secondary-node-eviction-rate, in large zones that are partly disrupted."""
_FEW = 2


class ZoneState(Enum):
    NORMAL = "Normal"
    PARTIAL_DISRUPTION = "PartialDisruption"
    FULL_DISRUPTION = "FullDisruption"


@dataclass(frozen=True, slots=True)
class Zone:
    """The nodes of a zone that count for its state."""

    ready: int
    not_ready: int

    @property
    def size(self) -> int:
        return self.ready + self.not_ready

    @property
    def state(self) -> ZoneState:
        if not self.ready and self.not_ready:
            return ZoneState.FULL_DISRUPTION
        if self.not_ready > _FEW and 100 * self.not_ready >= UNHEALTHY_ZONE_PERCENT * self.size:
            return ZoneState.PARTIAL_DISRUPTION
        return ZoneState.NORMAL


def zones(nodes: Iterable[Node]) -> Mapping[tuple[str, str], Zone]:
    """The zones by region and zone. Nodes with the label node.kubernetes.io/exclude-disruption do not count.

    Every kubelet reports whether its node is ready; a node that says nothing was written by hand and counts as ready.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for node in nodes:
        if EXCLUDE_DISRUPTION not in node.metadata.labels:
            counts.setdefault(zone_key(node.metadata.labels), [0, 0])[is_ready(node)] += 1
    return {key: Zone(ready, not_ready) for key, (not_ready, ready) in counts.items()}


def is_ready(node: Node) -> bool:
    return all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)


def stops_evictions(found: Mapping[tuple[str, str], Zone]) -> bool:
    """Whether every zone is fully disrupted.

    The controller then suspects its own connection: it takes back all nodes' NoExecute taints and evicts nothing.
    """
    return all(zone.state is ZoneState.FULL_DISRUPTION for zone in found.values())


def nodes_per_second(zone: Zone, *, stopped: bool) -> float:
    """How many nodes of ``zone`` get their NoExecute taint; ``stopped`` is what `stops_evictions` says."""
    if stopped:
        return 0
    if zone.state is not ZoneState.PARTIAL_DISRUPTION:
        return NODES_PER_SECOND
    return REDUCED_NODES_PER_SECOND if zone.size > LARGE_CLUSTER_SIZE else 0
