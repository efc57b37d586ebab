"""Nodes that can be removed: each alone from the cluster as it is, and as many together as a greedy order finds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, partial
from typing import Any, Self

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.controllers.disruption import DrainPlan
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.owners import full_name, is_active, is_finalizing
from kubespread.kube.quantity import shorten
from kubespread.kube.taint import DrainFlags
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, ZONE
from kubespread.questions.remedies.budgets import looser, settled_after
from kubespread.questions.remedies.change import Change
from kubespread.questions.removable import NodeRemoval, Remark, Removable, RemovableReport, Together
from kubespread.questions.removable.certain import Certain
from kubespread.questions.room import PODS, free
from kubespread.questions.scene import Scene
from kubespread.reports.outcome import REFUSALS, Outcome, phrases
from kubespread.scheduler.cluster.columns import BASIC_RESOURCES, Counts, canonical, wrap
from kubespread.snapshot.edits.verb import Edit, nodes_of_target, parse_target
from kubespread.wording import short_key
from kubespread.world.events.draining import cordon, delete_nodes, drain, drain_plan, workloads_down_meanwhile
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline, Difference, Trial
from kubespread.world.reporting.outcomes import drain_refusals, outcome
from kubespread.world.store.waiting import constraints_on

CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_ALL_FLAGS = DrainFlags(force=True, ignore_daemonsets=True, delete_emptydir_data=True)
_SHARE = 0.9
"""The share of the other nodes' free resources that a group's pods may request: rarely does the last bit fit."""
_MOST_CACHED = 16
"""Most clusters with changed budgets that are cached, for other nodes that the same budgets block."""
_IN_A_ROW = 20
"""Nodes in a row that cannot go, after which no other is tried."""


def answer(question: Removable, scene: Scene) -> RemovableReport:
    """Remove each node by itself, then as many as possible together, greedily."""
    nodes = scene.edited_snapshot.nodes
    targets = {node.metadata.name for target in question.nodes for node in nodes_of_target(parse_target(target), nodes)}
    names = [node.metadata.name for node in nodes if not question.nodes or node.metadata.name in targets]
    if question.most is not None and len(names) > question.most:
        pods = Counter(pod.spec.node_name for pod in scene.edited_snapshot.pods if is_active(pod))
        fewest = frozenset(sorted(names, key=lambda name: (pods[name], name))[: question.most])
        names = [name for name in names if name in fewest]
    trials = _Removing.build(question, scene)
    world = trials.baseline.world
    alone = tuple(scene.tasks(trials, names))
    rows, together, untried = _removals(trials, alone, scene)
    return RemovableReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        preemption=question.preemption,
        nodes=len(nodes),
        pending_before=trials.baseline.pending_count(),
        rows=rows,
        together=together,
        gaps=scene.gaps(world.assumed),
        not_modelled=Removable.never_modelled,
        notes=tuple(dict.fromkeys((*scene.notes, *trials.notes, *(tie for row in rows for tie in row.ties)))),
        unfinished=scene.budget.missing("node", len(names), names[len(alone) :] or untried),
    )


class _Group(Struct):
    """The nodes removed so far."""

    trial: Trial
    nodes: list[str] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    stays: dict[str, str] = field(default_factory=dict)
    """Reason why a node does not go with these, by node."""
    untried: Sequence[str] = ()
    is_cut_short: bool = False
    """True if that is for lack of time."""


def _removals(
    trials: _Removing, alone: Sequence[NodeRemoval], scene: Scene
) -> tuple[tuple[NodeRemoval, ...], Together, Sequence[str]]:
    """Rows of all nodes, each with its place among the nodes that go together; these; and nodes not tried in time."""
    free_to_go = sorted((row for row in alone if row.alone and not row.set_apart), key=lambda row: (row.pods, row.name))
    group = trials.remove_group([row.name for row in free_to_go], scene)
    place = {name: number for number, name in enumerate(group.nodes, 1)}
    rows = [
        replace(row, place=place.get(row.name), stays=group.stays.get(row.name, row.set_apart if row.alone else ""))
        for row in alone
    ]
    together = Together(nodes=tuple(group.nodes), groups=tuple(group.outcomes), untried=len(group.untried))
    ordered = sorted(rows, key=lambda row: (row.place or len(rows) + 1, not row.alone, row.pods, row.name))
    return tuple(ordered), together, group.untried if group.is_cut_short else ()


class _Removing:
    """Removes nodes from forks of one world."""

    def __init__(
        self,
        baseline: Baseline,
        notes: tuple[str, ...],
        flags: DrainFlags,
        as_read: World | None = None,
        edits: Sequence[Edit] = (),
    ) -> None:
        """``as_read`` is the cluster before it settled, where remedies are looked for that do not undo ``edits``."""
        self.baseline, self.notes, self._flags, self._as_read, self._edits = baseline, notes, flags, as_read, edits
        self.assumed = baseline.world.assumed
        self._after = lru_cache(_MOST_CACHED)(self._change)
        self._certain, self._domains = Certain(baseline.world.fork()), CountingDomains(baseline.world)

    @classmethod
    def build(cls, question: Removable, scene: Scene) -> Self:
        as_read = scene.world.fork() if question.remedies else None
        return cls(*scene.baseline(), question.drain_flags, as_read, scene.snapshot.edits)

    def __call__(self, name: str) -> NodeRemoval:
        """The removal of one node, with the remedy if only budgets block it."""
        row, book = self._remove_one(name), self.baseline.world.book
        if self._as_read is None or {trouble.kind for trouble in row.get(*REFUSALS)} != {"blocked"}:
            return row
        pods = [book[trouble.subject.namespace, trouble.subject.name] for trouble in row.get("blocked")]
        for change in looser(self.baseline.world, self._edits, pods):
            after = self._after(change)
            if after is not None and after._remove_one(name).alone:
                return replace(row, remedy=change.what)
        return row

    def _change(self, change: Change) -> Self | None:
        """Removals after a change that leaves nothing worse; None if it does, or is refused."""
        assert self._as_read is not None
        baseline = settled_after(self._as_read, change)
        if baseline is None or Difference(self.baseline, baseline.world, (baseline.happenings,)).is_worse:
            return None
        return type(self)(baseline, (), self._flags)

    def _remove_one(self, name: str) -> NodeRemoval:
        """The removal of one node, while the others stay.

        Where kubectl refuses it is drained with all flags all the same: all obstacles are found at once, not one after
        another.
        """
        world = self.baseline.world
        position = world.living.nodes.index[name]
        node, plan = world.living.nodes.objects[position], drain_plan(world, name, self._flags)
        refused = tuple(drain_refusals(plan))
        about: dict[str, Any] = {
            "domain": node.metadata.labels.get(ZONE),
            "pods": len(plan.evict),
            "remarks": tuple(self._remarks(node, plan)),
        }
        if not refused and self._certain.goes(position, plan.evict):
            return NodeRemoval(name=name, down=tuple(workloads_down_meanwhile(world, plan.evict)), **about)
        trial = self.baseline.trial()
        flags = _ALL_FLAGS if refused else self._flags
        removed = trial.play(partial(drain, nodes=[name], flags=flags))
        if all(is_finalizing(blocked.pod) for blocked in removed.blocked_pods):
            trial.world.wait()
            # Pods that wait may fit once it is gone, and its domain with it.
            removed = trial.play(partial(delete_nodes, nodes=[name]))
        (step,) = removed.happened
        return outcome(NodeRemoval, name, removed, first=refused, has_skew=True, ties=tuple(step.ties), **about)

    def _remarks(self, node: Node, plan: DrainPlan) -> Iterator[Remark]:
        """Yield remarks on a node before it goes: its role, its domain, and pods that lose local data."""
        label = next((role for role in CONTROL_PLANE if role in node.metadata.labels), None)
        if label is not None:
            yield Remark(kind="controlPlane", detail=f"label {label}")
        for domain in self._domains.losses(self.baseline.world, [node.metadata.name]):
            yield Remark(kind="lastOfDomain", detail=domain)
        pods = tuple(
            full_name(pod)
            for pod in plan.evict
            if is_active(pod) and any(volume.empty_dir is not None for volume in pod.spec.volumes)
        )
        if pods:
            yield Remark(kind="localStorage", detail="volumes of type emptyDir", pods=pods)

    def remove_group(self, names: Sequence[str], scene: Scene) -> _Group:
        """Greedily, in the order of ``names``: a group that can go is removed, one that cannot is halved.

        Nodes of a group are cordoned at once, so that no pod moves from one to the next.
        """
        group = _Group(self.baseline.trial())
        most, start, misses = len(names), 0, 0
        requests, since = NodeRequests(group.trial.world, names, self._flags), 0
        while start < len(names) and misses < _IN_A_ROW and not scene.budget.is_over:
            size = max(1, min(requests.likely(start - since, _SHARE), most))
            batch = names[start : start + size]
            stays = next(
                (f"the last node of {domain}" for domain in self._domains.losses(group.trial.world, batch)), ""
            )
            stays = stays or requests.short(start - since, size)
            if not stays:
                tried = None
                with scene.budget.deadline():
                    tried = self._try(group, batch)
                if tried is None:
                    break
                stays = tried
            if not stays:
                start, most, misses = start + size, 2 * size, 0
                requests, since = NodeRequests(group.trial.world, names[start:], self._flags), start
            elif size == 1:
                group.stays[batch[0]] = stays
                start, misses = start + 1, misses + 1
            else:
                most = size // 2
        group.untried, group.is_cut_short = names[start:], misses < _IN_A_ROW
        return group

    def _try(self, group: _Group, names: Sequence[str]) -> str:
        """Remove the next nodes from the group's world, or name the first obstacle; empty if they are removed."""
        trial, before = group.trial.fork(), group.trial.world.cluster
        trial.play(partial(cordon, nodes=names))
        for name in names:
            drained = trial.play(partial(drain, nodes=[name], flags=self._flags))
            # Pods that wait may fit once a single node is gone.
            if drained.blocked_pods or (drained.waiting and len(names) > 1):
                break
        else:
            trial.world.wait()
            drained = trial.advance(partial(delete_nodes, nodes=names))
        row = outcome(Outcome, f"group {len(group.outcomes) + 1}", drained, before, has_skew=True)
        if not row.troubles:
            group.nodes += names
            group.outcomes.append(row)
            group.trial = trial
        return next(phrases(row), "")


class CountingDomains:
    """Domains of a settled world that should keep a node: zones, and domains of hard constraints.

    Not hosts, which are single nodes. Soft constraints block no node.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        kinds = world.cluster.kinds
        running = (kinds[number].pod for number in world.cluster.running.nodes_of_kind)
        self._pods = _by_hard_key((*running, *(waiting.template for waiting in world.waiting)))
        self._keys = [ZONE, *(key for key in self._pods if key not in (ZONE, HOSTNAME) and self._is_shared(key))]
        self._counts = cache(self._is_counted)

    def losses(self, world: World, names: Sequence[str]) -> Iterator[str]:
        """Yield domains left without a node when ``names`` are removed, ``zone c``, and ``the cluster`` itself.

        The last domain of a key spreads nothing, and does not count. ``world`` is this one, or a later state of it.
        """
        if len(names) == len(world.living.nodes):
            yield "the cluster"
        positions = np.array([world.living.nodes.index[name] for name in names], dtype=np.intp)
        for key in self._keys:
            column = world.living.nodes.label(key)
            size = len(column.values)
            sizes = np.bincount(column.codes[column.present], minlength=size)
            codes = column.codes[positions]
            going = np.bincount(codes[codes >= 0], minlength=size)
            if np.count_nonzero(sizes) > 1:
                for code in np.flatnonzero((sizes > 0) & (going == sizes)).tolist():
                    if key == ZONE or self._counts(key, column.values[code]):
                        yield f"{short_key(key)} {column.values[code]}"

    def _is_shared(self, key: str) -> bool:
        """True if some nodes have the same value."""
        column = self._world.living.nodes.label(key)
        return int(np.count_nonzero(column.present)) > len(column.values)

    def _is_counted(self, key: str, value: str) -> bool:
        """True if some hard constraint counts the domain: it does not count nodes where its pod may not run."""
        world = self._world
        return any(
            domain.value == value and domain.eligible_nodes > 0
            for pod in self._pods[key]
            for constraint in constraints_on(world.cluster, pod, world.settings.scheduler_of)
            if constraint.is_hard and constraint.topology_key == key
            for domain in constraint.domains
        )


def _by_hard_key(pods: Iterable[Pod]) -> dict[str, list[Pod]]:
    by_key: dict[str, list[Pod]] = {}
    for pod in pods:
        keys = (
            constraint.topology_key
            for constraint in pod.spec.topology_spread_constraints
            if constraint.when_unsatisfiable == DO_NOT_SCHEDULE
        )
        for key in dict.fromkeys(keys):
            by_key.setdefault(key, []).append(pod)
    return by_key


class NodeRequests:
    """Requests on a world's nodes, in their order of removal; the world is not changed."""

    def __init__(self, world: World, names: Sequence[str], flags: DrainFlags) -> None:
        self._cluster = world.cluster
        self._positions = np.array([self._cluster.nodes.index[name] for name in names], dtype=np.intp)
        kinds = self._cluster.kinds
        requests = []
        for name in names:
            requested: Counter[str] = Counter()
            for pod in drain_plan(world, name, flags).evict:
                owner = world.book.owner_of(pod)
                # Only pods that are created again need room.
                if is_active(pod) and owner is not None and world.recreates_pods(owner):
                    requested.update({PODS: 1, **kinds[kinds.number_of(pod)].requests[0]})
            requests.append(requested)
        # Nodes may have more of other resources than they report, and profiles may ignore them.
        resources = [name for name in (*BASIC_RESOURCES, PODS) if any(request[name] > 0 for request in requests)]
        self._requests: Mapping[str, Counts] = {
            resource: np.array([wrap(request[resource]) for request in requests], dtype=np.int64)
            for resource in resources
        }
        """Requests of the pods of each node, by resource."""

    def _cumulative(self, resource: str, first: int, count: int | None = None) -> tuple[Counts, Counts]:
        """Cumulative requests of ``count`` nodes from ``first`` on, and the amounts then free on all other nodes."""
        chosen = slice(first, None if count is None else first + count)
        room = free(self._cluster, resource)
        remaining: Counts = room.sum() - np.cumsum(room[self._positions[chosen]])
        return np.cumsum(self._requests[resource][chosen]), remaining

    def likely(self, first: int, share: float) -> int:
        """Number of nodes, from ``first`` on, that request at most ``share`` of the room on the others."""
        fits = np.ones(len(self._positions) - first, dtype=np.bool_)
        for resource in self._requests:
            demand, remaining = self._cumulative(resource, first)
            fits &= demand <= share * remaining
        return len(fits) if fits.all() else int(fits.argmin())

    def short(self, first: int, count: int) -> str:
        """Phrase on a resource that ``count`` nodes together request too much of; empty without one."""
        for resource in self._requests:
            demand, free_then = self._cumulative(resource, first, count)
            needed, remaining = demand.item(-1), free_then.item(-1)
            if needed > remaining:
                amounts = (shorten(canonical(resource, needed), up=True), shorten(canonical(resource, remaining)))
                return f"{resource}: its pods ask for {amounts[0]}, the nodes that stay have {amounts[1]} left"
        return ""
