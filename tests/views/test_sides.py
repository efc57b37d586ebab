"""Before and after beside each other: a bar a domain on each side, and lines between them."""

from __future__ import annotations

import re

import pytest

from kubespread.views.page.bars import bars, sides
from kubespread.views.view import Bar, Bars

LEFT, MIDDLE, RIGHT = "0", "50", "100"
A, B, C = "0.5", "1.5", "2.5"


def chart(counts: dict[str, tuple[int, int]]) -> Bars:
    rows = [Bar(name, before, after) for name, (before, after) in counts.items()]
    return Bars("zone", rows, is_beside=True)


CASES = {
    "lines meet in the middle": (
        chart({"a": (4, 2), "b": (1, 0), "c": (0, 3)}),
        {(LEFT, A, MIDDLE, B), (LEFT, B, MIDDLE, B), (MIDDLE, B, RIGHT, C)},
    ),
    "what only goes has no line, as it comes nowhere": (chart({"a": (4, 2), "b": (1, 1)}), set()),
    "nor has what stays": (chart({"a": (4, 4)}), set()),
}


@pytest.mark.parametrize("case", CASES)
def test_lines(case: str) -> None:
    told, lines = CASES[case]
    numbers = r"([\d.]+)"
    found = re.findall(rf"<path d=\"M{numbers},{numbers} C\S+ \S+ {numbers},{numbers}\"", sides([told]))
    # A middle between two rows is that of the three.
    assert set(found) == lines


def test_each_side_says_its_pods() -> None:
    page = sides([chart({"a": (4, 2), "c": (0, 2)})])
    assert re.findall(r'<p class="(\w+)"><span title="(\w)">.*?<b>(\d)</b>', page) == [
        ("before", "a", "4"),
        ("after", "a", "2"),
        ("before", "c", "0"),
        ("after", "c", "2"),
    ]


def test_long_names_are_without_what_they_share_and_whole_where_one_points() -> None:
    names = [f"gke-prod-us-central1-default-pool-{end}" for end in ("9tqv", "5k57")]
    page = sides([chart({**dict.fromkeys(names, (1, 0)), "no node": (0, 2)})])
    assert re.findall(r'title="(.*?)">(.*?)</span>', page)[::2] == [
        (names[0], "…9tqv"),
        (names[1], "…5k57"),
        ("no node", "no node"),
    ]


def test_of_many_domains_those_that_change_most_are_drawn() -> None:
    page = sides([chart({"still": (9, 9), **{f"n{number}": (1, 0) for number in range(30)}})])
    assert page.count('class="before"') == 24
    assert "still" not in page
    assert "and 7 more domains that change less" in page


def test_a_chart_is_drawn_in_one_way() -> None:
    beside, alone = chart({"a": (1, 0)}), Bars("zone", [Bar("a", 1, 1)])
    assert "sides" not in bars([beside, alone])
    assert sides([alone]) == ""
    assert bars([beside]) == ""
