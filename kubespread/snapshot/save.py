"""Snapshots as files: a List that kubectl reads back, with nothing in it but the fields that scheduling reads."""

from __future__ import annotations

import errno
import gzip
import os
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from kubespread.errors import UsageError
from kubespread.escaping import json_escaped
from kubespread.kube.api.kinds import KIND_OF
from kubespread.kube.api.meta import ApiObject
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.manifest.text import STDIN
from kubespread.manifest.writer import to_yaml
from kubespread.snapshot.cache import replacing
from kubespread.snapshot.snapshot import STAMP, Snapshot

_COMPRESSION = 4
_SUFFIXES = (".json", ".json.gz", ".yaml", ".yml")


def check_target(path: str) -> None:
    """Raise UsageError for a path that `save` could not write to, before anything is read."""
    if path == STDIN:
        return
    if not path.endswith(_SUFFIXES):
        raise UsageError(f"{path}: expected a name that ends with {', '.join(_SUFFIXES)}, or - for standard output")
    if not Path(path).parent.is_dir():
        raise UsageError(f"{path}: {os.strerror(errno.ENOENT)}")


def save(snapshot: Snapshot, path: str) -> None:
    """Write ``snapshot`` to ``path``: JSON, gzipped JSON or YAML by its suffix, JSON to standard output for ``-``.

    The file is replaced atomically. Raises UsageError for another suffix, or if it cannot be written.
    """
    if path == STDIN:
        _write_out(_json(snapshot))
        return
    check_target(path)
    parts = (_yaml if path.endswith((".yaml", ".yml")) else _json)(snapshot)
    try:
        with replacing(Path(path)) as file:
            if path.endswith(".gz"):
                # Neither name nor time inside: the same snapshot is the same file.
                with gzip.GzipFile(filename="", mode="wb", compresslevel=_COMPRESSION, fileobj=file, mtime=0) as zipped:
                    zipped.writelines(parts)
            else:
                file.writelines(parts)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _write_out(parts: Iterable[bytes]) -> None:
    if sys.stdout is None:
        raise UsageError("standard output is closed")
    try:
        # Leave nothing in a buffer, which would be flushed, and fail again, on exit.
        with open(os.dup(sys.stdout.fileno()), "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            file.writelines(parts)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"standard output: {error.strerror or error}") from error


def _objects(snapshot: Snapshot) -> Iterator[ApiObject]:
    """Everything that scheduling may read; pods that have ended are left out."""
    others = (snapshot.objects.get(cls) for cls in KIND_OF)
    pods = (pod for pod in snapshot.pods if pod.status.phase not in ENDED_PHASES)
    return chain(snapshot.nodes, chain.from_iterable(others), pods)


def _head(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "List",
        "metadata": {"resourceVersion": snapshot.origin.resource_version},
        STAMP: snapshot.origin,
    }


def _json(snapshot: Snapshot) -> Iterator[bytes]:
    encode = msgspec.json.Encoder().encode
    starts = {
        cls: f'{{"apiVersion":"{row.api_version}","kind":"{row.kind}",'.encode() for cls, row in KIND_OF.items()
    }  # every object has metadata, so a comma follows
    yield json_escaped(encode(_head(snapshot)).decode()).encode()[:-1] + b',"items":[\n'
    before = b""
    for obj in _objects(snapshot):
        yield before + starts[type(obj)] + json_escaped(encode(obj)[1:].decode()).encode()
        before = b",\n"
    yield b"\n]}\n"


def _yaml(snapshot: Snapshot) -> Iterator[bytes]:
    yield to_yaml(msgspec.to_builtins(_head(snapshot))).encode()
    items = _objects(snapshot)
    first = next(items, None)
    if first is None:
        yield b"items: []\n"
        return
    yield b"items:\n"
    for obj in chain([first], items):
        row = KIND_OF[type(obj)]
        text = to_yaml([{"apiVersion": row.api_version, "kind": row.kind, **msgspec.to_builtins(obj)}])
        yield text.encode()
