"""Documents of kubespread's own kinds, one to a file, and their faults, collected while they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from kubespread.errors import Fault, KubespreadError, ManifestError
from kubespread.kube.api.unknown_fields import UnknownField, near_miss
from kubespread.kube.name_rules import dns_label_faults
from kubespread.manifest.objects import read_documents
from kubespread.manifest.text import FieldLines, MalformedError, display_name, read_file, text_bytes
from kubespread.wording import describe

T = TypeVar("T")
API_VERSION = "kubespread.dev/v1alpha1"
_MAX_NUMBER, _MAX_DECIMALS = 999_999_999, 6


class FieldType(Enum):
    """Type of a field."""

    TEXT = "a string"
    TEXTS = "a list of strings"
    NUMBER = "a number from 0"
    AMOUNT = "a number or a string"
    DECIMAL = "a number from 0 with at most six decimals"
    FLAG = "true or false"
    LABELS = "an object of strings"
    LIST = "a list"
    OBJECT = "an object"
    MANIFEST = "a Node manifest, its file or a node's name"


class Field(Struct, frozen=True):
    type: FieldType
    help: str
    is_required: bool = False


Fields = Mapping[str, Field]


class Faults:
    def __init__(self, file: str, lines: FieldLines | None = None) -> None:
        self._file, self._lines = file, lines
        self.entries: list[Fault] = []

    def add(self, path: str, message: str) -> None:
        line = self._lines.line(0, path) if self._lines is not None else None
        self.entries.append(Fault(message, path, line))

    def add_error(self, path: str, error: KubespreadError) -> None:
        """Add the faults of an error, which may name another file."""
        faults = [str(error)] if not isinstance(error, ManifestError) else str(error).split("\n")
        for message in faults:
            self.add(path, message)

    def read(self, path: str, read: Callable[[], T]) -> T | None:
        """Value of the field at ``path``; None if it is faulty."""
        try:
            return read()
        except KubespreadError as error:
            self.add_error(path, error)
            return None

    def check_namespace(self, namespace: str | None, path: str) -> None:
        if namespace is not None and (wrong := dns_label_faults(namespace)):
            self.add(path, f"{namespace!r}: {wrong[0]}")

    def error(self) -> ManifestError:
        return ManifestError(self._file, sorted(self.entries, key=lambda fault: fault.line or 0))

    def check(self, data: Any, fields: Fields, path: str) -> dict[str, Any]:
        """Values of ``fields`` in ``data`` with valid types; nulls count as absent.

        Unknown names, values of another type and missing fields are added to the faults.
        """
        if not isinstance(data, Mapping):
            self.add(path, f"expected an object, found {describe(data)}")
            return {}
        inside = f"{path}." if path else ""
        values: dict[str, Any] = {}
        for name, value in data.items():
            field = fields.get(name)
            if field is None:
                self.add_unknown(f"{inside}{name}", name, fields)
            elif value is not None and self._fits(f"{inside}{name}", value, field):
                values[name] = value
        for name, field in fields.items():
            if field.is_required and data.get(name) is None:
                self.add(f"{inside}{name}", f"Required value: {field.help}")
        return values

    def add_unknown(self, path: str, name: object, valid_names: Fields | Mapping[str, object]) -> None:
        """Add an unknown field, with the most similar name."""
        suggestion = near_miss(str(name), valid_names)
        self.add(path, str(UnknownField(path, f"{path.removesuffix(str(name))}{suggestion}" if suggestion else "")))

    def _fits(self, path: str, value: Any, field: Field) -> bool:
        if _is_of_type(value, field.type):
            return True
        if isinstance(value, list) and field.type is FieldType.TEXTS:
            for place, item in enumerate(value):
                if not _is_text(item):
                    self.add(f"{path}[{place}]", f"expected a string, found {_describe(item)}")
        else:
            self.add(path, f"expected {field.type.value}, found {_describe(value)}")
        return False


def _is_of_type(value: Any, kind: FieldType) -> bool:
    match kind:
        case FieldType.TEXT:
            return _is_text(value)
        case FieldType.TEXTS:
            return isinstance(value, list) and all(map(_is_text, value))
        case FieldType.NUMBER | FieldType.DECIMAL:
            return _is_number(value) or (kind is FieldType.DECIMAL and _is_decimal(value))
        case FieldType.AMOUNT:
            return _is_text(value) or _is_number(value)
        case FieldType.FLAG:
            return isinstance(value, bool)
        case FieldType.LABELS:
            return isinstance(value, Mapping) and all(map(_is_text, (*value, *value.values())))
        case FieldType.LIST:
            return isinstance(value, list)
        case FieldType.OBJECT:
            return isinstance(value, Mapping)
        case FieldType.MANIFEST:
            return _is_text(value) or isinstance(value, Mapping)


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NUMBER


def _is_decimal(value: Any) -> bool:
    """True if it is a float of at most fifteen digits, so that its shortest text is the number that was written."""
    return isinstance(value, float) and 0 <= value <= _MAX_NUMBER and round(value, _MAX_DECIMALS) == value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _describe(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MAX_NUMBER:
        return str(value)
    return "an empty string" if value == "" else describe(value)


_OBJECT = "<object>"


HEAD: Fields = {
    "apiVersion": Field(FieldType.TEXT, API_VERSION, is_required=True),
    "kind": Field(FieldType.TEXT, "what the file is", is_required=True),
    "metadata": Field(FieldType.OBJECT, "name and namespace"),
}
METADATA: Fields = {
    "name": Field(FieldType.TEXT, "what it is called"),
    "namespace": Field(FieldType.TEXT, "that of names without one"),
}


class Document(Struct, frozen=True):
    """Data of a document, with its faults so far."""

    data: Mapping[str, Any]
    faults: Faults
    lines: FieldLines | None = None
    """Lines of its fields; None without a text."""
    path: str | None = None
    """Path of its file, ``-`` for standard input; None without one."""

    def fields(self, own: Fields) -> tuple[dict[str, Any], str | None]:
        """Read the common fields and ``own`` ones, and the namespace of names without one."""
        fields = self.faults.check(self.data, {**HEAD, **own}, "")
        metadata = self.faults.check(fields.get("metadata", {}), METADATA, "metadata")
        namespace = metadata.get("namespace")
        self.faults.check_namespace(namespace, "metadata.namespace")
        return {**fields, "metadata": metadata}, namespace


def read_document(source: Mapping[str, Any] | str | Path, kind: str, smallest: str) -> Document:
    """Read a document: plain data, text (with a line break, or beginning with a brace) or a path. Raises ManifestError.

    ``smallest`` is an example for errors.
    """
    if isinstance(source, Mapping):
        return _of_kind(Document(source, Faults(_OBJECT)), kind, smallest)
    text = str(source)
    if "\n" in text or text.lstrip().startswith("{"):
        return document_of(text, kind, smallest)
    return _of_kind(_of_text(display_name(text), read_file(text), kind, text), kind, smallest)


def document_of(text: str, kind: str, smallest: str) -> Document:
    """Document in a text, which is never a path. Raises ManifestError."""
    content = text.encode("utf-8", "surrogateescape")
    return _of_kind(_of_text(f"<{kind.lower()}>", content, kind, None), kind, smallest)


def _of_text(file: str, content: bytes, kind: str, path: str | None) -> Document:
    try:
        content = text_bytes(content)
        documents = read_documents(content)
    except MalformedError as error:
        raise ManifestError(file, [error.fault]) from error
    if len(documents) != 1 or not isinstance(documents[0], Mapping):
        what = (
            describe(documents[0]) if len(documents) == 1 else f"{len(documents)} documents" if documents else "nothing"
        )
        raise ManifestError(file, [Fault(f"expected one {kind}, found {what}")])
    lines = FieldLines(content)
    return Document(documents[0], Faults(file, lines), lines, path)


def _of_kind(document: Document, kind: str, smallest: str) -> Document:
    api_version, own_kind = document.data.get("apiVersion"), document.data.get("kind")
    if (api_version, own_kind) != (API_VERSION, kind):
        expected = f"expected apiVersion {API_VERSION} and kind {kind}"
        fault = f"{expected}, found {api_version or 'none'} and {own_kind or 'none'}; the smallest one is {smallest}"
        document.faults.add("" if own_kind is None else "kind", fault)
        raise document.faults.error()
    return document
