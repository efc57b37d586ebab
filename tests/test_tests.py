"""What every test keeps to, so that it passes wherever it is started and however slow the machine is."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.cli.support import ROOT

FILES = sorted(path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__))


def test_processes_are_started_where_they_hear_every_signal() -> None:
    """By `started` of tests/cli/support.py, or to their end, by subprocess.run."""
    starting = [
        path.relative_to(ROOT).as_posix()
        for path in FILES
        for found in ast.walk(ast.parse(path.read_text()))
        if isinstance(found, ast.Call) and ast.unparse(found.func) in ("Popen", "subprocess.Popen")
    ]
    assert starting == ["tests/cli/support.py"]
