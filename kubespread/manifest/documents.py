"""The documents of a YAML or JSON text, and the objects inside Lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kubespread.manifest.events import MalformedError, yaml_documents
from kubespread.manifest.json_stream import JsonStream, decoded

_YAML_RETRY_BYTES = 2**20
_JSON_START = (b"{", b"[")
_WHITESPACE = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class KubernetesObject:
    """One object as plain data, and where it stands: the document's index and the path inside it (``items[3]``)."""

    data: dict[str, Any]
    document: int = 0
    path: str = ""

    @property
    def kind(self) -> str:
        kind = self.data.get("kind")
        return kind if isinstance(kind, str) else ""

    @property
    def api_version(self) -> str:
        version = self.data.get("apiVersion")
        return version if isinstance(version, str) else ""

    @property
    def name(self) -> str:
        metadata = self.data.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return name if isinstance(name, str) else ""

    @property
    def namespace(self) -> str:
        metadata = self.data.get("metadata")
        namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
        return namespace if isinstance(namespace, str) else ""

    def field(self, path: str) -> str:
        return f"{self.path}.{path}" if self.path else path

    def in_list(self, parent: Mapping[str, Any]) -> KubernetesObject:
        """The same as an item of ``parent``; a typed list (``PodList``) implies the kind and apiVersion
        of its items.
        """
        kind = parent.get("kind")
        if not isinstance(kind, str) or not kind.endswith("List") or kind == "List":
            return self
        implied = {"apiVersion": parent.get("apiVersion"), "kind": kind.removesuffix("List")}
        return replace(self, data={**implied, **self.data})


def documents(text: bytes) -> Iterator[Any]:
    """Every document of ``text``, JSON by itself or YAML, as plain data. Raises MalformedError."""
    if text.lstrip(_WHITESPACE).startswith(_JSON_START):
        try:
            yield from list(_json_documents(text))
            return
        except MalformedError:
            # A YAML flow mapping also begins with a brace.
            if len(text) > _YAML_RETRY_BYTES or not _is_yaml(text):
                raise
    yield from yaml_documents(text)


def _json_documents(text: bytes) -> Iterator[Any]:
    """JSON values one after another: one document, JSON lines, or concatenated objects."""
    stream = JsonStream(iter([text]))
    while stream.peek():
        line = stream.line
        yield decoded(stream.value(), line)


def _is_yaml(text: bytes) -> bool:
    try:
        for _ in yaml_documents(text):
            pass
    except MalformedError:
        return False
    return True


def objects(text: bytes) -> Iterator[KubernetesObject]:
    """Every Kubernetes object of ``text``, empty documents skipped. Raises MalformedError.

    A List gives its items; one without items gives itself, since an empty list says something too.
    """
    for index, document in enumerate(documents(text)):
        for found in elements(document, index):
            yield from opened(found)


def elements(document: Any, index: int) -> Iterator[KubernetesObject]:
    """The object that the document ``index`` is, or each one of an array. Raises MalformedError for
    what is no object.
    """
    if isinstance(document, list):
        for position, element in enumerate(document):
            yield _object(element, index, f"[{position}]")
    elif document is not None:
        yield _object(document, index, "")


def opened(found: KubernetesObject) -> Iterator[KubernetesObject]:
    """A List's items, Lists among them opened too; anything else, and an empty List, as it is."""
    items = found.data.get("items")
    if not (found.kind.endswith("List") and items and isinstance(items, list)):
        yield found
        return
    for position, item in enumerate(items):
        path = found.field(f"items[{position}]")
        yield from opened(_object(item, found.document, path).in_list(found.data))


def _object(value: Any, document: int, path: str) -> KubernetesObject:
    if not isinstance(value, dict):
        raise not_an_object(path, value)
    return KubernetesObject(value, document, path)


class NotAnObjectError(MalformedError):
    """Well-formed text that holds something else than Kubernetes objects."""


def not_an_object(path: str, value: Any, line: int | None = None) -> NotAnObjectError:
    where = f"{path}: " if path else ""
    return NotAnObjectError(f"{where}expected a Kubernetes object, found {describe(value)}", line)


def describe(value: Any) -> str:
    """A plain value's type in JSON's words, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return f"the string {value!r}" if len(value) <= 40 else f"a string of {len(value)} characters"
        case list():
            return "a list"
    return "an object"
