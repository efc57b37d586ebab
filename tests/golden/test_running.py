"""Scenarios that a real control plane went through, replayed: the workloads end as they did there."""

from __future__ import annotations

import pytest

from tools.replay.cases import FIXTURES, recorded
from tools.replay.running import differences, stops_at_once

FAMILIES = sorted(str(path.relative_to(FIXTURES)) for path in FIXTURES.glob("running*/*.jsonl.gz"))
OTHERWISE = {
    "rollout-44": "one pod more was deleted before the rollout wedged",
    "rollout-54": "which of several equal old pods a ReplicaSet deletes is chance: 16 of 32 deals end as recorded",
    "rollout-2022": "which of several equal old pods a ReplicaSet deletes is chance: 31 of 32 deals end as recorded",
    "preempt-910144": "on which of several equal nodes a pod preempts is chance: 8 of 32 deals end as recorded",
}
"""Cases where another number of pods is placed or waits, with the reason."""
OTHER_ZONES = {
    "running/drainpar": 2,
    "running/midflight": 5,
    "running/mix-step": 6,
    "running/rollout": 8,
    "running/rollout-par16": 3,
    "running/rollout2": 9,
    "running/rolltight": 1,
    "running/scale": 12,
    "running/scale-par16": 3,
    "running/workloads": 2,
    "running4/mix-step": 1,
    "running4/rollout": 2,
    "running4/scale": 5,
    "running4/volumes": 1,
    "running4/workloads-job": 2,
    "running4/x-preempt": 6,
    "running5/x-1s": 7,
    "running5/x-rollout": 2,
    "running5/x-scale": 3,
}
"""How many workloads end in other zones: which of several equal pods goes, and which of several equal nodes is taken,
was chance there. Of all families nine workloads in ten end in the same.
"""


@pytest.mark.parametrize("file", FAMILIES)
def test_workloads_end_as_they_did(file: str) -> None:
    zones, otherwise, names = 0, set[str](), set[str]()
    for case in recorded(FIXTURES / file):
        names.add(case.name)
        found = list(differences(case, "1.36.2", stops_at_once=stops_at_once(file.rpartition("/")[2])))
        if any(not each.what.endswith("zones") for each in found):
            otherwise.add(case.name)
        else:
            zones += len(found)
    assert otherwise == OTHERWISE.keys() & names
    assert zones == OTHER_ZONES.get(file.removesuffix(".jsonl.gz"), 0)
