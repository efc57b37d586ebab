"""Questions that chance decides are played several times, each time with other picks among equal pods and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubespread.errors import UsageError
from kubespread.questions.queue.manner import MAX_RUNS
from kubespread.world.events.world import World
from kubespread.world.store.happenings import Happenings
from kubespread.world.store.surroundings import dealt

DEALS = 8
"""How many times a question is played in which controllers picked among equal pods, unless the user says how many."""
_MOST_MOVES = 40_000
"""How many pods may come and go in all deals together, unless the user says how many deals: a large rollout gets fewer,
so that it is answered in about the same time.
"""


def check_deals(deals: int | None) -> None:
    """Raises UsageError."""
    if deals is not None and not 1 <= deals <= MAX_RUNS:
        raise UsageError(f"deals must be from 1 to {MAX_RUNS}, not {deals}")


def deals_worth(happened: Sequence[Happenings]) -> int:
    """How many times to play a question in all, once the first time is over and this ``happened``."""
    if not any(one.by_chance for one in happened):
        return 1
    moves = sum(len(one.placed) + len(one.gone) for one in happened)
    return max(2, min(DEALS, _MOST_MOVES // max(1, moves)))


def other_deals(begun: World, deals: int) -> Iterator[World]:
    """The world as it was in the beginning, for every deal but the first."""
    for seed in range(1, deals):
        world = begun.fork()
        world.surroundings = replace(world.surroundings, chance=dealt(seed))
        yield world
