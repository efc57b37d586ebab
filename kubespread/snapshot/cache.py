"""Files that are replaced whole or not at all, whenever the writing ends, and the cache of results that can be computed
again, placed by the XDG Base Directory Specification.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

_FOLDER_MODE, OWNER_ONLY = 0o700, 0o600
_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_AS_BYTES = getattr(os, "O_BINARY", 0)
"""Flag without which Windows translates ends of lines."""
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _AS_BYTES
"""Flags with O_NONBLOCK, without which opening a named pipe would block."""


def cache_folder(environment: Mapping[str, str]) -> Path:
    """The folder below ``$XDG_CACHE_HOME`` if absolute, else ``~/.cache``; without a home, a path that cannot exist."""
    cache = environment.get("XDG_CACHE_HOME") or ""
    if os.path.isabs(cache):  # noqa: PTH117 - of text that may be empty
        return Path(cache) / "kubespread"
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - keeps the ~ if there is no home
    return (home / ".cache" if home.is_absolute() else Path(os.devnull)) / "kubespread"


def read_cache_file(file: Path, limit: int) -> bytes | None:
    """Cached content of ``file``; None unless it is a regular file that only this user may write, of at most ``limit``
    bytes.
    """
    try:
        with open(os.open(file, _FLAGS), "rb") as opened:  # noqa: PTH123 - a descriptor
            state = os.fstat(opened.fileno())
            is_own = not hasattr(os, "geteuid") or (state.st_uid == os.geteuid() and not state.st_mode & _OF_OTHERS)
            if not stat.S_ISREG(state.st_mode) or not is_own or state.st_size > limit:
                return None
            return opened.read(limit)
    except OSError:
        return None


def make_folder(folder: Path) -> None:
    """Create a cache's folder and its missing parents, for the user alone. Raises OSError."""
    if not folder.is_dir():
        # Its own ``parents`` would have them as the umask says.
        make_folder(folder.parent)
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)


def write_cache_file(file: Path, content: bytes) -> None:
    """Cache ``content`` in ``file`` for the user alone; a failure is ignored."""
    with suppress(OSError):
        if file.is_symlink() or (file.exists() and not file.is_file()):
            # Not of ours; a pipe would be waited for.
            return
        make_folder(file.parent)
        with replacing(file, OWNER_ONLY, is_lasting=False) as opened:
            opened.write(content)


@contextmanager
def replacing(path: Path, mode: int | None = None, *, is_lasting: bool = True) -> Iterator[IO[bytes]]:
    """Temporary file that replaces ``path`` once it is completely written; a pipe or device is written to directly.
    Raises OSError.

    Until then it is a hidden file beside ``path``. Without ``mode`` the file keeps its current one. Without
    ``is_lasting`` the disk is not waited for, so content may be lost, or written in part, when the machine stops.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        # Only a circle of links still is one when resolved.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.exists() and not target.is_file():
        from kubespread.deadline import run_within
        from kubespread.manifest.text import PATIENCE

        try:
            file = run_within(PATIENCE, lambda: target.open("wb"))
        except TimeoutError:
            raise OSError(errno.ENXIO, "a named pipe that no program has opened for reading") from None
        with file:
            yield file
        return
    # Named before it is there: an interrupt may come between any two steps.
    partial = target.with_name(f".{target.name}.{os.urandom(8).hex()}")
    try:
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_BYTES, OWNER_ONLY)
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            yield file
            file.flush()
            if hasattr(os, "fchmod"):
                os.fchmod(descriptor, _mode(target) if mode is None else mode)
            if is_lasting:
                os.fsync(descriptor)
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _mode(target: Path) -> int:
    """The mode the file has, or that a new one would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
