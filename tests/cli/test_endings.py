"""Whatever comes in, it ends in time: cases that went on, or ended in a traceback."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import Any

import pytest

import kubespread
from kubespread.errors import UnansweredError
from tests.cli.support import FIXTURES, run

HOSTILE = FIXTURES / "cases" / "hostile"
MILLION = HOSTILE / "11-report-replicas" / "c125.json"
_SLACK = 4.0
"""Seconds that a busy machine may add."""
LATE: dict[str, tuple[Callable[..., Any], str]] = {
    "11: an autoscaler that may ask for a million replicas": (kubespread.report, "11-report-replicas/c125.json"),
    "207: promises of 250 workloads": (
        lambda cluster, timeout: kubespread.verify(cluster, suggest=True, timeout=timeout),
        "207-verify-suggest-timeout/n250.json.gz",
    ),
}


@pytest.mark.parametrize("case", LATE)
def test_a_timeout_is_kept_in_the_middle_of_a_part(case: str) -> None:
    ask, file = LATE[case]
    cluster = kubespread.load(HOSTILE / file)
    begun = monotonic()
    # A busy machine may finish nothing.
    with suppress(UnansweredError):
        answer = ask(cluster, timeout=1.0)
        assert answer.unfinished is not None
        assert answer.verdict != "yes"
    assert monotonic() - begun < 1.0 + _SLACK


def test_of_an_answer_that_has_no_finished_part_in_time_that_is_said() -> None:
    steps = "{apiVersion: kubespread.dev/v1alpha1, kind: Scenario, spec: {steps: [{scale: d/deploy/w=1000000}]}}"
    with pytest.raises(UnansweredError, match=r"^not finished within 500ms$"):
        kubespread.play(kubespread.load(MILLION), steps, timeout=0.5)
    done = run("play", "-", "--timeout", "500ms", "-S", MILLION, stdin=steps.encode())
    assert (done.code, done.out, done.err) == (3, "", "error: not finished within 500ms\n")
