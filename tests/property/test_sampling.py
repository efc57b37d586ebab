"""A search over columns finds what a walk from node to node finds, and only what it finds is compared."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import kubespread
from kubespread.scheduler.cluster.cluster import ClusterChange
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.cluster.nodes import Nodes, Search, SearchRules
from kubespread.scheduler.evaluation import Evaluation, evaluate_prepared
from kubespread.scheduler.framework import Framework, PreparedPod
from kubespread.scheduler.placing import Placing, first_in_heap
from kubespread.scheduler.plugin import Code, SchedulingError, Status, Verdicts
from tests.builders import hosts
from tests.scheduler.random_clusters import Question, profiles, questions

NODES = [
    Nodes(kubespread.Snapshot.from_objects(hosts(*zones)).nodes)
    for zones in (["a"] * 7, ["a", "b", "b"] * 4, ["abc"[number % 5 % 3] for number in range(120)])
]


class Rules(SearchRules, frozen=True):
    """Any number that is enough, of few nodes too."""

    def enough(self, nodes: int) -> int | None:
        return self.percentage or None


def node_by_node(order: list[int], fits: list[bool], start: int, enough: int | None) -> tuple[list[int], int]:
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
@settings(max_examples=80, deadline=None)
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
        found = search.run(nodes, np.array(fits), None if listed is None else np.array(listed), rules)
        expected, looked_at = node_by_node(order, fits, start, rules.enough(count))
        assert np.flatnonzero(found.feasible).tolist() == sorted(expected)
        if order:
            assert nodes.visiting[found.start] == order[start % len(order)]
        start = (start + looked_at) % count


def rejecting_others(prepared: PreparedPod, found: Mask) -> Evaluation:
    """As if one more filter rejected whatever was not found."""
    evaluation = evaluate_prepared(prepared)
    missed = Verdicts.rejecting(~found, Status(Code.UNSCHEDULABLE, ("not found",), "Sampling"))
    sampled = Evaluation(prepared, {**evaluation.verdicts, "Sampling": missed}, evaluation.verdicts)
    sampled.run_scores({plugin.name: weight for plugin, weight in prepared.framework.scores})
    return sampled


def met_first(found: list[int], equals: set[int]) -> int:
    """From the root of the heap, left before right."""

    def go(place: int) -> int | None:
        if place >= len(found):
            return None
        if found[place] in equals:
            return found[place]
        left = go(2 * place + 1)
        return go(2 * place + 2) if left is None else left

    met = go(0)
    assert met is not None
    return met


@given(profiles(), questions(), st.integers(1, 3), st.integers(0, 5), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_placements_are_scored_as_if_a_filter_rejected_what_is_not_found(
    profile: Framework, question: Question, enough: int, start: int, copies: int
) -> None:
    profile = replace(profile, search=Rules(enough))
    cluster, placed, search = question.cluster, list[int](), Search(start)
    try:
        placing = Placing(profile.prepare(cluster, question.candidate))
    except SchedulingError:
        return
    start %= len(cluster)
    for _ in range(copies):
        anew = cluster.apply(ClusterChange(added_pods=[(question.candidate, node) for node in placed]))
        prepared = profile.prepare(anew, question.candidate)
        everything = evaluate_prepared(prepared)
        order = [position for position in anew.nodes.visiting.tolist() if everything.included_nodes[position]]
        fits = everything.feasible.tolist()
        found, looked_at = node_by_node(order, fits, start % max(1, len(order)), enough)
        start = (start + looked_at) % len(cluster)
        mask = np.zeros(len(cluster), dtype=np.bool_)
        mask[found] = True
        sampled = rejecting_others(prepared, mask)
        if everything.filter_error is not None or (found and sampled.error is not None):
            with pytest.raises(SchedulingError):
                placing.choose(first_in_heap, search)
            return
        choice = placing.choose(first_in_heap, search)
        if choice is None:
            assert not found
            return
        best = max(int(sampled.total[node]) for node in found)
        equals = {node for node in found if sampled.total[node] == best}
        assert (choice.node, choice.total, choice.ties) == (met_first(found, equals), best, len(equals))
        placing.place(choice.node)
        placed.append(choice.node)
