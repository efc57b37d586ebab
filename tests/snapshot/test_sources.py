"""Directories, archives and the dumps of other tools: walked, bounded, never unpacked, with what they lack named."""

from __future__ import annotations

import cProfile
import gzip
import io
import json
import os
import pstats
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.kube.api.core import Service
from kubespread.manifest import text as text_file
from kubespread.snapshot.files import reader
from kubespread.snapshot.files.reader import SourceFindings
from tests.builders import Data, hosts, owner, pod
from tests.cli.support import run

NODES, PODS = hosts("a", "b"), [pod("p0", "n0"), pod("p1", "n1", namespace="shop")]
SERVICES = [owner("Service", "web", {"foo": "bar"}, api_version="v1")]
EXPECTED = kubespread.Snapshot.from_objects([*NODES, *PODS, *SERVICES])


def typed(objects: list[Data]) -> str:
    """A typed list, its items without kind, as ``kubectl get --raw`` and ``kubectl cluster-info dump`` have it."""
    items = [{key: value for key, value in found.items() if key not in ("apiVersion", "kind")} for found in objects]
    return json.dumps(
        {"kind": f"{objects[0]['kind']}List", "apiVersion": objects[0]["apiVersion"], "metadata": {}, "items": items},
        indent=4,
    )


def single(found: Data) -> str:
    return yaml.safe_dump(found)


LAYOUTS: dict[str, dict[str, str]] = {
    "kubectl cluster-info dump": {
        "nodes.json": typed(NODES),
        "default/pods.json": typed(PODS[:1]),
        "shop/pods.json": typed(PODS[1:]),
        "default/services.json": typed(SERVICES),
        "default/replication-controllers.json": '{"kind": "ReplicationControllerList", "apiVersion": "v1", "items": []}',
        "default/events.json": '{"kind": "EventList", "apiVersion": "v1", "items": [{"metadata": {"name": "e"}}]}',
        "default/p0/logs.txt": "{ not read }",
    },
    "must-gather": {
        "must-gather/quay-io-sha256/cluster-scoped-resources/core/nodes/n0.yaml": single(NODES[0]),
        "must-gather/quay-io-sha256/cluster-scoped-resources/core/nodes/n1.yaml": single(NODES[1]),
        "must-gather/quay-io-sha256/namespaces/default/core/pods.yaml": single(
            {"apiVersion": "v1", "kind": "PodList", "items": PODS[:1]}
        ),
        "must-gather/quay-io-sha256/namespaces/shop/core/pods.yaml": single(
            {"apiVersion": "v1", "kind": "PodList", "items": PODS[1:]}
        ),
        "must-gather/quay-io-sha256/namespaces/default/core/services.yaml": single(
            {"apiVersion": "v1", "kind": "List", "items": SERVICES}
        ),
        "must-gather/quay-io-sha256/version": "4.18",
        "must-gather/timestamp.yaml": "- 2026-11-20\n",
    },
    "support bundle": {
        "bundle/cluster-resources/nodes.json": json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": NODES}),
        "bundle/cluster-resources/pods/default.json": typed(PODS[:1]),
        "bundle/cluster-resources/pods/shop.json": typed(PODS[1:]),
        "bundle/cluster-resources/services/default.json": typed(SERVICES),
        "bundle/cluster-resources/pvcs-errors.json": '["forbidden"]',
        "bundle/host-collectors/system/cpu.json": "[1, 2]",
    },
    "Velero backup": {
        **{f"resources/nodes/cluster/{found['metadata']['name']}.json": json.dumps(found) for found in NODES},
        **{
            f"resources/nodes/v1-preferredversion/cluster/{found['metadata']['name']}.json": json.dumps(found)
            for found in NODES
        },
        "resources/pods/namespaces/default/p0.json": json.dumps(PODS[0]),
        "resources/pods/namespaces/shop/p1.json": json.dumps(PODS[1]),
        "resources/services/namespaces/default/web.json": json.dumps(SERVICES[0]),
        "metadata/version": "1",
    },
    "crust-gather": {
        **{f"cluster/v1/Node/{found['metadata']['name']}.yaml": single(found) for found in NODES},
        "namespaces/default/v1/Pod/p0.yaml": single(PODS[0]),
        "namespaces/shop/v1/Pod/p1.yaml": single(PODS[1]),
        "namespaces/default/v1/Service/web.yaml": single(SERVICES[0]),
    },
}
GAPS = {
    "kubectl cluster-info dump": (
        "a kubectl cluster-info dump holds no StatefulSet, Namespace, PersistentVolumeClaim, PersistentVolume or StorageClass, and without "
        "--all-namespaces only the pods of kube-system and one more namespace",
    ),
    "support bundle": ("the support bundle says that pvcs could not be collected in full",),
}


def as_directory(files: Mapping[str, str], root: Path) -> Path:
    for name, text in files.items():
        path = root / "dump" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "dump"


def as_tar(files: Mapping[str, str], root: Path, mode: Any = "w:gz") -> Path:
    path = root / "dump.tar.gz"
    with tarfile.open(path, mode) as tar:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            tar.addfile(member, io.BytesIO(text.encode()))
    return path


def as_zip(files: Mapping[str, str], root: Path) -> Path:
    path = root / "dump.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, text in files.items():
            zipped.writestr(name, text)
    return path


PACKINGS: dict[str, Callable[[Mapping[str, str], Path], Path]] = {
    "directory": as_directory,
    "tar.gz": as_tar,
    "tar": lambda files, root: as_tar(files, root, "w"),
    "zip": as_zip,
}


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_dumps(layout: str, packing: str, tmp_path: Path) -> None:
    snapshot = kubespread.load(PACKINGS[packing](LAYOUTS[layout], tmp_path))
    assert {found.metadata.name: found for found in snapshot.nodes} == {
        found.metadata.name: found for found in EXPECTED.nodes
    }
    assert {found.metadata.name: found for found in snapshot.pods} == {
        found.metadata.name: found for found in EXPECTED.pods
    }
    assert (snapshot.objects.get(Service), snapshot.origin.gaps) == (
        EXPECTED.objects.get(Service),
        GAPS.get(layout, ()),
    )


@pytest.mark.parametrize("packing", ["tar.gz", "zip"])
def test_archives_from_standard_input(packing: str, tmp_path: Path) -> None:
    path = PACKINGS[packing](LAYOUTS["must-gather"], tmp_path)
    result = run("snapshot", "-S", "-", stdin=path.read_bytes())
    assert (result.code, len(json.loads(result.out)["items"])) == (0, 5)


LOGS = """==== START logs for container main of pod default/p0 ====
{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "ghost"}}
[ \xff not JSON
==== END logs for container main of pod default/p0 ====
"""


@pytest.mark.parametrize("at_once", [True, False], ids=["whole", "in tiny pieces"])
def test_a_cluster_info_dump_on_standard_output(at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not at_once:
        monkeypatch.setattr("kubespread.manifest.text._CHUNK", 7)
    text = "\n".join([typed(NODES), typed(PODS), LOGS + LOGS + typed(SERVICES), LOGS])
    path = tmp_path / "dump.txt"
    path.write_bytes(text.encode("latin-1"))
    snapshot = kubespread.load(path)
    assert (snapshot.nodes, snapshot.pods, snapshot.objects) == (EXPECTED.nodes, EXPECTED.pods, EXPECTED.objects)
    assert snapshot.origin.gaps == GAPS["kubectl cluster-info dump"]


@pytest.mark.parametrize("before", ["", "=" * 2000, "a=b\n" * 2000], ids=["nothing", "a rule", "many equals signs"])
def test_logs_are_left_out_whatever_pieces_they_come_in(before: str) -> None:
    text = f"{before}{{}}\n{LOGS}{{}}\n{LOGS}\n==== START".encode("latin-1")
    for size in (1, 2, 7, 33, 90, 10**6):
        chunks = (text[at : at + size] for at in range(0, len(text), size))
        assert (
            b"".join(SourceFindings().without_logs(chunks)).split() == f"{before}{{}} {{}} ==== START".encode().split()
        )


def test_a_file_of_many_that_is_damaged_is_a_gap(tmp_path: Path) -> None:
    files = {
        "nodes.json": typed(NODES),
        "pods.json": typed(PODS)[:-10],
        "template.yaml": "a: {{ .Values.a }}\n",
        "values.yaml": "x: 1\n",
    }
    snapshot = kubespread.load(as_directory(files, tmp_path))
    root = tmp_path / "dump"
    assert (len(snapshot.nodes), snapshot.skipped) == (2, {"(no kind)": 1})
    assert snapshot.origin.gaps == (
        "no Pod objects: every node counts as empty",
        f"unreadable file: {root}/pods.json:41: JSON syntax: Input data was truncated",
        f"unreadable file: {root}/template.yaml:1: a Helm template, not a manifest: pipe `helm template` into kubespread",
    )


def test_a_links_target_counts_only_inside_the_directory(tmp_path: Path) -> None:
    (tmp_path / "secret.json").write_text(typed([pod("outside", "n0")]))
    root = as_directory({"real/nodes.json": typed(NODES)}, tmp_path)
    (root / "inside.json").symlink_to(root / "real" / "nodes.json")
    (root / "outside.json").symlink_to(tmp_path / "secret.json")
    (root / "loop").symlink_to(root)
    snapshot = kubespread.load(root)
    assert (len(snapshot.nodes), snapshot.pods) == (2, ())


def test_links_and_paths_that_lead_out_of_an_archive_reach_nothing(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(typed([pod("outside", "n0")]))
    path = tmp_path / "evil.tar"
    with tarfile.open(path, "w") as tar:
        for name, kind, target in (
            ("link.json", tarfile.SYMTYPE, str(secret)),
            ("hard.json", tarfile.LNKTYPE, "../secret.json"),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            tar.addfile(member)
        for name in ("../../escape.json", "/tmp/absolute.json"):
            member = tarfile.TarInfo(name)
            member.size = len(typed(NODES))
            tar.addfile(member, io.BytesIO(typed(NODES).encode()))
    before = sorted(tmp_path.rglob("*"))
    assert (len(kubespread.load(path).nodes), kubespread.load(path).pods) == (2, ())
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("packing", ["tar.gz", "zip"])
def test_an_archive_that_unfolds_without_end(packing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_CLUSTER_BYTES", 2**20)
    path = PACKINGS[packing]({"nodes.json": typed(NODES), "bomb.json": " " * 2**21}, tmp_path)
    with pytest.raises(kubespread.SnapshotError, match="unpacks to more than"):
        kubespread.load(path)


def test_an_archive_of_too_many_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_ENTRIES", 3)
    path = as_tar({f"{number}.json": "{}" for number in range(5)}, tmp_path)
    with pytest.raises(kubespread.SnapshotError, match="more than 3 entries"):
        kubespread.load(path)


DAMAGED = {
    "half a tar.gz": lambda root: as_tar(LAYOUTS["must-gather"], root).read_bytes()[:300],
    "half a zip": lambda root: as_zip(LAYOUTS["must-gather"], root).read_bytes()[:300],
    "a tar cut in a member": lambda root: as_tar(LAYOUTS["must-gather"], root, "w").read_bytes()[:1300],
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_damaged_archive_is_one_line(case: str, tmp_path: Path) -> None:
    path = tmp_path / "damaged"
    path.write_bytes(DAMAGED[case](tmp_path))
    result = run("snapshot", "-S", path)
    assert (result.code, result.out, result.err.count("\n")) == (3, "", 1)
    assert result.err.startswith(f"error: {path}: damaged archive: ")


def _zipped(method: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as zipped:
        for name, text in {"é/nodes.json": typed(NODES), "pods.json": typed(PODS)}.items():
            zipped.writestr(name, text)
    return packed.getvalue()


def _tarred(mode: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as tar:  # type: ignore[call-overload]  # any mode
        for name, text in {f"{'long' * 30}/nodes.json": typed(NODES), "pods.json": typed(PODS)}.items():
            member = tarfile.TarInfo(name)
            member.size = len(text)
            tar.addfile(member, io.BytesIO(text.encode()))
    return packed.getvalue()


ARCHIVES = {
    **{f"zip, {method}": _zipped(method) for method in (0, 8, 12, 14)},
    **{f"tar, {mode}": _tarred(mode) for mode in ("w:", "w:gz", "w:bz2", "w:xz")},
    "gzip in two members": gzip.compress(typed(NODES).encode()) + gzip.compress(typed(PODS).encode()),
}


@settings(max_examples=300)
@given(st.data())
def test_an_archive_that_is_damaged_anywhere_is_read_or_refused(data: st.DataObject) -> None:
    whole = ARCHIVES[data.draw(st.sampled_from(sorted(ARCHIVES)))]
    at = data.draw(st.one_of(st.integers(0, len(whole)), st.integers(max(0, len(whole) - 300), len(whole))))
    end = data.draw(st.sampled_from([at, at + 1, at + 4, len(whole)]))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "damaged"
        file.write_bytes(whole[:at] + data.draw(st.binary(max_size=8)) + whole[end:])
        with suppress(kubespread.SnapshotError):
            kubespread.load(file)


def test_a_backup_without_nodes_says_so(tmp_path: Path) -> None:
    files = {name: text for name, text in LAYOUTS["Velero backup"].items() if "/nodes/" not in name}
    result = run("snapshot", "-S", as_tar(files, tmp_path))
    expected = f"error: {tmp_path}/dump.tar.gz: no Node among what was found (2 Pod, 1 Service); a Velero backup may leave nodes out\n"
    assert result == (3, "", expected)


def test_a_gzipped_file_is_not_taken_for_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "cluster.tgz"
    path.write_bytes(gzip.compress(typed(NODES).encode()))
    assert len(kubespread.load(path).nodes) == 2


def test_of_very_many_unreadable_files_the_first_are_named(tmp_path: Path) -> None:
    snapshot = kubespread.load(
        as_directory({"nodes.json": typed(NODES), **{f"{n:02}.json": "{" for n in range(30)}}, tmp_path)
    )
    assert len(snapshot.origin.gaps) == 22
    assert snapshot.origin.gaps[-1] == "unreadable file: 10 more files could not be read"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_a_hundred_thousand_files_are_read_with_little_work_for_each(form: str, tmp_path: Path) -> None:
    """A bound on calls, not on seconds: 100,000 files must take 15 s at most."""
    text = json.dumps if form == "json" else yaml.safe_dump
    count = 200
    root = as_directory(
        {f"{n}.{form}": text(pod(f"p{n}", "n0")) for n in range(count)} | {"nodes.json": typed(NODES)}, tmp_path
    )
    kubespread.load(root)
    profile = cProfile.Profile()
    profile.runcall(kubespread.load, root)
    assert pstats.Stats(profile).total_calls / count < {"json": 200, "yaml": 450}[form]  # type: ignore[attr-defined]  # typeshed lacks it


@pytest.mark.parametrize("size", [0, 100_000], ids=["cut", "longer"])
@pytest.mark.parametrize("packing", ["file", "tar", "manifest"])
def test_a_file_that_is_written_to_while_it_is_read(
    packing: str, size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(typed(NODES))
    if packing == "tar":
        path = as_tar({"cluster.json": typed(NODES)}, tmp_path, "w")
    checked = text_file._check

    def meanwhile(chunks: Iterator[bytes], limit: int) -> Iterator[bytes]:
        for chunk in checked(chunks, limit):
            os.truncate(path, size)
            yield chunk

    monkeypatch.setattr(text_file, "_check", meanwhile)
    with pytest.raises(
        kubespread.KubespreadError,
        match=f"^{path}: it was written to while it was read; try again when it is complete$",
    ):
        kubespread.explain(EXPECTED, path) if packing == "manifest" else kubespread.load(path)
