"""``kubespread plan``: what it prints, and its exit codes."""

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
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "plan-report.json").read_text()))


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
}


@pytest.mark.parametrize("case", CODES)
def test_the_exit_code_says_what_came_of_it(case: str, tmp_path: Path) -> None:
    steps, options, expected = CODES[case]
    assert run("plan", written(tmp_path / "s.json", *steps), "-S", WEB, *options).code == expected


def test_bad_names_are_said_a_line_each(tmp_path: Path) -> None:
    result = run("plan", written(tmp_path / "s.json", "cordon x", "scale deploy/y=1"), "-S", WEB)
    assert result.err.splitlines() == [
        'error: step 1 (cordon x): nodes "x" not found; there are node-a1, node-a2, node-b1, node-b2, node-c1, node-c2',
        'error: step 2 (scale deploy/y=1): deployments.apps "y" not found in namespace default; there is web',
    ]


def test_the_report_is_one_document_that_is_always_the_same() -> None:
    first, second = (run("plan", str(SCENARIOS / "zone-outage.yaml"), "-S", WEB, "-o", "json") for _ in range(2))
    report = first.report_of(SCHEMA)
    assert first.out == second.out
    assert [step["name"] for step in report["steps"]] == [
        "scale deploy/web=9",
        "rollout deploy/web",
        "fail zone=a",
        "restore zone=a",
    ]
    assert report["steps"][-1]["troubles"] == []


def test_what_is_said_beside_columns_in_a_pipe() -> None:
    result = run("plan", str(SCENARIOS / "rollout.yaml"), "-S", WEB)
    said = "every step done in full; zone skew of Deployment/web 0 → 0–2, above 1, ties decide"
    assert said in result.err.splitlines()
    assert not any(line.startswith("not modeled: timers") for line in result.err.splitlines())
    assert "timers and rate limits" in run("plan", "--help-all").out
    assert run("plan", str(SCENARIOS / "rollout.yaml"), "-S", WEB, "-q").err == ""


def test_pods_evict_no_others_where_that_is_asked(tmp_path: Path) -> None:
    scenario = written(tmp_path / "s.json", "cordon node-a1")
    assert run("plan", scenario, "-S", WEB, "-o", "json", "--no-preemption").report_of(SCHEMA)["preemption"] is False


def test_a_scenario_comes_through_standard_input() -> None:
    text = (SCENARIOS / "zone-outage.yaml").read_bytes()
    assert (
        run("plan", "-", "-S", WEB, "-o", "csv", stdin=text)
        .out.splitlines()[1]
        .startswith("1,more replicas: scale deploy/web=9,")
    )


def test_a_manifest_is_applied_before_the_steps_that_are_typed() -> None:
    steps = ("scale deploy/web=3", "rollout=deploy/web", "fail=zone=a")
    result = run("plan", "-f", str(SCENARIOS / "web-v2.yaml"), *steps, "-S", WEB, "-o", "json")
    report = result.report_of(SCHEMA)
    assert result.code == 1
    assert [step["name"] for step in report["steps"]] == [
        f"apply {SCENARIOS / 'web-v2.yaml'}",
        "scale deploy/web=3",
        "rollout deploy/web",
        "fail zone=a",
    ]
    (trouble,) = report["steps"][-1]["troubles"]
    assert (trouble["kind"], trouble["count"]) == ("pending", 1)


def test_a_manifest_from_standard_input_is_read_once() -> None:
    text = (SCENARIOS / "web-v2.yaml").read_bytes()
    result = run("plan", "-f", "-", "rollout deploy/web", "-S", WEB, "-o", "csv", stdin=text)
    assert [row["what"] for row in csv.DictReader(result.out.splitlines())] == ["apply manifests", "rollout deploy/web"]


WRONG = {
    "unknown step 'scael', did you mean \"scale\"?": ["scael deploy/web=9"],
    "invalid step 'rollout': expected rollout [NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]": ["rollout"],
    "nothing is planned: give manifests (-f), steps, or edits such as --drain or --hpa-max (--spread is no step)": [],
}


@pytest.mark.parametrize("fault", WRONG)
def test_steps_that_mean_nothing_are_refused(fault: str) -> None:
    result = run("plan", "-S", WEB, *WRONG[fault])
    assert (result.code, result.err) == (2, f"error: {fault}\n")
