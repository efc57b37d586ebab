"""Taking times, and saying whether they meet their targets."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median

PROGRAM = Path(sys.executable).parent / "kubespread"


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
