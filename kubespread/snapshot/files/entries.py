"""The texts inside a path: a file is one, a directory or an archive holds many. Nothing is ever unpacked to disk."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from msgspec import Struct

from kubespread.errors import SnapshotError
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.text import GZIP_MAGIC, MAX_CLUSTER_BYTES, STDIN, display_name, open_binary, unchanged

SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
MAX_ENTRIES = 1_000_000
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC, _TAR_MAGIC_AT, _TAR_BLOCK = b"ustar", 257, 512
_DAMAGED: tuple[type[Exception], ...] = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError)
# A zip entry that is encrypted, or compressed in a way that Python does not know.
_UNREADABLE: tuple[type[Exception], ...] = (RuntimeError, NotImplementedError)


class Entry(Struct, frozen=True):
    """One text: its name in messages, its path in its directory or archive, and its bytes."""

    name: str
    path: str
    file: IO[bytes]

    @property
    def is_alone(self) -> bool:
        """Whether it is the file that was asked for, rather than one of many."""
        return not self.path


def entries(path: str) -> Iterator[Entry]:
    """Every text of ``path``, each to be read before the next is asked for. Raises SnapshotError and OSError."""
    if path != STDIN and Path(path).is_dir():
        yield from _in_directory(Path(path))
        return
    name = display_name(path)
    with open_binary(path) as opened, unchanged(opened), archive_errors(name, *_UNREADABLE):
        file = opened if isinstance(opened, io.BufferedReader) else io.BufferedReader(opened)  # type: ignore[type-var]  # raw streams
        start = file.peek(_TAR_BLOCK)
        if start.startswith(_ZIP_MAGIC):
            yield from _in_zip(name, file if file.seekable() else io.BytesIO(_bounded(file)))
        elif _is_tar(start):
            yield from _in_tar(name, file)
        else:
            yield Entry(name, "", file)


def _in_directory(root: Path) -> Iterator[Entry]:
    names = sorted(_files(str(root), Path(os.path.realpath(root))))
    if not names:
        raise SnapshotError(f"{root}: no {', '.join(SUFFIXES[:3])} files in this directory")
    inside = len(os.path.join(root, ""))  # noqa: PTH118 - a path of text: there may be a hundred thousand
    for name in names:
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            yield Entry(name, name[inside:].replace(os.sep, "/"), file)


def _files(directory: str, root: Path) -> Iterator[str]:
    """The files below ``directory`` that may hold objects. Links to directories are not followed."""
    with os.scandir(directory) as listing:
        for entry in listing:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, root)
            elif (
                entry.name.endswith(SUFFIXES)
                and entry.is_file()
                and (not entry.is_symlink() or _is_inside(entry.path, root))
            ):
                yield entry.path


def _is_inside(link: str, root: Path) -> bool:
    """A link that leads out of the directory is not part of it."""
    return Path(os.path.realpath(link)).is_relative_to(root)


def _is_tar(start: bytes) -> bool:
    if start.startswith(GZIP_MAGIC):
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, _TAR_BLOCK)
        except zlib.error:
            return False
    return start[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC)


def _in_tar(archive: str, file: IO[bytes]) -> Iterator[Entry]:
    budget = _Budget(archive)
    with tarfile.open(fileobj=file, mode="r|*") as tar:
        for member in tar:
            budget.spend(member.size)
            content = tar.extractfile(member) if member.isreg() and member.name.endswith(SUFFIXES) else None
            if content is not None:
                yield Entry(f"{archive}/{member.name}", member.name, content)
            # A streamed archive keeps a list of every member it has seen, which is not needed.
            tar.members.clear()  # type: ignore[attr-defined]
        if tar.fileobj.tell() < tar.offset + _TAR_BLOCK:
            # tarfile takes the end of the file for the end of the archive, which a block of zeros marks.
            raise tarfile.ReadError("unexpected end of data")


def _in_zip(archive: str, file: IO[bytes]) -> Iterator[Entry]:
    budget = _Budget(archive)
    with zipfile.ZipFile(file) as zipped:
        for member in zipped.infolist():
            if member.is_dir() or not member.filename.endswith(SUFFIXES):
                continue
            budget.spend(member.file_size)
            with zipped.open(member) as content:
                yield Entry(f"{archive}/{member.filename}", member.filename, content)


class _Budget:
    """How much an archive may hold; one that unfolds without end is refused before it is read."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._entries, self._bytes = MAX_ENTRIES, MAX_CLUSTER_BYTES

    def spend(self, size: int) -> None:
        self._entries -= 1
        self._bytes -= size
        if self._entries < 0:
            raise SnapshotError(f"{self._archive}: more than {MAX_ENTRIES} entries")
        if self._bytes < 0:
            raise SnapshotError(f"{self._archive}: unpacks to more than {MAX_CLUSTER_BYTES // 2**30} GiB")


def _bounded(file: IO[bytes]) -> bytes:
    raw = file.read(MAX_CLUSTER_BYTES + 1)
    if len(raw) > MAX_CLUSTER_BYTES:
        raise MalformedError(f"more than {MAX_CLUSTER_BYTES // 2**30} GiB")
    return raw


@contextmanager
def archive_errors(archive: str, *others: type[Exception]) -> Iterator[None]:
    """Turns what goes wrong inside an archive, also while an entry of it is read, into SnapshotError."""
    damaged = _DAMAGED + others
    try:
        yield
    except damaged as error:
        raise SnapshotError(f"{archive}: damaged archive: {' '.join(str(error).split())}") from error
