"""Corners of kube-scheduler and of validation that were answered otherwise, each minimized: its name says which."""

from __future__ import annotations

import json

import pytest

import kubespread
from tests.golden import refusals
from tests.golden.cases import FIXTURES, Recorded
from tests.golden.scheduling import differences

CASES = FIXTURES.parent / "cases" / "scheduler"
EXACT = FIXTURES.parent / "cases" / "exact"
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


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXACT.glob("[0-2]*/expected.txt")))
def test_the_api_server_refuses_the_same_in_the_same_words(name: str) -> None:
    folder = EXACT / name
    case, texts = json.loads((folder / "case.json").read_text()), (folder / "expected.txt").read_text().splitlines()
    assert list(refusals.differences(Recorded(case, {"validation": texts}), "1.36.2")) == []


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXACT.glob("3*/expected.txt")))
def test_kube_scheduler_answers_with_the_same_message(name: str) -> None:
    case = json.loads((EXACT / name / "case.json").read_text())
    snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *case["objects"]])
    pod = f"pod/{case['pod']['metadata']['name']}" if case.get("stored") else case["pod"]
    report = kubespread.explain(snapshot, pod, kubespread.Scheduler(kube_version="1.36.2"))
    assert (report.message or "accepted/fits") == (EXACT / name / "expected.txt").read_text().strip()
