"""Corners of kube-scheduler and of validation that were answered otherwise, each minimized: its name says which."""

from __future__ import annotations

import json
from typing import Any

import pytest

import kubespread
from tools.replay import refusals
from tools.replay.cases import FIXTURES, Recorded
from tools.replay.scheduling import differences

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


def test_40_queue_left_out_replica() -> None:
    """A pod that fails waits in the queue, and is tried again once the pod is placed that its affinity asks for.

    Recorded is the first cycle of each pod, from a queue that failed pods were dropped from: w0's three fail, w1's is
    placed. InterPodAffinity is told of the latter, so that kube-scheduler tries w0's again: one fits beside it, and the
    others lack its host port.
    """
    found = json.loads((EXACT / "40-queue-left-out-replica" / "case.json").read_text())
    case, expect = found["case"], found["expect"]
    w0, w1 = (queued["pod"] for queued in case["queue"])
    again = {"sequence": [*expect["sequence"], "w0-0 a.b-4.c", "w0-1 ", "w0-2 "]}
    assert list(differences(Recorded(case, again), "1.36.2")) == []

    def cycle(*placed: dict[str, Any]) -> tuple[list[str], str | None]:
        bound = [{**pod, "spec": {**pod["spec"], "nodeName": "a.b-4.c"}} for pod in placed]
        snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *case["objects"], *bound])
        report = kubespread.explain(snapshot, w0, kubespread.Scheduler(kube_version="1.36.2"))
        return [node.name for node in report.nodes if node.total is not None], report.message

    no_port = "0/2 nodes are available: 1 Too many pods, 1 node(s) didn't have free ports for the requested pod ports."
    running = {**w0, "metadata": {"name": "w0-0"}}
    assert [cycle(), cycle(w1), cycle(w1, running)] == [([], expect["stopped"]), (["a.b-4.c"], None), ([], no_port)]
