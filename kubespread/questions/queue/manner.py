"""How a simulation is played: how ties are broken, which nodes are scored, and how often it is run.

Questions decided by chance are played several times, each time with other choices among equal pods and nodes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.scheduler.cluster.nodes import Search
from kubespread.scheduler.placing import Tiebreaker, first_in_heap, smallest_name
from kubespread.world.events.world import World
from kubespread.world.store.happenings import Happenings
from kubespread.world.store.store import dealt

DEALS = 8
"""Number of times a question is played if controllers chose among equal pods, unless the user sets it."""
_MOST_MOVES = 40_000
"""Pods that may come and go in all deals together, unless the user sets the number of deals: a large rollout gets fewer
deals, so that it takes about the same time.
"""


def check_deals(deals: int | None) -> None:
    """Raises UsageError."""
    if deals is not None and not 1 <= deals <= MAX_RUNS:
        raise UsageError(f"deals must be from 1 to {MAX_RUNS}, not {deals}")


def deals_worth(happened: Sequence[Happenings]) -> int:
    """How many times to play a question in total, given what ``happened`` the first time."""
    if not any(one.by_chance for one in happened):
        return 1
    moves = sum(len(one.placed) + len(one.gone) for one in happened)
    return max(2, min(DEALS, _MOST_MOVES // max(1, moves)))


def other_deals(begun: World, deals: int) -> Iterator[World]:
    """A fork of the initial world for each deal but the first."""
    return (dealt_anew(begun, seed) for seed in range(1, deals))


def dealt_anew(begun: World, seed: int) -> World:
    """A fork of the initial world with one deal of equal pods and nodes, by its number from 1."""
    world = begun.fork()
    world.surroundings = replace(world.surroundings, chance=dealt(seed))
    return world


Ties = Literal["scheduler", "name"]
"""How ties are broken: by kube-scheduler's own order, or by node name."""
_TIEBREAKERS: dict[Ties, Tiebreaker] = {"scheduler": first_in_heap, "name": smallest_name}


class Way(Struct, frozen=True):
    """What distinguishes one run from another."""

    ties: Ties
    seed: int | None
    """Break ties at random with this seed, whatever ``ties`` says."""
    start: int | None = None
    """Where in kube-scheduler's list of nodes the search for the first pod begins; None: all that fit are scored."""

    def tiebreaker(self) -> Tiebreaker:
        if self.seed is None:
            return _TIEBREAKERS[self.ties]
        chance = random.Random(self.seed)
        return lambda _cluster, _found, equals: int(equals[chance.randrange(len(equals))])

    def search(self) -> Search | None:
        return None if self.start is None else Search(self.start)


MAX_RUNS = 10_000


class Manner(Struct, frozen=True):
    """How the simulation is played, for all workloads."""

    ties: Ties = "scheduler"
    seed: int | None = None
    """Break ties at random with this seed."""
    runs: int = 1
    """Repeat, with the seeds that follow or from other nodes on."""
    deals: int | None = 1
    """How often to replay controllers' choices among equal pods; None: as often as is worth it."""
    preempts: bool = True
    """Replicas that fit nowhere preempt pods of lower priority, where a number of replicas is requested."""
    keys: Sequence[str] = ()
    """Topology keys to report about, besides those of the constraints, zone and hostname."""
    on_progress: Callable[[int], None] | None = None
    """Called now and then with the number of replicas placed."""
    sample: bool = False
    """Score no more nodes than kube-scheduler does, instead of all that fit."""

    def ways(self, nodes: int) -> list[Way]:
        """A way for each run on a cluster of ``nodes`` nodes.

        Sampled runs begin evenly spaced in kube-scheduler's list, the first at its head, where a freshly started
        kube-scheduler begins; with a seed each begins at random. Other runs always have a seed.
        """
        if self.seed is None and (self.sample or self.runs == 1):
            seeds: list[int | None] = [None] * self.runs
        else:
            first = self.seed or 0
            seeds = list(range(first, first + self.runs))
        if not self.sample:
            return [Way(self.ties, seed) for seed in seeds]
        return [Way(self.ties, seed, self._start(run, seed, nodes)) for run, seed in enumerate(seeds)]

    def _start(self, run: int, seed: int | None, nodes: int) -> int:
        if seed is not None and nodes:
            return random.Random(seed).randrange(nodes)
        return run * nodes // self.runs
