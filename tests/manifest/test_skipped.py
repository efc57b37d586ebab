"""A manifest of which not everything can be answered: the rest is, and what is not is said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kubespread
from tests.builders import node
from tests.cli.support import run

Data = dict[str, Any]

TEMPLATE: Data = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
JOB: Data = {
    "apiVersion": "example.com/v1alpha1",
    "kind": "Training",
    "metadata": {"name": "train"},
    "spec": {"tasks": [{"template": TEMPLATE}]},
}
GAP = "pods are missing: skipped 1 object of Training.example.com"


def deployment(name: str, **spec: Any) -> Data:
    full = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": TEMPLATE, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name}, "spec": full}


def written(path: Path, *objects: Data) -> Path:
    path.write_text("---\n".join(f"{json.dumps(found)}\n" for found in objects))
    return path


def cluster(root: Path) -> Path:
    empty = [{"apiVersion": "v1", "kind": f"{kind}List", "items": []} for kind in ("Pod", "Service")]
    return written(root / "cluster.yaml", {"apiVersion": "v1", "kind": "List", "items": [node("n"), *empty]})


def test_objects_that_hold_pods_and_are_not_read_are_a_gap(tmp_path: Path) -> None:
    manifest = written(tmp_path / "app.yaml", deployment("web"), JOB)
    snapshot = kubespread.load(cluster(tmp_path))
    assert GAP in kubespread.explain(snapshot, manifest).gaps
    assert GAP in kubespread.simulate(snapshot, manifest).gaps
    assert GAP not in kubespread.explain(snapshot, deployment("web")).gaps
    strict = run("simulate", manifest, "-S", cluster(tmp_path), "--strict")
    assert (strict.code, f"gap: {GAP}\n" in strict.err) == (3, True)


def test_custom_objects_without_pods_of_their_own_are_counted_in_a_note(tmp_path: Path) -> None:
    """Nothing inside it looks like a pod."""
    spec = {"replicas": 3, "workloadRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}}
    release = {"apiVersion": "example.com/v1alpha1", "kind": "Release", "metadata": {"name": "web"}, "spec": spec}
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}}
    notes = kubespread.simulate(
        kubespread.load(cluster(tmp_path)), written(tmp_path / "app.yaml", deployment("web"), release, config_map)
    ).notes
    said = "skipped 1 object of Release.example.com: pods that its controller creates are not part of the answer"
    assert [note for note in notes if "skipped" in note] == [said]


def test_one_bad_workload_leaves_the_others_be(tmp_path: Path) -> None:
    bad = deployment("bad", replicas="three")
    manifest = written(tmp_path / "app.yaml", deployment("first"), bad, deployment("last"))
    result = run("simulate", manifest, "-S", cluster(tmp_path), "-o", "json")
    assert result.code == 2
    assert [report["workload"] for report in json.loads(result.out)["items"]] == ["Deployment/first", "Deployment/last"]
    assert result.err.startswith(f"error: {manifest}:3: spec.replicas: ")


def test_bad_workloads_alone_are_all_named(tmp_path: Path) -> None:
    manifest = written(tmp_path / "app.yaml", deployment("a", replicas="x"), deployment("b", selector=None))
    result = run("simulate", manifest, "-S", cluster(tmp_path))
    assert (result.code, result.out) == (2, "")
    assert {line.split(": ")[1].rpartition(":")[2] for line in result.err.splitlines()} == {"1", "3"}
