"""Promises on a terminal with few rows: all broken ones as long as there is room, and how many of the rest are broken."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubespread import VerifyReport
from kubespread.questions.verify import ClauseState, VerifiedClause
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import remade

LONG = (
    "losing zone c leaves 4 of 6 ready while its nodes are silent, 6 promised: 0/12 nodes are available: 2 Insufficient "
    "cpu, 10 node(s) had untolerated taint {node.kubernetes.io/unreachable: }; none of 3 zones can be lost"
)
SHORT = "skew 2 (2/2/4), 1 promised"
COMMAND = "kubespread audit deploy/web --key zone"


def report(*clauses: tuple[ClauseState, str]) -> VerifyReport:
    rows = tuple(
        VerifiedClause(line=line, clause="fits", promised=f"{line}", state=state, says=says, command=COMMAND)
        for line, (state, says) in enumerate(clauses, start=1)
    )
    return remade(VerifyReport(kube_version="1.36", cluster=None, file="promises.yaml", clauses=rows))


def lines_of(answer: VerifyReport, rows: int | None) -> list[str]:
    return terminal.table(answer, Look(width=80, rows=rows)).splitlines()


def line(number: int, state: ClauseState, says: str = "") -> str:
    return f"  {state:8}  line {number}: the cluster: fits {number}{says and f': {says}'}"


COMMAND_LINE = " " * 14 + COMMAND
BROKEN: tuple[ClauseState, str] = ("broken", SHORT)
BROKEN_LONG: tuple[ClauseState, str] = ("broken", LONG)
SCREENS: dict[str, tuple[list[tuple[ClauseState, str]], int | None, list[str]]] = {
    "with room for all of them": (
        [("held", SHORT), ("broken", SHORT)],
        24,
        [line(2, "broken", SHORT), COMMAND_LINE, line(1, "held", SHORT)],
    ),
    "with room for all outcomes, but no commands": (
        [BROKEN] * 5,
        12,
        [*(line(number, "broken", SHORT) for number in range(1, 6))],
    ),
    "with room for some outcomes": (
        [BROKEN, *[BROKEN_LONG] * 5],
        12,
        [line(1, "broken", SHORT), *(line(number, "broken") for number in range(2, 7))],
    ),
    "with room for none": (
        [("held", SHORT), *[BROKEN] * 19, ("unknown", SHORT)],
        12,
        [*(line(number, "broken") for number in range(2, 11)), "… and 10 more broken promises, 2 more promises: -v"],
    ),
    "of any height": (
        [BROKEN] * 3,
        None,
        [text for number in range(1, 4) for text in (line(number, "broken", SHORT), COMMAND_LINE)],
    ),
}


@pytest.mark.parametrize("case", SCREENS)
def test_broken_promises_are_shown_on_a_terminal(case: str) -> None:
    clauses, rows, expected = SCREENS[case]
    subject, *shown = lines_of(report(*clauses), rows)[1:]
    assert subject.startswith(f"Verifying {len(clauses)} promise")
    assert shown == expected


@given(
    st.lists(
        st.tuples(st.sampled_from(get_args(ClauseState)), st.sampled_from([LONG, SHORT])), min_size=1, max_size=40
    ),
    st.integers(8, 60),
)
def test_every_broken_promise_is_shown_or_counted_before_any_other_is_shown(
    clauses: list[tuple[ClauseState, str]], rows: int
) -> None:
    lines = lines_of(report(*clauses), rows)
    assert len(lines) <= rows
    shown = [match[1] for text in lines if (match := re.match(r"  (\w+) +line ", text))]
    counted = {noun: int(number) for number, noun in re.findall(r"(\d+) more ((?:broken )?promise)", lines[-1])}
    broken = [state for state, _ in clauses].count("broken")
    assert shown[: shown.count("broken")] == ["broken"] * shown.count("broken")
    assert shown.count("broken") + counted.get("broken promise", 0) == broken
    assert len(shown) + sum(counted.values()) == len(clauses)
    if "broken promise" in counted:
        assert {*shown} == {"broken"}
        assert len(shown) >= rows - 5
