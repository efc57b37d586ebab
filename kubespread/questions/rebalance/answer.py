"""Plan of evictions for some workloads of a world."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from kubespread.controllers.disruption import LET_THROUGH
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, full_name
from kubespread.questions import patches
from kubespread.questions import rebalance as rows
from kubespread.questions.rebalance import Rebalance
from kubespread.questions.rebalance.descheduler import ClusterView, Cycle, Policy, choose, read_policy
from kubespread.questions.rebalance.goals import (
    REPLACING,
    Aim,
    Attempt,
    Evictable,
    Move,
    candidates,
    goals,
    group_goals,
    matching,
    search,
)
from kubespread.questions.scene import Scene
from kubespread.reports.outcome import PlacedPod
from kubespread.reports.parts import DomainChange
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import CountedWorkloads, desired_replicas, without_daemons, workload_of
from kubespread.world.store.happenings import EVICTED
from kubespread.world.store.pod_book import key_of

OF_DESCHEDULER = (
    "the descheduler's order among equal pods and equal domains, which is arbitrary: here by name",
    "other plugins of its policy, its interval, and back-off and retries of evictions",
)
MAX_ROUNDS = 20
"""Most cycles of the descheduler to play."""
_NAMED = ("Deployment", *sorted(REPLACING))


def answer(question: Rebalance, scene: Scene) -> rows.RebalanceReport:
    """Find the fewest evictions that make the constraints hold, with replacements placed by kube-scheduler."""
    selection = question.selection_in(scene.snapshot)
    if others := [name for name in selection.names if name.kind not in _NAMED]:
        kinds = ", ".join(_NAMED)
        raise UsageError(
            *(f"{name}: pods of a {name.kind} are not evicted, only those of a {kinds}" for name in others)
        )
    policy = read_policy(question.descheduler) if question.descheduler is not None else None
    now = scene.edited_snapshot
    baseline, placed_first = scene.baseline()
    world = baseline.world
    counting = CountedWorkloads(world, without_daemons(selection.filter_in(world)))
    chosen = (name for pod in world.book if (name := counting(pod)) is not None)
    workloads = selection.named_in(world) or list(dict.fromkeys(chosen))
    if not workloads:
        raise selection.no_workload_error(now)
    unread: dict[str, None] = {}
    spread_goals = goals(world, workloads, soft=question.soft, unread=unread)
    goals_of = matching(spread_goals)
    pods, staying = candidates(world, workloads, goals_of)
    groups = group_goals(len(spread_goals), goals_of, (pod.pod for pod in pods))
    waiting = Counter(position for stuck in world.queue.waiting.values() for position in goals_of(stuck.pod))
    arriving = [waiting[position] for position in range(len(spread_goals))]
    start = Attempt(world.fork(), Aim(spread_goals, goals_of, groups, arriving, scene.budget.on_progress))
    after, obstacles = search(start, pods)
    at_least = start.total[0]
    return rows.RebalanceReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        **selection.as_reported(world),
        preemption=question.preemption,
        soft=question.soft,
        workloads=sum(workload.kind != "Pod" for workload in workloads),
        nodes=len(world.living.nodes),
        pending_before=baseline.pending_count(),
        constraints_in_force=len(spread_goals),
        violated_before=start.violations,
        violated_after=after.violations,
        constraints=tuple(_constraints(start, after)),
        steps=tuple(_step(start, number, move) for number, move in enumerate(after.moves, 1)),
        at_least=at_least,
        is_fewest=not after.violations and len(after.moves) == at_least,
        obstacles=tuple(_obstacles(start, obstacles)),
        staying=tuple(rows.StayingPods(why=why, pods=staying[why]) for why in sorted(staying)),
        rounds=tuple(_rounds(start.fork(), policy)) if policy is not None else (),
        gaps=scene.gaps(world.assumed),
        not_modelled=(*Rebalance.never_modelled, *(OF_DESCHEDULER if policy is not None else ())),
        notes=(
            *scene.notes,
            *unread,
            *_uncounted_notes(start, pods),
            *placed_first,
            *([] if spread_goals else [_not_in_force(question, workloads)]),
        ),
    )


def _uncounted_notes(start: Attempt, pods: Sequence[Evictable]) -> Iterator[str]:
    goals_of, constraint_goals = start.aim.goals_of, start.aim.goals
    uncounted = sum(
        len(alike.keys)
        for alike in pods
        if any(constraint_goals[position].domain_of(alike.node) is None for position in goals_of(alike.pod))
    )
    if uncounted:
        who = "1 pod runs" if uncounted == 1 else f"{uncounted} pods run"
        yield f"{who} on nodes that a constraint does not count: without its label, or left out by its policies"


def _not_in_force(question: Rebalance, workloads: Sequence[WorkloadName]) -> str:
    is_one = sum(workload.kind != "Pod" for workload in workloads) == 1
    soft = "" if question.soft else ": --soft asks for soft ones too"
    return f"no hard constraint is in force for {'it' if is_one else 'these workloads'}{soft}"


def _constraints(start: Attempt, after: Attempt) -> Iterator[rows.RebalancedConstraint]:
    for position, goal in enumerate(start.aim.goals):
        before, now = start.counts[position], after.counts[position]
        if goal.holds(before) and np.array_equal(before, now):
            continue
        constraint, column = goal.constraint, goal.counted.column
        yield rows.RebalancedConstraint(
            workloads=tuple(goal.workloads),
            topology_key=constraint.topology_key,
            max_skew=constraint.max_skew,
            when_unsatisfiable=constraint.when_unsatisfiable,
            selector=str(constraint.selector),
            skew_before=goal.skew(before),
            skew_after=goal.skew(now),
            domains=tuple(
                DomainChange(column.values[code], before.item(code), now.item(code))
                for code in column.sorted_codes.tolist()
                if goal.counted.is_domain[code]
            ),
        )


def _step(start: Attempt, number: int, move: Move) -> rows.EvictionStep:
    world, key = start.world, key_of(move.evicted)
    workload = workload_of(world, move.evicted)
    return rows.EvictionStep(
        number=number,
        pod=full_name(move.evicted),
        workload=workload,
        node=move.evicted.spec.node_name,
        lands_on=move.landed.spec.node_name,
        commands=(
            patches.evict(key),
            patches.wait_until_gone(key),
            patches.wait_until_whole(workload, desired_replicas(world, workload)),
        ),
    )


def _obstacles(start: Attempt, obstacles: Mapping[int, Counter[str]]) -> Iterator[rows.Obstacle]:
    for place, reasons in sorted(obstacles.items()):
        owners = (owner for position in start.aim.groups[place] for owner in start.aim.goals[position].workloads)
        workloads = tuple(dict.fromkeys(owners))
        for why, tried in reasons.most_common():
            yield rows.Obstacle(workloads=workloads, why=why, tried=tried)


def _rounds(attempt: Attempt, policy: Policy) -> Iterator[rows.DeschedulerRound]:
    """Play the descheduler until it evicts nothing. Raises UsageError."""
    for number in range(1, MAX_ROUNDS + 1):
        cycle = _cycle(attempt.world, policy)
        attempt.world.settle()
        happened = attempt.world.next_step()
        attempt.count(happened)
        staying = Counter(cycle.staying_reasons)
        yield rows.DeschedulerRound(
            number=number,
            evicted=tuple(map(full_name, cycle.evicted)),
            placed=tuple(PlacedPod(pod=full_name(pod), node=pod.spec.node_name) for pod in happened.placed),
            held=tuple(rows.StayingPods(why=why, pods=staying[why]) for why in sorted(staying)),
            pending=len(attempt.world.queue.waiting),
            violated=attempt.violations,
        )
        if not cycle.evicted:
            return


def _cycle(world: World, policy: Policy) -> Cycle:
    """Run one cycle: all evictions first, as the descheduler does not wait for replacements."""
    cycle = Cycle(policy.written)

    def request(pod: Pod) -> bool:
        current = world.book[key_of(pod)]
        if world.budgets.evict(current, world.time).code != LET_THROUGH:
            return False
        world.delete([current], EVICTED)
        return True

    for plugin, evictor in policy.profiles:
        view = ClusterView(world.cluster, [_identify(pod) for pod in world.book])
        chosen, _ = choose(view, policy, plugin, evictor)
        cycle.evict(view, chosen, evictor, request)
    return cycle


def _identify(pod: Pod) -> Pod:
    """The pod with a UID, as every stored pod has one: without it the descheduler evicts nothing."""
    if pod.metadata.uid:
        return pod
    return replace(pod, metadata=replace(pod.metadata, uid=str(full_name(pod))))
