"""``kubespread play`` and ``simulate --then``: what they print, and their exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import FIXTURES, ROOT, run

WEB = str(FIXTURES / "clusters" / "web-in-three-zones.yaml")
SCENARIOS = FIXTURES / "scenarios"
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "play-report.json").read_text()))


def written(path: Path, *steps: Any, **spec: Any) -> str:
    head = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario"}
    path.write_text(json.dumps({**head, "spec": {"steps": steps, **spec}}))
    return str(path)


CODES: dict[str, tuple[list[Any], list[str], int]] = {
    "all is done and nothing waits": (["scale deploy/web=9"], [], 0),
    "pods are left pending": (["fail zone=a"], [], 1),
    "pods that are left pending are no fault": (["fail zone=a"], ["--fail-on", "blocked"], 0),
    "nothing is a fault": (["fail zone=a"], ["--fail-on", "nothing"], 0),
    "a step that is not done": (["delete-node node-a1", "cordon node-a1"], [], 1),
    "a step that is not done is no fault": (["delete-node node-a1", "cordon node-a1"], ["--fail-on", "pending"], 0),
    "both are faults": (["fail zone=a"], ["--fail-on", "pending", "--fail-on", "blocked"], 1),
    "a node that is not there": (["cordon x"], [], 2),
    "a step that there is not": (["crodon x"], [], 2),
    "faults and none of them": (["fail zone=a"], ["--fail-on", "pending", "--fail-on", "nothing"], 2),
    "when without what": (["fail zone=a"], ["--at", "1"], 2),
    "a step that the scenario does not have": (["fail zone=a"], ["--at", "2", "--explain", "deploy/web"], 2),
}


@pytest.mark.parametrize("case", CODES)
def test_the_exit_code_says_what_came_of_it(case: str, tmp_path: Path) -> None:
    steps, options, expected = CODES[case]
    assert run("play", written(tmp_path / "s.json", *steps), "-S", WEB, *options).code == expected


def test_bad_names_are_said_a_line_each(tmp_path: Path) -> None:
    result = run("play", written(tmp_path / "s.json", "cordon x", "scale deploy/y=1"), "-S", WEB)
    assert result.err.splitlines() == [
        'error: step 1 (cordon x): nodes "x" not found; there are node-a1, node-a2, node-b1, node-b2, node-c1, node-c2',
        'error: step 2 (scale deploy/y=1): deployments.apps "y" not found in namespace default; there is web',
    ]


def test_the_report_is_one_document_that_is_always_the_same() -> None:
    first, second = (run("play", str(SCENARIOS / "zone-outage.yaml"), "-S", WEB, "-o", "json") for _ in range(2))
    report = first.report_of(SCHEMA)
    assert first.out == second.out
    assert [step["text"] for step in report["steps"]] == [
        "scale deploy/web=9",
        "rollout deploy/web",
        "fail zone=a",
        "restore zone=a",
    ]
    assert report["pending"] == 0


def test_what_is_said_beside_columns_in_a_pipe() -> None:
    result = run("play", str(SCENARIOS / "rollout.yaml"), "-S", WEB)
    assert "0 pending after 1 step, every step done in full" in result.err.splitlines()
    assert not any(line.startswith("not modeled: timers") for line in result.err.splitlines())
    assert "timers and rate limits" in run("play", "--help-all").out
    assert run("play", str(SCENARIOS / "rollout.yaml"), "-S", WEB, "-q").err == ""


def test_a_pod_is_explained_at_a_moment() -> None:
    scenario = str(SCENARIOS / "zone-outage.yaml")
    during = run("play", scenario, "-S", WEB, "--at", "3", "--explain", "deploy/web", "-o", "json")
    after = run("play", scenario, "-S", WEB, "--explain", "deploy/web", "-o", "json")
    assert (during.code, after.code) == (1, 0)
    assert during.report["message"].startswith("0/6 nodes are available: 2 node(s) had untolerated taint(s)")


def test_pods_evict_no_others_where_that_is_asked(tmp_path: Path) -> None:
    scenario = written(tmp_path / "s.json", "cordon node-a1")
    assert run("play", scenario, "-S", WEB, "-o", "json", "--no-preemption").report_of(SCHEMA)["preemption"] is False


def test_a_scenario_comes_through_standard_input() -> None:
    text = (SCENARIOS / "zone-outage.yaml").read_bytes()
    assert (
        run("play", "-", "-S", WEB, "-o", "csv", stdin=text)
        .out.splitlines()[1]
        .endswith(",more replicas,scale deploy/web=9,")
    )


THEN = ["simulate", "deploy/web", "-S", WEB]


def test_steps_after_a_workload_is_placed() -> None:
    result = run(
        *THEN, "--replicas", "8", "--then", "scale=3", "--then", "rollout", "--then", "fail=zone=a", "-o", "json"
    )
    report = result.report_of(SCHEMA)
    assert result.code == 1
    assert [step["text"] for step in report["steps"]] == [
        "apply deploy/web --replicas 8",
        "scale deploy/web=3",
        "rollout deploy/web",
        "fail zone=a",
    ]
    assert report["pending"] == 1


def test_a_manifest_from_standard_input_is_read_once() -> None:
    text = (SCENARIOS / "web-v2.yaml").read_bytes()
    result = run("simulate", "-", "-S", WEB, "--then", "rollback", "-o", "csv", stdin=text)
    assert [row["text"] for row in csv.DictReader(result.out.splitlines())] == [
        "apply deploy/web",
        "rollback deploy/web",
    ]


ONE_WORKLOAD = ": the steps are played for one workload, whose replicas stay where they are"
WRONG = {
    "--then and --until-full do not go together" + ONE_WORKLOAD: ["--until-full"],
    "--then and --from-scratch do not go together" + ONE_WORKLOAD: ["--from-scratch"],
    "--then and --seed do not go together" + ONE_WORKLOAD: ["--seed", "1"],
    "--then and --require-placed do not go together" + ONE_WORKLOAD: ["--require-placed", "all"],
    "--then and --autoscaler do not go together" + ONE_WORKLOAD: ["--autoscaler", "ca"],
    "--then and -o name do not go together: it is for table, plain, json, yaml, markdown, csv": ["-o", "name"],
    "--replicas max and --then do not go together": ["--replicas", "max"],
}


@pytest.mark.parametrize("fault", WRONG)
def test_options_that_mean_nothing_beside_steps(fault: str) -> None:
    result = run(*THEN, "--then", "scale=2", *WRONG[fault])
    assert (result.code, result.err) == (2, f"error: {fault}\n")


def test_options_that_mean_nothing_without_steps() -> None:
    result = run(*THEN, "--fail-on", "pending")
    assert (result.code, result.err) == (2, "error: --fail-on is for --then: add that, or leave it out\n")


def test_wide_adds_the_order_in_which_nodes_that_fail_lose_their_pods(tmp_path: Path) -> None:
    scenario = written(tmp_path / "outage.json", "cordon node-b1", "fail zone=a")
    plain, wide = (run("play", scenario, "-S", WEB, "-q", "-o", name).out for name in ("plain", "wide"))
    rows = [line.split() for line in wide.removeprefix(plain).strip().splitlines()]
    assert wide.startswith(plain)
    assert rows == [["STEP", "NODE", "SECONDS", "PODS"], ["2", "node-a1", "0", "1"], ["2", "node-a2", "10", "1"]]
