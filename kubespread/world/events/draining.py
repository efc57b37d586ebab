"""Nodes that are drained, deleted, break down or come back.

A drain cordons nodes, and evicts their pods as budgets allow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import TYPE_CHECKING

from kubespread.controllers import outage
from kubespread.controllers.disruption import LET_THROUGH, TOO_MANY_REQUESTS, DrainPlan, Eviction, plan_drain
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import DaemonSet
from kubespread.kube.owners import WorkloadName, is_active, is_finalizing, is_ready
from kubespread.kube.taint import DrainFlags, cordon_node
from kubespread.kube.well_known import zone_key
from kubespread.scheduler.cluster.memo import Memo
from kubespread.snapshot.edits.verb import NodeChange
from kubespread.world.events.controllers import schedule
from kubespread.world.store.happenings import DELETED, EVICTED, NODE_LOST, BlockedPod, EvictedNode, RefusedDrain
from kubespread.world.store.pod_book import PodKey, key_of, on_node, running_since
from kubespread.world.store.store import ABOVE, BELOW

if TYPE_CHECKING:
    from kubespread.world.events.world import World

_ZONES = Memo[None, Mapping[tuple[str, str], outage.Zone]]()
MOST_STEPS = 20
"""Number of steps in which a zone's pods are evicted, a few at once in larger zones, where more steps make little
difference.
"""
ZoneKey = tuple[str, str]
"""Region and zone."""

STOPPED = "every zone is down: the node controller suspects itself, takes back its NoExecute taints and evicts nothing"


def fail(world: World, names: Sequence[str]) -> None:
    """Let the kubelets of nodes fall silent, and controllers and kube-scheduler react.

    The nodes are tainted. Pods that do not tolerate that forever are deleted and stay terminating; without a grace
    period the API server removes them at once. The nodes of a zone are evicted one after another: successors
    of the first are placed while pods on the others still count. How long that takes is not modeled. Pods stay if the
    node controller would never taint NoExecute.
    """
    # The node controller takes them in random order; here they are sorted by name, so that runs are repeatable.
    names = sorted(names)
    failing = [world.living.nodes[name] for name in names]
    failed = {node.metadata.name: outage.failed_node(node) for node in failing}
    # Counted once for all worlds that have the same nodes.
    whole_zones = _ZONES.get_or_make(world.cluster.results, None, lambda: outage.zones(world.living.nodes.objects))
    zones_by_key = outage.zones_without(whole_zones, failing)
    stopped = outage.stops_evictions(zones_by_key)
    changed = dict(failed)
    for name, node in failed.items():
        zone = zones_by_key.get(zone_key(node.metadata.labels))
        if stopped or (zone is not None and outage.nodes_per_second(zone, stopped=stopped) == 0):
            changed[name] = outage.without_eviction_taints(node)
    if stopped:
        nodes = world.living.nodes.objects
        changed |= {
            node.metadata.name: outage.without_eviction_taints(node)
            for node in nodes
            if node.metadata.name not in failed
        }
        world.happenings.note(STOPPED)
    elif spared := [name for name in names if changed[name] is not failed[name]]:
        world.happenings.note(
            f"{len(spared)} of the failed nodes are in zones that are partly down with at most 50 nodes: the node "
            "controller does not evict there"
        )
    world.change_nodes(NodeChange(replaced=changed))
    ordered_nodes = [changed[name] for name in world.settings.chance.order(names)]
    pods = [pod for pod in _pods_on(world, names) if is_active(pod)]
    world.happenings.silenced += filter(is_ready, pods)
    world.change_pods((pod, outage.unready_pod(pod, world.time)) for pod in pods)
    world.settle()
    due = sorted(_due(world, ordered_nodes, zones_by_key).items())
    for seconds, keys in due:
        counts = Counter(world.book[key].spec.node_name for key in keys)
        world.happenings.evictions += (EvictedNode(node, seconds, pods) for node, pods in counts.items())
    world.happenings.by_chance |= len(due) > 1 and len({eviction.node for eviction in world.happenings.evictions}) > 1
    going = [key for _, keys in due for key in keys]
    size = -(-len(going) // MOST_STEPS) or 1
    _evict_failed(world, (going[start : start + size] for start in range(0, len(going), size)), frozenset(names))
    world.settle()


def restore(world: World, names: Sequence[str]) -> None:
    """Let kubelets answer again: pods marked for deletion go, the others become ready."""
    restored = {name: outage.restored_node(world.living.nodes[name]) for name in names}
    world.change_nodes(NodeChange(replaced=restored))
    pods = list(_pods_on(world, names))
    world.remove([pod for pod in pods if pod.metadata.deletion_timestamp is not None], DELETED)
    unready = [pod for pod in pods if is_active(pod) and not is_ready(pod)]
    ready = running_since(world.timestamp, ready=True)
    world.change_pods((pod, on_node(pod, pod.spec.node_name, ready)) for pod in unready)
    world.settle()


def _due(world: World, nodes: Iterable[Node], zones_by_key: Mapping[ZoneKey, outage.Zone]) -> dict[float, list[PodKey]]:
    """Map the seconds after the first node of each zone got its NoExecute taint to the pods that are deleted then.

    The zone's other nodes get theirs one after another, in the order of ``nodes``, at the rate of the zone.
    """
    due: dict[float, list[PodKey]] = {}
    tainted = Counter[ZoneKey]()
    for node in nodes:
        key = zone_key(node.metadata.labels)
        rate = (
            outage.nodes_per_second(zones_by_key[key], stopped=False)
            if key in zones_by_key
            else outage.NODES_PER_SECOND
        )
        delay = tainted[key] / rate if rate else 0
        for pod in filter(is_active, world.book.pods_on(node.metadata.name)):
            if (
                seconds := outage.evicted_after(pod.spec.tolerations, node.spec.taints, compares=world.compares)
            ) is not None:
                due.setdefault(seconds + delay, []).append(key_of(pod))
        tainted[key] += 1
    return due


def _evict_failed(world: World, due: Iterable[Sequence[PodKey]], nodes: Collection[str]) -> None:
    """Delete the ``due`` pods of failed ``nodes``, a few at a time, and let their owners settle each time.

    Pods due at the same time are deleted one after another, and the scheduler is faster. Other waiting pods gain no
    room from this, so they are tried again only at the end.
    """
    turns = count()
    waiting: dict[WorkloadName | None, dict[PodKey, int]] = {}
    for waiting_pod in world.waiting:
        waiting.setdefault(world.book.owner_of(waiting_pod.pod), {})[key_of(waiting_pod.pod)] = next(turns)
    for keys in due:
        # Meanwhile a controller may have deleted some, and created others with the same names.
        pods = [pod for key in keys if key in world.book and is_active(pod := world.book[key])]
        pods = [pod for pod in pods if pod.spec.node_name in nodes]
        owners = {world.book.owner_of(pod) for pod in pods}
        created_count = len(world.happenings.created)
        world.delete(pods, NODE_LOST)
        has_acted = True
        while has_acted:
            has_acted = world.reconcile(BELOW)
            for pod in world.happenings.created[created_count:]:
                owner = world.book.owner_of(pod)
                owners.add(owner)
                waiting.setdefault(owner, {})[key_of(pod)] = next(turns)
            created_count = len(world.happenings.created)
            turn_of = {key: turn for owner in owners for key, turn in waiting.get(owner, {}).items()}
            has_acted = has_acted or schedule(world, sorted(turn_of, key=turn_of.__getitem__)) or world.reconcile(ABOVE)


def _pods_on(world: World, names: Iterable[str]) -> Iterable[Pod]:
    return (pod for name in names for pod in world.book.pods_on(name))


def drain_plan(world: World, node: str, flags: DrainFlags) -> DrainPlan:
    """Plan of kubectl for the pods of a node."""
    pods = world.book.pods_on(node)
    return plan_drain(node, pods, _daemon_sets(world, pods), flags)


def drain(world: World, nodes: Sequence[str], flags: DrainFlags) -> bool:
    """Cordon all nodes and evict their pods, node by node; True if all are empty.

    A node that kubectl refuses keeps its pods and is in `Happenings.refused`, and the others are drained. Pods whose
    eviction the API server refuses, or that finalizers keep, are in `Happenings.blocked`.

    kubectl evicts all pods of a node at once, with a worker for each, and retries refused evictions every 5 seconds.
    Here all pods without a budget and one pod of each budget are evicted together: requests charged to one budget
    collide, and the API server retries them after half a second. Once the successors are placed and ready, all others
    are tried again, until a round evicts nothing.

    Source: pkg/registry/core/pod/storage/eviction.go, Create
    Source: staging/src/k8s.io/kubectl/pkg/cmd/drain/drain.go, RunDrain
    """
    cordon(world, nodes)
    is_empty = True
    for node in nodes:
        plan = drain_plan(world, node, flags)
        if plan.errors:
            world.happenings.refused.append(RefusedDrain(node, plan))
            is_empty = False
            continue
        for warning in plan.warnings:
            world.happenings.note(f"node {node}: {warning}")
        is_empty &= evict(world, plan.evict)
    return is_empty


def cordon(world: World, nodes: Sequence[str]) -> None:
    """Keep new pods off the nodes."""
    old = {name: world.living.nodes[name] for name in nodes}
    if replaced := {name: new for name, node in old.items() if (new := cordon_node(node)) != node}:
        world.change_nodes(NodeChange(replaced=replaced))


def delete_nodes(world: World, nodes: Sequence[str]) -> None:
    """Delete the Node objects, and the pods still there."""
    world.change_nodes(NodeChange(removed=tuple(nodes)))


def evict(world: World, pods: Sequence[Pod]) -> bool:
    """Evict pods, as many at once as budgets allow; True if all leave. The others are in `Happenings.blocked`."""
    world.happenings.down += workloads_down_meanwhile(world, pods)
    blocked = _evict(world, pods)
    finalizing = [pod for key in map(key_of, pods) if key in world.book and is_finalizing(pod := world.book[key])]
    for pod, answer in blocked:
        budgets = world.budgets.protecting(pod, world.time)
        name = ", ".join(budget.metadata.name for budget in budgets)
        world.happenings.blocked.append(BlockedPod(pod, answer.message or "", answer.cause or "", name))
    for pod in finalizing:
        names = pod.metadata.finalizers
        its = f"its finalizer{'' if len(names) == 1 else 's'} {', '.join(names)}"
        world.happenings.blocked.append(BlockedPod(pod, f"nothing that is modeled takes off {its}", "", ""))
    return not (blocked or finalizing)


def workloads_down_meanwhile(world: World, pods: Iterable[Pod]) -> list[WorkloadName]:
    """Workloads, Jobs excepted, that lose all ready pods at once when ``pods`` are evicted, as no budget holds some
    back.
    """
    going: dict[WorkloadName, list[Pod]] = {}
    for pod in pods:
        owner = world.book.owner_of(pod)
        if owner is not None and owner.kind != "Job" and is_active(pod) and is_ready(pod):
            going.setdefault(world.top_owner(owner), []).append(pod)
    return [
        workload
        for workload, ready in going.items()
        if len(ready) == sum(world.book.count(owner).ready for owner in world.owners_below(workload))
        and all(_go_at_once(world, pod, len(ready)) for pod in ready)
    ]


def _go_at_once(world: World, pod: Pod, number: int) -> bool:
    """True if so many pods of the same budget as ``pod`` go without waiting; with several budgets none goes."""
    budgets = world.budgets.protecting(pod, world.time)
    return len(budgets) < 2 and all(budget.status.disruptions_allowed >= number for budget in budgets)


def _daemon_sets(world: World, pods: Iterable[Pod]) -> Sequence[DaemonSet]:
    """All DaemonSets; if they were not listed, the controllers of ``pods``."""
    objects = world.workloads.objects
    if objects.knows(DaemonSet):
        return objects.get(DaemonSet)
    owners = dict.fromkeys(owner for pod in pods if (owner := world.book.owner_of(pod)) is not None)
    names = [name for name in owners if name.kind == "DaemonSet"]
    return [DaemonSet(metadata=ObjectMeta(name=name.name, namespace=name.namespace)) for name in names]


def _evict(world: World, pods: Sequence[Pod]) -> list[tuple[Pod, Eviction]]:
    """Evict all pods that budgets allow; return the others, each with the last answer."""
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
                (budget.metadata.namespace, budget.metadata.name)
                for budget in world.budgets.protecting(pod, world.time)
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
        placed = len(world.happenings.placed)
        # A cordon alone may let pods in elsewhere, where spreading does not count cordoned nodes.
        world.settle()
        helps = again or any(answer.code == TOO_MANY_REQUESTS for _, answer in refused)
        if not (helps and (evicted or len(world.happenings.placed) > placed)):
            return refused
        again |= {key_of(pod) for pod, _ in refused}
        waiting = [key for key in waiting if key in again]
