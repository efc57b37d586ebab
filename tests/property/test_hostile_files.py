"""Whatever bytes a file holds, reading it ends soon, in little memory, with a cluster or with one line."""

from __future__ import annotations

import gzip
import io
import json
import random
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from tests.builders import hard, hosts, pod, pods_on
from tests.cli.support import CLUSTER, POD
from tests.property.bounded import run_bounded

OBJECTS = [*hosts("a", "b"), *pods_on({"n0": 2}), pod("web", constraints=[hard()])]
JSON = json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}, indent=1).encode()
YAML = yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": OBJECTS}).encode()


def tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        member = tarfile.TarInfo("cluster.json")
        member.size = len(JSON)
        archive.addfile(member, io.BytesIO(JSON))
    return out.getvalue()


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cluster.json", JSON)
    return out.getvalue()


SMALL = kubespread.load(CLUSTER)
ORIGINALS = {"JSON": JSON, "YAML": YAML, "gzip": gzip.compress(JSON, mtime=0), "tar": tar(), "zip": zipped()}


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """One of the originals cut short, or with some of its bytes changed, removed or repeated."""
    data = bytearray(ORIGINALS[draw(st.sampled_from(sorted(ORIGINALS)))])
    for _ in range(draw(st.integers(0, 6))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        length = draw(st.integers(0, 9))
        match draw(st.sampled_from(["change", "remove", "repeat", "cut"])):
            case "change":
                data[at : at + length] = draw(st.binary(min_size=length, max_size=length))
            case "remove":
                del data[at : at + length]
            case "repeat":
                data[at:at] = data[at : at + length * 10]
            case "cut":
                del data[at:]
    return bytes(data)


def complaint(work: Callable[[], object], *expected: type[Exception]) -> str | None:
    """What the user reads; anything else than the errors expected goes through."""
    try:
        work()
    except expected as error:
        return str(error)
    return None


def read(data: bytes) -> None:
    """As a cluster and as a manifest: a report, or an error of which every line can be read."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "file"
        path.write_bytes(data)
        as_cluster = complaint(lambda: kubespread.load(path), kubespread.SnapshotError)
        assert as_cluster is None or len(as_cluster.splitlines()) == 1
        as_manifest = complaint(
            lambda: kubespread.explain(SMALL, path), kubespread.ManifestError, kubespread.UsageError
        )
        assert as_manifest is None or all(as_manifest.splitlines())


@given(st.binary(max_size=400))
@settings(max_examples=120, deadline=None)
def test_random_bytes(data: bytes) -> None:
    read(data)


@given(mutated())
@settings(max_examples=120, deadline=None)
def test_mutated_files(data: bytes) -> None:
    read(data)


@given(st.text(alphabet="{}[]\":,&*!|>-?%@`#'\\ \n\t<y~1e.", max_size=80))
@settings(max_examples=150, deadline=None)
def test_syntax_soup(text: str) -> None:
    read(text.encode())


ALIASES = "\n".join(["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12))])
POD_OF = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"spec":%s}'
# Longer than the window that a list is read through.
LONG_LIST = b'{"items":[' + b'{"a":"%s"},' % (b"x" * 1000) * 6000 + b"{}],"
BOMBS: dict[str, bytes | Callable[[], bytes]] = {
    "aliases": ALIASES.encode(),
    "a deep YAML flow": b"[" * 10_000,
    "a deep YAML block": b"".join(b" " * depth + b"a:\n" for depth in range(10_000)),
    "a deep JSON list": b'{"kind":"List","apiVersion":"v1","items":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "a deep JSON object": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "a deep object inside a node": (POD_OF % ('{"x":' * 1_000_000 + "1" + "}" * 1_000_000)).encode(),
    "lists in lists": b'{"kind":"List","apiVersion":"v1","items":[' * 2000 + b"]}" * 2000,
    "a huge number": (POD_OF % ('{"unschedulable":' + "9" * 100_000 + "}")).encode(),
    "a huge exponent": (POD_OF % '{"unschedulable":1e999999999}').encode(),
    "a huge quantity": b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"},"status":{"allocatable":{"cpu":"'
    + b"9" * 10_000
    + b'"}}}',
    "a kind that is a huge number": b'{"apiVersion":"v1","kind":' + b"9" * 400 + b"}",
    "an item whose kind is a huge number": b'{"apiVersion":"v1","items":[{"kind":1e999}],"kind":"List"}',
    "a list whose kind is a huge number": b'{"items":[{}],"kind":1e999}',
    "a key that is none, behind a long list": LONG_LIST + b"7:1}",
    "a key that is an object, behind a long list": LONG_LIST + b"{}:1}",
    # Packed only where they go off: it takes a second.
    "a gzip bomb": lambda: gzip.compress(b" " * 2**28, 1),
    "a gzip bomb of brackets": lambda: gzip.compress(b"[" * 2**24, 1),
    "a gzip bomb of a long string": lambda: gzip.compress(b'{"kind":"List","items":["' + b"x" * 2**27, 1),
    "a key given twice": b"kind: List\nkind: List\n",
    "NUL": JSON[:50] + b"\0" + JSON[50:],
    "invalid UTF-8": JSON[:50] + b"\xff\xfe" + JSON[50:],
    "half a character": "kind: \u00e9".encode()[:-1],
    "a lone surrogate": b'{"kind":"\\ud800"}',
    "a tab": b"\tkind: List\n",
    "nothing": b"",
    "spaces": b" " * 10_000,
    "a reference to itself": b"a: &a [*a]\n",
    "a merge of itself": b"a: &a {<<: *a}\n",
    "a stamp of the wrong type": b'{"kind":"List","apiVersion":"v1","kubespread":{"gaps":7},"items":[]}',
    "a stamp that is no object": b'{"kind":"List","apiVersion":"v1","kubespread":[],"items":[]}',
}
READABLE = {
    "a byte order mark": b"\xef\xbb\xbf" + JSON,
    "a byte order mark before YAML": b"\xef\xbb\xbf" + YAML,
    "carriage returns": YAML.replace(b"\n", b"\r\n"),
    "carriage returns in JSON": JSON.replace(b"\n", b"\r\n"),
    "UTF-16": JSON.decode().encode("utf-16"),
    "space before and after": b"\n \t" + JSON + b"\n\n ",
}


@pytest.mark.parametrize("case", BOMBS)
def test_a_hostile_file_is_one_line(case: str, tmp_path: Path) -> None:
    path = tmp_path / "hostile"
    bomb = BOMBS[case]
    path.write_bytes(bomb if isinstance(bomb, bytes) else bomb())
    code, out, err = run_bounded(tmp_path, "explain", POD, "-S", path)
    assert (code, out, err.count("\n")) == (3, "", 1), err[:500]
    code, out, err = run_bounded(tmp_path, "explain", path, "-S", CLUSTER)
    assert (code, out, err.count("\n")) == (2, "", 1), err[:500]


@pytest.mark.parametrize("case", READABLE)
def test_an_odd_file_is_read_all_the_same(case: str, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    path.write_bytes(READABLE[case])
    assert kubespread.load(path) == kubespread.Snapshot.from_objects(OBJECTS)


@pytest.mark.parametrize("seed", range(3))
def test_pieces_of_any_size_are_the_same_text(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks that end anywhere, windows smaller than an object: what is read does not depend on how it came."""
    rng = random.Random(seed)
    monkeypatch.setattr("kubespread.manifest.text._CHUNK", rng.choice([3, 7, 64, 300]))
    monkeypatch.setattr("kubespread.manifest.json_stream._WINDOW", rng.choice([1, 50, 1000]))
    monkeypatch.setattr("kubespread.manifest.objects._MAX_BYTES_FOR_LINES", rng.choice([10, 10**6]))
    expected: Any = kubespread.Snapshot.from_objects(OBJECTS)
    for data in ORIGINALS.values():
        path = tmp_path / "file"
        path.write_bytes(data)
        assert kubespread.load(path) == expected
