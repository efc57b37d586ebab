"""Clusters from files and directories, as ``kubectl get nodes,pods,services,... -A -o yaml|json`` writes them."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from kubespread.errors import SnapshotError
from kubespread.kube.decoding import DecodingError, decode
from kubespread.kube.meta import ApiObject
from kubespread.manifest.documents import KubernetesObject, looks_like_json, objects
from kubespread.manifest.events import MalformedError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.reading import MAX_CLUSTER_BYTES, STDIN, display_name, read_text_bytes
from kubespread.snapshot.snapshot import KINDS, Snapshot, SnapshotBuilder, object_name

LIST_COMMAND = "kubectl get nodes,pods,services,replicasets,statefulsets,replicationcontrollers -A -o json > cluster.json"
_SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
_MAX_BYTES_FOR_LINES = 32 * 2**20


def load(paths: Sequence[str]) -> Snapshot:
    """One snapshot of all ``paths``: files, directories of files, or ``-`` for standard input. Raises SnapshotError."""
    builder = SnapshotBuilder()
    with _collector_paused():
        for path in paths:
            for file in _files(path):
                _read_file(file, builder)
        snapshot = builder.build()
    if not snapshot.nodes and not builder.nodes_listed:
        raise SnapshotError(f"{', '.join(map(display_name, paths))}: {_no_nodes(snapshot)}; list them with: {LIST_COMMAND}")
    return snapshot


def _no_nodes(snapshot: Snapshot) -> str:
    found = {"Pod": len(snapshot.pods), "Service": len(snapshot.objects.services), **snapshot.skipped}
    kinds = ", ".join(f"{count} {kind}" for kind, count in found.items() if count)
    return f"no Node among what was found ({kinds})" if kinds else "no Kubernetes objects found"


def _files(path: str) -> Iterator[str]:
    if path != STDIN and Path(path).is_dir():
        found = sorted(str(file) for file in Path(path).rglob("*") if file.name.endswith(_SUFFIXES) and file.is_file())
        if not found:
            raise SnapshotError(f"{path}: no {', '.join(_SUFFIXES[:3])} files in this directory")
        yield from found
    else:
        yield path


def _read_file(path: str, builder: SnapshotBuilder) -> None:
    name = display_name(path)
    try:
        text = read_text_bytes(path, MAX_CLUSTER_BYTES)
        if not (looks_like_json(text) and _read_json(text, builder)):
            _read_plain(name, text, builder)
    except OSError as error:
        raise SnapshotError(f"{name}: {error.strerror or error}") from error
    except MalformedError as error:
        raise SnapshotError(error.fault.describe(name)) from error


class _Head(msgspec.Struct, rename="camel"):
    """What tells a list from an object, everything inside left undecoded."""

    api_version: str = ""
    kind: str = ""
    items: list[msgspec.Raw] | None = None


def _read_json(text: bytes, builder: SnapshotBuilder) -> bool:
    """Read one JSON List straight into typed objects; False when ``text`` is anything else, or has a fault worth a line."""
    try:
        head = msgspec.json.decode(text, type=_Head)
        if not head.kind.endswith("List") or head.items is None:
            return False
        found = [_decode_item(item, head) for item in head.items]
    except (msgspec.MsgspecError, RecursionError):
        return False
    for item_kind, typed in found:
        builder.add(typed) if typed is not None else builder.skip(item_kind)
    _note_empty_list(head.kind, len(head.items), builder)
    return True


def _decode_item(item: msgspec.Raw, list_head: _Head) -> tuple[str, ApiObject | None]:
    own = msgspec.json.decode(item, type=_Head)
    if own.items is not None:
        raise msgspec.ValidationError("a list inside a list")
    kind = own.kind or list_head.kind.removesuffix("List")
    cls = KINDS.get((own.api_version or list_head.api_version, kind))
    return kind, msgspec.json.decode(item, type=cls) if cls is not None else None


def _read_plain(name: str, text: bytes, builder: SnapshotBuilder) -> None:
    for found in objects(text):
        _note_empty_list(found.kind, len(found.data.get("items") or ()), builder)
        if found.kind.endswith("List"):
            continue
        cls = KINDS.get((found.api_version, found.kind))
        if cls is None:
            builder.skip(found.kind)
            continue
        try:
            builder.add(decode(found.data, cls))
        except DecodingError as error:
            raise SnapshotError(_fault(name, text, found, error)) from error


def _note_empty_list(kind: str, size: int, builder: SnapshotBuilder) -> None:
    """A node list, or a list of everything with nothing in it, says that there are no nodes."""
    if kind == "NodeList" or (kind == "List" and size == 0):
        builder.nodes_listed = True


def _fault(name: str, text: bytes, found: KubernetesObject, error: DecodingError) -> str:
    path = found.field(error.path)
    line = FieldLines(text).line(found.document, path) if len(text) <= _MAX_BYTES_FOR_LINES else None
    place = name if line is None else f"{name}:{line}"
    return f"{place}: {object_name(found.data)}: {error.path}: {error}"


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Millions of new objects and no garbage: Python's collector would walk them over and over for nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
