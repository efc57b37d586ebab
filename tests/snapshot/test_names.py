"""What a cluster in a file has by name, and how long that is remembered."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from kubespread.manifest.parts import MalformedError
from kubespread.snapshot.files import naming
from kubespread.snapshot.names import names_in


def named(kind: str, name: str, api_version: str = "v1", **metadata: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **metadata}}


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


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize("name", ["cluster.json", "cluster.json.gz"])
def test_names_are_those_of_the_objects(name: str, tmp_path: Path, environment: dict[str, str]) -> None:
    names = names_in(str(written(tmp_path / name, OBJECTS, kubespread={"namespace": "shop"})), environment)
    assert (names.namespace, names.nodes, [*names.labels]) == ("shop", ["n1", "n2"], ["disk", "zone"])
    assert names.namespaces == ["default", "empty", "shop"]
    assert {short: names.of_kind(short, "shop") for short in names.by_kind} == {"po": ["p1"], "deploy": ["web"]}
    assert (names.of_kind("po", "default"), names.of_kind("sts", "shop")) == (["p0"], [])


def test_a_file_is_read_once_while_it_is_the_same(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "cluster.json", OBJECTS)
    first = names_in(str(file), environment)
    with monkeypatch.context() as patch:
        patch.setattr(naming, "read_names", None)
        assert names_in(str(file), environment) == first
    state = file.stat()
    # As many bytes, and a later time.
    written(file, [named("Node", "n3"), *OBJECTS[1:]]).write_bytes(file.read_bytes().ljust(state.st_size))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert names_in(str(file), environment).nodes == ["n1", "n3"]


def test_what_is_remembered_is_for_the_user_alone(tmp_path: Path, environment: dict[str, str]) -> None:
    names_in(str(written(tmp_path / "cluster.json", OBJECTS)), environment)
    folder = tmp_path / "cache" / "kubespread" / "names"
    assert [oct(path.stat().st_mode & 0o777) for path in (folder, *folder.iterdir())] == ["0o700", "0o600"]
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["cluster.json"]


def test_few_files_are_remembered(tmp_path: Path, environment: dict[str, str]) -> None:
    for number in range(40):
        names_in(str(written(tmp_path / f"{number}.json", OBJECTS[:1])), environment)
    assert len(list((tmp_path / "cache" / "kubespread" / "names").iterdir())) == 32


def test_a_memory_that_is_damaged_or_cannot_be_written_is_done_without(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    file = written(tmp_path / "cluster.json", OBJECTS)
    first = names_in(str(file), environment)
    (memory,) = (tmp_path / "cache" / "kubespread" / "names").iterdir()
    memory.write_text("{")
    assert names_in(str(file), environment) == first
    (tmp_path / "file").write_text("")
    assert names_in(str(file), {"XDG_CACHE_HOME": str(tmp_path / "file")}) == first


def test_only_regular_files_are_read(tmp_path: Path, environment: dict[str, str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [names_in(str(path), environment).nodes for path in (tmp_path / "pipe", tmp_path)] == [[], []]


def test_what_is_no_cluster_is_an_error_and_not_remembered(tmp_path: Path, environment: dict[str, str]) -> None:
    file = tmp_path / "bad.json"
    file.write_text("{")
    with pytest.raises(MalformedError):
        names_in(str(file), environment)
    assert not (tmp_path / "cache").exists()
