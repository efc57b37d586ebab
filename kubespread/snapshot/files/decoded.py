"""Decoded content of large files in the user's cache, by their content: reading it takes a tenth of the time.

A cached file is MessagePack of the types in `kubespread.kube.api`, decoded as strictly as any other file; nothing in it
is run. Parts that thousands of pods share are in it once, and the rest as columns, so that pods share the same parts in
memory as when they were decoded. A file that is missing, damaged, or not the user's own is ignored.
"""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from array import array
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from kubespread.kube.api.cluster_objects import ClusterObjects
from kubespread.kube.api.core import Node, Pod, PodSpec, PodStatus
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.api.meta import ApiObject, KubeObject, ObjectMeta
from kubespread.kube.pod_sharing import META_COLLECTIONS, SPEC_COLLECTIONS, PodSharing
from kubespread.snapshot.cache import cache_folder, make_folder, read_cache_file, write_cache_file
from kubespread.snapshot.snapshot import Origin, Snapshot

_MAX_BYTES = 512 * 2**20
"""Bytes of the whole cache; the files used last stay."""
_COARSEST = 2 * 10**9
"""Nanoseconds that file systems round their times to, at most."""
_CHUNK = 2**20
_CHECKSUM = 4
"""Bytes before the MessagePack."""
_READING = ("kube", "manifest", "snapshot")
"""Packages that decode files; a change of their code makes cached files stale."""
_OWN = ("name", "uid", "resource_version")
"""Metadata that is unique to a pod."""
_UNSHARED = (*_OWN, "creation_timestamp")
"""Metadata that differs between similar pods."""
_CODE = "I"
UNREADABLE = (msgspec.DecodeError, ValueError, LookupError, RecursionError)
"""Errors raised by damaged content."""
_encode = msgspec.msgpack.encode

T = TypeVar("T", bound=KubeObject)
V = TypeVar("V")


class _StoredSnapshot(msgspec.Struct, array_like=True):
    """A snapshot; parts of pods are in tables, with the position of each pod's part."""

    origin: Origin
    skipped: dict[str, int]
    objects: dict[str, msgspec.Raw]
    """All but pods by the names of their types, undecoded."""
    metadata: list[ObjectMeta]
    """Metadata without the fields that differ between pods."""
    metadata_codes: bytes
    specs: list[PodSpec]
    """Specs without a node's name."""
    spec_codes: bytes
    statuses: list[PodStatus]
    status_codes: bytes
    nodes: list[str]
    node_codes: bytes
    times: list[str]
    """Times of creation."""
    time_codes: bytes
    own: list[list[str]]
    """Metadata that each pod has of its own, by field."""


# Created here and not where they are used: decoders must exist before threads decode (see snapshot.py).
_DECODER = msgspec.msgpack.Decoder(_StoredSnapshot)
_OBJECTS = {cls: msgspec.msgpack.Decoder(list[cls]) for cls in KIND_OF if cls is not Pod}  # type: ignore[valid-type]  # a value
_NODE = ("node_name",)


class DecodedFile:
    """Cached decoding of one file, by its current content."""

    def __init__(self, path: str, environment: Mapping[str, str]) -> None:
        """Raises OSError, also where there can be no cache."""
        folder = cache_folder(environment) / "decoded"
        make_folder(folder)
        self._path, self._before = path, Path(path).stat()
        self._cache_file = folder / f"{_key(path)}.msgpack"

    def load(self) -> Snapshot | None:
        """Cached snapshot of the file; None without one."""
        content = read_cache_file(self._cache_file, _MAX_BYTES)
        if content is None:
            return None
        try:
            snapshot = _unpack(content)
        except UNREADABLE:
            return None
        # The files used last stay.
        with suppress(OSError):
            os.utime(self._cache_file)
        return snapshot

    def store(self, snapshot: Snapshot) -> None:
        """Cache the snapshot, unless the file may have changed meanwhile."""
        try:
            now = Path(self._path).stat()
            content = _pack(snapshot)
        except (OSError, OverflowError, ValueError):
            # A quantity written as a number may be larger than any number of MessagePack.
            return
        was, state = ((status.st_ino, status.st_size, status.st_mtime_ns) for status in (self._before, now))
        # What was written just now may be written again at what the file system takes for the same time.
        if was == state and time.time_ns() - now.st_mtime_ns > _COARSEST and len(content) < _MAX_BYTES:
            write_cache_file(self._cache_file, content)
            _forget_old(self._cache_file.parent)


def _key(path: str) -> str:
    """A digest of the code that decodes, and of the file's bytes. Raises OSError."""
    digest = hashlib.sha256()
    for source in _code():
        digest.update(source.read_bytes())
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - a path of text, as everywhere here
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _code() -> list[Path]:
    """The modules of the rooms that read. Raises OSError where they are no files."""
    package = Path(__file__).parents[2]
    modules = sorted(module for room in _READING for module in (package / room).rglob("*.py"))
    if not modules:
        raise FileNotFoundError(package)
    return modules


def _forget_old(folder: Path) -> None:
    with suppress(OSError):
        files = ((file.stat(), file) for file in folder.glob("*.msgpack"))
        size = 0
        for state, file in sorted(files, key=lambda pair: -pair[0].st_mtime_ns):
            size += state.st_size
            if size > _MAX_BYTES:
                file.unlink(missing_ok=True)


def _number(keys: Iterable[Hashable], values: Sequence[V]) -> tuple[list[V], bytes]:
    """A value for each different key, and the position of each key's."""
    number: dict[Hashable, int] = {}
    codes = array(_CODE, [number.setdefault(key, len(number)) for key in keys])
    table: list[V] = []
    for code, value in zip(codes, values, strict=True):
        if code == len(table):
            table.append(value)
    return table, codes.tobytes()


def _choose(table: Sequence[V], codes: bytes) -> Iterator[V]:
    """Raises ValueError and IndexError for codes that are none."""
    numbers = array(_CODE)
    numbers.frombytes(codes)
    return map(table.__getitem__, numbers)


def _pack(snapshot: Snapshot) -> bytes:
    """Raises OverflowError, and ValueError for text that is not Unicode."""
    metadata, specs = [pod.metadata for pod in snapshot.pods], [pod.spec for pod in snapshot.pods]
    statuses = [pod.status for pod in snapshot.pods]
    objects: dict[type[ApiObject], Sequence[ApiObject]] = {Node: snapshot.nodes, **snapshot.objects.by_type}
    templates, metadata_codes = _number(_identities(metadata, ObjectMeta, _UNSHARED), metadata)
    spec_templates, spec_codes = _number(_identities(specs, PodSpec, _NODE), specs)
    nodes, times = [spec.node_name for spec in specs], [meta.creation_timestamp for meta in metadata]
    content = _encode(
        _StoredSnapshot(
            snapshot.origin,
            dict(snapshot.skipped),
            {cls.__name__: msgspec.Raw(_encode(listed)) for cls, listed in objects.items()},
            _clear(templates, ObjectMeta, _UNSHARED),
            metadata_codes,
            _clear(spec_templates, PodSpec, _NODE),
            spec_codes,
            *_number(map(id, statuses), statuses),
            *_number(nodes, nodes),
            *_number(times, times),
            [[getattr(meta, name) for meta in metadata] for name in _OWN],
        )
    )
    return zlib.crc32(content).to_bytes(_CHECKSUM, "big") + content


def _identities(objects: Sequence[T], cls: type[T], own: Sequence[str]) -> Iterator[Hashable]:
    """Yield a key of each object that is equal for the same parts, leaving out its ``own`` fields."""
    parts = attrgetter(*(name for name in cls.__struct_fields__ if name not in own))
    return (tuple(map(id, parts(obj))) for obj in objects)


def _clear(objects: Sequence[T], cls: type[T], own: Sequence[str]) -> list[T]:
    """The objects without their ``own`` fields."""
    unset = {name: getattr(cls(), name) for name in own}
    return [replace(obj, **unset) for obj in objects]


def _unpack(content: bytes) -> Snapshot:
    """Raises ValueError and LookupError for content that `_pack` does not write."""
    view = memoryview(content)[_CHECKSUM:]
    if zlib.crc32(view) != int.from_bytes(content[:_CHECKSUM], "big"):
        raise ValueError("damaged")
    stored = _DECODER.decode(view)
    by_name = {cls.__name__: cls for cls in _OBJECTS}
    objects = {by_name[name]: tuple(_OBJECTS[by_name[name]].decode(raw)) for name, raw in stored.objects.items()}
    nodes, origin, sharing = objects.pop(Node), stored.origin, PodSharing()
    for node in nodes:
        sharing.share_node(node)
    return Snapshot(
        nodes,
        _pods(stored, sharing),
        ClusterObjects(objects, frozenset(origin.listed), unread=origin.unread),
        stored.skipped,
        origin,
    )


def _pods(stored: _StoredSnapshot, sharing: PodSharing) -> tuple[Pod, ...]:
    for templates, collections in ((stored.metadata, META_COLLECTIONS), (stored.specs, SPEC_COLLECTIONS)):
        for template in templates:
            for name in collections:
                setattr(template, name, sharing.part(name, getattr(template, name)))
    tables = zip(
        _choose(stored.metadata, stored.metadata_codes),
        _choose(stored.times, stored.time_codes),
        _choose(stored.specs, stored.spec_codes),
        _choose(stored.nodes, stored.node_codes),
        _choose(stored.statuses, stored.status_codes),
        *stored.own,
        strict=True,
    )
    return tuple(
        Pod(
            metadata=replace(meta, creation_timestamp=time, name=name, uid=uid, resource_version=version),
            spec=replace(spec, node_name=node),
            status=status,
        )
        for meta, time, spec, node, status, name, uid, version in tables
    )
