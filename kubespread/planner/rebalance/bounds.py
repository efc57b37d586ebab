"""How many evictions it takes at least until a constraint holds, by arithmetic over its domains alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kubespread.scheduler.cluster.labels import Counts


class Need(NamedTuple):
    """What separates the counts of a constraint from counts within its maxSkew; compared in this order."""

    moves: int
    """No fewer pods have to be evicted: each leaves one domain and comes to at most one."""
    mass: int
    """How many pods have to leave a domain, and how many to come to one, together."""
    least: int
    """The size of the smallest domain then."""


def need(counts: Counts, max_skew: int, *, floor: bool, arriving: int = 0) -> Need:
    """The least there is to do until no domain holds more than ``max_skew`` pods above the smallest.

    ``floor``: the smallest counts as 0 whatever it holds, as it does while domains are missing. ``arriving`` pods wait,
    and may come to any domain by themselves.
    """
    if not len(counts):
        return Need(0, 0, 0)
    if floor:
        over = int(np.maximum(counts - max_skew, 0).sum())
        return Need(over, over, 0)
    low, high = int(counts.min()), max(int(counts.min()), int(counts.max()) - max_skew)
    # What has to leave shrinks with the least size and what has to come grows, so the best is where they meet.
    while low < high:
        middle = (low + high) // 2
        leaving, coming = _apart(counts, middle, max_skew)
        if leaving <= coming - arriving:
            high = middle
        else:
            low = middle + 1
    return min(_need(counts, least, max_skew, arriving) for least in {max(low - 1, int(counts.min())), low})


def _need(counts: Counts, least: int, max_skew: int, arriving: int) -> Need:
    leaving, coming = _apart(counts, least, max_skew)
    missing = max(0, coming - arriving)
    return Need(max(leaving, missing), leaving + missing, least)


def _apart(counts: Counts, least: int, max_skew: int) -> tuple[int, int]:
    """How many pods leave domains and how many come to domains until all hold ``least`` to ``least + max_skew``."""
    leaving = int(np.maximum(counts - (least + max_skew), 0).sum())
    return leaving, int(np.maximum(least - counts, 0).sum())
