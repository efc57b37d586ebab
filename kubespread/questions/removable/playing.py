"""Nodes removed by playing it: cordoned, drained and deleted, until something blocks one of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from kubespread.controllers.disruption.drain import LOCAL_STORAGE_ERROR, UNMANAGED_ERROR, DrainFlags, DrainPlan
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName
from kubespread.kube.taint import cordoned
from kubespread.questions.removable.report import HeldBy, Hold
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.draining import drain
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.reporting.missing import Missing
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.pod_book import PodKey
from kubespread.world.store.waiting import Waiting

_REFUSALS: dict[str, HeldBy] = {LOCAL_STORAGE_ERROR: "localStorage", UNMANAGED_ERROR: "noController"}


def refusals(plan: DrainPlan) -> Iterator[Hold]:
    """kubectl drain's refusals of a node, before it evicts anything."""
    for error, pods in plan.refused.items():
        yield Hold(cause=_REFUSALS.get(error, "daemonSet"), detail=error, pods=tuple(pods))


class Removed(Struct, frozen=True):
    """The outcome of removing nodes."""

    held: tuple[Hold, ...] = ()
    """What blocks the first node that cannot go."""
    until_deleted: int = 0
    """Pods that waited until the Node object was deleted, and found a node then."""


def remove(world: World, nodes: Sequence[str], flags: DrainFlags, waited: Collection[PodKey] = ()) -> Removed:
    """Cordon ``nodes``, drain them one after another and delete them.

    Where something blocks one, the world is left as it is then. ``waited`` is as for `Missing`.
    """
    missing = Missing(world, waited)
    objects = world.living.nodes
    world.change_nodes(NodeChange(replaced={name: cordoned(objects.objects[objects.index[name]]) for name in nodes}))
    for name in nodes:
        if not drain(world, [name], flags):
            return Removed(tuple(_blocked(world)))
        # For a single node, they may fit once it is gone, and its domain with it.
        pending = missing.newly_waiting(world)
        if len(nodes) > 1 and pending:
            return Removed(tuple(_no_node(world, pending)))
    world.change_nodes(NodeChange(removed=tuple(nodes)))
    world.settle()
    stuck = missing.newly_waiting(world)
    held = (*_no_node(world, stuck), *_not_made(world, missing), *_pushed_away(world))
    return Removed(held, max(0, len(pending) - len(stuck)))


def _no_node(world: World, pending: Sequence[Waiting]) -> Iterator[Hold]:
    """Pods with the same message together, named by their workloads: the pods themselves are new."""
    by_message: dict[str, dict[str, None]] = {}
    for waiting in pending:
        workload = workload_of(world, waiting.pod)
        name = NamespacedName.of(waiting.pod) if workload.kind == "Pod" else workload
        by_message.setdefault(world.message(waiting), {})[name] = None
    for message, names in by_message.items():
        yield Hold(cause="noNode", detail=message, pods=tuple(names))


def _not_made(world: World, missing: Missing) -> Iterator[Hold]:
    for unmade_pod in unmade_pods(world, missing.newly_unmade(world)):
        yield Hold(cause="notMade", detail=unmade_pod.message, pods=(unmade_pod.workload,))


def _pushed_away(world: World) -> Iterator[Hold]:
    """Preempted pods of lower priority without a controller, or protected by a budget."""
    preempted = [gone for gone in world.happenings.gone if gone.why == PREEMPTED]
    if lost := [NamespacedName.of(gone.pod) for gone in preempted if gone.is_lost_for_good]:
        yield Hold(cause="preempts", detail="pods without a controller are preempted", pods=tuple(lost))
    against: dict[str, list[str]] = {}
    for gone in preempted:
        for budget in gone.broken_budgets:
            against.setdefault(budget, []).append(NamespacedName.of(gone.pod))
    for budget, pods in against.items():
        detail = f"preempted though the disruption budget {budget} does not allow it"
        yield Hold(cause="preempts", detail=detail, pods=tuple(pods))


def _blocked(world: World) -> Iterator[Hold]:
    by_message: dict[str, list[Pod]] = {}
    for blocked in world.happenings.blocked:
        by_message.setdefault(blocked.cause or blocked.message, []).append(blocked.pod)
    for message, pods in by_message.items():
        yield Hold(cause="budget", detail=message, pods=tuple(map(NamespacedName.of, pods)))
