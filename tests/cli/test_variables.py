"""Variables of the environment: who decides, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.builders import node, pod
from tests.cli.support import FIXTURES, Result, run

POD = str(FIXTURES / "manifests" / "two-constraints.yaml")
FOUR, FIVE = (str(FIXTURES / "clusters" / f"docs-{number}-nodes.yaml") for number in (4, 5))
EXPLAIN = ("explain", POD, "-o", "json")


def nodes(result: Result) -> int:
    return len(result.report["nodes"])


def test_options_go_before_variables() -> None:
    variables = {"KUBESPREAD_SNAPSHOT": FOUR, "KUBESPREAD_KUBE_VERSION": "1.32"}
    asked = run(*EXPLAIN, env=variables)
    assert (nodes(asked), asked.report["kubeVersion"], asked.err) == (4, "1.32", "")
    asked = run(*EXPLAIN, "-S", FIVE, "--kube-version", "1.33", env=variables)
    assert (nodes(asked), asked.report["kubeVersion"]) == (5, "1.33")


def test_a_variable_names_several_files_as_paths_do(tmp_path: Path) -> None:
    for name in ("n1", "n2"):
        (tmp_path / f"{name}.json").write_text(json.dumps(node(name)))
    asked = run("map", "-o", "json", cwd=tmp_path, env={"KUBESPREAD_SNAPSHOT": os.pathsep.join(("n1.json", "n2.json"))})
    assert len(json.loads(asked.out)["nodes"]) == 2


@pytest.mark.parametrize("typed", [("--context", "prod"), ("--kubeconfig", "none.yaml")])
def test_a_cluster_that_is_typed_goes_before_one_that_is_set(typed: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "none.yaml").write_text("{}")
    asked = run(*EXPLAIN, *typed, cwd=tmp_path, env={"KUBESPREAD_SNAPSHOT": FOUR})
    assert (asked.code, asked.err.count("\n")) == (2, 1)
    assert nodes(run(*EXPLAIN, "-S", FIVE, env={"KUBESPREAD_CONTEXT": "prod"})) == 5


def test_two_variables_cannot_both_name_the_cluster() -> None:
    result = run(*EXPLAIN, env={"KUBESPREAD_SNAPSHOT": "a", "KUBESPREAD_CONTEXT": "b"})
    said = "error: KUBESPREAD_SNAPSHOT and KUBESPREAD_CONTEXT both name the cluster: unset one\n"
    assert (result.code, result.err) == (2, said)


def test_a_release_there_is_not_is_refused_wherever_it_is_named() -> None:
    result = run(*EXPLAIN, "-S", FOUR, env={"KUBESPREAD_KUBE_VERSION": "1.99"})
    said = "error: kube-scheduler 1.99 is not modeled: versions 1.18 to 1.37 are, and what is merged of 1.38\n"
    assert (result.code, result.err) == (2, said)


def test_admission_that_only_some_clusters_have_is_set(tmp_path: Path) -> None:
    annotations = {"scheduler.alpha.kubernetes.io/node-selector": "env=prod"}
    selecting = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "annotations": annotations}}
    items = [selecting, node("n")]
    (tmp_path / "pod.json").write_text(json.dumps(pod()))
    (tmp_path / "cluster.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    asked = ("explain", "pod.json", "-S", "cluster.json", "-o", "name")
    for text, code in {"": 0, "false": 0, "true": 1, "1": 2}.items():
        result = run(*asked, cwd=tmp_path, env={"KUBESPREAD_POD_NODE_SELECTOR": text})
        assert result.code == code
    assert result.err == "error: KUBESPREAD_POD_NODE_SELECTOR: expected true or false, found '1'\n"
