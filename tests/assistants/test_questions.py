"""The arguments of tools: what is taken, what is refused in one line, and that no text among them is ever a path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

import kubespread
from kubespread.questions.calls import Reading, arguments_of, tools, truncate
from kubespread.questions.calls import arguments_schema as schema
from kubespread.questions.question import Manifests, ScenarioFile, WorkloadOption, options_of
from kubespread.questions.registry import QUESTIONS, question
from tests.cli.support import FIXTURES

SHOP = kubespread.load(FIXTURES / "clusters" / "shop.yaml")
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: i}]}\n"

REFUSED: dict[str, tuple[str, dict[str, Any], str]] = {
    "an argument that does not exist": (
        "explain",
        {"workloads": "x"},
        "unknown argument 'workloads', did you mean \"workload\"?",
    ),
    "no item of any list": ("explain", {"workload": "deploy/web", "limit": 0}, "limit: expected `int` >= 1"),
    "a number below zero": ("simulate", {"workload": "deploy/web", "replicas": -1}, "replicas: expected `int` >= 0"),
    "an object for a text": ("explain", {"manifest": {}}, "manifest: expected `str | null`, got `object`"),
    "nothing to ask about": ("explain", {}, "expected either manifest, as text, or workload, as KIND/NAME"),
    "two things to ask about": (
        "explain",
        {"manifest": POD, "workload": "deploy/web"},
        "expected either manifest, as text, or workload, as KIND/NAME",
    ),
    "a workload that is not there": (
        "explain",
        {"workload": "deploy/wep"},
        'deployments.apps "wep" not found in namespace default; there are api, web',
    ),
    "a manifest that the API server refuses": (
        "explain",
        {"manifest": "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {}\n"},
        "manifest:4: spec.containers: Required value",
    ),
    "an edit that is none": ("survive", {"edits": ["fial zone=c"]}, "unknown edit 'fial', did you mean \"fail\"?"),
    "a release that does not exist": (
        "explain",
        {"workload": "deploy/web", "kubeVersion": "1.99"},
        "kube-scheduler 1.99 is not modeled: versions 1.18 to 1.37 are, and what is merged of 1.38",
    ),
}


def called(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return tools()[tool].call(SHOP, kubespread.Scheduler(), arguments)


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_asked_is_said_in_one_line(case: str) -> None:
    tool, arguments, message = REFUSED[case]
    with pytest.raises(kubespread.KubespreadError) as raised:
        called(tool, arguments)
    assert str(raised.value) == message


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_names_a_file_or_is_for_scripts_is_no_argument(name: str) -> None:
    """Workloads, manifests and scenarios are, as texts: those are their own."""
    texts = Manifests | ScenarioFile | WorkloadOption
    taken = {each.name for each in msgspec.structs.fields(arguments_of(tools()[name].asks))}
    own = {each.name for each, _, option in options_of(question(name)) if not isinstance(option, texts)}
    for_assistants = {each.name for each, _, option in options_of(question(name)) if option.is_for_assistants}
    assert taken & own == for_assistants & own


def test_a_policy_of_the_descheduler_is_for_the_command_line_alone() -> None:
    with pytest.raises(kubespread.UsageError, match="unknown argument 'descheduler'"):
        called("rebalance", {"descheduler": "policy.yaml"})


def paths_tried(secret: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every argument that the command line would take for a path, given one."""
    return {
        "a manifest": ("explain", {"manifest": secret}),
        "a workload": ("explain", {"workload": secret}),
        "a workload of the working directory": ("explain", {"workload": "deploy/secret"}),
        "the other manifest": ("compare", {"workload": "deploy/web", "toManifest": secret}),
        "manifests to check": ("check", {"manifest": secret}),
        "a template of a node": ("explain", {"workload": "deploy/web", "edits": [f"add-node {secret}"]}),
        "a template after": ("compare", {"workload": "deploy/web", "toEdits": [f"add-node {secret}"]}),
        "a template in a step": ("plan", {"steps": [f"add-node {secret}"]}),
        "an applied manifest": ("plan", {"steps": [f"apply {secret}"]}),
        "a new template": ("plan", {"steps": [f"rollout deploy/web {secret}"]}),
        "nodes": ("upgrade", {"nodes": secret}),
        "a manifest to fix": ("explain", {"manifest": secret, "fix": True}),
        "a manifest to draw": ("map", {"manifest": secret}),
        "workloads to audit": ("audit", {"workloads": [secret]}),
        "workloads to rebalance": ("rebalance", {"workloads": [secret]}),
        "a request": ("capacity", {"request": secret}),
        "nodes to remove": ("removable", {"nodes": [secret]}),
    }


@pytest.mark.parametrize("case", paths_tried(""))
def test_no_argument_reads_a_file(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each names a file that holds a whole Pod, and would be answered if it were read."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deploy").mkdir()
    for secret in ("secret.yaml", "deploy/secret"):
        (tmp_path / secret).write_text(POD)
    tool, arguments = paths_tried(str(tmp_path / "secret.yaml"))[case]
    with pytest.raises(kubespread.KubespreadError):
        called(tool, arguments)


def test_long_lists_are_cut_and_what_is_left_out_is_counted() -> None:
    whole, cut = (called("explain", {"workload": "deploy/web", "limit": limit}) for limit in (50, 2))
    assert "leftOut" not in whole
    assert (cut["nodes"], cut["feasible"]) == (
        [{**node, "rejections": node["rejections"][:2]} for node in whole["nodes"][:2]],
        whole["feasible"][:2],
    )
    assert {path: cut["leftOut"][path] for path in (".nodes", ".constraints[].domains")} == {
        ".nodes": 4,
        ".constraints[].domains": 1,
    }


@pytest.mark.parametrize(
    ("report", "limit", "expected"),
    [
        pytest.param({"a": [1, 2]}, 2, {"a": [1, 2]}, id="nothing is too long"),
        pytest.param({"a": [1, 2, 3]}, 2, {"a": [1, 2], "leftOut": {".a": 1}}, id="a list"),
        pytest.param(
            {"a": {"b": [[1, 2], [3, 4]]}},
            1,
            {"a": {"b": [[1]]}, "leftOut": {".a.b": 1, ".a.b[]": 1}},
            id="lists within lists, of those that are kept",
        ),
        pytest.param(
            {"a": [{"b": [1, 2]}, {"b": [3, 4, 5]}]},
            2,
            {"a": [{"b": [1, 2]}, {"b": [3, 4]}], "leftOut": {".a[].b": 1}},
            id="counts of one path together",
        ),
    ],
)
def test_cutting(report: dict[str, Any], limit: int, expected: dict[str, Any]) -> None:
    assert truncate(report, limit) == expected


def test_a_check_is_of_a_workload_a_manifest_or_the_whole_cluster() -> None:
    def checked(**arguments: Any) -> list[Any]:
        report = tools()["check"].call(SHOP, kubespread.Scheduler(), arguments)
        return [report[field] for field in ("files", "workloads", "failOn")]

    assert checked(workload="deploy/web", failOn="info") == [0, 1, "info"]
    assert checked(manifest=POD) == [1, 1, "error"]
    assert checked()[0] == 0
    assert checked()[1] > 1


@pytest.mark.parametrize("tool", tools())
def test_the_schema_of_arguments_is_an_object_with_words_for_each(tool: str) -> None:
    described = schema(arguments_of(tools()[tool].asks))
    Draft202012Validator.check_schema(described)
    assert described["type"] == "object"
    assert described["additionalProperties"] is False
    assert all("description" in field for field in described["properties"].values())


def test_files_are_read_once_and_a_running_cluster_again_when_it_is_old(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    reads: list[float] = []

    def read() -> kubespread.Snapshot:
        reads.append(clock[0])
        return SHOP

    files, running = Reading(read, None), Reading(read, 60.0)
    for cluster in (files, running):
        for clock[0] in (0.0, 60.0, 61.0, 100.0):
            assert cluster.snapshot() is SHOP
    assert reads == [0.0, 0.0, 61.0]


def test_a_read_that_fails_is_tried_again() -> None:
    outcomes = [kubespread.SnapshotError("SERVER: connection refused"), None]

    def read() -> kubespread.Snapshot:
        if (error := outcomes.pop(0)) is not None:
            raise error
        return SHOP

    cluster = Reading(read, 60.0)
    with pytest.raises(kubespread.SnapshotError):
        cluster.snapshot()
    assert cluster.snapshot() is SHOP
