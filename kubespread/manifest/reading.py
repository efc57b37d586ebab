"""Bytes from a file, from standard input or from inside a gzip wrapper, always bounded."""

from __future__ import annotations

import io
import sys
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

from kubespread.manifest.events import MalformedError

STDIN = "-"
STDIN_NAME = "<stdin>"
MAX_MANIFEST_BYTES = 64 * 2**20
MAX_CLUSTER_BYTES = 8 * 2**30
_GZIP_MAGIC = b"\x1f\x8b"
_CHUNK = 2**20


def display_name(path: str) -> str:
    return STDIN_NAME if path == STDIN else path


def read_text_bytes(path: str, limit: int) -> bytes:
    """The UTF-8 bytes of ``path`` (``-`` is standard input), unzipped. Raises OSError and MalformedError."""
    return text_bytes(_read(path, limit), limit)


def text_bytes(raw: bytes, limit: int) -> bytes:
    """``raw`` without gzip and byte order mark, as UTF-8. Raises MalformedError for what is not text."""
    if raw.startswith(_GZIP_MAGIC):
        raw = _gunzip(raw, limit)
    if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        # What `kubectl get ... > cluster.yaml` writes in Windows PowerShell.
        try:
            raw = raw.decode("utf-16").encode()
        except UnicodeDecodeError as error:
            raise MalformedError(f"not UTF-16 text: {error.reason}") from error
    raw = raw.removeprefix(BOM_UTF8)
    if (at := raw.find(b"\0")) >= 0:
        raise MalformedError(f"not a text file (NUL byte at offset {at}): expected YAML or JSON")
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            found = f"byte 0x{raw[error.start]:02x} at offset {error.start}"
            raise MalformedError(f"not UTF-8 text ({found}): expected YAML or JSON") from error
    return raw


def _read(path: str, limit: int) -> bytes:
    if path == STDIN:
        if sys.stdin is None:
            raise MalformedError("standard input is closed")
        raw = sys.stdin.buffer.read(limit + 1)
    else:
        with Path(path).open("rb") as file:
            raw = file.read(limit + 1)
    if len(raw) > limit:
        raise MalformedError(f"larger than {limit // 2**20} MiB")
    return raw


def _gunzip(raw: bytes, limit: int) -> bytes:
    """Every member of a gzip file, one after another, stopping at ``limit`` bytes of plain text."""
    out = io.BytesIO()
    while raw.startswith(_GZIP_MAGIC):
        member = zlib.decompressobj(wbits=31)
        data = raw
        while not member.eof:
            try:
                out.write(member.decompress(data, _CHUNK))
            except zlib.error as error:
                raise MalformedError(f"damaged gzip data: {error}") from error
            if out.tell() > limit:
                raise MalformedError(f"unzips to more than {limit // 2**20} MiB")
            data = member.unconsumed_tail
            if not data and not member.eof:
                raise MalformedError("gzip data ends early")
        raw = member.unused_data
    return out.getvalue()
