"""The search over columns finds what going through the list node by node finds."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.scheduler.cluster.nodes import Nodes
from kubespread.scheduler.sampling import Search, SearchRules
from tests.builders import hosts

NODES = [
    Nodes(kubespread.Snapshot.from_objects(hosts(*zones)).nodes)
    for zones in (["a"] * 7, ["a", "b", "b"] * 4, ["abc"[number % 5 % 3] for number in range(120)])
]


class Rules(SearchRules):
    """Any number that is enough, of few nodes too."""

    def enough(self, nodes: int) -> int | None:
        return self.percentage or None


def node_by_node(
    order: list[int], fits: list[bool], start: int, enough: int | None
) -> tuple[list[int], int]:  # fmt: skip
    """The positions that are found, and how many nodes were looked at, those that were found and those rejected."""
    found, rejected = list[int](), 0
    for turn in range(len(order)):
        position = order[(start + turn) % len(order)]
        if not fits[position]:
            rejected += 1
        elif enough is not None and len(found) == enough:
            break
        else:
            found.append(position)
    return found, len(found) + rejected


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_searches_one_after_another_find_what_a_walk_finds(data: st.DataObject) -> None:
    nodes = data.draw(st.sampled_from(NODES))
    count = len(nodes)
    masks = st.lists(st.booleans(), min_size=count, max_size=count)
    start = data.draw(st.integers(0, count - 1))
    search = Search(start)
    for _ in range(data.draw(st.integers(1, 3))):
        listed = data.draw(st.none() | masks)
        fits = data.draw(masks | st.just([True] * count))
        if listed is not None:
            fits = [fit and is_listed for fit, is_listed in zip(fits, listed, strict=True)]
        rules = Rules(data.draw(st.integers(0, 9)))
        order = [position for position in nodes.visiting.tolist() if listed is None or listed[position]]
        found = search.found(nodes, np.array(fits), None if listed is None else np.array(listed), rules)
        expected, looked_at = node_by_node(order, fits, start, rules.enough(count))
        assert np.flatnonzero(found.feasible).tolist() == sorted(expected)
        if order:
            assert nodes.visiting[found.first] == order[start % len(order)]
        start = (start + looked_at) % count
