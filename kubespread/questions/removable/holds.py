"""What keeps a node: a row for each cause, with what is said of it, and how it is found in what a removal came to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct

from kubespread.controllers.disruption.drain import LOCAL_STORAGE_ERROR, UNMANAGED_ERROR, DrainPlan
from kubespread.kube.api.annotations import DO_NOT_DISRUPT, SAFE_TO_EVICT
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName
from kubespread.questions.removable.report import HeldBy, Hold
from kubespread.world.reporting.difference import Difference
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.store.waiting import Waiting

KeptBy = Literal["budget", "noController", "localStorage", "daemonSet", "safeToEvict", "doNotDisrupt"]


class Keeps(Struct, frozen=True):
    """One cause."""

    word: str
    """In a column."""
    level: Literal["warning", "notice"] = "warning"
    """How bad it is in a report on the cluster."""
    nodes: str = ""
    """What follows a number of nodes there; empty: it is not found before a node is drained."""
    names_itself: bool = False
    """Whether pods and cause say it all, without the message."""


KEEPS: Mapping[HeldBy | KeptBy, Keeps] = {
    "controlPlane": Keeps("control plane"),
    "lastOfDomain": Keeps("last of its domain"),
    "noController": Keeps(
        "no controller", nodes="cannot be drained: kubectl drain refuses without --force, for pods that nothing makes "
        "again", names_itself=True,
    ),
    "budget": Keeps("budget", nodes="cannot be drained: a budget refuses an eviction now"),
    "daemonSet": Keeps(
        "DaemonSet", nodes="cannot be drained: kubectl drain refuses, for pods of a DaemonSet that is gone"
    ),
    "localStorage": Keeps(
        "local data", "notice", "with data in emptyDir volumes, which a drain deletes",
        names_itself=True,
    ),
    "safeToEvict": Keeps(
        "safe-to-evict: false", "notice",
        f"not removed by cluster-autoscaler, for pods annotated {SAFE_TO_EVICT}: false",
    ),
    "doNotDisrupt": Keeps("do-not-disrupt", "notice", f"not removed by Karpenter, for {DO_NOT_DISRUPT}: true"),
    "noNode": Keeps("no other node"),
    "notMade": Keeps("not made yet"),
    "noRoom": Keeps("no room"),
    "preempts": Keeps("preemption"),
    "fewerReady": Keeps("fewer ready"),
}  # fmt: skip


def refusals(plan: DrainPlan) -> Iterator[Hold]:
    """kubectl drain's refusals of a node, before it evicts anything."""
    causes: dict[str, HeldBy] = {LOCAL_STORAGE_ERROR: "localStorage", UNMANAGED_ERROR: "noController"}
    for error, pods in plan.refused.items():
        yield Hold(cause=causes.get(error, "daemonSet"), detail=error, pods=tuple(pods))


def blocking(difference: Difference) -> tuple[Hold, ...]:
    """The evictions that the API server refused."""
    by_message: dict[str, list[Pod]] = {}
    for blocked in difference.blocked:
        by_message.setdefault(blocked.cause or blocked.message, []).append(blocked.pod)
    return tuple(
        Hold(cause="budget", detail=message, pods=tuple(map(NamespacedName.of, pods)))
        for message, pods in by_message.items()
    )


def pending(difference: Difference) -> tuple[Hold, ...]:
    """Pods with the same message together, named by their workloads: the pods themselves are new."""
    world, by_message = difference.world, dict[str, dict[str, None]]()
    for waiting in difference.waiting:
        by_message.setdefault(world.message(waiting), {})[_named(difference, waiting)] = None
    return tuple(
        Hold(cause="noNode", detail=message, pods=tuple(names)) for message, names in by_message.items()
    )  # fmt: skip


def _named(difference: Difference, waiting: Waiting) -> str:
    workload = workload_of(difference.world, waiting.pod)
    return NamespacedName.of(waiting.pod) if workload.kind == "Pod" else workload


def leaving(difference: Difference) -> Iterator[Hold]:
    """All that is worse once the nodes are gone."""
    yield from pending(difference)
    for row in unmade_pods(difference.world, difference.unmade):
        yield Hold(cause="notMade", detail=row.message, pods=(row.workload,))
    yield from _pushed_away(difference)
    for short in difference.short:
        if not short.lacking:
            detail = f"{short.ready:,} of {short.wanted:,} ready, {short.ready_before:,} before"
            yield Hold(cause="fewerReady", detail=detail, pods=(short.workload,))


def _pushed_away(difference: Difference) -> Iterator[Hold]:
    """Preempted pods of lower priority without a controller, or protected by a budget."""
    if lost := tuple(NamespacedName.of(gone.pod) for gone in difference.lost_unasked):
        yield Hold(cause="preempts", detail="pods without a controller are preempted", pods=lost)
    for budget, gone in difference.broken_budgets.items():
        detail = f"preempted though the disruption budget {budget.partition('/')[2]} does not allow it"
        yield Hold(cause="preempts", detail=detail, pods=tuple(NamespacedName.of(each.pod) for each in gone))
