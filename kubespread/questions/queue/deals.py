"""Questions decided by chance are played several times, each time with other choices among equal pods and nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.questions.queue.manner import MAX_RUNS
from kubespread.world.events.world import World
from kubespread.world.store.happenings import Happenings
from kubespread.world.store.surroundings import dealt

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
