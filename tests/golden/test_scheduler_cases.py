"""Corners of kube-scheduler that were answered otherwise, each minimized: the file's name says which."""

from __future__ import annotations

import json

import pytest

import kubespread
from tests.golden.cases import FIXTURES, Recorded
from tests.golden.scheduling import differences

CASES = FIXTURES.parent / "cases" / "scheduler"
CRASH = "balanced-allocation-crash"


@pytest.mark.parametrize("name", sorted(path.stem for path in CASES.glob("*.json") if path.stem != CRASH))
def test_kube_scheduler_says_the_same(name: str) -> None:
    found = json.loads((CASES / f"{name}.json").read_text())
    assert list(differences(Recorded(found["case"], found["expect"]), found.get("release", "1.36.2"))) == []


def test_a_profile_that_crashes_kube_scheduler_is_warned_of() -> None:
    case = json.loads((CASES / f"{CRASH}.json").read_text())["case"]
    snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *case["objects"]])
    scheduler = kubespread.Scheduler(config=case["config"], feature_gates=case.get("gates"), kube_version="1.36.2")
    report = kubespread.explain(snapshot, case["pod"], scheduler)
    assert any("kube-scheduler 1.36 crashes" in said for said in report.not_modelled)
