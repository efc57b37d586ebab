"""The names in a cluster's file, for completing typed names: cached, since a press of a key waits for them."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from kubespread.snapshot.cache import cache_folder, recalled, remember

_FORM = 6
"""The version of the cache's format; a cache of another version is rebuilt."""
_COARSEST = 2 * 10**9
"""Nanoseconds that file systems round their times to, at most."""
_KEPT_FILES = 32
"""Files whose names are remembered: those read last."""


class Names(msgspec.Struct, rename="camel"):
    """Names in one file, each list sorted."""

    namespace: str = ""
    """Current namespace when the snapshot was saved."""
    nodes: list[str] = []
    labels: dict[str, list[str]] = {}
    """Values of nodes' labels by key."""
    namespaces: list[str] = []
    by_kind: dict[str, dict[str, list[str]]] = {}
    """Names in each namespace by kubectl's short name of a kind, or by the full kind of owners known only from pods."""


class _Remembered(msgspec.Struct):
    """Names, and the state of the file they were read from."""

    form: int
    path: str
    size: int
    modified: int
    """Time of its last change in nanoseconds, as the file system has it."""
    names: Names


def names_in(path: str, environment: Mapping[str, str]) -> Names:
    """Names in the file ``path``, cached while it does not change.

    The cache is in the user's own folder, ``$XDG_CACHE_HOME/kubespread/names``, never beside the file. Only regular
    files are read: what a directory holds could change unseen, and a pipe can be read once. Raises OSError and
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
    names = _read(str(file))
    # What was written just now may be written again at what the file system takes for the same time.
    if time.time_ns() - state.st_mtime_ns > _COARSEST:
        remember(memory, msgspec.json.encode(_Remembered(*fingerprint, names)))
        with suppress(OSError):
            kept = sorted(memory.parent.glob("*.json"), key=lambda each: -each.stat().st_mtime_ns)
            for old in kept[_KEPT_FILES:]:
                old.unlink(missing_ok=True)
    return names


def _read(path: str) -> Names:
    # Imported here because what is remembered has to be there at once.
    from kubespread.kube.api.core import Namespace
    from kubespread.kube.api.kinds import REFERABLE, pod_creator
    from kubespread.kube.owners import controller_of
    from kubespread.snapshot.files.reader import read_parts

    snapshot = read_parts(path)
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
        {key: sorted(values) for key, values in sorted(labels.items())},
        sorted(own.union(*by_kind.values())),
        {kind: {space: sorted(names) for space, names in spaces.items()} for kind, spaces in by_kind.items()},
    )
