"""Several threads decode at once, and the process lives on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from kubespread.snapshot.live.connection import RESOURCES

ROOT = Path(__file__).parents[2]
PROCESSES = 8


@pytest.mark.slow
def test_fresh_processes_decode_all_kinds_at_once() -> None:
    """Types learned by several threads at the same time killed 19 of 20 such processes (signal 11)."""
    command = [sys.executable, "-m", "tests.snapshot.decoding_in_threads"]
    for _ in range(PROCESSES):
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60, check=False)
        assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", ["3"] * len(RESOURCES))
