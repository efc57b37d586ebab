"""Outcome of an event in a fork of a cluster, as a row of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from kubespread.controllers.disruption import LOCAL_STORAGE_ERROR, UNMANAGED_ERROR, DrainPlan
from kubespread.controllers.outage import is_silent
from kubespread.kube.owners import NamespacedName, WorkloadName, full_name, is_active, is_finalizing
from kubespread.reports.outcome import NodeLoad, NodesChange, Outcome, Trouble, TroubleKind, WorkloadChange
from kubespread.reports.parts import SkewChange, closing_states
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Counts
from kubespread.wording import some_of
from kubespread.world.events.world import World, unmade
from kubespread.world.reporting.difference import (
    NO_DOMAINS,
    Difference,
    Event,
    Trial,
    WorkloadFilter,
    everything,
    ready_pods,
)
from kubespread.world.reporting.happenings import (
    CountedWorkloads,
    desired_replicas,
    preempted_pods,
    skew_changes,
    unmade_pods,
    workload_of,
)
from kubespread.world.store.happenings import BlockedPod, Happenings
from kubespread.world.store.pod_book import key_of, node_of
from kubespread.world.store.waiting import Waiting

Row = TypeVar("Row", bound=Outcome)
_USUAL, _PODS = ("cpu", "memory"), "pods"
_TERMINATING = "pods are terminating on nodes that do not answer, and only made again once they are gone"
_STAYS = "pods are not ready on nodes that do not answer, and are not evicted there"
_FEWER = "its controller makes no more pods"
_UNKNOWN = "whether its controller makes lost pods again is not known"
_MAX_NAMED = 3


def outcome_of(
    row: type[Row],
    name: str,
    trial: Trial,
    *events: Event,
    barred: Mapping[str, Collection[str]] = NO_DOMAINS,
    **fields: Any,
) -> Row:
    """Outcome of events that follow each other at once in the world of ``trial``; an autoscaler's nodes are outside of
    the ``barred`` domains.
    """
    return outcome(row, name, trial.play(*events, barred=barred), **fields)


def outcome(
    row: type[Row],
    name: str,
    difference: Difference,
    before: Cluster | None = None,
    *,
    first: Sequence[Trouble] = (),
    has_skew: bool = False,
    moves: WorkloadFilter | None = None,
    **fields: Any,
) -> Row:
    """Outcome of the last step in ``difference``, as a ``row`` with further ``fields``.

    ``before`` is the cluster before that step, by default the baseline's; ``first`` are earlier troubles; ``moves``
    limits the pods counted as gone and placed.
    """
    world, step = difference.world, difference.happened[-1]
    before = before or difference.baseline.world.cluster
    of = CountedWorkloads(world, moves or difference.counts)
    departures = [departure for departure in step.departures if of(departure.pod) is not None]
    return row(
        name=name,
        troubles=(*first, *_troubles(difference)),
        workloads=tuple(_workloads(difference, of, skew_changes(world, before, step, of) if has_skew else {})),
        placed=sum(of(pod) is not None for pod in step.placed),
        gone=len(departures),
        lost=tuple(full_name(departure.pod) for departure in departures if departure.is_lost_for_good),
        preempted=tuple(preempted_pods(step)),
        down=tuple(filter(difference.counts, dict.fromkeys(step.down))),
        nodes=_nodes(before, world.cluster),
        notes=tuple(note for note in step.notes if _is_about(difference, step.owners.get(note))),
        **fields,
    )


def _is_about(difference: Difference, owner: WorkloadName | None) -> bool:
    return owner is None or difference.counts(difference.world.top_owner(owner))


def drain_refusals(plan: DrainPlan) -> Iterator[Trouble]:
    """Yield pods that kubectl drain refuses to delete, so that it evicts none."""
    kinds: Mapping[str, TroubleKind] = {LOCAL_STORAGE_ERROR: "localStorage", UNMANAGED_ERROR: "noController"}
    for error, pods in plan.refused.items():
        for pod in pods:
            yield Trouble(kind=kinds.get(error, "daemonSet"), subject=pod, why=f"cannot delete {error}")


def blocked_troubles(blocked: Iterable[BlockedPod]) -> Iterator[Trouble]:
    """Yield evictions that the API server refuses, then pods that finalizers keep."""
    for blocked_pod in sorted(blocked, key=lambda blocked_pod: is_finalizing(blocked_pod.pod)):
        kind: TroubleKind = "finalizer" if is_finalizing(blocked_pod.pod) else "blocked"
        why = f"{blocked_pod.message} {blocked_pod.cause}".strip()
        yield Trouble(kind=kind, subject=full_name(blocked_pod.pod), why=why, certain=kind == "blocked")


def _troubles(difference: Difference) -> Iterator[Trouble]:
    """Yield troubles in the order of their kinds: first of the last step, then lacking pods since the baseline."""
    step = difference.happened[-1]
    for refused in step.refused:
        yield from drain_refusals(refused.plan)
    yield from blocked_troubles(step.blocked)
    yield from permanent_troubles(difference)
    yield from missing_troubles(difference)


def permanent_troubles(difference: Difference) -> Iterator[Trouble]:
    """Yield permanent damage of the last step: pods that nothing recreates, and budgets violated by preemption."""
    last = {id(departure) for departure in difference.happened[-1].departures}
    for departure in difference.collateral_losses:
        if id(departure) in last:
            yield Trouble(kind="lost", subject=workload_of(difference.world, departure.pod))
    for budget, pods in difference.broken_budgets.items():
        if broken := [departure for departure in pods if id(departure) in last]:
            namespace, _, name = budget.partition("/")
            yield Trouble(kind="budget", subject=NamespacedName(namespace, name), count=len(broken))


def missing_troubles(difference: Difference) -> Iterator[Trouble]:
    """Yield missing pods and degraded workloads since the baseline."""
    world, growth = difference.world, difference.growth
    for row in unmade_pods(world, difference.unmade):
        yield Trouble(kind="unmade", subject=row.workload, count=row.count, why=row.message)
    is_unknown = growth is not None and bool(growth.unknown_groups)
    reasons = {} if growth is None else growth.waiting_reasons
    for workload, first in _first_by_workload(difference.waiting, CountedWorkloads(world, difference.counts)).items():
        on = _node_prefix(difference, workload) if workload.kind == "DaemonSet" else ""
        why, reason = f"{on}{world.message(first)}", reasons.get(workload)
        why = f"{why.rstrip('.')} ({reason})" if reason else why
        number = difference.pending[workload]
        yield Trouble(kind="pending", subject=workload, count=number, why=why, certain=not is_unknown)
    for short in difference.short:
        if not short.lacking:
            why = f"{short.ready:,} of {short.desired:,} ready, {short.ready_before:,} before"
            number = min(short.desired, short.ready_before) - short.ready
            is_known = not short.controller_unknown
            yield Trouble(kind="short", subject=short.workload, count=number, why=why, certain=is_known)


def _node_prefix(difference: Difference, daemon_set: WorkloadName) -> str:
    """``on n1, n2: ``: the nodes that its waiting pods are for."""
    pods = (waiting.pod for waiting in difference.waiting if workload_of(difference.world, waiting.pod) == daemon_set)
    return f"on {some_of(sorted(map(node_of, pods)), _MAX_NAMED)}: "


def current_troubles(world: World, counts: WorkloadFilter = everything) -> Iterator[Trouble]:
    """Yield pods pending or not created in a settled world, by workload."""
    for row in unmade_pods(world, list(unmade(world))):
        if counts(row.workload):
            yield Trouble(kind="unmade", subject=row.workload, count=row.count, why=row.message)
    of = CountedWorkloads(world, counts)
    pending = Counter(of(waiting.pod) for waiting in world.waiting)
    for workload, first in _first_by_workload(world.waiting, of).items():
        yield Trouble(kind="pending", subject=workload, count=pending[workload], why=world.message(first))


def _first_by_workload(waiting: Iterable[Waiting], of: CountedWorkloads) -> dict[WorkloadName, Waiting]:
    first: dict[WorkloadName, Waiting] = {}
    for waiting_pod in waiting:
        if (workload := of(waiting_pod.pod)) is not None:
            first.setdefault(workload, waiting_pod)
    return first


def _workloads(
    difference: Difference, of: CountedWorkloads, skews: Mapping[WorkloadName, Sequence[SkewChange]]
) -> Iterator[WorkloadChange]:
    world, step = difference.world, difference.happened[-1]
    departures, created, silenced = (
        Counter(map(of, pods))
        for pods in ((departure.pod for departure in step.departures), step.created, step.silenced)
    )
    landed = _landings(world, step, of)
    charged, waiting = (_first_by_workload(pods, of) for pods in (difference.waiting, world.waiting))
    short = {short.workload: short for short in difference.short}
    for name in difference.touched_workloads:
        if name.kind == "Pod":
            continue
        before, ready = difference.ready_before(name), ready_pods(world, name)
        yield WorkloadChange(
            workload=name,
            wanted=desired_replicas(world, name),
            ready_before=max(before),
            ready=ready,
            fewest_ready=max(0, min(ready, before[-1] - silenced[name])),
            pending=difference.pending[name],
            unmade=difference.unmade_counts[name],
            why=_reason(world, name, charged.get(name), waiting.get(name)) if name in short else "",
            controller_unknown=name in short and short[name].controller_unknown,
            gone=departures[name],
            created=created[name],
            landed=landed.get(name, {}),
            skew=tuple(skews.get(name, ())),
        )


def _landings(world: World, step: Happenings, of: CountedWorkloads) -> dict[WorkloadName, dict[str, int]]:
    """Count the placed pods that stay, by workload and node; a pod placed again counts on its last node."""
    landed: dict[WorkloadName, dict[str, int]] = {}
    for key, pod in {key_of(pod): pod for pod in step.placed}.items():
        node, workload = pod.spec.node_name, of(pod)
        stays = key in world.book and world.book[key].spec.node_name == node and is_active(world.book[key])
        if stays and workload is not None:
            nodes = landed.setdefault(workload, {})
            nodes[node] = nodes.get(node, 0) + 1
    return landed


def _reason(world: World, workload: WorkloadName, charged: Waiting | None, waiting: Waiting | None) -> str:
    """Reason why a workload is degraded; a pod of it may wait because of the event, or as before."""
    if charged is not None:
        return world.message(charged)
    owners = world.owners_below(workload)
    nodes = world.living.nodes
    silent = [
        (pod, owner)
        for owner in owners
        for pod in world.book.pods_of(owner)
        if pod.spec.node_name in nodes.index and is_silent(nodes[pod.spec.node_name])
    ]
    if any(is_active(pod) for pod, _ in silent):
        return _STAYS
    if any(world.waits_for_the_end(pod, owner) for pod, owner in silent):
        return _TERMINATING
    if waiting is not None:
        return world.message(waiting)
    none = _FEWER if all(map(world.is_known, owners)) else _UNKNOWN
    return next((row.message for row in unmade(world, owners)), none)


def _nodes(before: Cluster, now: Cluster) -> NodesChange:
    were, old = before.nodes.index, before.nodes.objects
    is_same = now.nodes.names == before.nodes.names
    same = old if is_same else [old[were[name]] if name in were else None for name in now.nodes.names]
    states = {}
    for node, was in zip(now.nodes.objects, same, strict=True):
        if node is not was:
            closed, was_closed = (() if version is None else tuple(closing_states(version)) for version in (node, was))
            if closed != was_closed:
                states[node.metadata.name] = closed
    return NodesChange(
        joined=() if is_same else tuple(sorted(now.nodes.index.keys() - were.keys())),
        left=() if is_same else tuple(sorted(were.keys() - now.nodes.index.keys())),
        states=states,
        loads=tuple(changed_loads(before, now)),
    )


def resources_of(cluster: Cluster) -> tuple[str, ...]:
    """cpu, memory and pods, and other resources that pods request."""
    requested = cluster.running.usage.requested
    others = sorted(name for name, amounts in requested.items() if name not in _USUAL and amounts.any())
    return (*_USUAL, *others, _PODS)


def amounts_of(cluster: Cluster, resources: Sequence[str]) -> Iterator[tuple[str, Counts, Counts]]:
    """Yield resource, requested amounts and allocatable amounts of all nodes."""
    usage, nodes = cluster.running.usage, cluster.nodes
    none = np.zeros(len(cluster), dtype=np.int64)
    for name in resources:
        if name == _PODS:
            yield name, usage.pod_count, nodes.allowed_pods
        else:
            yield name, usage.requested.get(name, none), nodes.allocatable.get(name, none)


def percent_of(requested: int, allocatable: int) -> int | None:
    """Requested percentage, rounded down; None if nothing is allocatable."""
    return 100 * requested // allocatable if allocatable > 0 else None


def changed_loads(before: Cluster, now: Cluster) -> Iterator[NodeLoad]:
    """Yield loads of new nodes, and of nodes with changed requests."""
    resources = list(dict.fromkeys((*resources_of(before), *resources_of(now))))
    names, were = now.nodes.names, before.nodes.index
    # Hardly any change is one of nodes.
    are_same = names == before.nodes.names
    places = np.arange(len(names)) if are_same else np.array([were.get(name, -1) for name in names], dtype=np.intp)
    common, changed = np.flatnonzero(places >= 0), places < 0
    amounts = list(amounts_of(now, resources))
    for (_, *old), (_, *new) in zip(amounts_of(before, resources), amounts, strict=True):
        for was, is_now in zip(old, new, strict=True):
            changed[common] |= was[places[common]] != is_now[common]
    for position in np.flatnonzero(changed).tolist():
        percent = {name: percent_of(int(used[position]), int(total[position])) for name, used, total in amounts}
        yield NodeLoad(node=names[position], pods=int(now.running.usage.pod_count[position]), percent=percent)
