"""A terminal gets the table, in color when it may be colored."""

from __future__ import annotations

import pytest

from kubespread.cli.streams import wants_color
from tests.cli.support import CLUSTER, POD, run


def on_a_terminal(*arguments: str, columns: int = 160, **env: str) -> str:
    """What a terminal of ``columns`` would show."""
    return run(*arguments, terminal=columns, env=env).out


def test_a_terminal_gets_the_colored_table() -> None:
    shown = on_a_terminal("explain", POD, "-S", CLUSTER)
    assert "Pod \x1b[1mdefault/mypod\x1b[0m against 4 nodes" in shown
    assert "\x1b[32myes" in shown


def test_no_color_leaves_the_words() -> None:
    shown = on_a_terminal("explain", POD, "-S", CLUSTER, NO_COLOR="1")
    assert "\x1b[" not in shown
    assert "1 of 4 nodes fits: node4" in shown


def test_a_narrow_terminal_folds_reasons_but_never_names() -> None:
    shown = on_a_terminal("explain", POD, "-S", CLUSTER, columns=80, NO_COLOR="1")
    *lines, command = shown.splitlines()
    assert (max(map(len, lines)) <= 80, command[:26]) == (True, "next: kubespread simulate ")
    assert "node1   zoneA   no     2+1−1 = 2 > 1" in shown


COLORS: dict[str, tuple[dict[str, str], bool, bool]] = {
    "a terminal": ({}, True, True),
    "a pipe": ({}, False, False),
    "NO_COLOR beats FORCE_COLOR": ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, True, False),
    "an empty NO_COLOR says nothing": ({"NO_COLOR": ""}, True, True),
    "FORCE_COLOR in a pipe": ({"FORCE_COLOR": "1"}, False, True),
    "FORCE_COLOR=0 says nothing": ({"FORCE_COLOR": "0"}, False, False),
    "CLICOLOR_FORCE in a pipe": ({"CLICOLOR_FORCE": "1"}, False, True),
    "CLICOLOR=0 on a terminal": ({"CLICOLOR": "0"}, True, False),
    "a dumb terminal": ({"TERM": "dumb"}, True, False),
}


@pytest.mark.parametrize("case", COLORS)
def test_color_precedence(case: str) -> None:
    env, is_terminal, expected = COLORS[case]
    assert wants_color(env, is_terminal=is_terminal) is expected
