"""The pods that a plan may evict, and the search: first step by step with what arithmetic suggests, then
exhaustively. Each eviction begins with what the ones before it left, so no part is for another process.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from kubespread.deadline import check
from kubespread.kube.api.core import Pod
from kubespread.kube.owners import WorkloadName, is_active, is_ready, is_terminating
from kubespread.kube.well_known import MIRROR_POD
from kubespread.questions.rebalance.goals import Attempt, GoalsOf
from kubespread.world.events.world import World
from kubespread.world.store.pod_book import PodKey, key_of

MAX_TRIALS = 1_000
"""The most evictions tried to prove that no plan is shorter."""
_MAX_HOPELESS_TRIALS = 300
"""As many where the stepwise search found no plan."""
_TRIED_PODS = 60_000
"""The limit on trials times the nodes and pods of the cluster: each trial begins with a copy of it."""
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
    """In the order they would be evicted."""


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


class Found(Struct):
    """The best result found."""

    attempt: Attempt
    at_least: int
    """A lower bound on the evictions of any plan that makes all goals hold."""
    exhausted: bool
    """Whether every plan was tried, so that nothing better can be found."""
    obstacles: dict[int, Counter[str]] = field(default_factory=dict)
    """Why no eviction helps, with the number of sorts of pods tried, by the group's position in `Aim.groups`."""


def search(start: Attempt, pods: Sequence[Candidates]) -> Found:
    """Evictions of ``pods``, each at most once, after which all goals hold, or as many groups of them as possible.

    ``start`` is not changed.
    """
    bound = start.total[0]
    stepwise = _Stepwise(start, pods)
    best = stepwise.best()
    is_solved = best.total[0] == 0
    if is_solved and len(best.moves) <= bound:
        return Found(best, bound, True)
    exact = _Exhaustive(start, pods, _trials(start, MAX_TRIALS if is_solved else _MAX_HOPELESS_TRIALS))
    limit = len(best.moves) - 1 if is_solved else sum(len(pod.keys) for pod in pods)
    shorter = exact.shortest(bound, limit)
    if shorter is not None:
        return Found(shorter, len(shorter.moves), True)
    return Found(best, min(exact.at_least, limit + 1), exact.is_exhausted, {} if is_solved else stepwise.obstacles)


def _trials(start: Attempt, limit: int) -> int:
    size = len(start.world.living.nodes) + sum(1 for _ in start.world.book)
    return min(limit, _TRIED_PODS // max(1, size))


class _Stepwise:
    """Group by group: evict what arithmetic says helps most, and take back what does not."""

    def __init__(self, start: Attempt, pods: Sequence[Candidates]) -> None:
        self._start = start
        self._of_group: dict[int, list[Candidates]] = {}
        """Candidates that count for a goal, by its group's position."""
        for pod in pods:
            for position in start.aim.goals_of(pod.pod)[:1]:
                self._of_group.setdefault(start.aim.group_of[position], []).append(pod)
        self._keys: tuple[PodKey, ...] = ()
        """The evictions so far."""
        self._kept: tuple[tuple[PodKey, ...], Attempt] = (), start
        """A prefix of the evictions and the world after it, to go back to."""
        self._attempt = start.fork()
        self.obstacles: dict[int, Counter[str]] = {}

    def best(self) -> Attempt:
        """Reach as many groups as possible; a group that was given up is tried again after another one was reached."""
        while True:
            reached = [place for place, group in enumerate(self._attempt.aim.groups) if self._reaches(place, group)]
            if not reached or self._attempt.total[0] == 0:
                return self._attempt

    def _reaches(self, place: int, group: Sequence[int]) -> bool:
        """Whether the group is newly reached. Evictions that do not get there are all undone."""
        if self._attempt.need_of(group)[0] == 0:
            return False
        before, own = self._keys, self._of_group.get(place, [])
        obstacles: Counter[str] = Counter()
        while self._attempt.need_of(group)[0]:
            obstacles.clear()
            if not self._advances_with_one(group, own, obstacles):
                break
        if self._attempt.need_of(group)[0] == 0:
            self.obstacles.pop(place, None)
            return True
        self.obstacles[place] = obstacles
        if self._keys != before:
            self._take_back(before)
        return False

    def _advances_with_one(self, group: Sequence[int], own: Sequence[Candidates], obstacles: Counter[str]) -> bool:
        """Evict the first pod that helps; the faults of those before it are added to ``obstacles``."""
        for alike in _best_first(self._attempt, group, own):
            check()
            key = _next(self._attempt, alike)
            if key is None:
                continue
            why = self._advances(key, group)
            if why is None:
                return True
            obstacles[why] += 1
            if obstacles.total() >= _MAX_SETBACKS:
                break
        return False

    def _advances(self, key: PodKey, group: Sequence[int]) -> str | None:
        """Evict the pod if that improves the group and worsens no other; else return why not."""
        before, own = self._attempt.total, self._attempt.need_of(group)
        why = self._attempt.evict(key)
        if why is None and self._attempt.need_of(group) < own and self._attempt.total < before:
            self._keys = (*self._keys, key)
            return None
        if why is None:
            why = f"its replacement lands on {self._attempt.moves[-1].landed.spec.node_name}, which is no better"
        self._take_back(self._keys)
        return why

    def _take_back(self, keys: tuple[PodKey, ...]) -> None:
        """Go back to an earlier world and replay the given evictions: the same evictions land the same."""
        kept, attempt = self._kept
        if keys[: len(kept)] != kept:
            kept, attempt = (), self._start
        self._attempt, self._keys = attempt.fork(), keys
        for key in keys[len(kept) :]:
            self._attempt.evict(key)
        if keys != kept:
            self._kept = keys, self._attempt.fork()


class _Exhaustive:
    """All plans by increasing length, except those that arithmetic rules out."""

    def __init__(self, start: Attempt, pods: Sequence[Candidates], trials: int) -> None:
        self._start, self._pods, self._left = start, pods, trials
        self._every = range(len(start.aim.goals))
        self._seen: dict[tuple[object, ...], int] = {}
        """How many further evictions were not enough, by what was evicted and where replacements landed."""
        self._was_cut = False
        """Whether a longer plan could continue where one was cut off."""
        self.at_least = start.total[0]
        self.is_exhausted = False

    def shortest(self, at_least: int, at_most: int) -> Attempt | None:
        """The first plan of at least ``at_least`` and at most ``at_most`` evictions, one of the fewest."""
        for length in range(at_least, at_most + 1):
            self._seen.clear()
            self._was_cut = False
            attempt = self._within(self._start, length)
            if attempt is not None:
                return attempt
            if self._left <= 0:
                return None
            self.at_least = length + 1
            if not self._was_cut:
                break
        self.is_exhausted = True
        return None

    def _within(self, attempt: Attempt, length: int) -> Attempt | None:
        needed = attempt.total[0]
        if needed == 0:
            return attempt
        if needed > length:
            self._was_cut = True
            return None
        state = _state(attempt)
        if self._seen.get(state, -1) >= length:
            return None
        self._seen[state] = length
        for alike in _best_first(attempt, self._every, self._pods):
            key = _next(attempt, alike)
            if key is None:
                continue
            if self._left <= 0:
                return None
            self._left -= 1
            child = attempt.fork()
            if child.evict(key) is None:
                solution = self._within(child, length - 1)
                if solution is not None:
                    return solution
        return None


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
    return next((key for key in alike.keys if key not in attempt.gone and key in attempt.world.book), None)


def _state(attempt: Attempt) -> tuple[object, ...]:
    """The state as far as plans differ: which sorts of pods were evicted, and where their replacements landed."""
    marks = list[tuple[str, ...]]()
    for move in attempt.moves:
        owner = attempt.world.book.owner_of(move.evicted)
        name = f"{owner.namespace}/{owner.kind}/{owner.name}" if owner is not None else ""
        number = move.evicted.metadata.name if owner is not None and owner.kind == "StatefulSet" else ""
        marks += [("-", name, move.evicted.spec.node_name, number), ("+", name, move.landed.spec.node_name, number)]
    return tuple(sorted(marks))
