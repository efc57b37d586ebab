"""What holds for all tests."""

from __future__ import annotations

import gc
import os
import sys

from hypothesis import HealthCheck, settings

# How long an example takes says how busy the machine is, and nothing about the code. A commit that passes once passes
# everywhere: `make properties` is for examples that nobody has seen yet.
settings.register_profile(
    "same", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True, database=None
)
settings.register_profile("fresh", settings.get_profile("same"), derandomize=False)
settings.load_profile("same")


def pytest_collection_finish() -> None:
    """Let the collector look through what tests leave behind, and not through 6,000 tests again and again."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Save what was covered as long as there is time: pytest-xdist ends a worker ten seconds after its last test."""
    coverage = sys.modules.get("coverage")
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    running = coverage.Coverage.current() if coverage is not None and is_worker else None
    if running is not None:
        running.save()
