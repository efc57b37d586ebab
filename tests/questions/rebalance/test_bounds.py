"""How many evictions it takes at least, by arithmetic."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.questions.rebalance.goals import need

CASES: dict[str, tuple[list[int], int, int]] = {
    "even": ([2, 2, 2], 1, 0),
    "within maxSkew": ([3, 2, 2], 1, 0),
    "one too many": ([4, 2, 3], 1, 1),
    "all in one domain": ([10, 0, 0], 1, 6),
    "the descheduler takes four here": ([9, 1], 1, 4),
    "many small domains that lack one each": ([5, 1, 1, 1], 1, 3),
    "a larger maxSkew": ([7, 1, 1], 2, 3),
    "a single domain": ([7], 1, 0),
    "none": ([], 1, 0),
}


@pytest.mark.parametrize("case", CASES)
def test_moves(case: str) -> None:
    counts, max_skew, expected = CASES[case]
    assert need(np.array(counts, dtype=np.int64), max_skew, floor=False).moves == expected


def test_where_domains_are_missing_pods_only_have_to_leave() -> None:
    assert need(np.array([3, 1], dtype=np.int64), 1, floor=True).moves == 2


def test_pods_that_wait_may_fill_a_domain_by_themselves() -> None:
    assert [need(np.array([4, 1, 1], dtype=np.int64), 1, floor=False, arriving=count).moves for count in (0, 1, 4)] == [
        2,
        1,
        0,
    ]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_no_fewer_moves_do_and_so_many_do(counts: list[int], max_skew: int) -> None:
    assert need(np.array(counts, dtype=np.int64), max_skew, floor=False).moves == fewest(tuple(counts), max_skew)


def fewest(counts: Sequence[int], max_skew: int) -> int:
    """Breadth first, any pod to any other domain."""
    level, moves, seen = {tuple(sorted(counts))}, 0, set[tuple[int, ...]]()
    while not any(max(each) - min(each) <= max_skew for each in level):
        seen |= level
        level = {
            tuple(sorted(count - (place == source) + (place == target) for place, count in enumerate(each)))
            for each in level
            for source in range(len(each))
            for target in range(len(each))
            if each[source] and source != target
        } - seen
        moves += 1
    return moves
