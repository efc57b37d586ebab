"""Text from files, standard input and gzip data: UTF-8, chunk by chunk, limited in size and time; errors for unreadable
text.

The parts that both JSON and YAML are read into, and the error for a text that is neither; common texts that are not
manifests are recognized then. Where in a text a field stands: only looked up when there is something to complain about,
so it may take its time.
"""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import stat
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from msgspec import Struct

from kubespread.deadline import run_within
from kubespread.errors import Fault, ManifestError
from kubespread.escaping import escape
from kubespread.regex import regex

_STEP = regex(r"\[(?P<index>\d+)\]|\[(?P<key>[^\]]*)\]|(?P<name>[^.\[\]]+)")


class TextPosition(NamedTuple):
    """A place in a text, counted from 1, columns in characters."""

    line: int
    column: int


class FieldLines:
    """Lookup of positions in one text by field path (``spec.containers[0].image``)."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @cached_property
    def _documents(self) -> list[Any]:
        """The composed documents; JSON is read as YAML, and text that YAML cannot compose has no lines."""
        # JSON without faults is read without it.
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            # YAML indents with blanks only. Replacing each tab by one blank keeps the columns.
            return list(yaml.compose_all(self._text.decode().replace("\t", " "), Loader=loader))
        except (yaml.YAMLError, RecursionError, UnicodeDecodeError):
            return []

    def line(self, document: int, path: str) -> int | None:
        position = self.position(document, path)
        return position.line if position is not None else None

    def position(self, document: int, path: str) -> TextPosition | None:
        """Position of ``path``, or of the nearest existing field above it; None if unknown."""
        if document >= len(self._documents):
            return None
        node = self._documents[document]
        position = _start(node) if node is not None else None
        for step in _STEP.finditer(path):
            child = _child(node, step)
            if child is None:
                break
            position, node = child
        return position


def _start(node: Any) -> TextPosition:
    return TextPosition(node.start_mark.line + 1, node.start_mark.column + 1)


def _child(node: Any, step: re.Match[str]) -> tuple[TextPosition, Any] | None:
    from yaml import MappingNode, SequenceNode

    if isinstance(node, SequenceNode) and step["index"] is not None:
        index = int(step["index"])
        if index < len(node.value):
            return _start(node.value[index]), node.value[index]
    if isinstance(node, MappingNode):
        name = step["name"] or step["key"] or step["index"]
        for key, value in node.value:
            if getattr(key, "value", None) == name:
                return _start(key), value
    return None


Data = dict[str, Any]

MAX_DEPTH = 200
"""Limit on nested containers, since later code recurses."""
ITEMS = "items"
ARRAY: Data = {"kind": "List"}
"""Owner of the elements of an array, which is read like a List."""


class MalformedError(Exception):
    """Fault of a text that is no readable document."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(message, line=line)


class Part(Struct, gc=False):
    """A document, or an item that is read before the rest of it, as a list may be very long.

    ``value`` is JSON text as bytes, or plain data; None is an empty document. ``path`` is that in its document,
    ``line`` its first line if known. ``owner`` is an item's document as far as it has been read: its kind may come
    after the items.
    """

    value: Any
    line: int | None = None
    path: str = ""
    owner: Data | None = None


def is_list(kind: object) -> bool:
    """True for ``List`` or the kind of a typed list."""
    return isinstance(kind, str) and kind.endswith("List")


def may_be_list(owner: Mapping[str, Any]) -> bool:
    """True if ``items`` may belong to a list: the kind of ``owner`` may not have been read yet."""
    return owner.get("kind") is None or is_list(owner["kind"])


STDIN = "-"
STDIN_NAME = "<stdin>"
MAX_MANIFEST_BYTES = 64 * 2**20
MAX_CLUSTER_BYTES = 8 * 2**30
GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**20
_ZIPPED = 2**14
"""Bytes of gzip at a time: a member that ends copies all that follows it, and may be 20 bytes long."""
PATIENCE = 1.0
"""Seconds to wait for a named pipe to be opened for writing."""


def display_name(path: str) -> str:
    """Path for messages and saved files, as text even if its bytes are none."""
    return STDIN_NAME if path == STDIN else escape(path)


@contextmanager
def faults_of(file: str) -> Iterator[None]:
    """Context that raises ManifestError for faults of a text."""
    try:
        yield
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error


def read_file(path: str, limit: int = MAX_MANIFEST_BYTES) -> bytes:
    """Read UTF-8 bytes of ``path`` (``-`` is standard input), unzipped. Raises ManifestError."""
    with faults_of(display_name(path)), open_binary(path) as file, expect_unchanged(file):
        return b"".join(text_chunks(file, limit))


def text_bytes(raw: bytes) -> bytes:
    """``raw`` as UTF-8, unzipped and without byte order mark. Raises MalformedError for binary data."""
    return b"".join(text_chunks(io.BytesIO(raw), MAX_MANIFEST_BYTES))


def open_binary(path: str) -> AbstractContextManager[IO[bytes]]:
    """Open the file at ``path``, or standard input, which stays open. Raises OSError and MalformedError."""
    if path != STDIN:
        file = Path(path)
        try:
            # Opening a named pipe blocks until a program opens it for writing.
            return run_within(PATIENCE, lambda: file.open("rb")) if file.is_fifo() else file.open("rb")
        except ValueError as error:
            # No file can be called so: there is a NUL in it.
            raise OSError(errno.EINVAL, str(error)) from error
        except TimeoutError:
            raise MalformedError("a named pipe that no program has opened for writing") from None
    if sys.stdin is None:
        raise MalformedError("standard input is closed")
    return nullcontext(sys.stdin.buffer)


@contextmanager
def expect_unchanged(file: IO[bytes]) -> Iterator[None]:
    """Context that raises MalformedError if a file is written to while it is read."""
    before = _last_written(file)
    try:
        yield
    except MalformedError:
        _compare(before, file)
        raise
    _compare(before, file)


def _compare(before: tuple[int, int] | None, file: IO[bytes]) -> None:
    if _last_written(file) != before:
        raise MalformedError("it was written to while it was read; try again when it is complete") from None


def _last_written(file: IO[bytes]) -> tuple[int, int] | None:
    """The size and time of a regular file; None for pipes, terminals and members of archives."""
    try:
        status = os.fstat(file.fileno())
    except (OSError, AttributeError):
        # What tarfile takes from a compressed stream has no file number, and does not say so properly.
        return None
    return (status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def text_chunks(
    file: IO[bytes], limit: int, cut: Callable[[Iterator[bytes]], Iterator[bytes]] = iter
) -> Iterator[bytes]:
    """Yield the content of ``file`` as UTF-8, unzipped and without byte order mark, about a mebibyte at a time.

    A chunk may end inside a character. ``cut`` removes unneeded parts of the plain bytes before they are checked.
    Raises OSError, and MalformedError for what is not text or larger than ``limit``.
    """
    chunks: Iterator[bytes] = iter(lambda: file.read(_CHUNK), b"")
    start = next(chunks, b"")
    chunks = chain([start], chunks)
    if start.startswith(GZIP_MAGIC):
        chunks = _gunzip(chunks)
        start = next(chunks, b"")
        chunks = chain([start], chunks)
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        chunks = _from_utf16(chunks)
    yield from _check(filter(None, cut(chunks)), limit)


def _gunzip(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Every member of a gzip file in order, skipping zero padding between and after them."""
    member = zlib.decompressobj(wbits=31)
    for data in (chunk[start : start + _ZIPPED] for chunk in chunks for start in range(0, len(chunk), _ZIPPED)):
        while data:
            if member.eof:
                data = data.lstrip(b"\0")
                if not data:
                    break
                if not data.startswith(GZIP_MAGIC[: len(data)]):
                    raise MalformedError("something else follows the gzip data")
                member = zlib.decompressobj(wbits=31)
            yield from _inflate(member, data)
            data = member.unused_data
    if not member.eof:
        raise MalformedError("gzip data ends early")


def _inflate(member: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield the plain bytes of ``data`` in one member, in chunks: a gzip bomb must not unfold at once."""
    plain = b"-" * _CHUNK
    # A full chunk may leave output inside the decompressor though all of its input is used.
    while data or len(plain) == _CHUNK:
        try:
            plain = member.decompress(data, _CHUNK)
        except zlib.error as error:
            raise MalformedError(f"damaged gzip data: {error}") from error
        if plain:
            yield plain
        # What follows the end of a member stays there too.
        data = b"" if member.eof else member.unconsumed_tail


def _from_utf16(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Decode the UTF-16 that `kubectl get ... > cluster.yaml` writes in Windows PowerShell."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    try:
        for chunk in chunks:
            yield decoder.decode(chunk).encode()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise MalformedError(f"not UTF-16 text: {error.reason}") from error


def _check(chunks: Iterator[bytes], limit: int) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset = 0
    for position, chunk in enumerate(chunks):
        if (nul := chunk.find(b"\0")) >= 0:
            raise MalformedError(f"not a text file (NUL byte at offset {offset + nul}): expected YAML or JSON")
        pending = len(decoder.getstate()[0])
        if pending or not chunk.isascii():
            _decode(decoder, chunk, offset - pending)
        if offset + len(chunk) > limit:
            raise MalformedError(f"more than {limit // 2**20} MiB of text")
        offset += len(chunk)
        yield chunk.removeprefix(BOM_UTF8) if position == 0 else chunk
    _decode(decoder, b"", offset - len(decoder.getstate()[0]), final=True)


def _decode(decoder: codecs.IncrementalDecoder, chunk: bytes, offset: int, *, final: bool = False) -> None:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError as error:
        invalid = f"byte 0x{error.object[error.start]:02x} at offset {offset + error.start}"
        raise MalformedError(f"not UTF-8 text ({invalid}): expected YAML or JSON") from error


# A pattern and its message; the line is that of the last character matched.
_MISTAKES = (
    (regex(rb"\{\{"), "a Helm template, not a manifest: pipe `helm template` into kubespread"),
    (
        regex(rb"\A\s*^(?:NAMESPACE\s+)?NAME\s+[A-Z][A-Z -]*$", re.MULTILINE),
        "the table that `kubectl get` prints: add -o yaml to it",
    ),
    (regex(rb"^<{7} ", re.MULTILINE), "a merge conflict that is not resolved"),
    (regex(rb"^ *\t\s*\S", re.MULTILINE), "indented with a tab: YAML takes spaces only"),
)


_NEAR = 3
"""Lines before a fault in which its cause may stand: a parser goes on for a while."""


def mistaken_text(text: bytes, fault: Fault) -> Fault:
    """``fault``, or the common mistake behind it: a text that is not a manifest yet."""
    if fault.line is None:
        return fault
    start = sum(map(len, text.splitlines(keepends=True)[: max(0, fault.line - 1 - _NEAR)]))
    for pattern, message in _MISTAKES:
        match = pattern.search(text, start)
        if match and (line := text.count(b"\n", 0, match.end()) + 1) <= fault.line + 1:
            return Fault(message, line=line)
    return fault
