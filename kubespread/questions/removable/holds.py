"""What keeps a node, found before a drain and in what a removal came to; what is said of each cause is in `HOLDS`.

What keeps pods from being evicted now: budgets, and what drains and autoscalers of nodes refuse.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from kubespread.controllers.disruption import LOCAL_STORAGE_ERROR, UNMANAGED_ERROR, DrainPlan
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import NamespacedName, is_kept
from kubespread.kube.taint import DrainFlags
from kubespread.kube.well_known import DO_NOT_DISRUPT, SAFE_TO_EVICT
from kubespread.questions.removable.report import HeldBy, Hold, HoldCause
from kubespread.world.events.draining import drain_plan
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Difference
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.reporting.tight_budgets import WorkloadOf, refused_pods

_ASKING = DrainFlags(delete_emptydir_data=False)
"""kubectl drain as it has to be typed: it refuses to delete data in emptyDir, and pods without a controller."""


class KeptNode(Struct, frozen=True):
    """One reason why a node is not drained, of one node."""

    cause: HoldCause
    node: str
    pods: tuple[NamespacedName, ...]
    """Those that are the reason; none where it is the node itself."""


def kept_nodes(world: World, workload: WorkloadOf) -> Iterator[KeptNode]:
    """Every node with each reason, in the cluster's order."""
    for node in world.living.nodes.objects:
        name = node.metadata.name
        pods = {NamespacedName.of(pod): pod for pod in world.book.on(name) if workload(pod) is not None}
        for hold in refusals(drain_plan(world, name, _ASKING)):
            if held := tuple(pod for pod in pods if pod in hold.pods):
                yield KeptNode(hold.cause, name, held)
        if refused := refused_pods(world, workload, name):
            yield KeptNode("budget", name, tuple(map(NamespacedName.of, refused)))
        yield from _kept_by_autoscalers(node, pods)


def kept_by_autoscalers(world: World, workload: WorkloadOf, names: Collection[str]) -> Iterator[KeptNode]:
    """Those of the named nodes that autoscalers of nodes leave alone since annotations say so; kubectl does not ask."""
    for node in world.living.nodes.objects:
        if (name := node.metadata.name) in names:
            pods = {NamespacedName.of(pod): pod for pod in world.book.on(name) if workload(pod) is not None}
            yield from _kept_by_autoscalers(node, pods)


def _kept_by_autoscalers(node: Node, pods: dict[NamespacedName, Pod]) -> Iterator[KeptNode]:
    if unsafe := _annotated(pods, SAFE_TO_EVICT, "false"):
        yield KeptNode("safeToEvict", node.metadata.name, unsafe)
    undisturbed = _annotated(pods, DO_NOT_DISRUPT, "true")
    if undisturbed or node.metadata.annotations.get(DO_NOT_DISRUPT) == "true":
        yield KeptNode("doNotDisrupt", node.metadata.name, undisturbed)


def _annotated(pods: dict[NamespacedName, Pod], annotation: str, value: str) -> tuple[NamespacedName, ...]:
    return tuple(key for key, pod in pods.items() if pod.metadata.annotations.get(annotation) == value)


def refusals(plan: DrainPlan) -> Iterator[Hold]:
    """kubectl drain's refusals of a node, before it evicts anything."""
    causes: dict[str, HeldBy] = {LOCAL_STORAGE_ERROR: "localStorage", UNMANAGED_ERROR: "noController"}
    for error, pods in plan.refused.items():
        yield Hold(cause=causes.get(error, "daemonSet"), detail=error, pods=tuple(pods))


def blocking(difference: Difference) -> tuple[Hold, ...]:
    """The evictions that the API server refused, and the pods that finalizers keep."""
    by_cause: dict[tuple[HeldBy, str], list[Pod]] = {}
    for blocked in difference.blocked:
        cause: HeldBy = "finalizer" if is_kept(blocked.pod) else "budget"
        by_cause.setdefault((cause, blocked.cause or blocked.message), []).append(blocked.pod)
    return tuple(
        Hold(cause=cause, detail=message, pods=tuple(map(NamespacedName.of, pods)))
        for (cause, message), pods in by_cause.items()
    )


def pending(difference: Difference) -> tuple[Hold, ...]:
    """Pods with the same message together, named by their workloads: the pods themselves are new."""
    world, by_message = difference.world, dict[str, dict[NamespacedName, None]]()
    for waiting in difference.waiting:
        workload = workload_of(world, waiting.pod)
        named = NamespacedName.of(waiting.pod) if workload.kind == "Pod" else workload
        by_message.setdefault(world.message(waiting), {})[named] = None
    return tuple(Hold(cause="noNode", detail=message, pods=tuple(names)) for message, names in by_message.items())


def leaving(difference: Difference) -> Iterator[Hold]:
    """All that is worse once the nodes are gone."""
    yield from pending(difference)
    for prefix, is_refused in (("not created: ", True), ("", False)):
        rows = (row for row in difference.unmade if row.is_refused == is_refused)
        for unmade in unmade_pods(difference.world, rows):
            yield Hold(cause="notMade", detail=f"{prefix}{unmade.message}", pods=(unmade.workload,))
    # Preempted pods of lower priority without a controller, or protected by a budget.
    if lost := tuple(NamespacedName.of(gone.pod) for gone in difference.lost_unasked):
        yield Hold(cause="preempts", detail="pods without a controller are preempted", pods=lost)
    for budget, gone in difference.broken_budgets.items():
        detail = f"preempted though the disruption budget {budget.partition('/')[2]} does not allow it"
        yield Hold(cause="preempts", detail=detail, pods=tuple(NamespacedName.of(each.pod) for each in gone))
    for short in difference.short:
        if not short.lacking:
            detail = f"{short.ready:,} of {short.wanted:,} ready, {short.ready_before:,} before"
            cause: HeldBy = "unknownController" if short.controller_unknown else "fewerReady"
            yield Hold(cause=cause, detail=detail, pods=(short.workload,))
