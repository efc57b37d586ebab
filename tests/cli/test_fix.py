"""``kubespread explain --fix``: exit codes, streams and schema; and what the last lines of ``explain`` say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import FIXTURES, ROOT, run

CORDONED = str(FIXTURES / "clusters" / "kep-infeasible-1-1-0-cordon.yaml")
FREE = str(FIXTURES / "clusters" / "kep-1-1-0.yaml")
TAINTED = str(FIXTURES / "clusters" / "kep-infeasible-2-1-0-taint.yaml")
POD = str(FIXTURES / "manifests" / "kep-zone.yaml")
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "explain-report.json").read_text()))

CODES: dict[str, tuple[list[str], int, str]] = {
    "a change is found": ([POD, "-S", CORDONED, "-q"], 0, ""),
    "no change is needed": ([POD, "-S", FREE, "-q"], 0, ""),
    "nothing helps": ([POD, "-S", CORDONED, "-q", "--drain", "node1 --force", "--drain", "node2 --force"], 0, ""),
    "negative replicas": (
        [POD, "-S", CORDONED, "--replicas", "-1"],
        2,
        "error: invalid --replicas '-1': expected a number from 0\n",
    ),
    "more replicas than simulate takes": (
        [POD, "-S", CORDONED, "--replicas", "500000000000"],
        2,
        "error: invalid --replicas '500000000000': expected a number from 0\n",
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("explain", "--fix", *arguments)
    assert (result.code, result.err) == (code, err)


def test_a_change_is_folded_between_words_and_never_cut() -> None:
    screen = run("explain", "--fix", POD, "-S", CORDONED, "-q", terminal=60, env={"NO_COLOR": "1"}).out
    report = json.loads(run("explain", "--fix", POD, "-S", CORDONED, "-q", "-o", "json").out)
    told = " ".join(screen.split())
    assert "…" not in screen
    assert all(f": {' '.join(each['options'])}" in told for each in report["advice"]["enough"])


def test_no_change_at_all() -> None:
    manifest = b"""
        {apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: x, resources: {limits: {gpu.example.com/a: 1}}}]}}
    """
    result = run("explain", "--fix", "-", "-S", FREE, "-q", "-o", "json", stdin=manifest)
    assert result.code == 1
    assert result.report_of(SCHEMA)["advice"]["enough"] == []


def test_json_is_what_the_schema_says_and_what_it_names_reproduces() -> None:
    report = run("explain", "--fix", POD, "-S", CORDONED, "-q", "-o", "json").report_of(SCHEMA)
    for suggestion in report["advice"]["enough"]:
        options = [word for option in suggestion["options"] for word in option.split(" ", 1)]
        assert run("explain", POD, "-S", CORDONED, "-q", *options).code == 0, suggestion["change"]


PATCHED: dict[str, tuple[str, list[str]]] = {
    "a file of one object": (
        "pod.yaml",
        [
            "kubectl patch --local -o yaml -f pod.yaml --type=json -p "
            """'[{"op":"add","path":"/spec/topologySpreadConstraints/0/nodeTaintsPolicy","value":"Honor"}]'"""
        ],
    ),
    "a file of several objects, all of which kubectl would patch": ("several.yaml", []),
    "standard input": ("-", []),
}


@pytest.mark.parametrize("case", PATCHED)
def test_a_manifest_is_patched_by_kubectl_where_that_patches_nothing_else(case: str, tmp_path: Path) -> None:
    name, commands = PATCHED[case]
    text = Path(POD).read_text()
    (tmp_path / "pod.yaml").write_text(text)
    (tmp_path / "several.yaml").write_text(f"{text}---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\n")
    asked = ("explain", "--fix", name, "-S", TAINTED, "-q", "-o", "json")
    report = run(*asked, cwd=tmp_path, stdin=text.encode()).report_of(SCHEMA)
    honored = next(
        each for each in report["advice"]["enough"] if each["options"] == ["--set nodeTaintsPolicy[zone]=Honor"]
    )
    assert honored["commands"] == commands


def test_in_a_pipe_what_comes_of_it_stands_on_standard_error() -> None:
    result = run("explain", "--fix", POD, "-S", CORDONED)
    assert result.err.splitlines()[-2:] == [
        "Not enough alone: requesting less cpu",
        "the pod fits with A nodeTaintsPolicy Honor, or 4 other changes",
    ]
    assert "--set maxSkew[zone]=2" in result.out


def test_explain_says_which_constraints_would_let_it_in() -> None:
    result = run("explain", POD, "-S", CORDONED, "-q", terminal=120)
    enough = "Enough alone: A nodeTaintsPolicy Honor (2 nodes) · A maxSkew 2 (2; lasts for 1 more replica per zone)"
    assert enough in result.out.splitlines()
    report = run("explain", POD, "-S", CORDONED, "-q", "-o", "json").report
    assert [each["change"] for each in report["advice"]["enough"]] == [
        "A nodeTaintsPolicy Honor",
        "A maxSkew 2",
        "A ScheduleAnyway",
    ]


def test_what_bars_the_pod_elsewhere_is_not_tried() -> None:
    result = run("explain", POD, "-S", CORDONED, "-q", "--set", "cpu=64", terminal=120)
    assert "Not enough: relaxing A" in result.out.splitlines()
