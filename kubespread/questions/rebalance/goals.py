"""Goals of a plan, the constraints to restore; evictions and replacements in a world; and the search for a plan.

The sizes of a constraint's domains give a lower bound on its evictions, and the order in which the search tries pods.
Each eviction begins in the world that the ones before it left, so no part is for another process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np
from msgspec import Struct, field

from kubespread.deadline import check
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, is_active, is_ready, is_terminating
from kubespread.kube.well_known import MIRROR_POD
from kubespread.reports.parts import skew_between
from kubespread.scheduler.cluster.columns import Counts
from kubespread.scheduler.plugins.podtopologyspread.constraints import (
    Constraint,
    NodeInclusion,
    PodConstraints,
    pod_constraints,
)
from kubespread.scheduler.plugins.podtopologyspread.plugin import (
    HardConstraint,
    PodTopologySpread,
    SpreadRules,
    hard_constraints,
)
from kubespread.snapshot.edits.pods import EvictPod
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.store.happenings import EVICTED, Happenings
from kubespread.world.store.pod_book import PodKey, key_of


class Need(NamedTuple):
    """Distance of a constraint's counts from counts within its maxSkew, compared field by field."""

    moves: int
    """Lower bound on evictions: each pod leaves one domain and arrives in at most one."""
    mass: int
    """Number of pods that must leave domains plus the number that must arrive."""
    least: int
    """Resulting size of the smallest domain."""


class SpreadGoal(Struct, frozen=True, eq=False):
    """One constraint to satisfy, as counted on unchanged nodes."""

    namespace: str
    counted: HardConstraint
    """Constraint with its initial counts."""
    workloads: list[WorkloadName] = field(default_factory=list)
    """Workloads that have the constraint."""

    @property
    def constraint(self) -> Constraint:
        return self.counted.constraint

    def matches(self, pod: Pod) -> bool:
        """True if the pod counts on any node."""
        constraint = self.constraint
        return (
            constraint.counts_pods
            and pod.metadata.namespace == self.namespace
            and constraint.selector.matches(pod.metadata.labels)
        )

    def domain_of(self, node: int | None) -> int | None:
        """Domain that a pod on the node counts for; None if for none, or if the node is unknown."""
        if node is None or not self.counted.counts_on[node]:
            return None
        return self.counted.column.codes.item(node)

    def need(self, counts: Counts, arriving: int) -> Need:
        """Need of the constraint while ``arriving`` matching pods wait."""
        sizes, constraint = counts[self.counted.is_domain], self.constraint
        domain_need = need(sizes, constraint.max_skew, floor=self.counted.lacks_domains, arriving=arriving)
        # Waiting pods find no node as long as nothing happens.
        return domain_need._replace(moves=1) if not domain_need.moves and not self.holds(counts) else domain_need

    def skew(self, counts: Counts) -> int:
        """Pods of the fullest domain minus the minimum."""
        return skew_between(counts[self.counted.is_domain], lacks_domains=self.counted.lacks_domains)

    def holds(self, counts: Counts) -> bool:
        return self.skew(counts) <= self.constraint.max_skew


def goals(
    world: World, workloads: Iterable[WorkloadName], *, soft: bool, unread: dict[str, None]
) -> Sequence[SpreadGoal]:
    """Hard constraints of the running pods of ``workloads``, including bare pods and default constraints; with
    ``soft``, soft ones too.

    Constraints with unparsable selectors are left out, and added to ``unread`` with kube-scheduler's message.
    """
    by_identity: dict[tuple[object, ...], SpreadGoal] = {}
    of_sort: dict[Hashable, Sequence[SpreadGoal]] = {}
    for workload in workloads:
        for sort, pod in _sorts(world, workload).items():
            if sort not in of_sort:
                declared = _declarations(world, pod)
                faults = declared[1].problems.values() if declared is not None else ()
                unread.update((f"{workload.kind}/{workload.name}: {fault}", None) for fault in faults)
                counted = _constraints(world, pod, *declared, soft=soft) if declared is not None else ()
                of_sort[sort] = [
                    by_identity.setdefault(_identity(constraint, pod), SpreadGoal(pod.metadata.namespace, constraint))
                    for constraint in counted
                ]
            for goal in of_sort[sort]:
                if workload not in goal.workloads:
                    goal.workloads.append(workload)
    return list(by_identity.values())


def _sorts(world: World, workload: WorkloadName) -> Mapping[Hashable, Pod]:
    """One running pod of each sort in the workload: pods of one sort have the same constraints."""
    sorts: dict[Hashable, Pod] = {}
    for pod in world.pods_of(workload):
        if pod.spec.node_name and is_active(pod):
            spec, owner = pod.spec, world.book.owner_of(pod)
            parts = spec.topology_spread_constraints, spec.node_selector, spec.affinity, spec.tolerations
            sorts.setdefault((workload.namespace, owner, *map(id, parts), id(pod.metadata.labels)), pod)
    return sorts


def _declarations(world: World, pod: Pod) -> tuple[SpreadRules, PodConstraints] | None:
    """Rules and constraints in force; None if the pod's scheduler does not spread."""
    scheduled = world.settings.scheduler_of(pod)
    plugins = scheduled[1].evaluators if scheduled is not None else []
    plugin = next((running for running in plugins if isinstance(running, PodTopologySpread)), None)
    if plugin is None:
        return None
    rules, objects = plugin.rules, world.cluster.objects
    declared = pod_constraints(pod, plugin.defaults, objects, empty_selector_counts=rules.empty_selector_counts)
    return rules, declared


def _constraints(
    world: World, pod: Pod, rules: SpreadRules, declared: PodConstraints, *, soft: bool
) -> Iterator[HardConstraint]:
    cluster = world.cluster
    readable = [
        constraint for constraint in declared.constraints if constraint.when_unsatisfiable not in declared.problems
    ]
    hard = [constraint for constraint in readable if constraint.is_hard]
    others = [constraint for constraint in readable if soft and not constraint.is_hard]
    if not (hard or others):
        return
    inclusion = NodeInclusion(cluster.nodes, pod, compares=rules.compares_tolerations)
    # Built-in soft constraints do not require each other's keys.
    groups = [hard, others] if declared.all_keys else [hard, *([other] for other in others)]
    for group in groups:
        yield from hard_constraints(cluster, pod, group, inclusion, rules) if group else ()


def _identity(counted: HardConstraint, pod: Pod) -> tuple[object, ...]:
    """The identity of constraints that always count the same and require the same."""
    constraint = counted.constraint
    return (
        pod.metadata.namespace,
        constraint.topology_key,
        constraint.max_skew,
        constraint.when_unsatisfiable,
        constraint.selector,
        constraint.counts_pods,
        counted.lacks_domains,
        counted.counts_on.tobytes(),
        counted.eligible.tobytes(),
    )


GoalsOf = Callable[[Pod], Sequence[int]]


def matching(constraint_goals: Sequence[SpreadGoal]) -> GoalsOf:
    """Lookup of the goals that count a pod, computed once for pods with the same labels."""
    by_namespace: dict[str, list[int]] = {}
    for position, goal in enumerate(constraint_goals):
        by_namespace.setdefault(goal.namespace, []).append(position)
    by_labels: dict[tuple[str, int], tuple[Mapping[str, str], Sequence[int]]] = {}

    def goals_of(pod: Pod) -> Sequence[int]:
        meta = pod.metadata
        key = meta.namespace, id(meta.labels)
        if key not in by_labels:
            positions = by_namespace.get(meta.namespace, ())
            by_labels[key] = (
                meta.labels,
                [position for position in positions if constraint_goals[position].matches(pod)],
            )
        return by_labels[key][1]

    return goals_of


def group_goals(number: int, goals_of: GoalsOf, pods: Iterable[Pod]) -> Sequence[Sequence[int]]:
    """Group goals, by position, that one eviction of ``pods`` may serve together. The lower bounds of groups add up."""
    groups = [{position} for position in range(number)]
    for counting in {frozenset(goals_of(pod)) for pod in pods}:
        joined = [group for group in groups if group & counting]
        groups = [*(group for group in groups if not group & counting), set().union(*joined)] if joined else groups
    return sorted(map(sorted, groups))


def need(counts: Counts, max_skew: int, *, floor: bool, arriving: int = 0) -> Need:
    """Least change until no domain holds more than ``max_skew`` pods above the smallest.

    ``floor``: the smallest counts as 0, as it does below minDomains. ``arriving`` pods wait, and may arrive in any
    domain without an eviction.
    """
    if not len(counts):
        return Need(0, 0, 0)
    if floor:
        over = int(np.maximum(counts - max_skew, 0).sum())
        return Need(over, over, 0)
    lows = np.arange(counts.min(), max(counts.min(), counts.max() - max_skew) + 1)[:, None]
    leaving = np.maximum(counts - (lows + max_skew), 0).sum(axis=1)
    missing = np.maximum(np.maximum(lows - counts, 0).sum(axis=1) - arriving, 0)
    moves, mass = np.maximum(leaving, missing), leaving + missing
    return min(map(Need, moves.tolist(), mass.tolist(), lows[:, 0].tolist()))


class Move(Struct, frozen=True):
    """An evicted pod and its replacement."""

    evicted: Pod
    landed: Pod


class Aim(Struct, frozen=True):
    """The goals, shared by all attempts."""

    goals: Sequence[SpreadGoal]
    goals_of: GoalsOf
    groups: Sequence[Sequence[int]]
    """Goals, by position, that one eviction may serve together."""
    arriving: Sequence[int]
    """Number of initially waiting pods that each goal would count."""
    on_progress: Callable[[int], None] | None = None
    """Called with the number of evictions tried so far."""
    tried: Iterator[int] = field(default_factory=lambda: count(1))


class Attempt:
    """A world in which some pods were evicted, each after the previous one was replaced."""

    def __init__(self, world: World, aim: Aim) -> None:
        """Nothing is evicted yet. Evictions change ``world``."""
        self.world, self.aim = world, aim
        self.moves: tuple[Move, ...] = ()
        self.counts: list[Counts] = [goal.counted.counts for goal in aim.goals]
        self.needs = list(map(SpreadGoal.need, aim.goals, self.counts, aim.arriving))

    def fork(self) -> Attempt:
        """Copy to continue from in a different way."""
        other = object.__new__(Attempt)
        other.world, other.aim, other.moves = self.world.fork(), self.aim, self.moves
        other.counts, other.needs = list(self.counts), list(self.needs)
        return other

    @property
    def total(self) -> tuple[int, int]:
        """Least number of evictions, and of pods that must leave and arrive, over all groups."""
        of_groups = [self.need_of(group) for group in self.aim.groups]
        return sum(moves for moves, _ in of_groups), sum(mass for _, mass in of_groups)

    @property
    def violations(self) -> int:
        """Number of goals that do not hold."""
        return sum(need.moves > 0 for need in self.needs)

    def need_of(self, group: Iterable[int]) -> tuple[int, int]:
        """Need of one group: the most evictions of any goal, as one may serve all, and the sum of the goals' masses."""
        needs = [self.needs[position] for position in group]
        return max(need.moves for need in needs), sum(need.mass for need in needs)

    def evict(self, key: PodKey) -> str | None:
        """Evict a pod and let controllers and kube-scheduler react; the fault, None if only its replacement was placed.

        After a fault the world must be discarded.
        """
        if self.aim.on_progress is not None:
            self.aim.on_progress(next(self.aim.tried))
        world = self.world
        pod, waited = world.book[key], set(world.queue.waiting)
        apply(world, EvictPod(pod.metadata.name, pod.metadata.namespace), pod.metadata.namespace)
        messages = [world.message(waiting) for name, waiting in world.queue.waiting.items() if name not in waited]
        happened = world.next_step()
        fault = _fault(happened, messages)
        if fault is not None:
            return fault
        owner = world.book.owner_of(pod)
        landed = next((pod for pod in happened.placed if world.book.owner_of(pod) == owner), None)
        if landed is None:
            return "is not replaced"
        self.moves = (*self.moves, Move(pod, landed))
        self.count(happened)
        return None

    def count(self, happened: Happenings) -> None:
        """Update counts for pods that left and arrived."""
        changes = [*((departure.pod, -1) for departure in happened.departures), *((pod, 1) for pod in happened.placed)]
        for pod, by in changes:
            node = self.world.living.nodes.index.get(pod.spec.node_name)
            for position in self.aim.goals_of(pod):
                goal = self.aim.goals[position]
                code = goal.domain_of(node)
                if code is not None:
                    counts = self.counts[position].copy()
                    counts[code] += by
                    self.counts[position] = counts
                    self.needs[position] = goal.need(counts, self.aim.arriving[position])


def _fault(happened: Happenings, messages: Sequence[str]) -> str | None:
    if happened.blocked:
        return happened.blocked[0].cause or happened.blocked[0].message
    others = [departure.why for departure in happened.departures if departure.why != EVICTED]
    if others:
        return f"its replacement is placed only where another pod is {others[0]}"
    return f"its replacement finds no node: {messages[0]}" if messages else None


_MAX_SETBACKS = 40
"""Failed evictions in a row before a group of goals is given up."""
REPLACING = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
"""Kinds that replace evicted pods, so that only the place changes."""


class Evictable(Struct, frozen=True):
    """Interchangeable pods of one owner on one node."""

    pod: Pod
    """One of them."""
    node: int
    keys: tuple[PodKey, ...]
    """Keys in the order the pods would be evicted."""


def candidates(
    world: World, workloads: Iterable[WorkloadName], goals_of: GoalsOf
) -> tuple[list[Evictable], Counter[str]]:
    """Pods of ``workloads`` that a plan may evict, and the number of other counted pods by the reason they stay."""
    alike: dict[tuple[object, ...], list[Pod]] = {}
    staying: Counter[str] = Counter()
    for pod, owner in _pods(world, workloads):
        why = _stays(pod, owner)
        if why is not None:
            staying[why] += bool(goals_of(pod))
        elif owner is not None and is_active(pod) and pod.spec.node_name in world.living.nodes.index:
            name = pod.metadata.name if owner.kind == "StatefulSet" else ""
            kind = world.cluster.kinds.number_of(pod)
            alike.setdefault((owner, pod.spec.node_name, kind, is_ready(pod), name), []).append(pod)
    position_of = world.living.nodes.index
    movable = [
        Evictable(pods[0], position_of[pods[0].spec.node_name], tuple(map(key_of, pods))) for pods in alike.values()
    ]
    return movable, +staying


def _pods(world: World, workloads: Iterable[WorkloadName]) -> Iterator[tuple[Pod, WorkloadName | None]]:
    """Each pod with its controller; within a workload unready pods come first, as they are missed least."""
    for workload in workloads:
        for pod in sorted(world.pods_of(workload), key=lambda pod: (is_ready(pod), pod.metadata.name)):
            yield pod, world.book.owner_of(pod)


def _stays(pod: Pod, owner: WorkloadName | None) -> str | None:
    if is_terminating(pod):
        return "terminating"
    if owner is None:
        return "without a controller"
    if owner.kind not in REPLACING:
        return f"of a {owner.kind}"
    return "mirror pod" if MIRROR_POD in pod.metadata.annotations else None


def search(start: Attempt, pods: Sequence[Evictable]) -> tuple[Attempt, dict[int, Counter[str]]]:
    """Evict ``pods``, each at most once, until as many groups of goals as possible hold; also obstacles to the others.

    Obstacles are reasons with the number of kinds of pods tried, by position in `Aim.groups`. A group that was given up
    is tried again after another one was reached. ``start`` is not changed.
    """
    attempt, obstacles = start, dict[int, Counter[str]]()
    while True:
        before = attempt
        for place, group in enumerate(start.aim.groups):
            if attempt.need_of(group)[0]:
                own = [alike for alike in pods if not {*group}.isdisjoint(start.aim.goals_of(alike.pod))]
                attempt, obstacles[place] = _reach(attempt, group, own)
        if attempt is before:
            return attempt, {place: why for place, why in obstacles.items() if why}


def _reach(start: Attempt, group: Sequence[int], pods: Sequence[Evictable]) -> tuple[Attempt, Counter[str]]:
    """Attempt after evicting, step by step, the first pod that helps the group and worsens no other.

    If that does not reach the group: the start, with the faults.
    """
    attempt = start
    while attempt.need_of(group)[0]:
        faults = Counter[str]()
        for alike in _best_first(attempt, group, pods):
            check()
            key = _next_pod(attempt, alike)
            if key is None or faults.total() >= _MAX_SETBACKS:
                continue
            child = attempt.fork()
            fault = child.evict(key)
            if fault is None and child.need_of(group) < attempt.need_of(group) and child.total < attempt.total:
                attempt = child
                break
            faults[
                fault or f"its replacement lands on {child.moves[-1].landed.spec.node_name}, which is no better"
            ] += 1
        else:
            return start, faults
    return attempt, Counter()


def _best_first(attempt: Attempt, group: Sequence[int], pods: Sequence[Evictable]) -> list[Evictable]:
    """Sort candidates: the ones in domains above their allowed final size first, and the fullest domain first."""
    violated = frozenset(position for position in group if attempt.needs[position].moves)
    aim = attempt.aim

    def worth(alike: Evictable) -> tuple[int, int, tuple[PodKey, ...]]:
        helps = fullness = 0
        for position in aim.goals_of(alike.pod):
            goal = aim.goals[position]
            code = goal.domain_of(alike.node)
            if code is None:
                continue
            size, need = attempt.counts[position].item(code), attempt.needs[position]
            if position in violated:
                helps += size > need.least + goal.constraint.max_skew
                fullness += size
            helps -= size <= need.least
        return -helps, -fullness, alike.keys

    return sorted(pods, key=worth)


def _next_pod(attempt: Attempt, alike: Evictable) -> PodKey | None:
    """The next of the pods that is still in place."""
    evicted = {key_of(move.evicted) for move in attempt.moves}
    return next((key for key in alike.keys if key not in evicted and key in attempt.world.book), None)
