"""One eviction in a world: the replacement by its controller and kube-scheduler, and the effect on the goals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from msgspec import Struct

from kubespread.kube.api.core import Pod
from kubespread.questions.rebalance.goals import Goal, GoalsOf, Need
from kubespread.scheduler.cluster.columns import Counts
from kubespread.snapshot.edits.pods import EvictPod
from kubespread.world.events.editing import apply
from kubespread.world.events.world import World
from kubespread.world.store.happenings import EVICTED, Happenings
from kubespread.world.store.pod_book import PodKey


class Move(Struct, frozen=True):
    """An evicted pod and its replacement."""

    evicted: Pod
    landed: Pod
    budget: str | None
    """The budget that allows this only once earlier evicted pods are replaced, None where none delays it."""


@dataclass(frozen=True)
class Aim:
    """The goals, shared by all attempts."""

    goals: Sequence[Goal]
    goals_of: GoalsOf
    groups: Sequence[Sequence[int]]
    """Goals that one eviction may serve at once, by position."""
    on_progress: Callable[[int], None] | None = None
    """Called with the number of evictions tried so far."""
    _tried: Iterator[int] = field(default_factory=lambda: count(1), compare=False, repr=False)

    def note_trial(self) -> None:
        """Count one more tried eviction."""
        if self.on_progress is not None:
            self.on_progress(next(self._tried))

    @cached_property
    def group_of(self) -> Mapping[int, int]:
        """The place of each goal's group."""
        return {position: place for place, group in enumerate(self.groups) for position in group}

    def by_group(self, positions: Iterable[int]) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
        """Each group that some goals belong to, and those goals."""
        by_group: dict[int, list[int]] = {}
        for position in positions:
            by_group.setdefault(self.group_of[position], []).append(position)
        return ((self.groups[place], own) for place, own in by_group.items())


class Attempt:
    """A world in which some pods were evicted, one after another, each once the one before was replaced."""

    def __init__(self, world: World, aim: Aim) -> None:
        """Nothing is evicted yet. Evictions change ``world``."""
        self.world, self.aim = world, aim
        self.moves: tuple[Move, ...] = ()
        self.gone: set[PodKey] = set()
        """The evicted pods; a StatefulSet's pod is recreated with the same name."""
        self.counts: list[Counts] = [goal.counted.counts for goal in aim.goals]
        self._arriving = self._waiting_for()
        self.needs: list[Need] = [
            goal.need(counts, arriving)
            for goal, counts, arriving in zip(aim.goals, self.counts, self._arriving, strict=True)
        ]
        of_groups = [self.need_of(group) for group in aim.groups]
        self._total = sum(moves for moves, _ in of_groups), sum(mass for _, mass in of_groups)
        self._charged: dict[str, int] = {}
        """Evictions by charged budget since its pods were last waited for."""

    def fork(self) -> Attempt:
        """A copy to continue from in a different way."""
        other = object.__new__(Attempt)
        other.world, other.aim, other.moves = self.world.fork(), self.aim, self.moves
        other.gone = set(self.gone)
        other.counts, other.needs = list(self.counts), list(self.needs)
        other._arriving, other._charged, other._total = self._arriving, dict(self._charged), self._total
        return other

    @property
    def total(self) -> tuple[int, int]:
        """How many evictions it takes at least, and how many pods have to leave and to come, over all groups."""
        return self._total

    @property
    def violated(self) -> int:
        """How many goals do not hold."""
        return sum(need.moves > 0 for need in self.needs)

    def need_of(self, group: Iterable[int]) -> tuple[int, int]:
        """The same for one group: one eviction may serve all of its goals, so the largest need counts."""
        needs = [self.needs[position] for position in group]
        return max(need.moves for need in needs), sum(need.mass for need in needs)

    def evict(self, key: PodKey) -> str | None:
        """Evict a pod, and let its controller and kube-scheduler react. Returns the fault, None where another pod runs
        in its place and nothing else happened. After a fault the world must be discarded.
        """
        self.aim.note_trial()
        world = self.world
        pod, waited = world.book[key], set(world.queue.waiting)
        budget = self._waits_for(pod)
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
        self.moves = (*self.moves, Move(pod, landed, budget))
        self.gone.add(key)
        self.count(happened)
        return None

    def _waits_for(self, pod: Pod) -> str | None:
        budgets = self.world.budgets.protecting(pod, self.world.time)
        if len(budgets) != 1:
            return None
        name = f"{budgets[0].metadata.namespace}/{budgets[0].metadata.name}"
        waits = 0 < budgets[0].status.disruptions_allowed <= self._charged.get(name, 0)
        self._charged[name] = 1 if waits else self._charged.get(name, 0) + 1
        return budgets[0].metadata.name if waits else None

    def count(self, happened: Happenings) -> None:
        """Update counts for pods that left and arrived."""
        touched: set[int] = set()
        changes = [*((gone.pod, -1) for gone in happened.gone), *((pod, 1) for pod in happened.placed)]
        for pod, by in changes:
            node = self.world.living.nodes.index.get(pod.spec.node_name)
            for position in self.aim.goals_of(pod) if node is not None else ():
                assert node is not None
                code = self.aim.goals[position].domain_of(node)
                if code is not None:
                    counts = self.counts[position].copy()
                    counts[code] += by
                    self.counts[position] = counts
                    touched.add(position)
        arriving = self._waiting_for()
        touched |= {position for position, count in enumerate(arriving) if count != self._arriving[position]}
        self._arriving = arriving
        self._need_again(touched)

    def _need_again(self, touched: Iterable[int]) -> None:
        moves, mass = self._total
        for group, positions in self.aim.by_group(touched):
            before = self.need_of(group)
            for position in positions:
                goal = self.aim.goals[position]
                self.needs[position] = goal.need(self.counts[position], self._arriving[position])
            after = self.need_of(group)
            moves, mass = moves + after[0] - before[0], mass + after[1] - before[1]
        self._total = moves, mass

    def _waiting_for(self) -> list[int]:
        """Per goal, how many waiting pods would count."""
        counts = [0] * len(self.aim.goals)
        for waiting in self.world.queue.waiting.values():
            for position in self.aim.goals_of(waiting.pod):
                counts[position] += 1
        return counts


def _fault(happened: Happenings, messages: Sequence[str]) -> str | None:
    if happened.blocked:
        return happened.blocked[0].cause or happened.blocked[0].message
    others = [gone.why for gone in happened.gone if gone.why != EVICTED]
    if others:
        return f"its replacement is placed only where another pod is {others[0]}"
    return f"its replacement finds no node: {messages[0]}" if messages else None
