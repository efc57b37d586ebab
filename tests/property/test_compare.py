"""What must hold for any two questions that are compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Side
from tests.builders import Data
from tests.property.test_invariants import questions

EDITS = st.lists(
    st.sampled_from(["cordon n0", "uncordon n0", "taint n0=slow:PreferNoSchedule", "label n0=zone=a", "add-node n0:2"]),
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


def check_numbers(plain: Data) -> None:
    """Each number in the sentence is that of a field beside it."""
    (said,) = plain["answer"]
    rest = said.removeprefix("same: ")
    before, after = plain["before"], plain["after"]
    running = [(side["present"] or 0) + (side["placed"] or 0) for side in (before, after)]
    wanted = [side["replicas"] for side in (before, after)]
    by = [each["after"] - each["before"] for each in plain["replicasOnNodes"]]
    figures: dict[str, tuple[int | None, ...]] = {
        **{rf"(\d+) (?:nodes? )?(?:{words})": (count(plain["nodes"]),) for words, count in COUNTED.items()},
        r"(\d+) of (\d+) replicas? placed": (running[1], wanted[1]),
        r"(\d+) of (\d+) replicas? placed instead of (\d+)": (running[1], wanted[1], running[0]),
        r"(\d+) of (\d+) replicas? placed instead of (\d+) of (\d+)": (running[1], wanted[1], running[0], wanted[0]),
        r"(\d+) pending instead of (\d+)": tuple(
            max(0, (want or 0) - run) for want, run in reversed([*zip(wanted, running, strict=True)])
        ),
        r"(\d+) replicas? (?:goes|go) elsewhere": (
            min(sum(max(0, each) for each in by), sum(max(0, -each) for each in by)),
        ),
        r"(\d+) of (\d+) nodes? fits?": (after["fitting"], after["nodes"]),
        "another node is the first choice": (),
        "matching pods are spread differently": (),
        "replicas go to the same nodes in another order": (),
        "kube-scheduler says something else": (),
    }
    assert said.startswith("same: ") == plain["same"]
    for part in rest.split(", "):
        found = [(match.groups(), figures[text]) for text in figures if (match := re.fullmatch(text, part))]
        assert found, part
        assert all(tuple(map(int, numbers)) == expected for numbers, expected in found), part


COUNTED: dict[str, Callable[[list[Data]], int]] = {
    "is gone|are gone": lambda nodes: sum(each["after"] is None for each in nodes),
    "is new|are new": lambda nodes: sum(each["before"] is None for each in nodes),
    "no longer fits?": lambda nodes: fits(nodes, True, False),
    "fits? now": lambda nodes: fits(nodes, False, True),
    "fails? for other reasons": lambda nodes: fits(nodes, False, False),
    "scores? differently": lambda nodes: fits(nodes, True, True),
}


def fits(nodes: list[Data], before: bool, after: bool) -> int:
    sides = [(each["before"], each["after"]) for each in nodes if each["before"] and each["after"]]
    return sum((was["feasible"], now["feasible"]) == (before, after) for was, now in sides)


@settings(max_examples=15, deadline=None)
@given(questions(), EDITS, st.integers(0, 6))
def test_a_side_is_the_same_as_itself(asked: tuple[list[Data], list[Data], Data], edits: list[str], count: int) -> None:
    report = kubespread.compare(side(asked, edits), side(asked, edits), replicas=count)
    assert (report.same, report.nodes, report.replicas_on_nodes, report.replicas) == (True, (), (), ())
    assert report.unchanged_nodes == report.before.nodes
    assert exchanged(report.to_dict()) == report.to_dict()
    check_numbers(report.to_dict())


@settings(max_examples=30, deadline=None)
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
    for report in (there, back):
        check_numbers(report.to_dict())
    # Its sentence tells what changes from the one to the other.
    assert {**exchanged(there.to_dict()), "answer": None} == {**back.to_dict(), "answer": None}
    differing = len(there.nodes) + there.unchanged_nodes
    assert differing <= there.before.nodes + there.after.nodes
    assert there.same <= (not there.nodes)
