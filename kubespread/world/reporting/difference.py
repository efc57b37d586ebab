"""What happens in a fork, judged once: a baseline, events one after another, and what differs after each.

Names do not show the cause: where one pod of a workload waits and another is evicted, the first may take the place of
the second, whose successor waits under a new name. So pods are counted by workload.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal, Self

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.owners import WorkloadName
from kubespread.reports.happened import ASKED_FOR, FewerReady
from kubespread.world.events.unmade import Unmade, unmade
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import GO_WITH_THEIR_NODES, desired_replicas, workload_of
from kubespread.world.reporting.under_way import resume
from kubespread.world.store.happenings import PREEMPTED, Blocked, Gone, Happenings, RefusedDrain
from kubespread.world.store.owners import in_order
from kubespread.world.store.waiting import Waiting

Counted = Callable[[WorkloadName], bool]
"""Whether the pods of a workload count."""
Event = Callable[[World], object]
"""Something that happens in a world."""


def everything(_: WorkloadName) -> bool:
    return True


class Baseline(Struct, frozen=True, dict=True):
    """A cluster before anything happens to it. Its world is not changed: what happens, happens in forks."""

    world: World
    mode: Literal["settled", "as it stands"]
    """``settled``: what controllers lack is made, what is under way has gone on, and what finds a node in a moment has
    one, so that only pods that wait even then are pending before.
    """
    happenings: Happenings
    """What happened until then."""

    @classmethod
    def settled(cls, world: World) -> Self:
        """Of ``world`` itself, which settles."""
        lacking = (row.owner for row in unmade(world))
        world.dirty.update(dict.fromkeys(owner for owner in lacking if world.makes_others(owner)))
        resume(world)
        world.settle()
        return cls._of(world, "settled")

    @classmethod
    def as_it_stands(cls, world: World) -> Self:
        """Of ``world`` itself, in which nothing happens."""
        return cls._of(world, "as it stands")

    @classmethod
    def _of(cls, world: World, mode: Literal["settled", "as it stands"]) -> Self:
        happenings = world.next_step()
        world.book.changed.clear()
        return cls(world, mode, happenings)

    def trial(self, counts: Counted = everything) -> Trial:
        """A fork to let events happen in."""
        fork = self.world.fork()
        fork.origin = self.world
        return Trial(self, fork, counts)

    def ready(self, workload: WorkloadName) -> int:
        """How many pods of a workload are ready."""
        return ready_pods(self.world, workload)

    def pending(self, counts: Counted = everything) -> int:
        """How many pods that count wait for a node."""
        return sum(number for workload, number in self.waiting.items() if counts(workload))

    @cached_property
    def waiting(self) -> Mapping[WorkloadName, int]:
        """How many pods of each workload wait for a node."""
        return Counter(workload_of(self.world, waiting.pod) for waiting in self.world.waiting)

    @cached_property
    def unmade(self) -> Mapping[tuple[WorkloadName, bool], int]:
        """How many pods of each workload the API server refuses (True), and how many are not made yet."""
        return _unmade_of(self.world, unmade(self.world))


class Trial:
    """A fork of a baseline in which one event after another happens; a fork of a trial goes on in another way."""

    def __init__(
        self, baseline: Baseline, world: World, counts: Counted = everything, happened: tuple[Happenings, ...] = ()
    ) -> None:
        """``happened`` is what happened in ``world`` since the baseline, step by step."""
        self.baseline, self.world, self.counts, self.happened = baseline, world, counts, happened

    def fork(self) -> Trial:
        return Trial(self.baseline, self.world.fork(), self.counts, self.happened)

    def after(self, event: Event) -> Difference:
        """What differs once ``event`` has happened and nothing changes any more; time passes then."""
        difference = self.during(event)
        self.happened = difference.happened
        self.world.next_step()
        return difference

    def during(self, event: Event) -> Difference:
        """The same of an event that others follow at once."""
        event(self.world)
        self.world.settle()
        return self.difference

    @property
    def difference(self) -> Difference:
        """What differs now."""
        return Difference(self.baseline, self.world, (*self.happened, self.world.happenings), self.counts)


class Difference(Struct, frozen=True, dict=True):
    """What became of the pods that count, from a baseline to a later state of a fork of it: read it before anything
    else happens there.
    """

    baseline: Baseline
    world: World
    happened: tuple[Happenings, ...]
    """What happened since, step by step."""
    counts: Counted = everything

    @cached_property
    def waiting(self) -> Sequence[Waiting]:
        """Pods without a node, for each workload only as many as it has more than before: the last that came."""
        before, now = self.baseline.waiting, Counter[WorkloadName]()
        waiting = [(workload_of(self.world, each.pod), each) for each in self.world.waiting]
        more: list[Waiting] = []
        # Those that waited before have come before the others of their workload.
        for workload, each in waiting:
            now[workload] += 1
            if now[workload] > before.get(workload, 0) and self.counts(workload):
                more.append(each)
        return more

    @cached_property
    def pending(self) -> Counter[WorkloadName]:
        """How many of these each workload has."""
        return Counter(workload_of(self.world, waiting.pod) for waiting in self.waiting)

    @cached_property
    def unmade(self) -> Sequence[Unmade]:
        """Pods that controllers do not make now, for each workload only as many as it has more than before, those that
        the API server refuses apart.
        """
        world, spare = self.world, Counter(self.baseline.unmade)
        # Bare pods that are refused have no owner, and one that has no pods yet is below nothing.
        among = {*world.book.changed, *world.api_server.refused}
        among.update(owner for name in self._changed for owner in world.owners_below(name))
        rows: list[Unmade] = []
        for row in unmade(world, among):
            workload = world.above(row.owner)
            covered = min(row.count, spare[workload, row.is_refused])
            spare[workload, row.is_refused] -= covered
            if row.count > covered and self.counts(workload):
                rows.append(replace(row, count=row.count - covered))
        return rows

    @cached_property
    def not_made(self) -> Counter[WorkloadName]:
        """How many of these each workload has."""
        counts = Counter[WorkloadName]()
        for row in self.unmade:
            counts[self.world.above(row.owner)] += row.count
        return counts

    @cached_property
    def gone(self) -> Sequence[Gone]:
        """The pods that have left, or are on their way out."""
        gone = (pod for step in self.happened for pod in step.gone)
        return [pod for pod in gone if self.counts(workload_of(self.world, pod.pod))]

    @property
    def lost(self) -> Sequence[Gone]:
        """Pods that no controller makes again."""
        return [gone for gone in self.gone if gone.is_lost_for_good]

    @property
    def lost_unasked(self) -> Sequence[Gone]:
        """Those of them that nobody evicted or deleted."""
        return [gone for gone in self.lost if gone.why not in ASKED_FOR]

    @property
    def preempted(self) -> Sequence[Gone]:
        """Pods that others took the room of."""
        return [gone for gone in self.gone if gone.why == PREEMPTED]

    @property
    def broken_budgets(self) -> Mapping[str, Sequence[Gone]]:
        """The disruption budgets that preemption broke, NAMESPACE/name, with the pods that they did not let go."""
        broken: dict[str, list[Gone]] = {}
        for gone in self.preempted:
            for name in gone.broken_budgets:
                broken.setdefault(f"{gone.pod.metadata.namespace}/{name}", []).append(gone)
        return broken

    @property
    def blocked(self) -> Sequence[Blocked]:
        """The pods whose eviction was refused."""
        return [blocked for step in self.happened for blocked in step.blocked]

    @property
    def refused(self) -> Sequence[RefusedDrain]:
        """The nodes that kubectl would not drain."""
        return [refused for step in self.happened for refused in step.refused]

    @cached_property
    def short(self) -> Sequence[FewerReady]:
        """Workloads with fewer ready pods than they are to have, and than before; the pods of DaemonSets and of nodes
        go with their nodes.
        """
        return [short for name in self.touched if (short := self._short(name)) is not None]

    @cached_property
    def touched(self) -> Sequence[WorkloadName]:
        """The workloads whose pods have come, gone or changed, without those of which each node has its own pod."""
        changed = (name for name in self._changed if name.kind not in GO_WITH_THEIR_NODES and self.counts(name))
        return sorted(changed, key=in_order)

    @cached_property
    def _changed(self) -> set[WorkloadName]:
        return {self.world.above(owner) for owner in self.world.book.changed}

    def _short(self, name: WorkloadName) -> FewerReady | None:
        before, ready = self.baseline.ready(name), ready_pods(self.world, name)
        if ready >= before or ready >= (wanted := desired_replicas(self.world, name)):
            return None
        lacking = self.pending[name] + self.not_made[name]
        return FewerReady(workload=name, wanted=wanted, ready_before=before, ready=ready, lacking=lacking)

    @property
    def worse(self) -> set[WorkloadName]:
        """The workloads that have more pods pending or not made, fewer ready, or lost pods for good."""
        lost = (workload_of(self.world, gone.pod) for gone in self.lost_unasked)
        return {*self.pending, *self.not_made, *(short.workload for short in self.short), *lost}

    @property
    def is_worse(self) -> bool:
        """Whether anything that counts is worse than before."""
        return bool(self.worse or self.broken_budgets)

    @property
    def is_done(self) -> bool:
        """Whether nothing that was asked for was refused."""
        return not (self.blocked or self.refused)


def ready_pods(world: World, workload: WorkloadName) -> int:
    """How many pods of a workload are ready."""
    return sum(world.book.count(owner).ready for owner in world.owners_below(workload))


def _unmade_of(world: World, rows: Iterable[Unmade]) -> Mapping[tuple[WorkloadName, bool], int]:
    counts = Counter[tuple[WorkloadName, bool]]()
    for row in rows:
        counts[world.above(row.owner), row.is_refused] += row.count
    return counts
