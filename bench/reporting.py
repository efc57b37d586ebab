"""All that is wrong with a large cluster: a report asks many questions, of which losing a zone takes the longest."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from bench.surviving import WORKLOADS, run, saved, show


def reporting() -> None:
    print(f"Reporting on {WORKLOADS:,} Deployments, a saved snapshot, whole processes")
    with tempfile.TemporaryDirectory() as name:
        large = saved(Path(name), 5_000)
        show("report, 5,000 nodes", partial(run, "report", "-A", "-S", large), 60)
