"""What nodes cost: in each answer that says it, the exact sum of what a file of prices says, and who is not in it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from kubespread.reports.cost import Cost
from tests.builders import Data, node
from tests.world.clusters import deployment

PRICED: Data = {
    "apiVersion": "kubespread.dev/v1alpha1",
    "kind": "Prices",
    "label": "type",
    "currency": "EUR",
    "per": "hour",
    "prices": {"s": 0.1, "m": 0.2, "l": 0.384},
}


def nodes(*types: str | None) -> list[Data]:
    """n0, n1, ... of one pool and of these types; None: without the label."""
    made = [node(f"n{place}", pool="a") for place in range(len(types))]
    for each, type_ in zip(made, types, strict=True):
        each["metadata"]["labels"] |= {} if type_ is None else {"type": type_}
    return made


SENTENCES: Mapping[str, tuple[list[Data], str]] = {
    "what goes is saved, in sums that are exact": (
        [*nodes("s", "m", "s"), *deployment("web", ("n0",), cpu="5")],
        "the nodes cost 0.4 EUR per hour, 0.1 EUR per hour without those that go together: 0.3 less",
    ),
    "a node of unknown price goes": (
        [*nodes("s", "m", "x"), *deployment("web", ("n0",), cpu="5")],
        "the nodes cost 0.3 EUR per hour, 0.1 EUR per hour without those that go together: how much more or less is not "
        "known, not counting nodes of unknown price (1 before, 0 after)",
    ),
    "nodes of unknown price stay": (
        [*nodes(None, "m", "s"), *deployment("web", ("n0",), cpu="5")],
        "the nodes cost 0.3 EUR per hour, an unknown amount without those that go together: 0.3 less, not counting "
        "1 node of unknown price",
    ),
    "nothing goes": (
        [*nodes("s", "x"), *deployment("web", ("n0", "n1"), cpu="5")],
        "the nodes cost 0.1 EUR per hour, not counting 1 node of unknown price",
    ),
    "nothing is known": (
        [*nodes("x", "y"), *deployment("web", ("n0",), cpu="5")],
        "what the nodes cost is not known: no price of any of them is",
    ),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_removable_says_what_the_nodes_cost_and_what_is_saved(case: str) -> None:
    objects, sentence = SENTENCES[case]
    report = kubespread.removable(Snapshot.from_objects(objects), prices=PRICED)
    assert [said for said in report.answer if "cost" in said] == [sentence]


def said(report: Any) -> list[str]:
    return [sentence for sentence in report.answer if "cost" in sentence]


def test_new_nodes_of_unknown_price_are_in_the_gaps_of_a_plan() -> None:
    edited = Snapshot.from_objects(nodes("l", "s")).edited(
        "add-node n0:2@4x8@type=new", "delete-node n0", "delete-node n1"
    )
    report = kubespread.plan(edited, prices=PRICED)
    assert said(report) == [
        "the nodes cost 0.484 EUR per hour before and an unknown amount after: how much more or less is not known, not "
        "counting nodes of unknown price (0 before, 2 after)"
    ]
    assert [gap for gap in report.gaps if "price" in gap] == ["no price is known of 2 nodes: 2 with type=new"]


GAPS: Mapping[str, tuple[tuple[str | None, ...], list[str]]] = {
    "all have a price": (("s", "m"), []),
    "each value that has none is named, with its number": (
        ("s", "x", None, "y", "x"),
        ["no price is known of 4 nodes: 2 with type=x, 1 with type=y, 1 without the label type"],
    ),
    "no node has the label": ((None, None), ["no price of any node is known: none has the label type; there are pool"]),
}


@pytest.mark.parametrize("case", GAPS)
def test_nodes_of_unknown_price_are_a_gap(case: str) -> None:
    types, expected = GAPS[case]
    report = kubespread.removable(Snapshot.from_objects(nodes(*types)), prices=PRICED)
    assert [gap for gap in report.gaps if "price" in gap] == expected


def test_one_price_for_spot_nodes_and_others_is_a_gap() -> None:
    made = nodes("s", "s", "s", "m")
    for each, way in zip(made, ("spot", "on-demand", "spot", "spot"), strict=True):
        each["metadata"]["labels"]["karpenter.sh/capacity-type"] = way
    report = kubespread.removable(Snapshot.from_objects(made), prices=PRICED)
    assert [gap for gap in report.gaps if "price" in gap] == [
        "one price of s is counted for nodes that are bought in several ways: 1 on-demand, 2 spot"
    ]


def summed(types: list[str | None], prices: Mapping[str, str]) -> tuple[Fraction, int]:
    """What they cost, one after another, and how many have no price."""
    known = [Fraction(prices[type_]) for type_ in types if type_ is not None and type_ in prices]
    return sum(known, Fraction(0)), len(types) - len(known)


def told(cost: Cost) -> tuple[Fraction, int]:
    return Fraction(cost.amount or 0), cost.unknown


TYPES = st.sampled_from(["a", "b", "c", None])
PRICES_OF = st.dictionaries(
    st.sampled_from(["a", "b", "d"]),
    st.decimals(0, 1000, places=6, allow_nan=False).map(lambda price: f"{price:f}"),
    min_size=1,
)


@settings(max_examples=25, deadline=None)
@given(types=st.lists(TYPES, min_size=2, max_size=5), prices=PRICES_OF, busy=st.data())
def test_removable_agrees_with_adding_up_node_by_node(
    types: list[str | None], prices: Mapping[str, str], busy: Any
) -> None:
    full = busy.draw(st.sets(st.integers(0, len(types) - 1)))
    objects = [*nodes(*types), *deployment("web", tuple(f"n{place}" for place in sorted(full)), cpu="5")]
    written = {**PRICED, "prices": {value: float(price) for value, price in prices.items()}}
    report = kubespread.removable(Snapshot.from_objects(objects), prices=written)
    assert report.cost is not None
    by_name = dict(zip((f"n{place}" for place in range(len(types))), types, strict=True))
    staying = [type_ for name, type_ in by_name.items() if name not in report.together.nodes]
    assert told(report.cost.before) == summed(types, prices)
    assert told(report.cost.after) == summed(staying, prices)
    goes_unknown = any(type_ not in prices for name, type_ in by_name.items() if name in report.together.nodes)
    assert (report.cost.difference is None) == goes_unknown
    if report.cost.difference is not None:
        assert Fraction(report.cost.difference) == summed(staying, prices)[0] - summed(types, prices)[0]
    assert {row.name: row.price is None for row in report.rows} == {
        name: type_ not in prices for name, type_ in by_name.items()
    }
