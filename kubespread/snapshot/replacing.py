"""A file that is replaced whole or not at all, whenever the writing ends."""

from __future__ import annotations

import errno
import os
import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

# Not every system has files without a name, and not every file system of those that do.
_UNNAMED = getattr(os, "O_TMPFILE", 0)
_NO_UNNAMED = (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL)


@contextmanager
def replacing(path: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """A file that takes the place of ``path`` when all is written; a pipe or device is written to as it is. Raises
    OSError.

    What is being written has no name where the file system can do that (Linux's own can), so that nothing is left
    behind however the process dies. Elsewhere it is a hidden file beside ``path``. Without ``mode`` the file keeps the
    one it has.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    descriptor, partial, give_name = _opened(target)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
            yield file
            file.flush()
            os.fchmod(descriptor, _mode(target) if mode is None else mode)
            os.fsync(descriptor)
            give_name()
        partial.replace(target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _opened(target: Path) -> tuple[int, Path, Callable[[], None]]:
    """A new file in the directory of ``target``, the name it is to have before it is moved there, and what gives it
    that.
    """
    try:
        if not _UNNAMED:
            raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))
        descriptor = os.open(target.parent, _UNNAMED | os.O_WRONLY, 0o600)
    except OSError as error:
        if error.errno not in _NO_UNNAMED or not target.parent.is_dir():
            raise
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        return descriptor, Path(name), lambda: None
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    # With a directory to start from, os.link follows the link that leads to the open file.
    return (
        descriptor,
        partial,
        lambda: os.link(f"/proc/self/fd/{descriptor}", partial, src_dir_fd=descriptor, follow_symlinks=True),
    )


def _mode(target: Path) -> int:
    """The mode the file has, or that a new one would get."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
