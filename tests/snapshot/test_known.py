"""What is known of a snapshot is found again for the same objects, and never by an answer about others."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from functools import partial

import pytest
from msgspec.structs import replace

import kubespread
from tests.builders import hosts
from tests.cli.support import FIXTURES
from tests.world.clusters import deployment

SHOP = kubespread.load(FIXTURES / "clusters" / "shop.yaml")


def test_it_is_made_once_for_the_same_objects() -> None:
    snapshot, made = replace(SHOP), list[int]()

    def make() -> int:
        made.append(len(made))
        return made[-1]

    edited, others = snapshot.edited("cordon a1"), replace(snapshot, nodes=snapshot.nodes[1:])
    assert [each.cache.get_or_make("number", make) for each in (snapshot, edited, snapshot, others, snapshot)] == [
        0,
        0,
        0,
        1,
        0,
    ]


def test_the_last_results_alone_are_kept() -> None:
    snapshot = replace(SHOP, nodes=SHOP.nodes[:1])
    for number in range(40):
        snapshot.cache.get_or_make(number, partial(str, number))
    assert [snapshot.cache.get_or_make(number, lambda: "anew") for number in (39, 0)] == ["39", "anew"]


def test_a_copy_for_another_process_has_none() -> None:
    snapshot = replace(SHOP)
    snapshot.cache.get_or_make("function", lambda: lambda: 0)
    assert pickle.loads(pickle.dumps(snapshot)) == snapshot


ASKED: Mapping[str, Callable[[kubespread.Snapshot], object]] = {
    "another workload": lambda snapshot: kubespread.explain(snapshot, "deploy/api"),
    "the same with other constraints": lambda snapshot: kubespread.simulate(
        snapshot, "deploy/web", 20, set=["maxSkew=5"]
    ),
    "after an edit": lambda snapshot: kubespread.simulate(snapshot.edited("fail zone=c"), "deploy/web", 20),
    "of another release": lambda snapshot: kubespread.explain(
        snapshot, "deploy/web", kubespread.Scheduler(kube_version="1.30")
    ),
    "of all": lambda snapshot: kubespread.survive(snapshot),
    "where nothing runs": lambda snapshot: kubespread.explain(replace(snapshot, pods=()), "deploy/web"),
}


@pytest.mark.parametrize("before", ASKED)
def test_no_answer_depends_on_what_was_asked_before(before: str) -> None:
    """Nor on how often the same was."""

    def answers(snapshot: kubespread.Snapshot) -> list[object]:
        gone = snapshot.edited("drain a1")
        return [
            kubespread.explain(snapshot, "deploy/web").to_dict(),
            kubespread.simulate(snapshot, "deploy/web", 15).to_dict(),
            kubespread.simulate(gone, "deploy/web", 15).to_dict(),
            kubespread.topology_map(gone, "deploy/web").to_dict(),
        ]

    fresh, used = replace(SHOP, nodes=(*SHOP.nodes,)), replace(SHOP, nodes=(*SHOP.nodes,))
    first = answers(fresh)
    ASKED[before](used)
    assert answers(used) == answers(used) == first


def test_what_one_answer_assumes_is_not_said_by_the_next() -> None:
    """A workload of whose pods nothing is known makes assumptions; another one makes none of them."""
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), *deployment("web", ("n0", "n1"))])
    alone = kubespread.explain(snapshot.edited("cordon n0"), "deploy/web").gaps
    kubespread.survive(snapshot)
    kubespread.removable(snapshot)
    again = replace(snapshot, nodes=(*snapshot.nodes,))
    assert kubespread.explain(snapshot.edited("cordon n0"), "deploy/web").gaps == alone
    assert kubespread.explain(again.edited("cordon n0"), "deploy/web").gaps == alone
