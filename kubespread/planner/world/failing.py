"""Nodes that break down, and nodes that come back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kubespread.controllers.outage import (
    evicted_after,
    failed_node,
    restored_node,
    unready_pod,
    without_eviction_taints,
)
from kubespread.controllers.zone_disruption import nodes_per_second, stops_evictions, zones
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.pod_status import is_active, is_ready
from kubespread.kube.zones import zone_key
from kubespread.planner.world import pods as states
from kubespread.planner.world.happenings import DELETED, LOST
from kubespread.snapshot.edits.nodes import NodeChange

if TYPE_CHECKING:
    from kubespread.planner.world.world import World

STOPPED = "every zone is down: the node controller suspects itself, takes back its NoExecute taints and evicts nothing"


def fail(world: World, names: Sequence[str]) -> None:
    """The kubelets of nodes fall silent: the nodes are tainted, and pods that do not tolerate that for ever are deleted
    and stay terminating, but for those without a grace period, which the API server removes at once. What controllers
    make instead is placed.

    How long that takes is not waited for. Pods of nodes that the node controller would never taint NoExecute stay.
    """
    failed = {name: failed_node(_node(world, name)) for name in names}
    nodes = [failed.get(node.metadata.name, node) for node in world.living.nodes.objects]
    found = zones(nodes)
    stopped = stops_evictions(found)
    changed = dict(failed)
    for name, node in failed.items():
        zone = found.get(zone_key(node.metadata.labels))
        if stopped or (zone is not None and nodes_per_second(zone, stopped=stopped) == 0):
            changed[name] = without_eviction_taints(node)
    if stopped:
        changed |= {
            node.metadata.name: without_eviction_taints(node) for node in nodes if node.metadata.name not in failed
        }
        world.happenings.note(STOPPED)
    elif spared := [name for name in names if changed[name] is not failed[name]]:
        world.happenings.note(
            f"{len(spared)} of the failed nodes are in zones that are partly down with at most 50 nodes: the node "
            "controller does not evict there"
        )
    world.change_nodes(NodeChange(replaced=changed))
    _delete_pods(world, [node for name, node in changed.items() if name in failed])
    world.settle()


def remove_failed(world: World, names: Sequence[str]) -> None:
    """The Node objects of failed nodes are deleted, and the pod garbage collector removes what was on them."""
    world.change_nodes(NodeChange(removed=tuple(names)))
    world.settle()


def restore(world: World, names: Sequence[str]) -> None:
    """Kubelets answer again: what was to be deleted is, the rest is ready again."""
    restored = {name: restored_node(_node(world, name)) for name in names}
    world.change_nodes(NodeChange(replaced=restored))
    pods = list(_pods_on(world, names))
    world.remove([pod for pod in pods if pod.metadata.deletion_timestamp is not None], DELETED)
    there = [pod for pod in pods if is_active(pod) and not is_ready(pod)]
    ready = states.running_since(world.timestamp, ready=True)
    world.change_pods((pod, states.on_node(pod, pod.spec.node_name, ready)) for pod in there)
    world.settle()


def _delete_pods(world: World, nodes: Iterable[Node]) -> None:
    doomed: list[Pod] = []
    staying: list[Pod] = []
    for node in nodes:
        for pod in world.book.on(node.metadata.name):
            if is_active(pod):
                is_doomed = evicted_after(pod.spec.tolerations, node.spec.taints) is not None
                (doomed if is_doomed else staying).append(pod)
    world.change_pods((pod, unready_pod(pod, world.time)) for pod in staying)
    world.delete(doomed, LOST)


def _pods_on(world: World, names: Iterable[str]) -> Iterable[Pod]:
    return (pod for name in names for pod in world.book.on(name))


def _node(world: World, name: str) -> Node:
    nodes = world.living.nodes
    return nodes.objects[nodes.index[name]]
