"""Answers are the same in each process, however Python hashes texts there: nothing follows the order of a set."""

from __future__ import annotations

import os
import sys

import pytest

from tests.cli.support import FIXTURES, started

pytestmark = pytest.mark.slow

CLUSTER = FIXTURES / "cases" / "everyday" / "aws12.json.gz"
ASKED = (
    ("survive", "-A"),
    ("plan", "fail=topology.kubernetes.io/zone=eu-west-1a"),
    ("removable",),
    ("report", "-A"),
    ("plan", "fail-hard topology.kubernetes.io/zone=eu-west-1a"),
    ("verify", "fixtures/promises/room.yaml"),
)
PROGRAM = f"""
from tests.cli.support import run
for asked in {ASKED!r}:
    print(run(*asked, "-S", {str(CLUSTER)!r}, "-o", "yaml"))
"""


def test_answers_do_not_depend_on_how_texts_are_hashed() -> None:
    # Of these two survive once gave two answers: pods were placed in the order of a set.
    with (
        started(sys.executable, "-c", PROGRAM, stderr=None, env={**os.environ, "PYTHONHASHSEED": "0"}) as one,
        started(sys.executable, "-c", PROGRAM, stderr=None, env={**os.environ, "PYTHONHASHSEED": "1"}) as another,
    ):
        first, second = (process.communicate(timeout=120)[0] for process in (one, another))
    assert (one.returncode, another.returncode) == (0, 0)
    assert first == second != b""
