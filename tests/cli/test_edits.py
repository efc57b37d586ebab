"""Edits on the command line: in the order they are typed, and refused before a cluster is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kubespread
from tests.cli.support import CLUSTER, FIXTURES, POD, run

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: gpu}\nstatus: {allocatable: {cpu: '8'}}\n"

ORDERS: dict[str, tuple[list[str], list[str]]] = {
    "none": ([], []),
    "one": (["--cordon", "node1"], ["cordon node1"]),
    "the same option again, others between": (
        ["--cordon", "node1", "--uncordon", "node2", "--cordon", "node3", "--uncordon=node1"],
        ["cordon node1", "uncordon node2", "cordon node3", "uncordon node1"],
    ),
    "against the order of the options": (
        ["--scale", "deploy/web=3", "--evict", "web-1", "--label", "node1=a=b", "--taint", "node1=a:NoSchedule"],
        ["scale Deployment/web=3", "evict web-1", "label node1 a=b", "taint node1 a:NoSchedule"],
    ),
    "other options between": (
        ["--fail", "zone=a", "-q", "--fail", "zone=b", "-o", "json", "--delete-node", "node1"],
        ["fail zone=a", "fail zone=b", "delete-node node1"],
    ),
    "flags of a drain stand with it": (
        ["--drain", "node1 --force", "--add-node", "node2:2@zone=a", "--drain", "zone=b --ignore-daemonsets=false"],
        ["drain node1 --force", "add-node node2:2@zone=a", "drain zone=b --no-ignore-daemonsets"],
    ),
}


class Asked:
    """Takes the place of a question, and remembers which cluster it was about."""

    def __init__(self) -> None:
        self.edits: list[str] = []

    def __call__(self, snapshot: kubespread.Snapshot, *_: Any, **__: Any) -> Any:
        self.edits = [str(edit) for edit in snapshot.edits]
        raise kubespread.UsageError("asked")


@pytest.mark.parametrize("command", ["explain", "simulate"])
@pytest.mark.parametrize("case", ORDERS)
def test_edits_come_in_the_order_they_are_typed(case: str, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    typed, expected = ORDERS[case]
    monkeypatch.setattr(kubespread, "ask", asked := Asked(), raising=False)
    assert run(command, *typed[:2], POD, "-S", CLUSTER, *typed[2:]).err == "error: asked\n"
    assert asked.edits == expected


def test_a_snapshot_is_edited_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = Asked()
    monkeypatch.setattr("kubespread.questions.editing.apply_edits", asked)
    typed, expected = ORDERS["the same option again, others between"]
    assert run("snapshot", *typed, "-S", CLUSTER, "-o", tmp_path / "out.json").err == "error: asked\n"
    assert asked.edits == expected


FAULTS: dict[str, tuple[list[str], str]] = {
    "an empty edit": (["--cordon", ""], "--cordon is empty: give it a value, or leave it out"),
    "a taint without an effect": (["--taint", "node1=gpu"], "invalid taint spec: gpu"),
    "an unknown effect": (["--taint", "node1=gpu:NoRun"], "invalid taint effect: NoRun, unsupported taint effect"),
    "a mistyped kind": (["--scale", "deplyo/web=3"], "unknown kind 'deplyo', did you mean \"deploy\"?"),
    "a missing manifest of a node": (["--add-node", "nope.yaml"], "nope.yaml: No such file or directory"),
    "flags of a drain for something else": (["--cordon", "node1 --force"], "cordon takes no flags, found --force"),
}


@pytest.mark.parametrize("command", ["explain", "simulate"])
@pytest.mark.parametrize("case", FAULTS)
def test_a_mistyped_edit_is_refused_before_the_cluster_is_read(case: str, command: str) -> None:
    arguments, message = FAULTS[case]
    result = run(command, POD, "-S", "nothing.yaml", *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"error: {message}\n")


def test_an_option_needs_its_value() -> None:
    result = run("explain", POD, "-S", CLUSTER, "--cordon")
    assert (result.code, result.err) == (
        2,
        "error: Option '--cordon' requires an argument. (see 'kubespread --help')\n",
    )


SET_FAULTS: dict[str, tuple[list[str], str]] = {
    "a mistyped field": (
        ["--set", "maxskew[zone]=2"],
        "invalid --set 'maxskew[zone]=2': unknown field 'maxskew', did you mean \"maxSkew\"?",
    ),
    "no value": (
        ["--set", "maxSkew"],
        "invalid --set 'maxSkew': expected FIELD=VALUE or FIELD[KEY]=VALUE, such as maxSkew[zone]=2",
    ),
    "a value the API server refuses": (
        ["--set", "maxSkew[zone]=0"],
        f"{POD}: spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero "
        "(--set maxSkew[zone]=0)",
    ),
    "a constraint that is not there": (
        ["--set", "maxSkew[rack]=2"],
        "--set maxSkew[rack]=2: no topology spread constraint has the topologyKey 'rack'; there are zone, node",
    ),
}


@pytest.mark.parametrize("case", SET_FAULTS)
def test_a_field_that_cannot_be_set(case: str) -> None:
    arguments, message = SET_FAULTS[case]
    result = run("explain", POD, "-S", CLUSTER, *arguments)
    assert (result.code, result.out, result.err) == (2, "", f"error: {message}\n")


def test_fields_of_the_pod_are_set() -> None:
    report = run(
        "explain", POD, "-S", CLUSTER, "-o", "json", "--set", "maxSkew[zone]=5", "--set", "maxSkew[node]=6"
    ).report
    assert [constraint["maxSkew"] for constraint in report["constraints"]] == [5, 6]
    assert run("simulate", POD, "-S", CLUSTER, "--set", "maxSkew[zone]=0", "--replicas", "2").code == 2


def test_options_stand_under_the_heading_of_their_group() -> None:
    sections = dict(part.split(":\n", 1) for part in run("explain", "--help-all").out.split("\n\n") if ":\n" in part)
    of = {
        option: next(name for name, text in sections.items() if f"\n  {option}" in f"\n{text}")
        for option in (
            "-f, --filename",
            "--kube-version",
            "--scheduler-config",
            "-o, --output",
            "-q, --quiet",
            "-S, --snapshot",
        )
    }
    assert of == {
        "-f, --filename": "Manifests",
        "--kube-version": "Scheduler",
        "--scheduler-config": "Scheduler",
        "-o, --output": "Output",
        "-q, --quiet": "Output",
        "-S, --snapshot": "Cluster",
    }


def test_edits_stand_under_a_heading_of_their_own() -> None:
    for command in ("explain", "simulate", "snapshot"):
        options, _, edits = run(command, "--help-all").out.partition("\nEdits of the cluster (repeatable, ")
        assert ("--snapshot PATH" in options, "--cordon NODES" in options, "--cordon NODES" in edits) == (
            True,
            False,
            True,
        )


@pytest.mark.parametrize(
    "command", [("explain", "deploy/web"), ("simulate", "deploy/web"), ("capacity", "--request", "cpu=1"), ("map",)]
)
def test_the_first_line_says_that_an_edit_was_not_done_in_full(command: tuple[str, ...]) -> None:
    shop = FIXTURES / "clusters" / "shop.yaml"
    shown = run(*command, "--drain", "a2", "-S", shop, terminal=100, rows=24, env={"NO_COLOR": "1"}).out.splitlines()
    doubt = "drain a2: not done in full, so what follows is not known"
    assert [line for line in shown if "not done in full" in line] == [doubt] == shown[:1]
