"""Draining nodes: they are cordoned, and their pods evicted as budgets allow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kubespread.controllers.disruption import LET_THROUGH, TOO_MANY_REQUESTS, DrainPlan, Eviction, plan_drain
from kubespread.kube.api.core import Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.taint import DrainFlags, cordoned
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.store.happenings import EVICTED, Blocked, RefusedDrain
from kubespread.world.store.pod_book import PodKey, key_of

if TYPE_CHECKING:
    from kubespread.world.events.world import World


def drain_plan(world: World, node: str, flags: DrainFlags) -> DrainPlan:
    """What kubectl would do with the pods of a node."""
    pods = world.book.on(node)
    return plan_drain(node, pods, _daemon_sets(world, pods), flags, world.time)


def drain(world: World, nodes: Sequence[str], flags: DrainFlags) -> bool:
    """Cordon all nodes and evict their pods, node by node; whether all are empty.

    A node that kubectl refuses keeps its pods and is in `Happenings.refused`, and the others are drained. Pods whose
    eviction the API server refuses are in `Happenings.blocked`.

    kubectl asks for all pods of a node at once, a worker each, and again every 5 seconds for those that were refused.
    Here pods without a budget are evicted together, and one of each budget: requests that are charged to the same one
    collide, and the API server tries the others again after half a second. Once the successors are placed and ready,
    all others are tried again, until a round evicts nothing.

    Source: pkg/registry/core/pod/storage/eviction.go, Create
    Source: staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go, RunDrain
    """
    cordon(world, nodes)
    is_empty = True
    for node in nodes:
        plan = drain_plan(world, node, flags)
        if plan.errors:
            listed = plan.errors[0] if len(plan.errors) == 1 else f"[{', '.join(plan.errors)}]"
            world.happenings.refused.append(RefusedDrain(node, listed))
            is_empty = False
            continue
        for warning in plan.warnings:
            world.happenings.note(f"node {node}: {warning}")
        is_empty &= evict(world, plan.evict)
    return is_empty


def cordon(world: World, nodes: Sequence[str]) -> None:
    """New pods stay away from the nodes."""
    objects = world.living.nodes
    old = {name: objects.objects[objects.index[name]] for name in nodes}
    if replaced := {name: new for name, node in old.items() if (new := cordoned(node)) != node}:
        world.change_nodes(NodeChange(replaced=replaced))


def delete_nodes(world: World, nodes: Sequence[str]) -> None:
    """The Node objects are deleted, and with them the pods that are still there."""
    world.change_nodes(NodeChange(removed=tuple(nodes)))


def evict(world: World, pods: Sequence[Pod]) -> bool:
    """Evict pods, as many at once as budgets let through; whether all went. What is refused is `Happenings.blocked`."""
    blocked = _evict(world, pods)
    for pod, answer in blocked:
        budgets = world.budgets.protecting(pod, world.time)
        name = ", ".join(budget.metadata.name for budget in budgets)
        world.happenings.blocked.append(Blocked(pod, answer.message or "", answer.cause or "", name))
    return not blocked


def _daemon_sets(world: World, pods: Iterable[Pod]) -> Sequence[DaemonSet]:
    """All that exist; if they were not listed, those that ``pods`` name as their controllers."""
    objects = world.workloads.objects
    if objects.knows(DaemonSet):
        return objects.of(DaemonSet)
    owners = dict.fromkeys(owner for pod in pods if (owner := world.book.owner_of(pod)) is not None)
    names = [name for name in owners if name.kind == "DaemonSet"]
    return [DaemonSet(metadata=ObjectMeta(name=name.name, namespace=name.namespace)) for name in names]


def _evict(world: World, pods: Sequence[Pod]) -> list[tuple[Pod, Eviction]]:
    """Evict what can be; the pods that stay, each with the last answer."""
    waiting = [key_of(pod) for pod in pods]
    while True:
        evicted, refused = list[Pod](), list[tuple[Pod, Eviction]]()
        again, charged = set[PodKey](), set[tuple[str, str]]()
        for key in waiting:
            # It may have been preempted, or deleted by its controller, since.
            if key not in world.book:
                continue
            pod = world.book[key]
            budgets = {
                (each.metadata.namespace, each.metadata.name) for each in world.budgets.protecting(pod, world.time)
            }
            if charged & budgets:
                again.add(key)
                continue
            answer = world.budgets.evict(pod, world.time)
            if answer.code == LET_THROUGH:
                evicted.append(pod)
                charged |= budgets if answer.budget_after is not None else set()
            else:
                refused.append((pod, answer))
        if evicted:
            world.delete(evicted, EVICTED)
            world.settle()
        helps = again or any(answer.code == TOO_MANY_REQUESTS for _, answer in refused)
        if not (evicted and helps):
            return refused
        again |= {key_of(pod) for pod, _ in refused}
        waiting = [key for key in waiting if key in again]
