"""The pods that a plan may evict, and the search, step by step with what arithmetic suggests. Each eviction begins with
what the ones before it left, so no part is for another process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from kubespread.deadline import check
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, is_active, is_ready, is_terminating
from kubespread.kube.well_known import MIRROR_POD
from kubespread.questions.rebalance.goals import Attempt, GoalsOf
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of

_MAX_SETBACKS = 40
"""Failed evictions in a row before a group of goals is given up."""
REPLACING = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet"})
"""The kinds whose pods are evicted: they create a replacement, and only its place changes."""


class Candidates(Struct, frozen=True):
    """Interchangeable pods of one owner on one node."""

    pod: Pod
    """One of them."""
    node: int
    keys: tuple[PodKey, ...]
    """Keys in the order the pods would be evicted."""


def candidates(
    world: World, workloads: Iterable[WorkloadName], goals_of: GoalsOf
) -> tuple[list[Candidates], Counter[str]]:
    """The pods of ``workloads`` that a plan may evict, and the number of others that some goal counts, by why they
    stay.
    """
    alike: dict[tuple[object, ...], list[Pod]] = {}
    kept: Counter[str] = Counter()
    for pod, owner in _pods(world, workloads):
        why = _stays(pod, owner)
        if why is not None:
            kept[why] += bool(goals_of(pod))
        elif owner is not None and is_active(pod) and pod.spec.node_name in world.living.nodes.index:
            name = pod.metadata.name if owner.kind == "StatefulSet" else ""
            kind = world.cluster.kinds.number_of(pod)
            alike.setdefault((owner, pod.spec.node_name, kind, is_ready(pod), name), []).append(pod)
    position_of = world.living.nodes.index
    movable = [
        Candidates(pods[0], position_of[pods[0].spec.node_name], tuple(map(key_of, pods))) for pods in alike.values()
    ]
    return movable, +kept


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


def search(start: Attempt, pods: Sequence[Candidates]) -> tuple[Attempt, dict[int, Counter[str]]]:
    """Evictions of ``pods``, each at most once, after which as many groups of goals as possible hold, one after
    another; one that was given up is tried again after another one was reached. Also why no eviction helps the others,
    with the number of sorts of pods tried, by the group's position in `Aim.groups`.

    ``start`` is not changed.
    """
    attempt, obstacles = start, dict[int, Counter[str]]()
    while True:
        before = attempt
        for place, group in enumerate(start.aim.groups):
            if attempt.need_of(group)[0]:
                own = [alike for alike in pods if not {*group}.isdisjoint(start.aim.goals_of(alike.pod))]
                attempt, obstacles[place] = _reached(attempt, group, own)
        if attempt is before:
            return attempt, {place: why for place, why in obstacles.items() if why}


def _reached(start: Attempt, group: Sequence[int], pods: Sequence[Candidates]) -> tuple[Attempt, Counter[str]]:
    """Result of evicting again and again the first pod that helps the group and worsens no other; the start where
    that does not reach it, and why.
    """
    attempt = start
    while attempt.need_of(group)[0]:
        faults = Counter[str]()
        for alike in _best_first(attempt, group, pods):
            check()
            key = _next(attempt, alike)
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


def _best_first(attempt: Attempt, group: Sequence[int], pods: Sequence[Candidates]) -> list[Candidates]:
    """Candidates in domains above their allowed final size come first, the fullest domain first, before all others."""
    violated = frozenset(position for position in group if attempt.needs[position].moves)
    aim = attempt.aim

    def worth(alike: Candidates) -> tuple[int, int, tuple[PodKey, ...]]:
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


def _next(attempt: Attempt, alike: Candidates) -> PodKey | None:
    """The next of the pods that is still in place."""
    gone = {key_of(move.evicted) for move in attempt.moves}
    return next((key for key in alike.keys if key not in gone and key in attempt.world.book), None)
