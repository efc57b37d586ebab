"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing about the code. A commit that passes once passes
# everywhere: `make properties` is for examples that nobody has seen yet.
settings.register_profile(
    "same", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.register_profile("fresh", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")


SHARE, _FEWEST = 10, 3


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist, which not every run has
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a third of the time tests wait for browsers, servers and terminals."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The fast tier: a tenth of the examples of each property, the first ones. `make properties` and the coverage, which
    name a profile, draw all of them.
    """
    if config.getoption("hypothesis_profile") is not None:
        return
    # Functions have their settings there; no profile is above those of a function.
    seen = {id(test): test for item in items if (test := _property_of(item)) is not None}
    for test in seen.values():
        every = test._hypothesis_internal_use_settings
        fewer = min(every.max_examples, max(_FEWEST, every.max_examples // SHARE))
        test._hypothesis_internal_use_settings = settings(every, max_examples=fewer)


def _property_of(item: pytest.Item) -> Any:
    """The function that draws examples; None where it is another test."""
    test = getattr(item, "obj", None)
    test = getattr(test, "__func__", test)
    return test if hasattr(test, "_hypothesis_internal_use_settings") else None


def pytest_collection_finish() -> None:
    """Let the collector look through what tests leave behind, and not through 6,000 tests again and again."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in one line what this machine lacks, and what brings it: each is the reason of a skipped test."""
    skipped = terminalreporter.stats.get("skipped", [])
    if skipped:
        reasons = sorted({report.longrepr[2].removeprefix("Skipped: ") for report in skipped})
        terminalreporter.write_line(f"{len(skipped)} skipped: {'; '.join(reasons)}")


def pytest_sessionfinish() -> None:
    """Save what was covered as long as there is time: pytest-xdist ends a worker ten seconds after its last test."""
    coverage = sys.modules.get("coverage")
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    running = coverage.Coverage.current() if coverage is not None and is_worker else None
    if running is not None:
        running.save()
