"""Where controllers and kube-scheduler pick among equals: which ones they take."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kubespread.controllers.scale_down import Pick, first_by_name
from kubespread.kube.api.core import Pod
from kubespread.scheduler.placing import Tiebreaker, first_in_heap


@dataclass(frozen=True, slots=True)
class Chance:
    """One way for it to fall."""

    pick: Pick = first_by_name
    """Which of equal pods a controller deletes."""
    tiebreaker: Tiebreaker = first_in_heap
    """Which of equal nodes a pod gets."""
    turns: Callable[[Sequence[str]], Sequence[str]] = tuple
    """The order in which nodes that fail together lose their pods."""


def dealt(seed: int) -> Chance:
    """Equal pods and nodes are drawn at random, the same ones for the same ``seed`` and cluster."""
    drawn = random.Random(seed)

    def some_of(equals: Sequence[Pod], count: int) -> Sequence[Pod]:
        return drawn.sample(equals, count)

    return Chance(
        some_of,
        lambda _cluster, _found, equals: int(equals[drawn.randrange(len(equals))]),
        lambda nodes: drawn.sample(nodes, len(nodes)),
    )
