"""Nodes that break down, and nodes that come back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from kubespread.controllers.outage import (
    NODES_PER_SECOND,
    Zone,
    evicted_after,
    failed_node,
    nodes_per_second,
    restored_node,
    stops_evictions,
    unready_pod,
    without_eviction_taints,
    zones,
    zones_without,
)
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import WorkloadName, is_active, is_ready
from kubespread.kube.well_known import zone_key
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.scheduling import schedule
from kubespread.world.store import pod_states as states
from kubespread.world.store.happenings import DELETED, LOST, Evicted
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.store import ABOVE, BELOW

if TYPE_CHECKING:
    from kubespread.world.events.world import World

MOST_STEPS = 20
"""Of larger zones the nodes are evicted a few at once: with many nodes a few more or less make little difference."""
ZoneKey = tuple[str, str]
"""Region and zone."""

STOPPED = "every zone is down: the node controller suspects itself, takes back its NoExecute taints and evicts nothing"


def fail(world: World, names: Sequence[str]) -> None:
    """The kubelets of nodes fall silent: the nodes are tainted, and pods that do not tolerate that forever are deleted
    and stay terminating, except those without a grace period, which the API server removes at once. What controllers
    make instead is placed.

    The nodes of a zone are evicted one after another: successors of the first are placed while pods on the others still
    count. How long that takes is not waited for. Pods stay where the node controller would never taint NoExecute.
    """
    failing = [_node(world, name) for name in names]
    failed = {node.metadata.name: failed_node(node) for node in failing}
    zones_by_key = zones_without(_zones(world), failing)
    stopped = stops_evictions(zones_by_key)
    changed = dict(failed)
    for name, node in failed.items():
        zone = zones_by_key.get(zone_key(node.metadata.labels))
        if stopped or (zone is not None and nodes_per_second(zone, stopped=stopped) == 0):
            changed[name] = without_eviction_taints(node)
    if stopped:
        nodes = world.living.nodes.objects
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
    lost = [changed[name] for name in world.surroundings.chance.turns(names)]
    pods = [pod for pod in _pods_on(world, names) if is_active(pod)]
    world.change_pods((pod, unready_pod(pod, world.time)) for pod in pods)
    world.settle()
    due = sorted(_due(world, lost, zones_by_key).items())
    for seconds, keys in due:
        counts = Counter(world.book[key].spec.node_name for key in keys)
        world.happenings.evictions += (Evicted(node, seconds, pods) for node, pods in counts.items())
    world.happenings.by_chance |= len(due) > 1 and len({eviction.node for eviction in world.happenings.evictions}) > 1
    size = -(-len(due) // MOST_STEPS) or 1
    steps = (due[start : start + size] for start in range(0, len(due), size))
    _evict(world, ([key for _, keys in step for key in keys] for step in steps), frozenset(names))
    world.settle()


def remove_failed(world: World, names: Sequence[str]) -> None:
    """The Node objects of failed nodes are deleted, and the pod garbage collector removes what was on them."""
    world.change_nodes(NodeChange(removed=tuple(names)))
    world.settle()


def restore(world: World, names: Sequence[str]) -> None:
    """Kubelets answer again: pods marked for deletion go, the others become ready."""
    restored = {name: restored_node(_node(world, name)) for name in names}
    world.change_nodes(NodeChange(replaced=restored))
    pods = list(_pods_on(world, names))
    world.remove([pod for pod in pods if pod.metadata.deletion_timestamp is not None], DELETED)
    unready = [pod for pod in pods if is_active(pod) and not is_ready(pod)]
    ready = states.running_since(world.timestamp, ready=True)
    world.change_pods((pod, states.on_node(pod, pod.spec.node_name, ready)) for pod in unready)
    world.settle()


def _due(world: World, nodes: Iterable[Node], zones_by_key: Mapping[ZoneKey, Zone]) -> dict[float, list[PodKey]]:
    """Which pods are deleted when, in seconds after the first node of each zone got its NoExecute taint.

    The zone's other nodes get theirs one after another, in the order of ``nodes``, at the rate of the zone.
    """
    due: dict[float, list[PodKey]] = {}
    tainted = Counter[ZoneKey]()
    for node in nodes:
        key = zone_key(node.metadata.labels)
        rate = nodes_per_second(zones_by_key[key], stopped=False) if key in zones_by_key else NODES_PER_SECOND
        delay = tainted[key] / rate if rate else 0
        for pod in filter(is_active, world.book.on(node.metadata.name)):
            if (seconds := evicted_after(pod.spec.tolerations, node.spec.taints)) is not None:
                due.setdefault(seconds + delay, []).append(key_of(pod))
        tainted[key] += 1
    return due


def _evict(world: World, due: Iterable[Sequence[PodKey]], nodes: Collection[str]) -> None:
    """Delete pods of ``nodes``, those due at the same time together, and let their owners settle each time.

    Other waiting pods gain no room from this, so they are tried again only at the end.
    """
    turns = count()
    waiting: dict[WorkloadName | None, dict[PodKey, int]] = {}
    for waiting_pod in world.waiting:
        waiting.setdefault(world.book.owner_of(waiting_pod.pod), {})[key_of(waiting_pod.pod)] = next(turns)
    for keys in due:
        # Meanwhile a controller may have deleted some, and made others of the same names.
        pods = [pod for key in keys if key in world.book and is_active(pod := world.book[key])]
        pods = [pod for pod in pods if pod.spec.node_name in nodes]
        owners = {world.book.owner_of(pod) for pod in pods}
        seen = len(world.happenings.created)
        world.delete(pods, LOST)
        has_acted = True
        while has_acted:
            has_acted = world.reconcile(BELOW)
            for pod in world.happenings.created[seen:]:
                owner = world.book.owner_of(pod)
                owners.add(owner)
                waiting.setdefault(owner, {})[key_of(pod)] = next(turns)
            seen = len(world.happenings.created)
            turn_of = {key: turn for owner in owners for key, turn in waiting.get(owner, {}).items()}
            has_acted = has_acted or schedule(world, sorted(turn_of, key=turn_of.__getitem__)) or world.reconcile(ABOVE)


def _pods_on(world: World, names: Iterable[str]) -> Iterable[Pod]:
    return (pod for name in names for pod in world.book.on(name))


def _zones(world: World) -> Mapping[ZoneKey, Zone]:
    """The zones now, counted once for all worlds that have the same nodes."""
    memo = world.cluster.memo
    cached = memo.get(zones)
    if cached is None:
        cached = memo[zones] = zones(world.living.nodes.objects)
    counted: Mapping[ZoneKey, Zone] = cached  # type: ignore[assignment]  # the memo holds all sorts
    return counted


def _node(world: World, name: str) -> Node:
    nodes = world.living.nodes
    return nodes.objects[nodes.index[name]]
