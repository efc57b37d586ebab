"""Failed nodes: their taints, the deletion of their pods, and its rate in a zone.

The flags of kube-controller-manager have their defaults.

Source: pkg/controller/nodelifecycle/node_lifecycle_controller.go, handleDisruption, ComputeZoneState, ReducedQPSFunc
Source: pkg/controller/tainteviction/taint_eviction.go, processPodOnNode, getMinTolerationTime
Source: pkg/controller/podgc/gc_controller.go, gcOrphaned, gcTerminating
Source: pkg/controller/daemon/daemon_controller.go, podsShouldBeOnNode
Source: pkg/controller/daemon/util/daemonset_util.go, AllowsSurge
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from kubespread.controllers.job import waits_for_the_end
from kubespread.kube.api.core import Node, NodeCondition, Pod, Taint, Toleration
from kubespread.kube.api.kinds import group_of
from kubespread.kube.api.meta import OwnerReference
from kubespread.kube.api.workloads import DaemonSet, Job, RollingUpdate, UpdateStrategy
from kubespread.kube.quantity import scaled_value
from kubespread.kube.taint import tolerates
from kubespread.kube.time import format_utc
from kubespread.kube.well_known import EXCLUDE_DISRUPTION, NOT_READY_TAINT_KEY, READY, UNREACHABLE_TAINT_KEY, zone_key

UNHEALTHY_ZONE_PERCENT = 55
"""--unhealthy-zone-threshold"""
LARGE_CLUSTER_SIZE = 50
"""--large-cluster-size-threshold, compared with the number of nodes in a zone."""
NODES_PER_SECOND = 0.1
"""--node-eviction-rate: number of a zone's nodes that get their NoExecute taint."""
REDUCED_NODES_PER_SECOND = 0.01
"""--secondary-node-eviction-rate, in large zones that are partly disrupted."""
_FEW = 2


class ZoneState(Enum):
    NORMAL = "Normal"
    PARTIAL_DISRUPTION = "PartialDisruption"
    FULL_DISRUPTION = "FullDisruption"


class Zone(Struct, frozen=True):
    """Nodes of a zone that count for its state."""

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
    """Zones by region and zone, without nodes labeled node.kubernetes.io/exclude-disruption.

    A node without a Ready condition was written by hand and counts as ready: every kubelet reports one.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    for node in nodes:
        if EXCLUDE_DISRUPTION not in node.metadata.labels:
            counts.setdefault(zone_key(node.metadata.labels), [0, 0])[is_ready(node)] += 1
    return {key: Zone(ready, not_ready) for key, (not_ready, ready) in counts.items()}


def zones_without(zones: Mapping[tuple[str, str], Zone], failed: Iterable[Node]) -> Mapping[tuple[str, str], Zone]:
    """``zones`` after the nodes ``failed``, as they were before, have failed."""
    after = dict(zones)
    for node in failed:
        if is_ready(node) and EXCLUDE_DISRUPTION not in node.metadata.labels:
            key = zone_key(node.metadata.labels)
            after[key] = Zone(after[key].ready - 1, after[key].not_ready + 1)
    return after


def is_ready(node: Node) -> bool:
    return all(condition.status == "True" for condition in node.status.conditions if condition.type == READY)


def stops_evictions(zones: Mapping[tuple[str, str], Zone]) -> bool:
    """True if every zone is fully disrupted.

    The controller then suspects its own connection: it takes back all nodes' NoExecute taints and evicts nothing.
    """
    return all(zone.state is ZoneState.FULL_DISRUPTION for zone in zones.values())


def nodes_per_second(zone: Zone, *, stopped: bool) -> float:
    """Number of nodes of ``zone`` that get their NoExecute taint; ``stopped`` is `stops_evictions`."""
    if stopped:
        return 0
    if zone.state is not ZoneState.PARTIAL_DISRUPTION:
        return NODES_PER_SECOND
    return REDUCED_NODES_PER_SECOND if zone.size > LARGE_CLUSTER_SIZE else 0


_NO_SCHEDULE, NO_EXECUTE = "NoSchedule", "NoExecute"
_PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
}
_HEALTH_TAINT_KEYS = frozenset({NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY, *_PRESSURES.values()})
_SECOND = 10**9


def failed_node(node: Node) -> Node:
    """``node`` as the node lifecycle controller leaves it once its kubelet is silent.

    It is tainted unreachable instead of not-ready, and all the kubelet's conditions are Unknown. Pressure is no longer
    known, so its taints go.
    """
    unreachable = [Taint(key=UNREACHABLE_TAINT_KEY, effect=effect) for effect in (_NO_SCHEDULE, NO_EXECUTE)]
    return _reporting(node, dict.fromkeys((READY, *_PRESSURES), "Unknown"), unreachable)


def is_silent(node: Node) -> bool:
    """True if the node's kubelet does not answer, so that deleted pods stay terminating."""
    return any(condition.type == READY and condition.status == "Unknown" for condition in node.status.conditions)


def without_eviction_taints(node: Node) -> Node:
    """``node`` without the NoExecute taints of its health, taken back while every zone is fully disrupted."""
    health = (NOT_READY_TAINT_KEY, UNREACHABLE_TAINT_KEY)
    remaining = [taint for taint in node.spec.taints if taint.effect != NO_EXECUTE or taint.key not in health]
    return replace(node, spec=replace(node.spec, taints=remaining))


def restored_node(node: Node) -> Node:
    """``node`` after its kubelet reports that nothing is wrong."""
    return _reporting(node, {READY: "True", **dict.fromkeys(_PRESSURES, "False")}, [])


def _reporting(node: Node, conditions: Mapping[str, str], taints: Sequence[Taint]) -> Node:
    """``node`` with the ``conditions`` its kubelet reports and the ``taints`` of its health, beside all others."""
    others = [taint for taint in node.spec.taints if taint.key not in _HEALTH_TAINT_KEYS]
    other_conditions = [condition for condition in node.status.conditions if condition.type not in conditions]
    reported = [NodeCondition(type=name, status=status) for name, status in conditions.items()]
    return replace(
        node,
        spec=replace(node.spec, taints=[*others, *taints]),
        status=replace(node.status, conditions=[*other_conditions, *reported]),
    )


def unready_pod(pod: Pod, now: datetime) -> Pod:
    """``pod`` on a node that is not ready, so that nothing counts it as healthy."""
    conditions = [
        replace(condition, status="False", last_transition_time=format_utc(now))
        if condition.type == READY and condition.status == "True"
        else condition
        for condition in pod.status.conditions
    ]
    return replace(pod, status=replace(pod.status, conditions=conditions))


def evicted_after(
    tolerations: Sequence[Toleration], taints: Sequence[Taint], *, compares: bool = False
) -> float | None:
    """Seconds from the NoExecute taints until a pod with ``tolerations`` is deleted: 0 at once, None never.

    Disruption budgets do not apply. For each taint the first matching toleration in the pod's order counts.
    ``compares``: see `tolerates`.
    """
    limits = []
    for taint in taints:
        if taint.effect != NO_EXECUTE:
            continue
        used = next((toleration for toleration in tolerations if tolerates(toleration, taint, compares=compares)), None)
        if used is None:
            return 0
        if used.toleration_seconds is not None:
            limits.append(max(0, used.toleration_seconds))
    return _duration(min(limits)) if limits else None


def _duration(seconds: int) -> float | None:
    """Seconds after Go's overflow of 64-bit nanoseconds; None, forever, if negative or the maximum."""
    if seconds == 2**63 - 1:
        return None
    wrapped = (seconds * _SECOND + 2**63) % 2**64 - 2**63
    return wrapped / _SECOND if wrapped >= 0 else None


class Replacement(Enum):
    """Moment at which a controller replaces a terminating pod."""

    AT_ONCE = "at once"
    WHEN_GONE = "when the pod is gone"
    """On a dead node: once the pod is deleted by force, its Node object is deleted, or the node is tainted
    node.kubernetes.io/out-of-service.
    """
    NEVER = "never"
    UNKNOWN = "unknown"


def replacement(controller: OwnerReference | None, owner: Job | DaemonSet | None = None) -> Replacement:
    """Moment at which the pod of ``controller`` is replaced; ``owner`` is that Job or DaemonSet, if known."""
    if controller is None:
        return Replacement.NEVER
    match group_of(controller.api_version), controller.kind:
        case ("apps", "ReplicaSet") | ("", "ReplicationController"):
            return Replacement.AT_ONCE
        case ("apps", "StatefulSet"):
            return Replacement.WHEN_GONE
        case ("apps", "DaemonSet"):
            surges = isinstance(owner, DaemonSet) and _surges(owner)
            return Replacement.AT_ONCE if surges else Replacement.WHEN_GONE
        case ("batch", "Job"):
            waits = isinstance(owner, Job) and waits_for_the_end(owner.spec)
            return Replacement.WHEN_GONE if waits else Replacement.AT_ONCE
        case ("", "Node"):
            return Replacement.NEVER
    return Replacement.UNKNOWN


def _surges(daemon_set: DaemonSet) -> bool:
    """True if maxSurge allows a pod beside another on the same node."""
    strategy = daemon_set.spec.update_strategy or UpdateStrategy()
    surge = (strategy.rolling_update or RollingUpdate()).max_surge or 0
    return strategy.type in ("", "RollingUpdate") and scaled_value(surge, 1, round_up=True) > 0
