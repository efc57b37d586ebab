"""The names in a cluster's file, for completing typed names: read without decoding objects, and cached."""

from __future__ import annotations

import os
import time
import zlib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import msgspec

from kubespread.snapshot.cache import cache_folder, recalled, remember
from kubespread.snapshot.names import Names

_FORM = 4
"""The version of the cache's format; a cache of another version is rebuilt."""
_COARSEST = 2 * 10**9
"""Nanoseconds that file systems round their times to, at most."""
_KEPT_FILES = 32
"""How many files' names are remembered: those read last."""


class _Remembered(msgspec.Struct):
    """Names, and the state of the file they were read from."""

    form: int
    path: str
    size: int
    modified: int
    """In nanoseconds, as the file system has it."""
    names: Names


def names_in(path: str, environment: Mapping[str, str]) -> Names:
    """The names in the file ``path``: cached ones if it has not changed, else read and cached.

    The cache is in the user's own folder, ``$XDG_CACHE_HOME/kubespread/names``, and never beside the file. Only
    regular files are read: what a directory holds could change unseen, and a pipe can be read once. Raises OSError,
    KubespreadError and MalformedError for what cannot be read.
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
    from kubespread.snapshot.files.reader import read_names

    names = read_names(str(file))
    # What was written just now may be written again at what the file system takes for the same time.
    if time.time_ns() - state.st_mtime_ns > _COARSEST:
        remember(memory, msgspec.json.encode(_Remembered(*fingerprint, names)))
        _forget_old(memory.parent)
    return names


def _forget_old(folder: Path) -> None:
    with suppress(OSError):
        files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for old in files[_KEPT_FILES:]:
            old.unlink(missing_ok=True)
