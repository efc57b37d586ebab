"""In which order failed nodes lose their pods, and whether that is chance."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kubespread.snapshot.edits.registry import parse
from kubespread.world.events.draining import MOST_STEPS
from kubespread.world.events.editing import apply
from kubespread.world.store.chance import Chance
from tests.builders import Data, node
from tests.world.clusters import deployment, world

ZONE = "topology.kubernetes.io/zone"


def zoned(**sizes: int) -> list[Data]:
    """``a=2``: nodes a0 and a1 in zone a."""
    made = []
    for zone, size in sizes.items():
        for number in range(size):
            plain = node(f"{zone}{number}", cpu="4")
            plain["metadata"]["labels"] = {ZONE: zone, "kubernetes.io/hostname": f"{zone}{number}"}
            made.append(plain)
    return made


TOLERANT = {"tolerations": [{"key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}]}

ORDERS: dict[str, tuple[list[Data], str, list[str]]] = {
    "a node each ten seconds, once its pods tolerate it no longer": (
        [*zoned(a=3, b=1), *deployment("web", ("a0", "a1", "a2", "a2"), spec=TOLERANT)],
        "fail zone=a",
        ["a0 300 s: 1", "a1 310 s: 1", "a2 320 s: 2"],
    ),
    "pods of one node go when each of them has to": (
        [*zoned(a=2, b=1), *deployment("web", ("a0",), spec=TOLERANT), *deployment("api", ("a0", "a1"))],
        "fail zone=a",
        ["a0 0 s: 1", "a1 10 s: 1", "a0 300 s: 1"],
    ),
    "every zone has a limit of its own": (
        [*zoned(a=2, b=2, c=1), *deployment("web", ("a0", "a1", "b0", "b1"))],
        "fail zone in (a,b)",
        ["a0 0 s: 1", "b0 0 s: 1", "a1 10 s: 1", "b1 10 s: 1"],
    ),
    "a large zone that is partly down loses a node each hundred seconds": (
        [*zoned(a=51, b=1), *deployment("web", ("a0", "a1"))],
        f"fail kubernetes.io/hostname in ({','.join(f'a{number}' for number in range(30))})",
        ["a0 0 s: 1", "a1 100 s: 1"],
    ),
    "a small one none": (
        [*zoned(a=50, b=1), *deployment("web", ("a0", "a1"))],
        f"fail kubernetes.io/hostname in ({','.join(f'a{number}' for number in range(30))})",
        [],
    ),
    "a node with nothing to evict takes its turn": (
        [*zoned(a=3, b=1), *deployment("web", ("a0", "a2"))],
        "fail zone=a",
        ["a0 0 s: 1", "a2 20 s: 1"],
    ),
}


@pytest.mark.parametrize("case", ORDERS)
def test_in_which_order_nodes_lose_their_pods(case: str) -> None:
    objects, edit, expected = ORDERS[case]
    living = world(objects)
    apply(living, parse(edit), "default")
    assert [f"{each.node} {each.seconds:g} s: {each.pods}" for each in living.happenings.evictions] == expected


def test_of_many_nodes_a_few_are_evicted_at_once_and_all_of_their_pods_go() -> None:
    names = tuple(f"a{number}" for number in range(MOST_STEPS + 5))
    living = world([*zoned(a=len(names), b=1), *deployment("web", names)])
    apply(living, parse("fail zone=a"), "default")
    assert {gone.pod.spec.node_name for gone in living.happenings.departures} == set(names)


CHANCE: dict[str, tuple[list[Data], bool]] = {
    "several nodes of a zone lose pods: which is first is chance": (deployment("web", ("a0", "a1")), True),
    "one node alone does": (deployment("web", ("a0",)), False),
    "one node does, at several times": (
        [*deployment("web", ("a0",), spec=TOLERANT), *deployment("api", ("a0",))],
        False,
    ),
    "none does": (deployment("web", ("b0",)), False),
}


@pytest.mark.parametrize("case", CHANCE)
def test_whether_the_order_is_chance(case: str) -> None:
    objects, expected = CHANCE[case]
    living = world([*zoned(a=2, b=1), *objects])
    apply(living, parse("fail zone=a"), "default")
    assert living.happenings.by_chance is expected


def test_another_deal_takes_the_nodes_in_another_order() -> None:
    orders = set()
    for seed in range(1, 6):
        living = world([*zoned(a=3, b=1), *deployment("web", ("a0", "a1", "a2"))])
        living.settings = replace(living.settings, chance=Chance.from_seed(seed))
        apply(living, parse("fail zone=a"), "default")
        orders.add(tuple(each.node for each in living.happenings.evictions))
    assert len(orders) > 1
    assert {frozenset(order) for order in orders} == {frozenset({"a0", "a1", "a2"})}
