"""The names in a cluster's file, for completing typed names: cached, since a press of a key waits for them."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from kubespread.snapshot.cache import cache_folder, recalled, remember

if TYPE_CHECKING:
    from kubespread.snapshot.snapshot import Snapshot

_FORM = 5
"""The version of the cache's format; a cache of another version is rebuilt."""
_COARSEST = 2 * 10**9
"""Nanoseconds that file systems round their times to, at most."""
_KEPT_FILES = 32
"""Files whose names are remembered: those read last."""
T = TypeVar("T")


class Names(msgspec.Struct, rename="camel"):
    """The names in one file, each list sorted."""

    namespace: str = ""
    """The namespace that was current when the snapshot was saved."""
    nodes: list[str] = []
    labels: dict[str, msgspec.Raw] = {}
    """The values of nodes' labels by key, undecoded: of some every node has its own."""
    namespaces: list[str] = []
    by_kind: dict[str, msgspec.Raw] = {}
    """Names in each namespace by kubectl's short name of a kind, or by the whole kind of what only pods know;
    undecoded, since of pods there may be very many.
    """

    def values_of(self, label: str) -> list[str]:
        """The values that nodes have for one label."""
        raw = self.labels.get(label)
        return [] if raw is None else _decoded(raw, list[str]) or []

    def of_kind(self, short: str, namespace: str) -> list[str]:
        """The names of one kind in one namespace."""
        raw = self.by_kind.get(short)
        return [] if raw is None else (_decoded(raw, dict[str, list[str]]) or {}).get(namespace, [])


def _decoded(raw: msgspec.Raw, form: type[T]) -> T | None:
    """None for what a damaged memory holds in its place."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(raw, type=form)
    return None


class _Remembered(msgspec.Struct):
    """Names, and the state of the file they were read from."""

    form: int
    path: str
    size: int
    modified: int
    """Time of its last change in nanoseconds, as the file system has it."""
    names: Names


def names_in(path: str, environment: Mapping[str, str]) -> Names:
    """The names in the file ``path``: cached ones if it has not changed, else read and cached.

    The cache is in the user's own folder, ``$XDG_CACHE_HOME/kubespread/names``, and never beside the file. Only
    regular files are read: what a directory holds could change unseen, and a pipe can be read once. Raises OSError and
    SnapshotError.
    """
    file = Path(os.path.realpath(os.path.expanduser(path)))  # noqa: PTH111 - keeps the ~ if there is no home
    if not file.is_file():
        return Names()
    state = file.stat()
    fingerprint = (_FORM, str(file), state.st_size, state.st_mtime_ns)
    memory = cache_folder(environment) / "names" / f"{zlib.crc32(os.fsencode(file)):08x}.json"
    remembered = recalled(memory, _Remembered)
    if remembered is not None and msgspec.structs.astuple(remembered)[:-1] == fingerprint:
        return remembered.names
    # Imported here because what is remembered has to be there at once.
    from kubespread.snapshot.files.reader import read_parts

    names = _names_of(read_parts(str(file)))
    # What was written just now may be written again at what the file system takes for the same time.
    if time.time_ns() - state.st_mtime_ns > _COARSEST:
        remember(memory, msgspec.json.encode(_Remembered(*fingerprint, names)))
        _forget_old(memory.parent)
    return names


def _names_of(snapshot: Snapshot) -> Names:
    from kubespread.kube.api.core import Namespace
    from kubespread.kube.api.kinds import REFERABLE, pod_creator
    from kubespread.kube.owners import controller_of

    by_kind: dict[str, dict[str, set[str]]] = {}
    for row in REFERABLE:
        for obj in snapshot.of_kind(row):
            named, owner = [(row.short, obj.metadata.name)], controller_of(obj)
            if owner is not None and owner.kind != "Node" and pod_creator(owner.api_version, owner.kind) is None:
                named.append((owner.kind.lower(), owner.name))
            for kind, name in named:
                by_kind.setdefault(kind, {}).setdefault(obj.metadata.namespace, set()).add(name)
    labels: dict[str, set[str]] = {}
    for node in snapshot.nodes:
        for key, value in node.metadata.labels.items():
            labels.setdefault(key, set()).add(value)
    own = {namespace.metadata.name for namespace in snapshot.objects.of(Namespace)}
    return Names(
        snapshot.origin.namespace,
        sorted(node.metadata.name for node in snapshot.nodes),
        {key: _raw(sorted(values)) for key, values in sorted(labels.items())},
        sorted(own.union(*by_kind.values())),
        {kind: _raw({space: sorted(names) for space, names in spaces.items()}) for kind, spaces in by_kind.items()},
    )


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def _forget_old(folder: Path) -> None:
    with suppress(OSError):
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for old in files[_KEPT_FILES:]:
            old.unlink(missing_ok=True)
