"""A person who waits hears how much is done; nobody else does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kubespread
from kubespread.cli.progress import with_progress
from kubespread.render.progress import CountingProgress
from tests.cli.support import FIXTURES

AUDIT, STUCK = FIXTURES / "clusters" / "audit.yaml", FIXTURES / "clusters" / "stuck.yaml"
ASKED: dict[str, tuple[Callable[..., Any], Any, list[int]]] = {
    "audit: workloads": (kubespread.audit, AUDIT, [1, 2, 3, 4]),
    "pending: pods of causes": (kubespread.pending, STUCK, [6, 9, 10, 11, 12]),
    "rebalance: evictions": (kubespread.rebalance, AUDIT, [1, 2]),
    "survive: domains": (kubespread.survive, AUDIT, [0, 1, 2]),
    "removable: nodes": (kubespread.removable, AUDIT, [1, 2, 3, 4, 5]),
}


@pytest.mark.parametrize("case", ASKED)
def test_each_question_says_how_much_is_done(case: str) -> None:
    ask, source, expected = ASKED[case]
    heard: list[int] = []
    ask(kubespread.load(source), on_progress=heard.append)
    assert heard == sorted(heard)
    assert sorted(heard) == sorted(expected)


@pytest.mark.parametrize(
    ("is_terminal", "quiet", "hears"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_only_a_terminal_hears_of_it(
    is_terminal: bool, quiet: bool, hears: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    assert with_progress("doing", lambda on_progress: on_progress is not None, quiet=quiet) is hears


def test_the_line_says_what_is_counted() -> None:
    with CountingProgress("auditing workloads") as progress:
        progress.on_progress(1200)
        assert progress._line() == "auditing workloads: 1,200"
