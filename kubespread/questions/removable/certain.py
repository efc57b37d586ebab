"""Judgments before any node is drained: pods that certainly find another node, and pods that cannot be evicted.

Pods find one without moving any of them: the filters are asked once for all pods and nodes that they cannot tell apart.
A moved pod takes room on one node only; so if each pod of a node fits on more other nodes than pods move, all of them
find one, in any order. This is claimed only where nothing else depends on where they land: see `Certain.goes`. Budgets,
kubectl and autoscalers of nodes keep pods from being evicted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, full_name, is_active, priority_of
from kubespread.kube.taint import DrainFlags, cordon_node
from kubespread.kube.well_known import DO_NOT_DISRUPT, SAFE_TO_EVICT
from kubespread.reports.outcome import TroubleKind
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.cluster import Cluster, ClusterChange
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import evaluate_prepared
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import CountingState, SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, SpreadState
from kubespread.world.events.draining import drain_plan
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import WorkloadOf, unevictable_pods
from kubespread.world.reporting.outcomes import drain_refusals

_MADE_ALIKE = frozenset({"ReplicaSet", "ReplicationController"})
"""Controllers that immediately create an identical pod."""


class _Mover(Struct, frozen=True):
    """Nodes where pods of one controller fit now."""

    plugins: Framework
    template: Pod
    fits: Mask
    """Nodes where one more pod fits."""
    hard: tuple[HardConstraint, ...]
    """The constraints that look beyond the node."""


class Certain:
    """Quick judge of drains in a settled world, which is not changed."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._movers: dict[WorkloadName, _Mover | None] = {}
        self._room: dict[Hashable, int] = {}
        self._cordoned: tuple[int, Cluster] | None = None
        self._waiting = len(world.waiting)
        lowest = world.cluster.kinds.lowest_priority
        self._may_preempt = any(priority_of(waiting.pod) > lowest for waiting in world.waiting)
        """True if a waiting pod could preempt others once something changes."""
        # Read before their first use: they stay current from then on.
        self._allowed = {
            (budget.metadata.namespace, budget.metadata.name): budget.status.disruptions_allowed
            for budget in world.budgets.current(world.time)
        }

    def goes(self, node: int, pods: Sequence[Pod]) -> bool:
        """True if a drain that evicts ``pods``, all that leave the node, certainly leaves none pending.

        Only for pods that a ReplicaSet recreates at once, without volumes and finalizers, that budgets let go together,
        that no filter but topology spread judges beyond the node, and that count only in their own constraints, as the
        node's only such pod.
        """
        if self._may_preempt or not self._budgets_let_go(pods):
            return False
        owners = [self._world.book.owner_of(pod) for pod in pods]
        for pod, owner in zip(pods, owners, strict=True):
            if owner is None or (mover := self._mover(owner)) is None:
                return False
            if pod.spec.has_scheduled_volumes or pod.metadata.finalizers:
                return False
            if mover.hard and not self._counts_alone(node, pod, mover):
                return False
            if self._rooms(node, pod, owner, mover) <= len(pods) + self._waiting:
                return False
        return True

    def _budgets_let_go(self, pods: Sequence[Pod]) -> bool:
        allowed = dict(self._allowed)
        for pod in pods:
            protecting = self._world.budgets.protecting(pod, self._world.time)
            if len(protecting) > 1:
                return False
            for budget in protecting:
                key = budget.metadata.namespace, budget.metadata.name
                allowed[key] -= 1
                if allowed[key] < 0:
                    return False
        return True

    def _mover(self, owner: WorkloadName) -> _Mover | None:
        if owner not in self._movers:
            self._movers[owner] = self._build_mover(owner) if owner.kind in _MADE_ALIKE else None
        return self._movers[owner]

    def _build_mover(self, owner: WorkloadName) -> _Mover | None:
        world = self._world
        pods = world.book.pods_of(owner)
        controller = world.owner(owner)
        if (
            controller.template is None
            or not world.api_server.takes_one_more(controller.template)
            or controller.replicas != len(pods)
            or not all(map(is_active, pods))
            or owner in world.watchers
        ):
            return None
        scheduled = world.settings.scheduler_of(controller.template)
        if scheduled is None:
            return None
        plugins = scheduled[1]
        try:
            prepared = plugins.prepare(world.cluster, controller.template)
        except SchedulingError:
            return None
        evaluation = evaluate_prepared(prepared, is_scored=False)
        if evaluation.rejection is not None or evaluation.filter_error is not None:
            return None
        hard: list[HardConstraint] = []
        for state in prepared.filter_states:
            if isinstance(state, SpreadState):
                hard += state.hard
            elif isinstance(state, CountingState) and state.filter() is not None:
                return None
        return _Mover(plugins, controller.template, evaluation.feasible, tuple(hard))

    def _counts_alone(self, node: int, pod: Pod, mover: _Mover) -> bool:
        """True if no other pod of the node counts in the pod's hard constraints."""
        others = (
            other
            for other in self._world.book.pods_on(self._world.living.nodes.names[node])
            if other is not pod and other.metadata.namespace == pod.metadata.namespace
        )
        selectors = [constraint.constraint.selector for constraint in mover.hard]
        return not any(selector.matches(other.metadata.labels) for other in others for selector in selectors)

    def _rooms(self, node: int, pod: Pod, owner: WorkloadName, mover: _Mover) -> int:
        """A lower bound on the other nodes that fit the pod once it has left its own, which is cordoned."""
        if not mover.hard:
            return int(np.count_nonzero(mover.fits)) - int(mover.fits[node])
        # These alone determine which nodes the constraints count, and the effect of a pod on one of them.
        alike = tuple(
            (int(constraint.column.codes[node]), bool(constraint.eligible[node]), bool(constraint.counts_on[node]))
            for constraint in mover.hard
        )
        key = owner, alike
        if key not in self._room:
            # The node of the next identical pod is counted here, though that pod may not go to it.
            self._room[key] = self._fitting_nodes(node, pod, mover) - 1
        return self._room[key]

    def _fitting_nodes(self, node: int, pod: Pod, mover: _Mover) -> int:
        """Count the nodes that fit the replacement; 0 where it may leave a constraint violated wherever it goes."""
        cluster = self._cordon(node).apply(ClusterChange(removed_pods=[(pod, node)]))
        prepared = mover.plugins.prepare(cluster, mover.template)
        state = next(filter_state for filter_state in prepared.filter_states if isinstance(filter_state, SpreadState))
        for hard in state.hard:
            skew = skew_between(hard.counts[hard.is_domain], lacks_domains=hard.lacks_domains)
            if skew > hard.constraint.max_skew:
                return 0
        return int(np.count_nonzero(evaluate_prepared(prepared, is_scored=False).feasible))

    def _cordon(self, node: int) -> Cluster:
        """The cluster with one node cordoned; a node's pods are queried one after another."""
        if self._cordoned is None or self._cordoned[0] != node:
            base = self._world.cluster
            self._cordoned = (
                node,
                base.apply(ClusterChange(replaced_nodes={node: cordon_node(base.nodes.objects[node])})),
            )
        return self._cordoned[1]


Cause = TroubleKind | Literal["safeToEvict", "doNotDisrupt"]
OBSTACLES: Mapping[Cause, tuple[Literal["warning", "notice"], str]] = {
    "localStorage": ("notice", "with data in emptyDir volumes, which a drain deletes"),
    "noController": (
        "warning",
        "cannot be drained: kubectl drain refuses without --force, for pods that nothing makes again",
    ),
    "daemonSet": ("warning", "cannot be drained: kubectl drain refuses, for pods of a DaemonSet that is gone"),
    "blocked": ("warning", "cannot be drained: a budget refuses an eviction now"),
    "safeToEvict": ("notice", f"not removed by cluster-autoscaler, for pods annotated {SAFE_TO_EVICT}: false"),
    "doNotDisrupt": ("notice", f"not removed by Karpenter, for {DO_NOT_DISRUPT}: true"),
}
"""Severity of each cause for a cluster, and the words after a number of nodes."""
_USUAL_FLAGS = DrainFlags(delete_emptydir_data=False)
"""Flags with which kubectl drain refuses to delete data in emptyDir volumes, and pods without a controller."""


class UndrainedNode(Struct, frozen=True):
    """A reason a node is not drained."""

    cause: Cause
    node: str
    pods: tuple[NamespacedName, ...]
    """Pods that are the reason; none if it is the node itself."""


def undrained_nodes(world: World, workload: WorkloadOf) -> Iterator[UndrainedNode]:
    """Yield every node with each reason, in the cluster's order."""
    for node in world.living.nodes.objects:
        name = node.metadata.name
        pods = {full_name(pod): pod for pod in world.book.pods_on(name) if workload(pod) is not None}
        refused: dict[Cause, list[NamespacedName]] = {}
        for trouble in drain_refusals(drain_plan(world, name, _USUAL_FLAGS)):
            if trouble.subject in pods:
                refused.setdefault(trouble.kind, []).append(trouble.subject)
        refused["blocked"] = [full_name(pod) for pod in unevictable_pods(world, workload, name)]
        yield from (UndrainedNode(cause, name, tuple(pod_names)) for cause, pod_names in refused.items() if pod_names)
        yield from _autoscaler_obstacles(node, pods)


def _autoscaler_obstacles(node: Node, pods: dict[NamespacedName, Pod]) -> Iterator[UndrainedNode]:
    if unsafe := _with_annotation(pods, SAFE_TO_EVICT, "false"):
        yield UndrainedNode("safeToEvict", node.metadata.name, unsafe)
    undisturbed = _with_annotation(pods, DO_NOT_DISRUPT, "true")
    if undisturbed or node.metadata.annotations.get(DO_NOT_DISRUPT) == "true":
        yield UndrainedNode("doNotDisrupt", node.metadata.name, undisturbed)


def _with_annotation(pods: dict[NamespacedName, Pod], annotation: str, value: str) -> tuple[NamespacedName, ...]:
    return tuple(key for key, pod in pods.items() if pod.metadata.annotations.get(annotation) == value)
