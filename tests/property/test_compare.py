"""What must hold for any two questions that are compared."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Side
from tests.builders import Data
from tests.property.test_invariants import questions

EDITS = st.lists(
    st.sampled_from(
        [
            "cordon n0",
            "uncordon n0",
            "taint n0=slow:PreferNoSchedule",
            "label n0=zone=a",
            "add-node n0:2",
        ]
    ),
    max_size=3,
)


def side(asked: tuple[list[Data], list[Data], Data], edits: list[str]) -> Side:
    nodes, running, candidate = asked
    return Side(kubespread.Snapshot.from_objects([*nodes, *running]).edited(*edits), candidate)


def exchanged(value: Any) -> Any:
    """The same with every ``before`` and ``after`` exchanged."""
    if isinstance(value, list):
        return [exchanged(each) for each in value]
    if not isinstance(value, dict):
        return value
    names = {"before": "after", "after": "before"}
    return {names.get(name, name): exchanged(each) for name, each in value.items()}


@settings(max_examples=40, deadline=None)
@given(questions(), EDITS, st.integers(0, 6))
def test_a_side_is_the_same_as_itself(asked: tuple[list[Data], list[Data], Data], edits: list[str], count: int) -> None:
    report = kubespread.compare(side(asked, edits), side(asked, edits), replicas=count)
    assert (report.same, report.nodes, report.replicas_on_nodes, report.replicas) == (True, (), (), ())
    assert report.unchanged_nodes == report.before.nodes
    assert exchanged(report.to_dict()) == report.to_dict()


@settings(max_examples=90, deadline=None)
@given(questions(), questions(), EDITS, st.integers(0, 6), st.sampled_from(["cluster", "edits", "pod"]))
def test_exchanged_sides_exchange_the_report(
    asked: tuple[list[Data], list[Data], Data],
    other: tuple[list[Data], list[Data], Data],
    edits: list[str],
    count: int,
    differs: str,
) -> None:
    """The one question has the other's cluster or pod, or both are different."""
    before = side(asked, [])
    match differs:
        case "cluster":
            after = side(other, [])
        case "edits":
            after = side(asked, edits)
        case _:
            after = side((*asked[:2], other[2]), [])
    there, back = (kubespread.compare(*pair, replicas=count) for pair in ((before, after), (after, before)))
    # Its sentence tells what changes from the one to the other.
    assert {**exchanged(there.to_dict()), "answer": None} == {**back.to_dict(), "answer": None}
    differing = len(there.nodes) + there.unchanged_nodes
    assert differing <= there.before.nodes + there.after.nodes
    assert there.same <= (not there.nodes)
