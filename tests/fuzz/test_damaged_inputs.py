"""A sample of `python -m tests.fuzz`: whatever is damaged, each run ends soon, with an answer or a line that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.option_samples import SAMPLES
from tests.cli.support import run
from tools.fuzz.inputs import COMMANDS, WORDS
from tools.fuzz.running import Failure, Fuzzing

SEEDS = range(4_000_040, 4_000_080)


def test_no_damaged_input_ends_in_a_bug_or_not_at_all(tmp_path: Path) -> None:
    fuzzing = Fuzzing(tmp_path, run)
    assert [*fuzzing.failures(SEEDS)] == []
    # Neither is everything refused, nor is everything answered.
    assert fuzzing.ended["exit code 0"] + fuzzing.ended["exit code 1"] >= len(SEEDS) // 10
    assert fuzzing.ended["exit code 2"] > len(SEEDS) // 10


def test_what_is_found_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fuzzing = Fuzzing(tmp_path, run)
    monkeypatch.setattr("kubespread.load", lambda *_paths: 1 / 0)
    failure = next(fuzzing.failures(range(100)))
    assert isinstance(failure, Failure)
    assert "ZeroDivisionError" in failure.said


def test_every_command_is_asked_with_damaged_inputs() -> None:
    asked = {command.split()[0] for commands in COMMANDS.values() for command in commands} | {
        command.split()[0] for command in WORDS
    }
    assert asked >= SAMPLES.keys() - {"mcp"}
