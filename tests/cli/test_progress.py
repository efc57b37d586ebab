"""Long questions say how much is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import kubespread
from kubespread.views.progress import AnswerProgress
from tests.cli.support import FIXTURES

AUDIT, STUCK = FIXTURES / "clusters" / "audit.yaml", FIXTURES / "clusters" / "stuck.yaml"
ASKED: dict[str, tuple[Callable[..., Any], Any, list[int]]] = {
    "audit: workloads": (kubespread.audit, AUDIT, [1, 2, 3, 4]),
    "pending: pods of causes": (kubespread.pending, STUCK, [6, 9, 10, 11, 12]),
    "rebalance: evictions": (kubespread.rebalance, AUDIT, [1, 2]),
    "survive: domains": (kubespread.survive, AUDIT, [1, 2, 3]),
    "removable: nodes": (kubespread.removable, AUDIT, [1, 2, 3, 4, 5]),
}


@pytest.mark.parametrize("case", ASKED)
def test_each_question_says_how_much_is_done(case: str) -> None:
    ask, source, expected = ASKED[case]
    heard: list[int] = []
    ask(kubespread.load(source), on_progress=lambda done, _total=0: heard.append(done))
    assert heard == sorted(heard)
    assert sorted(heard) == sorted(expected)


def test_the_line_says_what_is_counted() -> None:
    with AnswerProgress("auditing workloads") as progress:
        assert progress._line() == "auditing workloads: 0 s"
        progress.on_progress(1200)
        assert progress._line() == "auditing workloads: 1,200, 0 s"
        progress.on_progress(3000, 3000)
        progress.on_progress(1300)
        assert progress._line() == "auditing workloads: 3,000 of 3,000, about 0 s left, 0 s"
