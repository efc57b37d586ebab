"""Chance: everything that Kubernetes decides arbitrarily, decided by one seed.

Without a seed ties between nodes go in kube-scheduler's own order, controllers pick by name, and all nodes that fit are
scored. If chance decides anything, there are several runs, each with the next seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubespread.controllers.persistentvolume import PickVolume, first_volume
from kubespread.controllers.replicaset import Pick, first_by_name
from kubespread.kube.api.core import Pod
from kubespread.scheduler.cluster.nodes import Search
from kubespread.scheduler.evaluation import TieOrder, keep_order
from kubespread.scheduler.placing import Tiebreaker, first_in_heap
from kubespread.world.store.happenings import Happenings

_RUNS = 8
"""Number of runs where controllers choose among equals, unless the user sets it."""
_MOST_MOVES = 40_000
"""Pods that may come and go in all runs together, unless the user sets their number."""
_FASTER = 0.5


class Chance(Struct, frozen=True):
    """Arbitrary choices of one run."""

    pick: Pick = first_by_name
    """Choice among equal pods to delete."""
    tiebreaker: Tiebreaker = first_in_heap
    """Choice among equal nodes for a pod."""
    volume: PickVolume = first_volume
    """Choice among equal volumes for a claim."""
    order: TieOrder = keep_order
    """Order of failing nodes, of equal nodes and pods in preemption, of controllers, and of a gang's equal domains."""
    scheduler_is_faster: Callable[[], bool] = bool
    """True if pods are placed before the next controller is done."""
    search: Callable[[int], Search] = lambda _: Search(samples=False)
    """kube-scheduler's search for feasible nodes in a cluster of so many nodes."""

    @classmethod
    def from_seed(cls, seed: int | None) -> Chance:
        """Random choices, the same for equal seeds and clusters; None leaves nothing to chance."""
        if seed is None:
            return cls()
        drawn = random.Random(seed)

        def some_of(equals: Sequence[Pod], count: int) -> Sequence[Pod]:
            return drawn.sample(equals, count)

        return cls(
            some_of,
            lambda _cluster, _result, equals: int(equals[drawn.randrange(len(equals))]),
            drawn.choice,
            lambda equals: drawn.sample(equals, len(equals)),
            lambda: drawn.random() < _FASTER,
            lambda nodes: Search(drawn.randrange(max(1, nodes))),
        )


def run_count(happened: Sequence[Happenings]) -> int:
    """Number of runs, the first included: 1 if no choice in it was arbitrary."""
    if not any(one.by_chance for one in happened):
        return 1
    moves = sum(len(one.placed) + len(one.departures) for one in happened)
    return max(2, min(_RUNS, _MOST_MOVES // max(1, moves)))


def seeds(seed: int | None, runs: int) -> Iterator[int]:
    """Seeds of the runs after the first, which has ``seed``."""
    first = seed or 0
    return iter(range(first + 1, first + runs))


def notes_on_runs(seed: int | None, runs: int) -> Iterator[str]:
    """Yield a note on the choices that seeds make, unless the only run has none."""
    if seed is not None or runs > 1:
        first = "" if seed is not None else "; the first has none: ties go in kube-scheduler's own order, picks by name"
        yield (
            "each run has a seed for ties between nodes, for which of equal pods and nodes controllers pick, and for "
            f"where kube-scheduler begins to look in a cluster so large that it scores a sample of its nodes{first}"
        )
