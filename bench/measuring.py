"""Taking times, and saying whether they meet their targets."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

PROGRAM = Path(sys.executable).parent / "kubespread"
MEGABYTE = 10**6
# A process's peak begins with that of the one it was forked from, so a small one stands between.
_RUN = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE)
assert str(done.returncode) in sys.argv[1].split(","), done.args
said = done.stdout
seconds = float(said) if said[:1].isdigit() else time.perf_counter() - start
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)
"""


def seconds(work: Callable[[], object], runs: int = 1) -> float:
    """The median of so many runs, not counting what earlier work leaves to be collected."""
    gc.collect()
    return median(_once(work) for _ in range(runs))


def in_turn(works: Mapping[str, Callable[[], object]], runs: int) -> dict[str, float]:
    """The median of so many runs of each, one after another in every round, so that a busy moment slows all of them."""
    rounds = [{name: _once(work) for name, work in works.items()} for _ in range(runs)]
    return {name: median(each[name] for each in rounds) for name in works}


def _once(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def against(measured: float, target: float, unit: str) -> str:
    """The target of a measured value, and whether it is met."""
    return f"target {target:g} {unit}: {'met' if measured <= target else 'MISSED'}"


def whole_process(
    *program: str, runs: int = 3, env: Mapping[str, str] | None = None, codes: tuple[int, ...] = (0,)
) -> tuple[float, float, float]:
    """The fastest of so many runs, which end with one of ``codes``: its seconds, or those it prints, those of a
    processor, and the bytes at its peak.
    """
    command = [sys.executable, "-c", _RUN, ",".join(map(str, codes)), *program]
    environment = {**os.environ, **(env or {})}
    outputs = [
        subprocess.run(command, capture_output=True, check=True, text=True, env=environment).stdout for _ in range(runs)
    ]
    seconds, processor, peak = min(tuple(map(float, output.split())) for output in outputs)
    return seconds, processor, peak


def at_least(measured: float, target: float, unit: str) -> str:
    """The same where more is better."""
    return f"target {target:g} {unit}: {'met' if measured >= target else 'MISSED'}"
