"""What every test keeps to, so that it passes wherever it is started and however slow the machine is."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.cli.support import ROOT

# Programs may say how long they took.
FILES = sorted(path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__) and path.name != "__main__.py")
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "default_timer", "time.time", "time.time_ns"}
WAITING = {"wait", "join", "communicate", "run", "get", "result", "select", "urlopen", "spawn", "Client"}
LEAST = 30.0
"""Seconds after which something that was waited for may be given up."""
LONGEST_PAUSE = 0.1
"""Between two looks for something that is waited for."""


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str, str]]:
    """Each with the whole name of what is called, and its last part."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            yield node, name, name.rpartition(".")[2]


def seconds(value: ast.expr | None) -> float | None:
    is_number = isinstance(value, ast.Constant) and isinstance(value.value, int | float)
    return float(ast.literal_eval(value)) if is_number and value is not None else None


def impatience(tree: ast.AST) -> Iterator[ast.Call]:
    """What reckons with a clock, or gives up or goes on after so many seconds instead of at what it waits for."""
    asserted = {id(node) for each in ast.walk(tree) if isinstance(each, ast.Assert) for node in ast.walk(each)}
    reckoned = {
        id(node) for each in ast.walk(tree) if isinstance(each, ast.BinOp | ast.Compare) for node in ast.walk(each)
    }
    for call, name, last in calls(tree):
        first = seconds(call.args[0] if call.args else None)
        bounds = [seconds(word.value) for word in call.keywords if word.arg == "timeout"] if last in WAITING else []
        if last in WAITING and id(call) in asserted:
            bounds.append(first)
        is_early = any(bound is not None and bound < LEAST for bound in bounds)
        is_long = last == "sleep" and first is not None and first > LONGEST_PAUSE
        if is_early or is_long or ({name, last} & CLOCKS and id(call) in reckoned):
            yield call


def test_processes_are_started_where_they_hear_every_signal() -> None:
    """By `started` of tests/cli/support.py, or to their end, by subprocess.run."""
    starting = [
        path.relative_to(ROOT).as_posix()
        for path in FILES
        for _, _, name in calls(ast.parse(path.read_text()))
        if name == "Popen"
    ]
    assert starting == ["tests/cli/support.py"]


def test_no_test_depends_on_how_long_something_takes() -> None:
    """They wait for what happens, bound the processor's time or count steps."""
    found = [
        f"{path.relative_to(ROOT)}:{call.lineno}: {ast.unparse(call)}"
        for path in FILES
        for call in impatience(ast.parse(path.read_text()))
    ]
    assert found == []
