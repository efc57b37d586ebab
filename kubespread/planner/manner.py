"""How a simulation is played, for all workloads alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from kubespread.scheduler.placing import Tiebreaker, first_in_heap, smallest_name

Ties = Literal["scheduler", "name"]
"""How ties are broken: by kube-scheduler's own order, or by node name."""
_TIEBREAKERS: dict[Ties, Tiebreaker] = {"scheduler": first_in_heap, "name": smallest_name}


@dataclass(frozen=True, slots=True)
class Manner:
    """What was asked for besides the workloads."""

    ties: Ties = "scheduler"
    seed: int | None = None
    """Break ties at random with this seed, whatever ``ties`` says."""
    runs: int = 1
    """Repeat with the seeds that follow."""
    preemption: bool = False
    keys: Sequence[str] = ()
    """Topology keys to report about, besides those of the constraints, zone and hostname."""
    on_progress: Callable[[int], None] | None = None
    """Told now and then how many replicas are placed."""

    @property
    def seeds(self) -> list[int | None]:
        if self.runs == 1:
            return [self.seed]
        first = self.seed or 0
        return list(range(first, first + self.runs))

    def tiebreaker(self, seed: int | None) -> Tiebreaker:
        """Which of the nodes with equal scores is taken in the run with ``seed``."""
        if seed is None:
            return _TIEBREAKERS[self.ties]
        chance = random.Random(seed)
        return lambda cluster, feasible, equals: int(equals[chance.randrange(len(equals))])
