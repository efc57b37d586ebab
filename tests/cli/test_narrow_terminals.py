"""Terminals of any width: each answer ends, and where a table has no room the plain form is written."""

from __future__ import annotations

import shlex

import pytest

from kubespread.views.lines import wrap
from kubespread.views.look import Cell
from tests.cli.support import CLUSTER, FIXTURES, POD, run
from tools.fuzz.steps import bounded_steps

COMMANDS = [
    "explain POD",
    "explain POD --fix",
    "simulate POD --replicas 3",
    "plan -f POD drain=node1",
    "pending -A",
    "audit -A",
    "report -A",
    f"verify {FIXTURES / 'promises' / 'room.yaml'}",
    "check POD",
    "compare POD --to-kube-version 1.34",
    "survive -A",
    "plan --drain node1 --force",
    "upgrade node1",
    "map",
    "rebalance -A",
    "capacity --request cpu=1",
    "removable",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_answer_ends_on_a_terminal_of_any_width(command: str) -> None:
    words = [*shlex.split(command.replace("POD", POD)), "-S", CLUSTER]
    piped = run(*words)
    assert run(*words, terminal=3) == piped
    with bounded_steps():
        assert run(*words, "-o", "table", terminal=1).code == piped.code


def test_help_on_the_narrowest_terminal() -> None:
    with bounded_steps():
        assert run("explain", "--help", terminal=1).code == 0


@pytest.mark.parametrize("width", [1, 2, 3, 5])
@pytest.mark.parametrize("text", ["a few words", "名前が長い", "x" * 40, "e\u0301" * 9])
def test_lines_are_wrapped_at_any_width(width: int, text: str) -> None:
    for indent in (0, 2, 4):
        with bounded_steps(10_000):
            lines = ["".join(each.text for each in line) for line in wrap([Cell(text)], width, indent)]
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_a_note_is_folded_between_words_where_a_terminal_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubespread.cli.answering.stderr_is_terminal", lambda: True)
    assert run("explain", POD, "-S", CLUSTER, terminal=60).err.splitlines()[:2] == [
        "gap: no LimitRange, PriorityClass, ResourceQuota objects:",
        "    pods are created as if there were none",
    ]


def test_a_selector_that_no_line_holds_is_broken_between_its_labels() -> None:
    labels = [f"app.kubernetes.io/{key}=cockroachdb" for key in ("component", "instance", "name")]
    lines = ["".join(each.text for each in line) for line in wrap([Cell(f"counting {','.join(labels)}")], 80, 4)]
    assert lines == [f"counting {labels[0]},", f"    {labels[1]},{labels[2]}"]
