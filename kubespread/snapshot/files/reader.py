"""Clusters from files, directories and archives of any origin. Nothing is ever unpacked to disk.

Known properties of the dumps other tools write: kinds that they never contain, and oddities.
"""

from __future__ import annotations

import gc
import io
import os
import re
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING

from msgspec import Struct, field

from kubespread.errors import SnapshotError, UsageError
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.api.kinds import KIND_OF
from kubespread.manifest.objects import NotAnObjectError, read_objects
from kubespread.manifest.text import (
    GZIP_MAGIC,
    MAX_CLUSTER_BYTES,
    STDIN,
    MalformedError,
    display_name,
    expect_unchanged,
    open_binary,
    text_chunks,
)
from kubespread.regex import regex
from kubespread.snapshot.snapshot import LIST_COMMAND, DamagedError, Snapshot, SnapshotBuilder, check_whole, object_name

if TYPE_CHECKING:
    from kubespread.snapshot.files.decoded import DecodedFile

_OF_OBJECTS = regex(r"(?:^|/)(?!\._)[^/]*\.(?:json|ya?ml)(?:\.gz)?$", re.IGNORECASE)
"""Names of files that may hold objects; macOS keeps one that begins with ``._`` beside each file of an archive."""
MAX_ENTRIES = 1_000_000
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC, _TAR_MAGIC_AT, _TAR_BLOCK = b"ustar", 257, 512
_DAMAGED: tuple[type[Exception], ...] = (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError)
with suppress(ImportError):  # a Python that was built without it
    from lzma import LZMAError

    _DAMAGED += (LZMAError,)
# A zip entry that is encrypted, or compressed in a way that Python does not know.
_UNREADABLE: tuple[type[Exception], ...] = (RuntimeError, NotImplementedError)


class FileEntry(Struct, frozen=True):
    """One text: its name in messages, its path in its directory or archive, and its bytes."""

    name: str
    path: str
    file: IO[bytes]

    @property
    def is_alone(self) -> bool:
        """True if it is the named file itself, not one of many."""
        return not self.path


def entries(path: str) -> Iterator[FileEntry]:
    """Yield every text of ``path``, each to be read before the next. Raises SnapshotError and OSError."""
    if path != STDIN and Path(path).is_dir():
        yield from _in_directory(Path(path))
        return
    name = display_name(path)
    with open_binary(path) as opened, expect_unchanged(opened), archive_errors(name, *_UNREADABLE):
        file = opened if isinstance(opened, io.BufferedReader) else io.BufferedReader(opened)  # type: ignore[type-var]  # raw streams
        start = file.peek(_TAR_BLOCK)
        if start.startswith(_ZIP_MAGIC):
            yield from _in_zip(name, file if file.seekable() else io.BytesIO(_read_bounded(file)))
        elif _is_tar(start):
            yield from _in_tar(name, file)
        else:
            yield FileEntry(name, "", file)


def _in_directory(root: Path) -> Iterator[FileEntry]:
    names = sorted(_files(str(root), Path(os.path.realpath(root))))
    if not names:
        raise SnapshotError(f"{root}: no .json, .yaml, .yml files in this directory")
    inside = len(os.path.join(root, ""))  # noqa: PTH118 - a path of text: there may be a hundred thousand
    for name in names:
        with open(name, "rb", buffering=0) as file:  # noqa: PTH123 - as above
            yield FileEntry(name, name[inside:].replace(os.sep, "/"), file)


def _files(directory: str, root: Path) -> Iterator[str]:
    """The files below ``directory`` that may hold objects. Links to directories are not followed."""
    with os.scandir(directory) as listing:
        for entry in listing:
            if entry.is_dir(follow_symlinks=False):
                yield from _files(entry.path, root)
            elif (
                _OF_OBJECTS.search(entry.name)
                and entry.is_file()
                # A link that leads out of the directory is not part of it.
                and (not entry.is_symlink() or Path(os.path.realpath(entry.path)).is_relative_to(root))
            ):
                yield entry.path


def _is_tar(start: bytes) -> bool:
    if start.startswith(GZIP_MAGIC):
        try:
            start = zlib.decompressobj(wbits=31).decompress(start, _TAR_BLOCK)
        except zlib.error:
            return False
    return start[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC)


def _in_tar(archive: str, file: IO[bytes]) -> Iterator[FileEntry]:
    budget = _Budget(archive)
    with tarfile.open(fileobj=file, mode="r|*") as tar:
        for member in tar:
            budget.spend(member.size)
            content = tar.extractfile(member) if member.isreg() and _OF_OBJECTS.search(member.name) else None
            if content is not None:
                yield FileEntry(f"{archive}/{member.name}", member.name, content)
            # A streamed archive keeps a list of every member it has seen, which is not needed.
            tar.members.clear()  # type: ignore[attr-defined]
        if tar.fileobj.tell() < tar.offset + _TAR_BLOCK:
            # tarfile takes the end of the file for the end of the archive, which a block of zeros marks.
            raise tarfile.ReadError("unexpected end of data")


def _in_zip(archive: str, file: IO[bytes]) -> Iterator[FileEntry]:
    budget = _Budget(archive)
    # Names need not be the UTF-8, nor offsets the numbers, that they say they are.
    undecodable = ValueError, struct.error, OverflowError
    with archive_errors(archive, *undecodable):
        zipped = zipfile.ZipFile(file)
    with zipped:
        for member in zipped.infolist():
            if member.is_dir() or not _OF_OBJECTS.search(member.filename):
                continue
            budget.spend(member.file_size)
            with archive_errors(archive, *undecodable):
                content = zipped.open(member)
            with content:
                yield FileEntry(f"{archive}/{member.filename}", member.filename, content)


class _Budget:
    """Limit on the content of an archive; one that unfolds without end is refused before it is read."""

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


def _read_bounded(file: IO[bytes]) -> bytes:
    raw = file.read(MAX_CLUSTER_BYTES + 1)
    if len(raw) > MAX_CLUSTER_BYTES:
        raise MalformedError(f"more than {MAX_CLUSTER_BYTES // 2**30} GiB")
    return raw


@contextmanager
def archive_errors(archive: str, *others: type[Exception]) -> Iterator[None]:
    """Turn errors inside an archive, also while an entry is read, into SnapshotError."""
    damaged = _DAMAGED + others
    try:
        yield
    except damaged as error:
        raise SnapshotError(f"{archive}: damaged archive: {' '.join(str(error).split())}") from error


_BEGINNING = rb"(?:Error from server|error: |Unable to connect to the server|Warning: |[EWIF]\d{4} \d\d:\d\d:)"
"""Beginning of messages of kubectl, and of its client library."""
_MESSAGE = regex(_BEGINNING)
_LAST_MESSAGE = regex(rb"(?:^|(?<=\}))" + _BEGINNING + rb"[^\n]*\n?\Z", re.MULTILINE)
_WARNING = regex(r"Warning: |[WI]\d{4} ")
"""Messages that do not mean that something is missing."""
_LAST = 2**12
"""Bytes at the end of a text in which the last messages stand."""
_BUNDLED = regex(r"(?:^|/)cluster-resources/(?P<resource>[^/.]+)(?:/[^/]+)?\.json$")
_COLLECTION_FAILED = regex(r"(?:^|/)cluster-resources/(?P<resource>[^/]+)-errors\.json$")


_LOGS_BEGIN = b"\n==== START logs for container "
_LOGS_END = b"\n==== END logs for container "
_DUMPED = regex(r"(?:^|/)[^/]+/replication-controllers\.(?:json|yaml)$")
_BACKED_UP = regex(r"(?:^|/)resources/[^/]+/(?:cluster|namespaces)/")
_LACKING = (
    "a kubectl cluster-info dump holds no StatefulSet, Namespace, PersistentVolumeClaim, PersistentVolume or "
    "StorageClass, and without --all-namespaces only the pods of kube-system and one more namespace"
)


class SourceFindings(Struct):
    """Findings about one source so far, by its paths."""

    is_dump: bool = False
    """True for a dump of kubectl cluster-info."""
    is_backup: bool = False
    """True for a backup of Velero."""
    not_collected: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    """Messages of kubectl in place of objects."""

    def see(self, path: str) -> None:
        failed = _COLLECTION_FAILED.search(path)
        if failed is not None:
            self.not_collected.append(failed["resource"])
        self.is_dump = self.is_dump or _DUMPED.search(path) is not None
        self.is_backup = self.is_backup or _BACKED_UP.search(path) is not None

    @property
    def gaps(self) -> Iterator[str]:
        if self.is_dump:
            yield _LACKING
        for resource in self.not_collected:
            yield f"the support bundle says that {resource} could not be collected in full"

    def plain(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the text of objects alone, without logs and messages of kubectl, which ``2>&1``
        adds before or after.
        """
        start = next(chunks, b"")
        if _MESSAGE.match(start):
            lines = start.split(b"\n")
            first = next((place for place, line in enumerate(lines) if line and not _MESSAGE.match(line)), len(lines))
            self._note_messages(lines[:first])
            # The lines that stay keep their numbers.
            start = b"\n" * first + b"\n".join(lines[first:])
        last = b""
        for chunk in self.without_logs(chain([start], chunks)):
            text = last + chunk
            yield text[:-_LAST]
            last = text[-_LAST:]
        yield self._without_last_messages(last)

    def without_logs(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the text without containers' logs, which ``kubectl cluster-info dump`` prints between its objects."""
        text = b""
        in_logs = False
        for chunk in chunks:
            text += chunk
            while (position := text.find(_LOGS_END if in_logs else _LOGS_BEGIN)) >= 0:
                self.is_dump = True
                if in_logs:
                    # The marker's own line ends them; it may not be here in full.
                    if (end := text.find(b"\n", position + len(_LOGS_END))) < 0:
                        break
                    text = text[end:]
                else:
                    yield text[:position]
                    text = text[position + len(_LOGS_BEGIN) :]
                in_logs = not in_logs
            cut = position if position >= 0 else _without_begun(_LOGS_END if in_logs else _LOGS_BEGIN, text)
            if not in_logs:
                yield text[:cut]
            text = text[cut:]
        if not in_logs:
            yield text

    def _without_last_messages(self, text: bytes) -> bytes:
        while match := _LAST_MESSAGE.search(text):
            self._note_messages([match[0]])
            text = text[: match.start()]
        return text

    def _note_messages(self, lines: Iterable[bytes]) -> None:
        self.messages += [line.decode(errors="replace").strip() for line in lines if line.strip()]

    @property
    def errors(self) -> Sequence[str]:
        return [message for message in self.messages if not _WARNING.match(message)]

    @property
    def hint(self) -> str:
        return "a Velero backup may leave nodes out" if self.is_backup else ""


NO_PODS = "no Pod objects: every node counts as empty"
_LARGE = {False: 2**20, True: 2**16}
"""Bytes from which on a file is worth keeping decoded, plain or zipped: about a hundred nodes with thirty pods each."""
_HUGE = 2 * 2**30
"""Bytes up to which a file is cached: all of it is read to look it up, even for nothing."""


def load(paths: Sequence[str]) -> Snapshot:
    """Read one snapshot from files, directories, archives, or ``-`` for standard input. Raises SnapshotError, and
    UsageError for an empty path.

    A large file's decoded content is cached for the user, by the file's content.
    """
    if "" in paths:
        raise UsageError("the path of a snapshot is empty")
    decoded = _decoded_file(paths)
    with collector_paused():
        recalled = None if decoded is None else decoded.load()
        if recalled is not None:
            return recalled
        snapshot, is_whole = _read(paths)
        # What could not be read is named by where it stands, which is not in the file.
        if decoded is not None and is_whole:
            decoded.store(snapshot)
    return snapshot


def _decoded_file(paths: Sequence[str]) -> DecodedFile | None:
    """Cache of one large file; None for any other source, and for a file that cannot be read."""
    path, *others = paths
    if others or path == STDIN:
        return None
    with suppress(OSError, ValueError):
        state = Path(path).stat()
        if stat.S_ISREG(state.st_mode) and _LARGE[path.endswith(".gz")] <= state.st_size <= _HUGE:
            # For small files the import alone takes longer than to decode them.
            from kubespread.snapshot.files.decoded import DecodedFile

            return DecodedFile(path, os.environ)
    return None


def _collect(paths: Sequence[str]) -> tuple[SnapshotBuilder, SourceFindings]:
    builder, recognized = SnapshotBuilder(), SourceFindings()
    for path in paths:
        builder.begin_source()
        try:
            with archive_errors(display_name(path)):
                for entry in entries(path):
                    recognized.see(entry.path)
                    _read_entry(entry, builder, recognized)
        except OSError as error:
            raise SnapshotError(f"{display_name(path)}: {error.strerror or error}") from error
        except MalformedError as error:
            raise SnapshotError(error.fault.describe(display_name(path))) from error
    return builder, recognized


def _read(paths: Sequence[str]) -> tuple[Snapshot, bool]:
    """One snapshot of all ``paths``, and whether everything in them could be read."""
    builder, recognized = _collect(paths)
    for gap in recognized.gaps:
        builder.note_gap(gap)
    for message in recognized.errors:
        builder.note_doubt("errors", message)
    if not builder.has_pods:
        builder.note_gap(NO_PODS)
    snapshot = builder.build()
    if not snapshot.nodes and snapshot.faults:
        more = len(snapshot.faults) - 1
        raise SnapshotError(f"{snapshot.faults[0]}{f' (and {more} more)' if more else ''}")
    if not snapshot.nodes and not builder.nodes_listed:
        why = f"{_no_nodes(snapshot)}; {recognized.hint or f'list them with: {LIST_COMMAND}'}"
        if recognized.errors:
            why = f"kubectl wrote an error in the place of objects: {recognized.errors[0]}"
        raise SnapshotError(f"{', '.join(map(display_name, paths))}: {why}")
    return snapshot, not builder.has_faults


def _read_entry(entry: FileEntry, builder: SnapshotBuilder, recognized: SourceFindings) -> None:
    """Read a file. Raises MalformedError for a file on its own; a bad one among others is only noted."""
    try:
        with expect_unchanged(entry.file):
            _read_text(entry, text_chunks(entry.file, MAX_CLUSTER_BYTES, recognized.plain), builder)
    except MalformedError as error:
        if entry.is_alone:
            raise
        # Bundles contain many files without objects; only text that should have been one is reported as a fault.
        if isinstance(error, NotAnObjectError) and error.fault.message == str(error):
            builder.skip("(no Kubernetes object)")
        else:
            builder.unreadable.add(error.fault.describe(entry.name))


def _read_text(entry: FileEntry, chunks: Iterator[bytes], builder: SnapshotBuilder) -> None:
    """Give every object of a text to ``builder``, and faults with file, line and field.

    Raises MalformedError, and SnapshotError for an object that no API server could hold.
    """
    owner = _owner_by_path(entry.path)
    for item in read_objects(chunks):
        try:
            if owner:
                item.inherit_kind(owner)
            if (typed := builder.receive(item)) is not None:
                check_whole(typed)
        except DecodingError as error:
            line = item.line_of(error.path)
            place = entry.name if line is None else f"{entry.name}:{line}"
            fault = f"{place}: {object_name(item.data)}: {error.path}: {error}"
            if isinstance(error, DamagedError):
                raise SnapshotError(f"{fault}: no API server holds such an object, so the file is damaged") from error
            builder.faults.add(fault)
        except MalformedError as error:
            builder.faults.add(error.fault.describe(entry.name))


def _owner_by_path(path: str) -> dict[str, str]:
    """The list that a support bundle's array without kinds was: ``cluster-resources/pods/shop.json``; else empty."""
    if (match := _BUNDLED.search(path)) is None:
        return {}
    resource = match["resource"].replace("-", "")
    return next(
        (
            {"apiVersion": row.api_version, "kind": f"{row.kind}List"}
            for row in KIND_OF.values()
            if resource in (row.plural, f"{row.short}s")
        ),
        {},
    )


def _no_nodes(snapshot: Snapshot) -> str:
    counts = {**{row.kind: len(snapshot.of_kind(row)) for row in KIND_OF.values()}, **snapshot.skipped}
    kinds = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    return f"no Node among what was found ({kinds})" if kinds else "no Kubernetes objects found"


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause Python's garbage collector, which would walk millions of new objects again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _without_begun(marker: bytes, text: bytes) -> int:
    """The length of ``text`` without a marker that may begin at its very end."""
    begun = text.rfind(b"\n", max(0, len(text) - len(marker)))
    return begun if begun >= 0 and marker.startswith(text[begun:]) else len(text)
