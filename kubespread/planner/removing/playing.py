"""Nodes removed from a world for real: cordoned, drained and deleted, until something holds one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.controllers.drain import (
    LOCAL_STORAGE_ERROR,
    UNMANAGED_ERROR,
    DrainFlags,
    DrainPlan,
)
from kubespread.kube.api.core import Pod
from kubespread.planner.reports.removable import HeldBy, Hold
from kubespread.planner.world.draining import drain
from kubespread.planner.world.happenings import PREEMPTED
from kubespread.planner.world.pod_book import PodKey, key_of
from kubespread.planner.world.reporting import name_of, workload_of, workload_text
from kubespread.planner.world.waiting import Waiting
from kubespread.planner.world.world import World
from kubespread.snapshot.edits.cordoning import cordoned
from kubespread.snapshot.edits.nodes import NodeChange

_REFUSALS: dict[str, HeldBy] = {LOCAL_STORAGE_ERROR: "localStorage", UNMANAGED_ERROR: "noController"}


def refusals(plan: DrainPlan) -> Iterator[Hold]:
    """What kubectl drain says against a node before it evicts anything; a line names the pods it is about."""
    for line in plan.errors:
        text, _, pods = line.removeprefix("cannot delete ").rpartition(": ")
        yield Hold(cause=_REFUSALS.get(text, "daemonSet"), detail=text, pods=tuple(pods.split(", ")))


def remove(world: World, nodes: Sequence[str], flags: DrainFlags) -> tuple[Hold, ...]:
    """Cordon ``nodes``, drain them one after another and delete them; what holds the first that does not go.

    Where something does, the world is left as it is then.
    """
    waited = {key_of(each.pod) for each in world.waiting}
    objects = world.living.nodes
    world.change_nodes(NodeChange(replaced={name: cordoned(objects.objects[objects.index[name]]) for name in nodes}))
    for name in nodes:
        if not drain(world, [name], flags):
            return tuple(_blocked(world))
        # Of a single node they may fit once it is gone, and its domain with it.
        if len(nodes) > 1 and (pending := _pending(world, waited)):
            return tuple(_no_node(world, pending))
    world.change_nodes(NodeChange(removed=tuple(nodes)))
    world.settle()
    return (*_no_node(world, _pending(world, waited)), *_pushed_away(world))


def _pending(world: World, waited: set[PodKey]) -> list[Waiting]:
    return [each for each in world.waiting if key_of(each.pod) not in waited]


def _no_node(world: World, pending: Sequence[Waiting]) -> Iterator[Hold]:
    """Those that hear the same together, named by their workloads: the pods are new ones."""
    said: dict[str, dict[str, None]] = {}
    for each in pending:
        workload = workload_of(world, each.pod)
        name = name_of(each.pod) if workload.kind == "Pod" else workload_text(workload)
        said.setdefault(world.message(each), {})[name] = None
    for message, names in said.items():
        yield Hold(cause="noNode", detail=message, pods=tuple(names))


def _pushed_away(world: World) -> Iterator[Hold]:
    """Pods of lower priority that made room, and have no controller."""
    gone = [each.pod for each in world.happenings.lost_for_good() if each.why == PREEMPTED]
    if gone:
        yield Hold(cause="preempts", detail="pods without a controller are preempted", pods=tuple(map(name_of, gone)))


def _blocked(world: World) -> Iterator[Hold]:
    said: dict[str, list[Pod]] = {}
    for each in world.happenings.blocked:
        said.setdefault(each.cause or each.message, []).append(each.pod)
    for message, pods in said.items():
        yield Hold(cause="budget", detail=message, pods=tuple(map(name_of, pods)))
