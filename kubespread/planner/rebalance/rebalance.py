"""The question: a world and some workloads come to a plan of evictions, and to a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kubespread.kube.owners import WorkloadName
from kubespread.planner import kubectl
from kubespread.planner.descheduler.policy import Policy
from kubespread.planner.rebalance.candidates import Candidates, candidates
from kubespread.planner.rebalance.descheduling import played
from kubespread.planner.rebalance.goals import goals, matching, together
from kubespread.planner.rebalance.moves import Aim, Attempt, Move
from kubespread.planner.rebalance.scaling_down import MAX_PLAYED, in_need, scale_downs
from kubespread.planner.rebalance.searching import Found, search
from kubespread.planner.reports.parts import DomainChange
from kubespread.planner.reports.rebalance import (
    DomainMove,
    EvictionStep,
    Obstacle,
    RebalancedConstraint,
    RebalanceReport,
    StayingPods,
)
from kubespread.planner.world.desired import desired_replicas
from kubespread.planner.world.pod_book import key_of
from kubespread.planner.world.reporting import name_of, workload_of, workload_text
from kubespread.planner.world.world import World
from kubespread.scheduler.cluster.labels import ABSENT, Codes, Counts
from kubespread.snapshot.edits.types import EvictPod

NOT_MODELLED = (
    "replacements that come up while others are evicted: each step waits for the one before",
    "plans that evict a replacement again, or pods of workloads that are not asked about",
)


@dataclass(frozen=True, slots=True)
class Question:
    workloads: Sequence[WorkloadName]
    """Those whose constraints are to hold, and whose pods may be evicted; pods by themselves among them."""
    soft: bool = False
    """Whether soft constraints are to hold too."""
    policy: Policy | None = None
    """What the descheduler is told, where it is asked about."""
    policy_name: str = ""
    on_progress: Callable[[int], None] | None = None
    """Told how many evictions were tried so far."""


def rebalance(world: World, question: Question) -> RebalanceReport:
    """The fewest evictions that make the constraints hold, each replacement where kube-scheduler puts it.

    ``world`` is settled, and stays as it is. Who asks, and where the cluster comes from, is not in the report yet.
    Raises UsageError for a policy that names a priority class which is not there.
    """
    unread: dict[str, None] = {}
    found_goals = goals(world, question.workloads, soft=question.soft, unread=unread)
    goals_of = matching(found_goals)
    pods, staying = candidates(world, question.workloads, goals_of)
    groups = together(len(found_goals), goals_of, (each.pod for each in pods))
    start = Attempt(world.fork(), Aim(found_goals, goals_of, groups, question.on_progress))
    found = search(start, pods)
    after, shrinking = found.attempt, in_need(start, question.workloads)
    return RebalanceReport(
        kube_version="",
        namespace=None,
        selector="",
        soft=question.soft,
        workloads=sum(each.kind != "Pod" for each in question.workloads),
        nodes=len(world.living.nodes),
        constraints_in_force=len(found_goals),
        violated_before=start.violated,
        violated_after=after.violated,
        constraints=tuple(_constraints(start, after)),
        steps=tuple(_step(start, number, move) for number, move in enumerate(after.moves, 1)),
        at_least=found.at_least,
        is_fewest=found.exhausted,
        waits=sum(move.budget is not None for move in after.moves),
        obstacles=tuple(_obstacles(start, found)),
        staying=_staying(staying),
        scale_downs=tuple(scale_downs(start, shrinking[:MAX_PLAYED])),
        descheduler=played(start, question.policy, question.policy_name) if question.policy is not None else None,
        gaps=tuple(world.assumed),
        not_modelled=NOT_MODELLED,
        notes=(*unread, *_notes(start, pods, len(shrinking) - MAX_PLAYED)),
    )


def _notes(start: Attempt, pods: Sequence[Candidates], unplayed: int) -> Iterator[str]:
    goals_of, found = start.aim.goals_of, start.aim.goals
    uncounted = sum(
        len(each.keys)
        for each in pods
        if any(found[position].domain_of(each.node) is None for position in goals_of(each.pod))
    )
    if uncounted:
        who = "1 pod runs" if uncounted == 1 else f"{uncounted} pods run"
        yield f"{who} on nodes that a constraint does not count: without its label, or left out by its policies"
    if unplayed > 0:
        others = "workload" if unplayed == 1 else "workloads"
        yield f"scale-downs are worked out for {MAX_PLAYED} workloads and not for {unplayed} more {others}"


def _constraints(start: Attempt, after: Attempt) -> Iterator[RebalancedConstraint]:
    for position, goal in enumerate(start.aim.goals):
        before, now = start.counts[position], after.counts[position]
        if goal.holds(before) and np.array_equal(before, now):
            continue
        constraint = goal.constraint
        yield RebalancedConstraint(
            workloads=tuple(map(workload_text, goal.workloads)),
            topology_key=constraint.topology_key,
            when_unsatisfiable=constraint.when_unsatisfiable,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            selector=str(constraint.selector),
            source=constraint.source,
            minimum_before=goal.minimum(before),
            minimum_after=goal.minimum(now),
            skew_before=goal.skew(before),
            skew_after=goal.skew(now),
            domains=tuple(_domains(goal.counted.column.sorted_codes, goal.counted.column.values, start, position, now)),
        )


def _domains(codes: Codes, values: Sequence[str], start: Attempt, position: int, now: Counts) -> Iterator[DomainChange]:
    before, is_domain = start.counts[position], start.aim.goals[position].counted.is_domain
    for code in codes.tolist():
        if is_domain[code]:
            yield DomainChange(values[code], before.item(code), now.item(code))


def _step(start: Attempt, number: int, move: Move) -> EvictionStep:
    world, key = start.world, key_of(move.evicted)
    workload = workload_of(world, move.evicted)
    keys = dict.fromkeys(start.aim.goals[at].constraint.topology_key for at in start.aim.goals_of(move.evicted))
    return EvictionStep(
        number=number,
        pod=name_of(move.evicted),
        workload=workload_text(workload),
        node=move.evicted.spec.node_name,
        lands_on=move.landed.spec.node_name,
        domains=tuple(_change(world, topology_key, move) for topology_key in keys),
        waits_for=move.budget,
        edit=str(EvictPod(key[1], key[0])),
        commands=(
            kubectl.evict(key),
            kubectl.wait_until_gone(key),
            kubectl.wait_until_whole(workload, desired_replicas(world, workload)),
        ),
    )


def _change(world: World, topology_key: str, move: Move) -> DomainMove:
    column, position_of = world.living.nodes.label(topology_key), world.living.nodes.index
    codes = (int(column.codes[position_of[pod.spec.node_name]]) for pod in (move.evicted, move.landed))
    before, after = (None if code == ABSENT else column.values[code] for code in codes)
    return DomainMove(topology_key=topology_key, before=before, after=after)


def _obstacles(start: Attempt, found: Found) -> Iterator[Obstacle]:
    for place, reasons in sorted(found.obstacles.items()):
        owners = (owner for position in start.aim.groups[place] for owner in start.aim.goals[position].workloads)
        workloads = tuple(map(workload_text, dict.fromkeys(owners)))
        for why, tried in reasons.most_common():
            yield Obstacle(workloads=workloads, why=why, tried=tried)


def _staying(kept: Counter[str]) -> tuple[StayingPods, ...]:
    return tuple(StayingPods(why=why, pods=kept[why]) for why in sorted(kept))
