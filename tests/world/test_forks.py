"""What a fork shares with the world it came of, so that an attribute which is added and not forked is found."""

from __future__ import annotations

import pytest

from kubespread import Scheduler, Snapshot
from kubespread.questions.worlds import world_of
from tests.builders import node, pod

SHARED = {
    "Store": {"assumed"},
    # What pods say of themselves, by the pod: true wherever it is.
    "PodBook": {"_owners", "_api_versions"},
    "Queue": set[str](),
    "ApiServer": {"_admitted"},
}


@pytest.mark.parametrize("part", ["", "book", "queue", "api_server"])
def test_a_fork_shares_nothing_that_is_changed_in_place_but_what_is_true_of_both(part: str) -> None:
    world = world_of(Snapshot.from_objects([node("a"), pod("running", "a"), pod("waiting", "")]), Scheduler())
    fork = world.fork()
    one, other = (getattr(each, part) if part else each for each in (world, fork))
    shared = {
        name for name, value in vars(one).items() if isinstance(value, dict | list | set) and vars(other)[name] is value
    }
    assert shared == SHARED[type(one).__name__ if part else "Store"]
