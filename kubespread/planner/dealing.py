"""What depends on chance is played again and again, with equal pods and nodes dealt anew each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubespread.errors import UsageError
from kubespread.planner.manner import MAX_RUNS
from kubespread.planner.world.chance import dealt
from kubespread.planner.world.happenings import Happenings
from kubespread.planner.world.world import World

DEALS = 8
"""How often something is played whose controllers picked among equals, unless somebody says how often."""
_MOST_MOVES = 40_000
"""How many pods come and go in all deals together, at most, unless somebody says how often: a large rollout is dealt
less often, and so answers in about the same time.
"""


def check_deals(deals: int | None) -> None:
    """Raises UsageError."""
    if deals is not None and not 1 <= deals <= MAX_RUNS:
        raise UsageError(f"deals must be from 1 to {MAX_RUNS}, not {deals}")


def deals_worth(happened: Sequence[Happenings]) -> int:
    """How often something is played in all, after it was played once with what ``happened``."""
    if not any(each.by_chance for each in happened):
        return 1
    moves = sum(len(each.placed) + len(each.gone) for each in happened)
    return max(2, min(DEALS, _MOST_MOVES // max(1, moves)))


def other_deals(begun: World, deals: int) -> Iterator[World]:
    """The world as it was in the beginning, for every deal but the first."""
    for seed in range(1, deals):
        world = begun.fork()
        world.surroundings = replace(world.surroundings, chance=dealt(seed))
        yield world
