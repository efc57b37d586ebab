"""The cache of what can be computed again, placed by the XDG Base Directory Specification."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
_OF_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_MAX_BYTES = 64 * 2**20
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""Flags for opening a file: without O_NONBLOCK a pipe would be waited for before it can be seen to be one; Windows
reads bytes with O_BINARY.
"""


def cache_folder(environment: Mapping[str, str]) -> Path:
    """``$XDG_CACHE_HOME/kubespread``, or that in ``~/.cache``; a relative XDG_CACHE_HOME is ignored. A user
    without a home directory gets a path that cannot exist.
    """
    cache = environment.get("XDG_CACHE_HOME") or ""
    if os.path.isabs(cache):  # noqa: PTH117 - of text that may be empty
        return Path(cache) / "kubespread"
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - keeps the ~ if there is no home
    return (home / ".cache" if home.is_absolute() else Path(os.devnull)) / "kubespread"


def recalled(file: Path, form: type[T]) -> T | None:
    """Read what was cached in ``file`` as JSON; None if there is nothing, or it is damaged, too large or not the
    user's.
    """
    content = recalled_bytes(file, _MAX_BYTES)
    try:
        return None if content is None else msgspec.json.decode(content, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def recalled_bytes(file: Path, limit: int) -> bytes | None:
    """Read what was cached in ``file``; None if there is nothing, or not a regular file that this user wrote: a pipe
    that would block, a file that others own or may write to, or one of more than ``limit`` bytes.
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
    """The folder of a cache, and those above it that are missing, for the user alone. Raises OSError."""
    if not folder.is_dir():
        # Its own ``parents`` would have them as the umask says.
        make_folder(folder.parent)
        folder.mkdir(mode=_FOLDER_MODE, exist_ok=True)


def remember(file: Path, content: bytes) -> None:
    """Write what the user alone may read; a cache that cannot be written is done without."""
    # Imported here because most questions are answered from what is there.
    from kubespread.snapshot.atomic_file import replacing

    with suppress(OSError):
        if file.is_symlink() or (file.exists() and not file.is_file()):
            # Not of ours; a pipe would be waited for.
            return
        make_folder(file.parent)
        with replacing(file, _FILE_MODE, is_lasting=False) as opened:
            opened.write(content)
