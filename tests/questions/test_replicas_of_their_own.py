"""Replicas that are told apart: each by its own labels, its own claims and its own name, as its controller makes it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.support import FIXTURES, run

CASES = FIXTURES / "cases" / "control-plane"
APPLIED_AGAIN = {"same": [6, 0], "fewer": [6, -2], "more": [3, 3]}
"""How many pods of an Indexed Job each step adds, as on a control plane of 1.36.2."""


@pytest.mark.parametrize("folder", APPLIED_AGAIN)
def test_an_indexed_job_that_is_applied_again_keeps_its_pods(folder: str) -> None:
    where = CASES / "02-indexed-job-applied-again" / folder
    result = run("plan", "scenario.json", "-S", "cluster.json", "-o", "json", "--kube-version", "1.36.2", cwd=where)
    report = json.loads(result.out)
    assert (result.code, report["verdict"]) == (0, "yes")
    assert [step["placed"] - step["gone"] for step in report["steps"]] == APPLIED_AGAIN[folder]


BY_LABELS: dict[str, Mapping[str, int]] = {
    "sts-mlk-pod-index": {"n1": 6},
    "sts-mlk-pod-name": {"n1": 6},
    "sts-selector-index": {"n1": 5, "n2": 1},
    "sts-ordered-mlk-index": {"n1": 5},
    "job-mlk-index": {"n1": 6},
    "job-selector-index-In-0": {"n1": 5, "n2": 1},
    "job-selector-index-NotIn-0": {"n1": 4, "n2": 2},
    "job-indexed-mlk-index-host": {"n1": 4, "n4": 2},
}
"""Where the replicas went on a control plane of 1.36.2, all of them placed."""


@pytest.mark.parametrize("folder", BY_LABELS)
def test_constraints_go_by_the_labels_of_each_replica_in_play(folder: str, tmp_path: Path) -> None:
    where = CASES / "03-simulate-per-replica-labels" / folder
    scenario = tmp_path / "scenario.json"
    steps = {"metadata": {"name": "x"}, "spec": {"steps": [{"apply": str(where / "m0.json")}]}}
    scenario.write_text(json.dumps({"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", **steps}))
    cluster = str(where / "cluster.json")
    result = run("plan", str(scenario), "-S", cluster, "-o", "json", "--kube-version", "1.36.2")
    (step,) = json.loads(result.out)["steps"]
    assert Counter(placed["node"] for placed in step["podsPlaced"]) == BY_LABELS[folder]
    assert result.code == 0


@pytest.mark.parametrize("folder", BY_LABELS)
def test_constraints_go_by_the_labels_of_each_replica_in_simulate(folder: str) -> None:
    where = CASES / "03-simulate-per-replica-labels" / folder
    result = run("simulate", "m0.json", "-S", "cluster.json", "-o", "json", "--kube-version", "1.36.2", cwd=where)
    placements = json.loads(result.out)["placements"]
    assert Counter(placement["node"] for placement in placements) == BY_LABELS[folder]
    assert result.code == 0


def test_it_is_said_where_each_replica_counts_itself_alone() -> None:
    where = CASES / "03-simulate-per-replica-labels" / "sts-mlk-pod-name"
    result = run("simulate", "m0.json", "-S", "cluster.json", terminal=120, cwd=where)
    assert "statefulset.kubernetes.io/pod-name=db-0: each replica by itself" in result.out
