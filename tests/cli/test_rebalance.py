"""``kubespread rebalance``: exit codes, streams, schema, and a plan that is played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import CLUSTER, FIXTURES, ROOT, run

OUTAGE = str(FIXTURES / "clusters" / "after-zone-outage.yaml")
BALANCED = str(FIXTURES / "clusters" / "web-in-three-zones.yaml")
POLICY = str(FIXTURES / "descheduler" / "spread.yaml")
REPORT = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "rebalance-report.json").read_text()))

CODES: dict[str, tuple[list[str], int, str]] = {
    "a plan makes all constraints hold": (["-S", OUTAGE, "-q"], 0, ""),
    "all constraints hold already": (["-S", BALANCED, "-q"], 0, ""),
    "no plan is found": (["-S", OUTAGE, "-q", "--cordon", "zone=c"], 1, ""),
    "a policy that is none": (
        ["-S", OUTAGE, "--descheduler", BALANCED],
        2,
        f"error: {BALANCED}:2: expected a DeschedulerPolicy of apiVersion descheduler/v1alpha2, found List of v1\n",
    ),
    "a policy that is not there": (
        ["-S", OUTAGE, "--descheduler", "policy.yml"],
        2,
        "error: policy.yml: No such file or directory\n",
    ),
    "standard input for two things": (
        ["-S", "-", "--descheduler", "-"],
        2,
        "error: standard input can be read only once: --descheduler and -S/--snapshot both ask for it\n",
    ),
    "names and all namespaces": (
        ["deploy/web", "-A", "-S", OUTAGE],
        2,
        "error: WORKLOAD and -A/--all-namespaces do not go together: both say which workloads are meant\n",
    ),
    "a namespace without workloads": (
        ["-n", "shop", "-S", OUTAGE],
        2,
        "error: no workloads in namespace shop; there is default\n",
    ),
    "a workload that is not there": (
        ["sts/web", "-S", OUTAGE],
        2,
        'error: statefulsets.apps "web" not found in namespace default; there is db\n',
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("rebalance", *arguments, *(["-o", "json"] if code < 2 else []))
    assert (result.code, result.err) == (code, err)


def test_the_report_is_what_the_schema_says() -> None:
    report = run("rebalance", "-A", "-S", OUTAGE, "--descheduler", POLICY, "-o", "json", "-q").report_of(REPORT)
    assert [step["pod"] for step in report["steps"]][-1] == "default/web-5d4f8c7b9d-d2x"
    assert report["rounds"][-1]["evicted"] == []


def test_in_a_pipe_the_answer_is_said_beside_the_columns() -> None:
    result = run("rebalance", "deploy/web", "-S", OUTAGE)
    assert result.out.split()[:3] == ["STEP", "POD", "NODE"]
    assert result.err.splitlines()[-1] == ("3 evictions, the fewest possible: then the constraint holds")


def test_where_no_hard_constraint_is_in_force_that_is_said() -> None:
    result = run("rebalance", "-S", CLUSTER, "-o", "table")
    assert (result.code, result.out.splitlines()[0]) == (0, "nothing to do: no such constraint is in force")


def test_the_pods_to_evict_make_a_scenario(tmp_path: Path) -> None:
    names = run("rebalance", "-S", OUTAGE, "-o", "name", "-q").out.splitlines()
    steps = [{"evict": name} for name in names]
    scenario = tmp_path / "scenario.json"
    scenario.write_text(
        json.dumps({"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}})
    )
    played = run("plan", str(scenario), "-S", OUTAGE, "-o", "json", "-q", "--fail-on", "pending")
    assert (played.code, json.loads(played.out)["steps"][-1]["troubles"]) == (0, [])
