"""What a cluster in a file has by name, and how long that is remembered."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kubespread.errors import SnapshotError
from kubespread.snapshot.files import reader
from kubespread.snapshot.name_index import names_in


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
    return aged(path)


def aged(path: Path) -> Path:
    """The file, last written a minute ago."""
    os.utime(path, (path.stat().st_mtime - 60,) * 2)
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.mark.parametrize("name", ["cluster.json", "cluster.json.gz"])
def test_names_are_those_of_the_objects(name: str, tmp_path: Path, environment: dict[str, str]) -> None:
    names = names_in(str(written(tmp_path / name, OBJECTS, kubespread={"namespace": "shop"})), environment)
    assert (names.namespace, names.nodes, [*names.labels]) == ("shop", ["n1", "n2"], ["disk", "zone"])
    assert names.namespaces == ["default", "empty", "shop"]
    assert names.by_kind == {"po": {"default": ["p0"], "shop": ["p1"]}, "deploy": {"shop": ["web"]}}


def test_a_file_is_read_once_while_it_is_the_same(
    tmp_path: Path, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "cluster.json", OBJECTS)
    first = names_in(str(file), environment)
    with monkeypatch.context() as patch:
        patch.setattr(reader, "read_parts", None)
        assert names_in(str(file), environment) == first
    state = file.stat()
    # As many bytes, and a later time.
    written(file, [named("Node", "n3"), *OBJECTS[1:]]).write_bytes(file.read_bytes().ljust(state.st_size))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert names_in(str(file), environment).nodes == ["n1", "n3"]


def test_what_is_remembered_is_for_the_user_alone(tmp_path: Path, environment: dict[str, str]) -> None:
    mask = os.umask(0)
    try:
        names_in(str(written(tmp_path / "cluster.json", OBJECTS)), environment)
    finally:
        os.umask(mask)
    folder = tmp_path / "cache" / "kubespread" / "names"
    made = (folder.parents[1], folder.parent, folder, *folder.iterdir())
    assert [oct(path.stat().st_mode & 0o777) for path in made] == ["0o700", "0o700", "0o700", "0o600"]
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


def test_what_was_written_just_now_is_read_again(tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path / "cluster.json", OBJECTS[:1])
    file.touch()
    state = file.stat()
    assert names_in(str(file), environment).nodes == ["n2"]
    file.write_text(file.read_text().replace("n2", "n7"))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert names_in(str(file), environment).nodes == ["n7"]


def _as_a_pipe(memory: Path) -> None:
    memory.unlink()
    os.mkfifo(memory)


def _as_a_folder(memory: Path) -> None:
    memory.unlink()
    memory.mkdir()


def _as_what_never_ends(memory: Path) -> None:
    memory.unlink()
    memory.symlink_to("/dev/zero")


def _replaced(old: bytes, new: bytes) -> Callable[[Path], None]:
    def write(memory: Path) -> None:
        assert old in memory.read_bytes()
        memory.write_bytes(memory.read_bytes().replace(old, new))

    return write


HOSTILE: dict[str, Callable[[Path], object]] = {
    "nothing": lambda memory: memory.write_bytes(b""),
    "half of it": lambda memory: memory.write_bytes(memory.read_bytes()[:-20]),
    "a byte that is not UTF-8": _replaced(b'"n1"', b'"\xff1"'),
    "lists a million deep": lambda memory: memory.write_bytes(b"[" * 10**6 + b"]" * 10**6),
    "labels that are none": _replaced(b'["ssd"]', b'{"a":1}'),
    "names that are none": _replaced(b'{"shop":["web"]}', b"[7]"),
    "a form of another release": _replaced(b'"form":6', b'"form":1'),
    "another file's": _replaced(b"cluster.json", b"another.json"),
    "more than is ever written": lambda memory: os.truncate(memory, 2**30),
    "a pipe that nobody writes to": _as_a_pipe,
    "a folder": _as_a_folder,
    "a device without end": _as_what_never_ends,
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_memory_is_only_slow(case: str, tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path / "cluster.json", OBJECTS)
    names_in(str(file), environment)
    (memory,) = (tmp_path / "cache" / "kubespread" / "names").iterdir()
    HOSTILE[case](memory)
    names = names_in(str(file), environment)
    assert (names.nodes, names.by_kind["deploy"], names.labels["disk"]) == (["n1", "n2"], {"shop": ["web"]}, ["ssd"])


def test_a_full_disk_is_only_slow(tmp_path: Path, environment: dict[str, str]) -> None:
    file = written(tmp_path / "cluster.json", OBJECTS)
    folder = tmp_path / "cache" / "kubespread" / "names"
    names_in(str(file), environment)
    (memory,) = folder.iterdir()
    before = memory.read_bytes()
    written(file, OBJECTS[:1])
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, room[1]))
        assert names_in(str(file), environment).nodes == ["n2"]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, room)
        signal.signal(signal.SIGXFSZ, ignored)
    assert [(each, each.read_bytes()) for each in folder.iterdir()] == [(memory, before)]
    assert names_in(str(file), environment).nodes == ["n2"]


def test_two_writers_and_a_reader_never_see_half_a_memory(tmp_path: Path, environment: dict[str, str]) -> None:
    """Two clusters take turns in one file, as a snapshot does that is saved every minute."""
    file, rng = tmp_path / "cluster.json", random.Random(0)
    versions = [[named("Node", f"n{number}")] * 1 + [named("Pod", "p" * 50)] * 50 for number in range(2)]
    other = tmp_path / "other.json"
    written(file, versions[0])
    wrong: list[object] = []

    def ask() -> None:
        for _ in range(40):
            names = names_in(str(file), environment)
            if names.nodes not in (["n0"], ["n1"]) or names.by_kind["po"]["default"] != ["p" * 50]:
                wrong.append(names)

    def forget() -> None:
        for _ in range(40):
            for memory in (tmp_path / "cache").rglob("*.json"):
                memory.unlink(missing_ok=True)
            written(other, versions[rng.randrange(2)]).replace(file)

    threads = [threading.Thread(target=work) for work in (ask, ask, ask, forget)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.suffix != ".json"] == []


def test_only_regular_files_are_read(tmp_path: Path, environment: dict[str, str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert [names_in(str(path), environment).nodes for path in (tmp_path / "pipe", tmp_path)] == [[], []]


def test_what_is_no_cluster_is_an_error_and_not_remembered(tmp_path: Path, environment: dict[str, str]) -> None:
    file = tmp_path / "bad.json"
    file.write_text("{")
    with pytest.raises(SnapshotError):
        names_in(str(file), environment)
    assert not (tmp_path / "cache").exists()
