"""What a cluster in a file has by name."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from kubespread.errors import SnapshotError
from kubespread.snapshot.files.reader import Names, names_in


def named(kind: str, name: str, api_version: str = "v1", **metadata: Any) -> dict[str, Any]:
    pod = {"containers": [{"name": "main", "image": "web"}]}
    template = {"selector": {"matchLabels": {"app": "web"}}, "template": {"spec": pod}}
    spec = {"Pod": pod, "Deployment": template}.get(kind, {})
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}


OBJECTS = [
    named("Node", "n2", labels={"zone": "a"}),
    named("Node", "n1", labels={"disk": "ssd"}),
    named("Namespace", "empty"),
    named("Pod", "p1", namespace="shop"),
    named("Pod", "p0"),
    named("Deployment", "web", "apps/v1", namespace="shop"),
    named("Deployment", "ours", "example.com/v1", namespace="shop"),
    named("ConfigMap", "secret", namespace="shop"),
    named("Pod", "bad", labels="none"),
]


def written(path: Path, objects: list[dict[str, Any]], **head: Any) -> Path:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects, **head}).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("name", ["cluster.json", "cluster.json.gz"])
def test_names_are_those_of_the_objects(name: str, tmp_path: Path) -> None:
    names = names_in(str(written(tmp_path / name, OBJECTS, kubespread={"namespace": "shop"})))
    assert (names.namespace, names.nodes) == ("shop", ["n1", "n2"])
    assert names.labels == {"disk": ["ssd"], "zone": ["a"]}
    assert names.namespaces == ["default", "empty", "shop"]
    assert names.by_kind == {"po": {"default": ["p0"], "shop": ["p1"]}, "deploy": {"shop": ["web"]}}


def test_a_file_without_nodes_has_names(tmp_path: Path) -> None:
    assert names_in(str(written(tmp_path / "pods.json", OBJECTS[3:5]))).by_kind == {
        "po": {"default": ["p0"], "shop": ["p1"]}
    }


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [names_in(str(path)) for path in (tmp_path / "pipe", tmp_path)] == [Names(), Names()]


def test_what_is_no_cluster_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(SnapshotError):
        names_in(str(tmp_path / "bad.json"))
