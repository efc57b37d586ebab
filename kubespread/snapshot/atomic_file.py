"""A file that is replaced whole or not at all, whenever the writing ends."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kubespread.deadline import within
from kubespread.manifest.text import PATIENCE

OWNER_ONLY = 0o600
_AS_BYTES = getattr(os, "O_BINARY", 0)
"""Windows translates ends of lines in what is opened without."""


@contextmanager
def replacing(path: Path, mode: int | None = None, *, is_lasting: bool = True) -> Iterator[IO[bytes]]:
    """A file that replaces ``path`` once it is completely written; a pipe or device is written to directly. Raises
    OSError.

    Until then it is a hidden file beside ``path``. Without ``mode`` the file keeps its current one. What is not
    ``is_lasting`` may be lost, or be there in part, when the machine stops: the disk is not waited for.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        # What is left of links that lead in a circle.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if target.exists() and not target.is_file():
        try:
            file = within(PATIENCE, lambda: target.open("wb"))
        except TimeoutError:
            raise OSError(errno.ENXIO, "a named pipe that no program has opened for reading") from None
        with file:
            yield file
        return
    # Named before it is there: an interrupt may come between any two steps.
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
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
