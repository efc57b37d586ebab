"""What a large file was decoded to is kept: the answer is the same with it, without it, and where it is damaged."""

from __future__ import annotations

import json
import os
import tempfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.snapshot.files import decoded, reader
from kubespread.snapshot.save import save
from tests.builders import Data, hosts, owned_by, pod
from tests.cli.support import FIXTURES, POD, run

CLUSTERS = [
    *sorted((FIXTURES / "clusters").glob("*.yaml")),
    FIXTURES / "cases" / "adversarial" / "base" / "cluster.json",
]


def running(number: int) -> Data:
    """One of two workloads' pods; only the first lacks what a server sets."""
    made = pod(f"web-{number}", f"n{number % 3}", labels={"app": f"app-{number % 2}"})
    if number:
        of_the_server = {"uid": f"uid-{number}", "resourceVersion": "7", "creationTimestamp": "2026-10-01T08:15:30Z"}
        made["metadata"].update(of_the_server, ownerReferences=owned_by("ReplicaSet", "web"))
    return made


PODS = [running(number) for number in range(12)]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, for files of any size."""
    monkeypatch.setattr(reader, "_LARGE", dict.fromkeys((False, True), 0))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kubespread" / "decoded"


def written(path: Path, objects: list[Data]) -> Path:
    """A file, last written a minute ago."""
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    os.utime(path, (path.stat().st_mtime - 60,) * 2)
    return path


def cluster(directory: Path) -> Path:
    return written(directory / "cluster.json", [*hosts("a", "b", "b"), *PODS])


def refuse(*_: object) -> Any:
    raise AssertionError("decoded again")


@pytest.mark.parametrize("source", CLUSTERS, ids=lambda path: path.stem)
def test_what_is_kept_is_the_same_cluster(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "saved.json.gz"
    save(kubespread.load(source), str(file))
    os.utime(file, (file.stat().st_mtime - 60,) * 2)
    first = kubespread.load(file)
    monkeypatch.setattr(reader, "_read", refuse)
    assert kubespread.load(file) == first


def test_pods_share_what_they_shared(tmp_path: Path) -> None:
    """Pods whose parts are the same objects are of one kind."""

    def shared(snapshot: kubespread.Snapshot) -> list[int]:
        parts: list[list[object]] = [
            [pod.metadata.labels for pod in snapshot.pods],
            [pod.metadata.annotations for pod in snapshot.pods],
            [pod.metadata.owner_references for pod in snapshot.pods],
            [pod.spec.containers for pod in snapshot.pods],
            [pod.spec.tolerations for pod in snapshot.pods],
            [pod.status for pod in snapshot.pods],
        ]
        return [len({*map(id, each)}) for each in parts]

    file = cluster(tmp_path)
    assert shared(kubespread.load(file)) == shared(kubespread.load(file)) == [2, 1, 2, 1, 1, 1]


def test_every_answer_is_the_same_byte_for_byte(tmp_path: Path, cache: Path) -> None:
    """Without a cache, with one that is made, is there, is of another file, or is broken."""
    file = cluster(tmp_path)

    def answers(**environment: str) -> list[tuple[int, str, str]]:
        asked = [["explain", POD, "-o", "json"], ["audit", "-A", "--fail-on", "violated"], ["map", "--key", "hostname"]]
        return [run(*words, "-S", str(file), env=environment) for words in asked]

    without = answers(XDG_CACHE_HOME=os.devnull)
    assert not cache.exists()
    assert answers() == without
    (kept,) = cache.iterdir()
    assert answers() == without
    kept.write_bytes(kept.read_bytes()[:-1])
    assert answers() == without
    kept.unlink()
    kept.symlink_to(file)
    assert answers() == without


@settings(max_examples=25)
@given(st.data())
def test_no_state_of_the_cache_changes_an_answer(data: st.DataObject) -> None:
    """Nothing kept, what is kept found, that of another content, or damaged in any place."""
    numbers = data.draw(st.lists(st.integers(0, 11), unique=True, max_size=6))
    state = data.draw(st.sampled_from(["fresh", "stale", "broken"]))

    def answer(file: Path) -> Any:
        snapshot = kubespread.load(file)
        return snapshot, kubespread.explain(snapshot, POD).to_dict()

    with tempfile.TemporaryDirectory() as name:
        file, folder = Path(name) / "cluster.json", Path(name) / "kubespread" / "decoded"
        with mock.patch.dict(os.environ, XDG_CACHE_HOME=name):
            if state == "stale":
                kubespread.load(written(file, [*hosts("a", "b"), *PODS]))
            kubespread.load(written(file, [*hosts("a", "b"), *(PODS[number] for number in numbers)]))
            if state == "broken":
                (kept,) = folder.iterdir()
                content = bytearray(kept.read_bytes())
                content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
                kept.write_bytes(content)
            with_cache = answer(file)
            assert folder.exists()
        with mock.patch.dict(os.environ, XDG_CACHE_HOME=os.devnull):
            assert answer(file) == with_cache


def test_a_file_with_other_content_is_read(tmp_path: Path, cache: Path) -> None:
    """Of the same name, size and time."""
    file = cluster(tmp_path)
    state = file.stat()
    assert kubespread.load(file).pods[3].metadata.labels == {"app": "app-1"}
    file.write_text(file.read_text().replace('"app": "app-1"', '"app": "app-9"'))
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.stat().st_size, kubespread.load(file).pods[3].metadata.labels) == (state.st_size, {"app": "app-9"})
    assert len([*cache.iterdir()]) == 2


def test_the_same_content_elsewhere_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = kubespread.load(cluster(tmp_path))
    (tmp_path / "cluster.json").rename(tmp_path / "moved.json")
    monkeypatch.setattr(reader, "_read", refuse)
    moved = kubespread.load(tmp_path / "moved.json")
    assert (moved, moved.files) == (first, (str(tmp_path / "moved.json"),))


def test_other_code_decodes_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    file = cluster(tmp_path)
    kubespread.load(file)
    (tmp_path / "decoding.py").write_text("")
    code = decoded._code()
    assert {"decoded.py", "snapshot.py", "core.py", "json_stream.py"} <= {module.name for module in code}
    monkeypatch.setattr(decoded, "_code", lambda: [*code[1:], tmp_path / "decoding.py"])
    kubespread.load(file)
    assert len([*cache.iterdir()]) == 2


@settings(max_examples=60)
@given(st.data())
def test_damage_is_never_more_than_slow(data: st.DataObject) -> None:
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), *PODS[:3]])
    packed = decoded._pack(snapshot)
    assert decoded._unpack(packed) == snapshot
    at = data.draw(st.integers(0, len(packed) - 1))
    end = data.draw(st.integers(at, min(at + 4, len(packed))))
    damaged = packed[:at] + data.draw(st.binary(max_size=4)) + packed[end:]
    if damaged != packed:
        with pytest.raises(ValueError, match="damaged"):
            decoded._unpack(damaged)
    # A checksum that fits does not help where the content does not: everything is checked like any other file.
    content = damaged[4:]
    with suppress(*decoded.UNREADABLE):
        decoded._unpack(zlib.crc32(content).to_bytes(4, "big") + content)


def test_it_is_for_the_user_alone(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = cluster(tmp_path)
    kubespread.load(file)
    (kept,) = cache.iterdir()
    assert [oct(path.stat().st_mode & 0o777) for path in (cache, kept)] == ["0o700", "0o600"]
    kept.chmod(0o620)
    monkeypatch.setattr(decoded, "_unpack", refuse)
    kubespread.load(file)
    assert oct(kept.stat().st_mode & 0o777) == "0o600"


def test_nobody_waits_for_the_disk(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", refuse)
    kubespread.load(cluster(tmp_path))
    assert len([*cache.iterdir()]) == 1


def test_it_holds_no_more_than_a_saved_snapshot(tmp_path: Path, cache: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"key": "hunter2"}}
    container = {"name": "main", "env": [{"name": "TOKEN", "value": "hunter2"}], "args": ["--password=hunter2"]}
    web = pod("web", "n0", containers=[container])
    web["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "hunter2"}
    kubespread.load(written(tmp_path / "cluster.json", [*hosts("a"), secret, web]))
    (kept,) = cache.iterdir()
    content = kept.read_bytes()
    assert (b"web" in content, b"hunter2" in content) == (True, False)


NOT_KEPT = {
    "an object that cannot be read, which is named by where it stands": [{**pod("x"), "spec": {"nodeName": 7}}],
    "a number that MessagePack does not have": [
        pod("x", "n0", containers=[{"name": "main", "resources": {"requests": {"cpu": 10**30}}}])
    ],
}


@pytest.mark.parametrize("case", NOT_KEPT)
def test_not_kept_is(case: str, tmp_path: Path, cache: Path) -> None:
    file = written(tmp_path / "cluster.json", [*hosts("a"), *NOT_KEPT[case]])
    assert kubespread.load(file) == kubespread.load(file)
    assert [*cache.iterdir()] == []


def test_what_was_written_just_now_and_several_sources_are_not_kept(tmp_path: Path, cache: Path) -> None:
    file = cluster(tmp_path)
    kubespread.load(file, cluster(tmp_path))
    kubespread.load(tmp_path)
    assert not cache.exists()
    file.touch()
    kubespread.load(file)
    assert [*cache.iterdir()] == []


def test_a_folder_that_is_none_is_done_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    file = cluster(tmp_path)
    first = kubespread.load(file)
    (kept,) = cache.iterdir()
    kept.unlink()
    os.mkfifo(kept)
    assert kubespread.load(file) == first
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(decoded, "_key", refuse)
    assert kubespread.load(file) == first


def test_as_much_is_kept_as_was_used_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    files = [written(tmp_path / f"{number}.json", [*hosts("a"), pod(f"web-{number}", "n0")]) for number in range(4)]
    for position, file in enumerate(files[:3]):
        kubespread.load(file)
        for each in cache.iterdir():
            # As long ago as there were files since.
            os.utime(each, ns=(0, each.stat().st_mtime_ns - 10**9 * (position + 1)))
    kubespread.load(files[0])
    size = max(each.stat().st_size for each in cache.iterdir())
    monkeypatch.setattr(decoded, "_MAX_BYTES", 2 * size)
    kubespread.load(files[3])
    assert len([*cache.iterdir()]) == 2
    monkeypatch.setattr(reader, "_read", refuse)
    assert [kubespread.load(files[number]).pods[0].metadata.name for number in (0, 3)] == ["web-0", "web-3"]
