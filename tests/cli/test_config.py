"""Configuration files and variables: who decides, what is refused, and what is said."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.builders import node, pod
from tests.cli.support import CLUSTER, FIXTURES, ROOT, Result, run, shell

POD = str(FIXTURES / "manifests" / "two-constraints.yaml")
EXPLAIN = ("explain", POD, "-o", "json")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A directory below one with two clusters in it: ``four.yaml`` and ``five.yaml``."""
    for name, file in {"four": "docs-4-nodes", "five": "docs-5-nodes", "shop": "shop"}.items():
        shutil.copy(FIXTURES / "clusters" / f"{file}.yaml", tmp_path / f"{name}.yaml")
    (tmp_path / "sub").mkdir()
    return tmp_path / "sub"


def configured(project: Path, *words: str, text: str = "", **more: str) -> Result:
    """``kubespread WORDS`` in ``project``, whose parent is configured by ``text``."""
    if text:
        (project.parent / ".kubespread.yaml").write_text(text)
    return run(*words, cwd=project, env=more)


def nodes(result: Result) -> int:
    return len(result.report["nodes"])


def test_paths_are_relative_to_their_file_and_what_decides_is_said(project: Path) -> None:
    result = configured(project, *EXPLAIN, text="snapshot: four.yaml\nkubeVersion: '1.34'\noutput: csv\n")
    assert (nodes(result), result.report["kubeVersion"]) == (4, "1.34")
    assert result.err == (
        "note: snapshot ../four.yaml (../.kubespread.yaml:1)\nnote: kubeVersion 1.34 (../.kubespread.yaml:2)\n"
    )
    assert configured(project, *EXPLAIN, "-q").err == ""


def test_the_nearest_file_is_the_projects(project: Path) -> None:
    (project / ".kubespread.yaml").write_text("snapshot: [../five.yaml]\n")
    assert nodes(configured(project, *EXPLAIN, text="snapshot: four.yaml\n")) == 5


def test_options_go_before_variables_before_the_project(project: Path) -> None:
    text = "kubeVersion: '1.31'\nsnapshot: four.yaml\noutput: name\n"
    release = configured(project, *EXPLAIN, "--kube-version", "1.33", text=text, KUBESPREAD_KUBE_VERSION="1.32")
    assert release.report["kubeVersion"] == "1.33"
    assert configured(project, *EXPLAIN, KUBESPREAD_KUBE_VERSION="1.32").report["kubeVersion"] == "1.32"
    assert configured(project, *EXPLAIN).report["kubeVersion"] == "1.31"
    assert configured(project, "explain", POD).out == "node4\n"


def test_a_cluster_that_is_typed_goes_before_one_that_is_set(project: Path) -> None:
    asked = configured(project, *EXPLAIN, "--context", "prod", text="snapshot: four.yaml\n")
    assert (asked.code, asked.err.count("\n"), "no cluster given" in asked.err) == (2, 1, True)
    again = configured(project, *EXPLAIN, "--context", "prod", KUBESPREAD_SNAPSHOT="../four.yaml")
    assert again == asked
    assert nodes(configured(project, *EXPLAIN, "-S", "../five.yaml", KUBESPREAD_CONTEXT="prod")) == 5


def test_a_context_of_the_environment_goes_before_a_projects_snapshot(project: Path) -> None:
    asked = configured(project, *EXPLAIN, text="snapshot: four.yaml\n", KUBESPREAD_CONTEXT="prod")
    assert (asked.code, "no cluster given" in asked.err) == (2, True)


def test_a_format_that_a_report_does_not_have_is_not_meant_for_it(project: Path) -> None:
    result = configured(project, "explain", "deploy/web", text="snapshot: shop.yaml\noutput: prometheus\n")
    assert (result.code, result.out.split()[:2]) == (0, ["NODE", "ZONE"])


def test_a_format_is_not_the_name_of_a_snapshots_file(project: Path) -> None:
    (project / ".kubespread.yaml").write_text("output: json\n")
    assert run("snapshot", "-S", CLUSTER, "-o", "new.json", "-q", cwd=project).code == 0
    assert (project / "new.json").exists()


def test_findings_are_ignored(project: Path) -> None:
    bad = str(FIXTURES / "lint" / "KS101" / "bad.yaml")
    assert configured(project, "check", bad).code == 1
    assert configured(project, "check", bad, text="ignore: [KS101]\n").code == 0
    assert configured(project, "check", bad, "--ignore", "KS102").code == 1


REFUSED = {
    "a key that is none": ("\nsnapshots: x\n", ':2: snapshots: unknown key, did you mean "snapshot"?'),
    "a key that nothing is near to": (
        "token: x\n",
        ":1: token: unknown key; there are snapshot, context, schedulerConfig, kubeVersion, output, podNodeSelector, "
        "extendedResourceToleration, ignore",
    ),
    "a release without quotes": ("kubeVersion: 1.30\n", ":1: kubeVersion: expected a string in quotes, found a number"),
    "a release there is not": (
        "kubeVersion: '1.99'\n",
        ":1: kubeVersion: kube-scheduler 1.99 is not modeled: versions 1.18 to 1.37 are, and what is merged of 1.38",
    ),
    "two clusters": (
        "snapshot: a\ncontext: b\n",
        ":2: context: snapshot and context both name the cluster: leave one out",
    ),
    "standard input": (
        "snapshot: '-'\n",
        ":1: snapshot: standard input is for the command line to name: expected a path",
    ),
    "a home of nobody": ("snapshot: ~nobody-known/x\n", ":1: snapshot: no home directory is known for ~nobody-known"),
    "a path that is none": ('snapshot: ["a", "b\\0"]\n', ":1: snapshot: expected a path, found a NUL character in it"),
    "a flag that is a text": (
        "podNodeSelector: 'yes'\n",
        ":1: podNodeSelector: expected true or false, found the string 'yes'",
    ),
    "a list": (
        "- snapshot\n",
        ": expected an object with snapshot, context, schedulerConfig, kubeVersion, output, podNodeSelector, "
        "extendedResourceToleration, ignore, found a list",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_file_that_is_wrong_ends_every_question(case: str, project: Path) -> None:
    text, fault = REFUSED[case]
    said = f"error: ../.kubespread.yaml{fault}\n"
    assert configured(project, *EXPLAIN, text=text) == (2, "", said)
    assert configured(project, "explain", "--help").code == 0


def test_a_format_that_no_report_has_is_not_passed_over(project: Path) -> None:
    faults = {"jsn": "'jsn', did you mean \"json\"?", "pdf": "'pdf'"}
    for name, fault in faults.items():
        result = configured(project, *EXPLAIN, text=f"snapshot: four.yaml\noutput: {name}\n")
        assert (result.code, result.err) == (2, f"error: ../.kubespread.yaml:2: unknown format {fault}\n")
    asked = ("explain", POD, "-S", "../four.yaml")
    assert configured(project, *asked, text="output: NAME\n").out == "node4\n"
    assert configured(project, *asked, KUBESPREAD_OUTPUT="jsn").err.startswith(
        "error: KUBESPREAD_OUTPUT: unknown format"
    )


def test_files_are_left_out_where_one_says_so(project: Path) -> None:
    """A gate over other people's changes does not let them set what it ignores."""
    bad = str(FIXTURES / "lint" / "KS101" / "bad.yaml")
    result = configured(project, "check", bad, text="ignore: [KS101]\nno: such key\n", KUBESPREAD_CONFIG="")
    assert (result.code, "KS101" in result.out) == (1, True)
    assert configured(project, "check", bad).code == 2
    set_still = configured(project, *EXPLAIN, KUBESPREAD_CONFIG="", KUBESPREAD_SNAPSHOT="../four.yaml")
    assert nodes(set_still) == 4


def test_a_file_that_is_named_is_the_only_one(project: Path) -> None:
    (project / "gke.yaml").write_text("snapshot: ../five.yaml\n")
    result = configured(project, *EXPLAIN, text="kubeVersion: '1.31'\n", KUBESPREAD_CONFIG="gke.yaml")
    assert (nodes(result), result.report["kubeVersion"], result.err) == (
        5,
        "1.37",
        "note: snapshot ../five.yaml (gke.yaml:1)\n",
    )
    assert configured(project, *EXPLAIN, KUBESPREAD_CONFIG="none.yaml") == (
        2,
        "",
        "error: none.yaml: No such file or directory\n",
    )


def test_admission_that_only_some_clusters_have_is_set_and_said(tmp_path: Path) -> None:
    annotations = {"scheduler.alpha.kubernetes.io/node-selector": "env=prod"}
    selecting = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "annotations": annotations}}
    items = [selecting, node("n")]
    (tmp_path / "pod.json").write_text(json.dumps(pod()))
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    asked = ("explain", "pod.json", "-S", "cluster.json", "-o", "name")
    assert run(*asked, cwd=tmp_path).code == 0
    (tmp_path / ".kubespread.yaml").write_text("podNodeSelector: true\n")
    result = run(*asked, cwd=tmp_path)
    assert (result.code, result.err.splitlines()[0]) == (1, "note: podNodeSelector true (.kubespread.yaml:1)")
    for text, code in {"false": 0, "true": 1, "1": 2}.items():
        assert run(*asked, cwd=tmp_path, env={"KUBESPREAD_POD_NODE_SELECTOR": text}).code == code
    assert "podNodeSelector" not in run("snapshot", "-S", "cluster.json", "-o", "-", cwd=tmp_path).err


def test_a_file_that_may_not_be_looked_at_is_not_there(project: Path) -> None:
    """A name that is too long is refused as one in another user's folder is."""
    (project / ".kubespread.yaml").symlink_to("x" * 300)
    assert configured(project, "explain", POD, "-S", "../four.yaml", "-o", "name", "-q") == (0, "node4\n", "")


def test_a_directory_that_was_deleted_has_no_parents(tmp_path: Path) -> None:
    result = shell(
        'mkdir gone; cd gone; rmdir ../gone; kubespread explain "$POD" -S "$CLUSTER" -o name -q', cwd=tmp_path
    )
    assert result == (0, "node4\n", "")


def test_two_variables_cannot_both_name_the_cluster(project: Path) -> None:
    result = configured(project, *EXPLAIN, KUBESPREAD_SNAPSHOT="a", KUBESPREAD_CONTEXT="b")
    assert (result.code, result.err) == (
        2,
        "error: KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one\n",
    )


def test_this_repository_is_not_configured() -> None:
    """Else every example in its documents would answer for something else."""
    assert not (ROOT / ".kubespread.yaml").exists()


def test_what_answers_for_itself_reads_no_configuration(project: Path) -> None:
    """The demo brings its cluster, and what assistants may ask about is on the line that starts their server."""
    text = "snapshot: four.yaml\noutput: json\nkubeVersion: '1.30'\nnonsense: 1\n"
    assert configured(project, "demo", text=text) == run("demo")
    refused = configured(project, "mcp")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith("error: no cluster given: ")
