"""Replicas that get stuck: another order where there is one, what stands in the way where there is none."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.questions.queue import look_ahead
from tests.builders import Data, hard, node, pod

MATCH = {"labelSelector": {"matchLabels": {"foo": "bar"}}}
APART = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": key, **MATCH} for key in ("zone", "rack")]
    }
}
# Whoever begins in the corner n0 leaves no room for a second.
CORNER = [node("n0", zone="a", rack="1"), node("n1", zone="a", rack="2"), node("n2", zone="b", rack="1")]
# Zones of one and of two nodes cannot be even by zone and by node beyond five replicas.
UNEVEN = [node("n0", zone="a", host="n0"), node("n1", zone="b", host="n1"), node("n2", zone="b", host="n2")]
EVEN_BOTH_WAYS = [hard("zone"), hard("host")]


def ask(nodes: list[Data], candidate: Data, replicas: Any, **options: Any) -> kubespread.SimulateReport:
    return kubespread.simulate(kubespread.Snapshot.from_objects(nodes), candidate, replicas, **options)


def test_another_order_is_found_and_is_one_that_kube_scheduler_accepts() -> None:
    report = ask(CORNER, pod(affinity=APART), 2)
    assert report.placed == 1
    assert report.look_ahead is not None
    assert report.look_ahead.nodes is not None
    assert sorted(report.look_ahead.nodes) == ["n1", "n2"]
    first, second = report.look_ahead.nodes
    taken = pod("first", first, affinity=APART)
    after = kubespread.explain(kubespread.Snapshot.from_objects([*CORNER, taken]), pod(affinity=APART))
    assert second in after.feasible


def test_what_is_placed_of_other_workloads_is_in_the_way_of_every_order() -> None:
    """Alone the two would fit on n1 and n2."""
    full = [{**each, "status": {"allocatable": {"cpu": "8", "pods": "1"}}} for each in CORNER]
    other = pod("other", labels={"app": "other"}, nodeSelector={"rack": "2"}, priority=10)
    snapshot = kubespread.Snapshot.from_objects(full)
    alone = kubespread.simulate(snapshot, pod(affinity=APART), 2).look_ahead
    assert alone is not None
    assert alone.nodes == ("n1", "n2")
    beside = kubespread.simulate(snapshot, [pod(affinity=APART), other], 2)[0].look_ahead
    assert beside is not None
    assert (beside.nodes, beside.exhausted) == (None, True)


def test_no_order_exists_and_either_constraint_is_why() -> None:
    report = ask(UNEVEN, pod(constraints=EVEN_BOTH_WAYS), 6)
    found = report.look_ahead
    assert found is not None
    assert (report.placed, found.nodes, found.exhausted, found.blocking) == (
        5,
        None,
        True,
        ("zone maxSkew 1", "host maxSkew 1"),
    )


def test_affinity_can_be_why() -> None:
    apart = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", **MATCH}]}}
    found = ask(CORNER, pod(affinity=apart), 3).look_ahead
    assert found is not None
    assert (found.nodes, found.exhausted, found.blocking) == (None, True, ("podAntiAffinity",))


def test_a_search_that_was_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ahead, "MAX_STEPS", 10)
    found = ask(UNEVEN, pod(constraints=EVEN_BOTH_WAYS), 6).look_ahead
    assert found is not None
    assert (found.nodes, found.exhausted, found.blocking) == (None, False, ("zone maxSkew 1", "host maxSkew 1"))


NOT_ASKED: dict[str, tuple[Data, int]] = {
    "everything fits": (pod(constraints=EVEN_BOTH_WAYS), 5),
    "only room is missing": (pod(requests={"cpu": "8"}), 4),
}


@pytest.mark.parametrize("case", NOT_ASKED)
def test_order_is_not_looked_into_where_it_cannot_matter(case: str) -> None:
    candidate, replicas = NOT_ASKED[case]
    assert ask(UNEVEN, candidate, replicas).look_ahead is None


def test_as_many_as_fit_is_no_question_of_order() -> None:
    assert ask(UNEVEN, pod(constraints=EVEN_BOTH_WAYS), "max").look_ahead is None


def test_on_a_large_cluster_orders_are_not_tried_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ahead, "_MAX_HELD", 10)
    found = ask(UNEVEN, pod(constraints=EVEN_BOTH_WAYS), 6).look_ahead
    assert found is not None
    assert (found.nodes, found.exhausted, found.blocking) == (None, False, ("zone maxSkew 1", "host maxSkew 1"))
