"""Scenarios that a real control plane went through, replayed: the workloads end as they did there."""

from __future__ import annotations

import pytest

from tests.golden.cases import FIXTURES, recorded
from tests.golden.running import differences

RUNNING = FIXTURES / "running"
FAMILIES = sorted(path.name.partition(".")[0] for path in RUNNING.glob("*.jsonl.gz"))
OTHERWISE = {
    "rollout-44": "one pod more was deleted before the rollout wedged",
    "rollout-54": "which of several equal old pods a ReplicaSet deletes is chance: 6 of 16 deals end as recorded",
}
"""Cases where another number of pods is placed or waits, with the reason."""
OTHER_ZONES = {
    "drainpar": 2,
    "midflight": 5,
    "mix-step": 6,
    "rollout": 8,
    "rollout-par16": 3,
    "rollout2": 9,
    "rolltight": 1,
    "scale": 12,
    "scale-par16": 3,
    "workloads": 2,
}
"""How many workloads end in other zones: which of several equal pods goes, and which of several equal nodes is taken,
was chance there. Of all families nine workloads in ten end in the same.
"""


@pytest.mark.parametrize("family", FAMILIES)
def test_workloads_end_as_they_did(family: str) -> None:
    zones, counts = 0, set[str]()
    for case in recorded(RUNNING / f"{family}.jsonl.gz"):
        for found in differences(case, "1.36.2"):
            if found.what.endswith("zones"):
                zones += 1
            else:
                counts.add(case.name)
    assert counts == {name for name in OTHERWISE if name.rpartition("-")[0] == family}
    assert zones == OTHER_ZONES.get(family, 0)
