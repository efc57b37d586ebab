"""Which of several equal pods or nodes controllers and kube-scheduler take."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubespread.controllers.replicaset import Pick, first_by_name
from kubespread.kube.api.core import Pod
from kubespread.scheduler.placing import Tiebreaker, first_in_heap


@dataclass(frozen=True, slots=True)
class Chance:
    """The picks of one deal."""

    pick: Pick = first_by_name
    """Which of equal pods a controller deletes."""
    tiebreaker: Tiebreaker = first_in_heap
    """Which of equal nodes a pod gets."""
    turns: Callable[[Sequence[str]], Sequence[str]] = tuple
    """The order in which nodes that fail together lose their pods."""


def dealt(seed: int) -> Chance:
    """Picks at random; the same ``seed`` and cluster give the same picks."""
    drawn = random.Random(seed)

    def some_of(equals: Sequence[Pod], count: int) -> Sequence[Pod]:
        return drawn.sample(equals, count)

    return Chance(
        some_of,
        lambda _cluster, _found, equals: int(equals[drawn.randrange(len(equals))]),
        lambda nodes: drawn.sample(nodes, len(nodes)),
    )
