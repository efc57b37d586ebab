"""A file of ours: one document of one kind."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from kubespread.errors import Fault, ManifestError
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import describe
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.stream import read_documents
from kubespread.manifest.text import MAX_MANIFEST_BYTES, display_name, mistaken_text, read_text_bytes, text_bytes
from kubespread.scenario.faults import Faults
from kubespread.scenario.types import API_VERSION

_OBJECT = "<object>"


class Document(Struct, frozen=True):
    """Its data, with what was wrong so far."""

    data: Mapping[str, Any]
    faults: Faults
    lines: FieldLines | None = None
    """Those of its fields; None where it was no text."""
    path: str | None = None
    """Its file's, ``-`` for standard input; None where it was none."""


def read_document(source: Mapping[str, Any] | str | Path, kind: str, smallest: str) -> Document:
    """The document that was given: as plain data, as text, which has a line break or begins with a brace, or as the
    path of a file. ``smallest`` is one to begin with. Raises ManifestError.
    """
    if isinstance(source, Mapping):
        return _of_kind(Document(source, Faults(_OBJECT)), kind, smallest)
    text = str(source)
    if "\n" in text or text.lstrip().startswith("{"):
        return document_of(text, kind, smallest)
    file = display_name(text)
    try:
        content = read_text_bytes(text, MAX_MANIFEST_BYTES)
    except OSError as error:
        raise ManifestError(file, [Fault(error.strerror or str(error))]) from error
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    return _of_kind(_of_text(file, content, kind, text), kind, smallest)


def document_of(text: str, kind: str, smallest: str) -> Document:
    """The document in a text, which is never a path. Raises ManifestError."""
    content = text.encode("utf-8", "surrogateescape")
    return _of_kind(_of_text(f"<{kind.lower()}>", content, kind, None), kind, smallest)


def _of_text(file: str, content: bytes, kind: str, path: str | None) -> Document:
    try:
        content = text_bytes(content, MAX_MANIFEST_BYTES)
        documents = read_documents(content)
    except MalformedError as error:
        raise ManifestError(file, [mistaken_text(content) or error.fault]) from error
    if len(documents) != 1 or not isinstance(documents[0], Mapping):
        what = (
            describe(documents[0]) if len(documents) == 1 else f"{len(documents)} documents" if documents else "nothing"
        )
        raise ManifestError(file, [Fault(f"expected one {kind}, found {what}")])
    lines = FieldLines(content)
    return Document(documents[0], Faults(file, lines), lines, path)


def _of_kind(document: Document, kind: str, smallest: str) -> Document:
    found = document.data.get("apiVersion"), document.data.get("kind")
    if found != (API_VERSION, kind):
        expected = f"expected apiVersion {API_VERSION} and kind {kind}"
        fault = f"{expected}, found {found[0] or 'none'} and {found[1] or 'none'}; the smallest one is {smallest}"
        document.faults.add("" if found[1] is None else "kind", fault)
        raise document.faults.error()
    return document
