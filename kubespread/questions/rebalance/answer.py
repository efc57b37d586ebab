"""From a world and some workloads to a plan of evictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from kubespread.deadline import check
from kubespread.errors import UsageError
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import NamespacedName, WorkloadName, is_active
from kubespread.kube.well_known import POD_DELETION_COST
from kubespread.questions import patches
from kubespread.questions.rebalance import report as rows
from kubespread.questions.rebalance.descheduler.plugin import played
from kubespread.questions.rebalance.descheduler.policy import read_policy
from kubespread.questions.rebalance.goals import Aim, Attempt, Move, goals, matching, together
from kubespread.questions.rebalance.question import Rebalance
from kubespread.questions.rebalance.searching import REPLACING, Candidates, Found, candidates, search
from kubespread.questions.scene import Scene
from kubespread.reports.parts import DomainChange
from kubespread.scheduler.cluster.columns import ABSENT
from kubespread.snapshot.edits.pods import EvictPod
from kubespread.world.events.editing import scale
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import AskedWorkloads, desired_replicas, workload_of
from kubespread.world.store.pod_book import key_of

# Scale-downs instead of evictions: the pods whose deletion makes constraints hold, marked to be deleted first.


MAX_PLAYED = 20
"""The most workloads for which scale-downs are played."""
_SCALED = ("Deployment", "ReplicaSet", "ReplicationController")
"""Other controllers do not read the annotation."""


def scale_downs(start: Attempt, workloads: Sequence[WorkloadName]) -> Iterator[rows.ScaleDown]:
    """For some workloads, the smallest scale-down that makes their constraints hold, proven by playing it."""
    for workload in workloads:
        (owner,) = start.world.owners_below(workload)
        pods = _placed(start, owner)
        own = sorted({position for pod in pods for position in start.aim.goals_of(pod)})
        surplus, replicas = _surplus(start, own, pods), start.world.owner(owner).replicas
        # All negative, since unmarked pods cost 0.
        marked = [(pod, place - len(surplus)) for place, pod in enumerate(surplus)]
        if surplus and len(surplus) < replicas and _holds(start, workload, own, marked, replicas - len(surplus)):
            yield rows.ScaleDown(
                workload=workload,
                replicas=replicas,
                replicas_after=replicas - len(surplus),
                pods=tuple(rows.MarkedPod(pod=NamespacedName.of(pod), deletion_cost=cost) for pod, cost in marked),
                commands=tuple(patches.set_deletion_cost(key_of(pod), cost) for pod, cost in marked),
            )


def in_need(start: Attempt, workloads: Sequence[WorkloadName]) -> list[WorkloadName]:
    """Workloads with violated constraints that a scale-down with deletion costs might fix."""
    return [
        workload
        for workload in workloads
        # With two revisions, the rollout decides which one loses pods.
        if workload.kind in _SCALED and len(owners := start.world.owners_below(workload)) == 1
        if any(start.needs[position].moves for pod in _placed(start, owners[0]) for position in start.aim.goals_of(pod))
    ]


def _placed(start: Attempt, owner: WorkloadName) -> list[Pod]:
    return [pod for pod in start.world.book.of(owner) if is_active(pod) and pod.spec.node_name]


def _surplus(start: Attempt, positions: Sequence[int], pods: Sequence[Pod]) -> list[Pod]:
    """Pods, each from the fullest domains, without which all of the goals hold; empty where there is no such set."""
    goals, node_of = start.aim.goals, start.world.living.nodes.index
    counts = {position: start.counts[position].copy() for position in positions}
    remaining, gone = list(pods), list[Pod]()

    def fullness(pod: Pod) -> tuple[int, int, str]:
        above = total = 0
        for position in start.aim.goals_of(pod):
            code = goals[position].domain_of(node_of.get(pod.spec.node_name))
            if code is not None:
                size = counts[position].item(code) - goals[position].minimum(counts[position])
                above += size > goals[position].constraint.max_skew
                total += size
        return above, total, pod.metadata.name

    while remaining and not all(goals[position].holds(counts[position]) for position in positions):
        check()
        pod = max(remaining, key=fullness)
        if not fullness(pod)[0]:
            return []
        remaining.remove(pod)
        gone.append(pod)
        for position in start.aim.goals_of(pod):
            code = goals[position].domain_of(node_of.get(pod.spec.node_name))
            if code is not None:
                counts[position][code] -= 1
    return gone if remaining else []


def _holds(
    start: Attempt, workload: WorkloadName, positions: Sequence[int], marked: Sequence[tuple[Pod, int]], replicas: int
) -> bool:
    """Whether the controller deletes the pods that are marked with their costs, and all of the goals hold then."""
    attempt = start.fork()
    attempt.world.change_pods((pod, _with_cost(pod, cost)) for pod, cost in marked)
    scale(attempt.world, workload, replicas)
    attempt.count(attempt.world.next_step())
    return not any(attempt.needs[position].moves for position in positions)


def _with_cost(pod: Pod, cost: int) -> Pod:
    annotations = {**pod.metadata.annotations, POD_DELETION_COST: str(cost)}
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations))


_NAMED = ("Deployment", *sorted(REPLACING))


def answer(question: Rebalance, scene: Scene) -> rows.RebalanceReport:
    """The fewest evictions that make the constraints hold, each replacement where kube-scheduler puts it."""
    whose = question.asked_in(scene.snapshot)
    if others := [name for name in whose.names if name.kind not in _NAMED]:
        kinds = ", ".join(_NAMED)
        raise UsageError(
            *(f"{name}: pods of a {name.kind} are not evicted, only those of a {kinds}" for name in others)
        )
    policy = read_policy(question.descheduler) if question.descheduler is not None else None
    now = scene.now
    baseline, placed_first = scene.settled("anything is evicted")
    world = baseline.world
    counting = AskedWorkloads(world, whose.those_in(world))
    chosen = (name for pod in world.book if (name := counting.of(pod)) is not None)
    workloads = whose.named_in(world) or list(dict.fromkeys(chosen))
    if not workloads:
        raise whose.none_found(now)
    unread: dict[str, None] = {}
    found_goals = goals(world, workloads, soft=question.soft, unread=unread)
    goals_of = matching(found_goals)
    pods, staying = candidates(world, workloads, goals_of)
    groups = together(len(found_goals), goals_of, (pod.pod for pod in pods))
    start = Attempt(world.fork(), Aim(found_goals, goals_of, groups, scene.on_progress))
    best = search(start, pods)
    after, shrinking = best.attempt, in_need(start, workloads)
    return rows.RebalanceReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        **whose.as_reported(world),
        preemption=question.preemption,
        soft=question.soft,
        workloads=sum(workload.kind != "Pod" for workload in workloads),
        nodes=len(world.living.nodes),
        pending_before=baseline.pending(),
        constraints_in_force=len(found_goals),
        violated_before=start.violated,
        violated_after=after.violated,
        constraints=tuple(_constraints(start, after)),
        steps=tuple(_step(start, number, move) for number, move in enumerate(after.moves, 1)),
        at_least=best.at_least,
        is_fewest=best.exhausted,
        waits=sum(move.budget is not None for move in after.moves),
        obstacles=tuple(_obstacles(start, best)),
        staying=tuple(rows.StayingPods(why=why, pods=staying[why]) for why in sorted(staying)),
        scale_downs=tuple(scale_downs(start, shrinking[:MAX_PLAYED])),
        descheduler=played(start, policy, question.descheduler or "") if policy is not None else None,
        gaps=scene.gaps(world.assumed),
        not_modelled=Rebalance.never_modelled,
        notes=(
            *scene.notes,
            *unread,
            *_uncounted(start, pods, len(shrinking) - MAX_PLAYED),
            *placed_first,
            *([] if found_goals else [_not_in_force(question, workloads)]),
        ),
    )


def _uncounted(start: Attempt, pods: Sequence[Candidates], unplayed: int) -> Iterator[str]:
    goals_of, constraint_goals = start.aim.goals_of, start.aim.goals
    uncounted = sum(
        len(alike.keys)
        for alike in pods
        if any(constraint_goals[position].domain_of(alike.node) is None for position in goals_of(alike.pod))
    )
    if uncounted:
        who = "1 pod runs" if uncounted == 1 else f"{uncounted} pods run"
        yield f"{who} on nodes that a constraint does not count: without its label, or left out by its policies"
    if unplayed > 0:
        others = "workload" if unplayed == 1 else "workloads"
        yield f"scale-downs are worked out for {MAX_PLAYED} workloads and not for {unplayed} more {others}"


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
            when_unsatisfiable=constraint.when_unsatisfiable,
            max_skew=constraint.max_skew,
            min_domains=constraint.min_domains,
            selector=str(constraint.selector),
            source=constraint.source,
            minimum_before=goal.minimum(before),
            minimum_after=goal.minimum(now),
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
    keys = dict.fromkeys(
        start.aim.goals[position].constraint.topology_key for position in start.aim.goals_of(move.evicted)
    )
    return rows.EvictionStep(
        number=number,
        pod=NamespacedName.of(move.evicted),
        workload=workload,
        node=move.evicted.spec.node_name,
        lands_on=move.landed.spec.node_name,
        domains=tuple(_change(world, topology_key, move) for topology_key in keys),
        waits_for=move.budget,
        edit=str(EvictPod(key[1], key[0])),
        commands=(
            patches.evict(key),
            patches.wait_until_gone(key),
            patches.wait_until_whole(workload, desired_replicas(world, workload)),
        ),
    )


def _change(world: World, topology_key: str, move: Move) -> rows.DomainMove:
    column, position_of = world.living.nodes.label(topology_key), world.living.nodes.index
    codes = (int(column.codes[position_of[pod.spec.node_name]]) for pod in (move.evicted, move.landed))
    before, after = (None if code == ABSENT else column.values[code] for code in codes)
    return rows.DomainMove(topology_key=topology_key, before=before, after=after)


def _obstacles(start: Attempt, best: Found) -> Iterator[rows.Obstacle]:
    for place, reasons in sorted(best.obstacles.items()):
        owners = (owner for position in start.aim.groups[place] for owner in start.aim.goals[position].workloads)
        workloads = tuple(dict.fromkeys(owners))
        for why, tried in reasons.most_common():
            yield rows.Obstacle(workloads=workloads, why=why, tried=tried)
