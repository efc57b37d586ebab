"""What can be asked about: files and directories, workloads of the cluster by name, by kind and by label."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import hosts, owned_by
from tests.cli.support import CLUSTER, POD, SIMULATE_SCHEMA, Result, run

Data = dict[str, Any]


def workload(name: str, kind: str = "Deployment", namespace: str = "default", **spec: Any) -> Data:
    labels = {"app": name}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "x"}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template, **spec},
    }


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Two workloads in one namespace, one in another, and ReplicaSets that are a Deployment's."""
    former = workload("web-1", "ReplicaSet")
    former["metadata"]["ownerReferences"] = owned_by("Deployment", "web")
    objects = [
        *hosts("a", "b"),
        workload("web"),
        workload("db", "StatefulSet"),
        workload("api", namespace="shop"),
        former,
    ]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return path


def placed(result: Result) -> list[str]:
    """The workloads of an answer, in its order."""
    assert result.code == 0, result.err
    answer = json.loads(result.out)
    reports = answer.get("items", [answer])
    for report in reports:
        SIMULATE_SCHEMA.validate(report)
    return [f"{report['pod']['namespace']}/{report['workload']}" for report in reports]


SELECTIONS: dict[str, tuple[list[str], list[str]]] = {
    "of all namespaces": (["-A"], ["default/Deployment/web", "shop/Deployment/api", "default/StatefulSet/db"]),
    "by label": (["-l", "app=db"], ["default/StatefulSet/db"]),
    "by label in another namespace": (["-l", "app", "-n", "shop"], ["shop/Deployment/api"]),
}


@pytest.mark.parametrize("case", SELECTIONS)
def test_workloads_of_the_cluster(case: str, cluster: Path) -> None:
    arguments, expected = SELECTIONS[case]
    assert placed(run("simulate", *arguments, "-S", cluster, "-o", "json")) == expected


REFUSED: dict[str, tuple[list[str], str]] = {
    "none there": (
        ["-l", "app", "-n", "nowhere"],
        "no workloads with the labels app in namespace nowhere; there are default, shop",
    ),
    "none with the label": (["-A", "-l", "app=x"], "no workloads with the labels app=x in the cluster"),
    "a kind alone": (["deploy"], "deploy: no such file; a workload of the cluster is named deploy/NAME"),
    "all namespaces and a kind": (
        ["-A", "deploy"],
        "deploy and -A/--all-namespaces do not go together: both say which workloads are meant",
    ),
    "all namespaces and a file": (
        ["-A", "-f", POD],
        "-f/--filename and -A/--all-namespaces do not go together: both say which workloads are meant",
    ),
    "all namespaces and a manifest": (
        ["-A", POD],
        f"{POD} and -A/--all-namespaces do not go together: both say which workloads are meant",
    ),
    "no selector": (
        ["-l", "a==b==c"],
        "invalid selector 'a==b==c': expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found 'a==b==c'",
    ),
    "a label no object has": ([POD, "-l", "app=web"], "no workload has the labels app=web"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_selected(case: str, cluster: Path) -> None:
    arguments, message = REFUSED[case]
    assert run("simulate", *arguments, "-S", cluster) == (2, "", f"error: {message}\n")


def test_more_pods_than_asked_for_are_a_note(tmp_path: Path) -> None:
    """As while a rollout surges; nobody asked to scale it down."""
    running = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"db-{ordinal}",
                "namespace": "default",
                "labels": {"app": "db"},
                "ownerReferences": owned_by("StatefulSet", "db"),
            },
            "spec": {"nodeName": "n0", "containers": [{"name": "c", "image": "x"}]},
        }
        for ordinal in range(3)
    ]
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps({"kind": "List", "items": [*hosts("a"), workload("db", "StatefulSet"), *running]}))
    result = run("simulate", "-A", "-S", path, "-o", "json")
    report = json.loads(result.out)
    assert (result.code, report["placed"], report["present"]) == (0, 0, 3)
    assert "StatefulSet/db runs 3 replicas and its spec says 2: none is placed" in report["notes"]


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    """A directory as it is in a repository: workloads, and much that is none."""
    folder = tmp_path / "chart"
    (folder / "jobs").mkdir(parents=True)
    (folder / "web.yaml").write_text(json.dumps(workload("web")))
    (folder / "config.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    (folder / "values.yaml").write_text("replicaCount: 3\nimage: {repository: x}\n")
    (folder / "list.yml").write_text("- 1\n- 2\n")
    (folder / "README.md").write_text("# Chart\n")
    (folder / "jobs" / "db.yaml").write_text(json.dumps(workload("db", "StatefulSet")))
    return folder


def test_a_directory(chart: Path) -> None:
    result = run("simulate", "-f", chart, "-S", CLUSTER, "-o", "json")
    assert placed(result) == ["default/Deployment/web"]
    skipped = f"{chart}/list.yml, {chart}/config.yaml, {chart}/values.yaml"
    assert json.loads(result.out)["notes"][0] == f"skipped 3 files without a workload: {skipped}"


def test_a_directory_to_its_depths(chart: Path) -> None:
    both = ["default/StatefulSet/db", "default/Deployment/web"]
    assert placed(run("simulate", chart, "-R", "-S", CLUSTER, "-o", "json")) == both
    assert placed(run("simulate", "-R", "-f", chart, "-l", "app=web", "-S", CLUSTER, "-o", "json")) == both[1:]


def test_a_malformed_file_of_a_directory_leaves_the_others(chart: Path) -> None:
    (chart / "broken.yaml").write_text("kind: [\n")
    result = run("simulate", chart, "-S", CLUSTER, "-o", "name", "-q")
    assert (result.code, len(result.out.splitlines())) == (2, 2)
    assert result.err.splitlines()[0].startswith(f"error: {chart}/broken.yaml:2: YAML syntax: ")


def test_files_and_positions_together(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.yaml").write_text(json.dumps(workload(name)))
    result = run("simulate", "c.yaml", "-f", "a.yaml", "-f", "b.yaml", "-S", CLUSTER, "-o", "json", cwd=tmp_path)
    assert placed(result) == ["default/Deployment/c", "default/Deployment/a", "default/Deployment/b"]
    named = run("simulate", "-f", ".", "--name", "b", "-S", CLUSTER, "-o", "json", cwd=tmp_path)
    assert placed(named) == ["default/Deployment/b"]
    assert run("simulate", "-f", ".", "--name", "x", "-S", CLUSTER, cwd=tmp_path) == (
        2,
        "",
        "error: no workload named 'x'; found a.yaml: Deployment/a; b.yaml: Deployment/b; c.yaml: Deployment/c\n",
    )


def test_explain_takes_the_one_workload_of_several_files(chart: Path) -> None:
    result = run("explain", "-f", chart, "-S", CLUSTER, "-o", "name", "-q")
    assert (result.code, result.err) == (0, "")
    several = run("explain", "-R", "-f", chart, "-S", CLUSTER)
    assert several == (
        2,
        "",
        f"error: several workloads ({chart}/jobs/db.yaml: StatefulSet/db; {chart}/web.yaml: Deployment/web); "
        "choose one with --name\n",
    )
    assert run("explain", "-R", "-f", chart, "--name", "db", "-S", CLUSTER, "-o", "name").code == 0


def test_several_files_without_a_workload(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n")
    result = run("simulate", ".", "-S", CLUSTER, cwd=tmp_path)
    assert result == (2, "", "error: none of 2 files holds a Pod or a workload\n")
