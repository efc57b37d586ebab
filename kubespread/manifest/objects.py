"""One Kubernetes object of a text: its kind, its position, and its fields, decoded on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from kubespread.manifest.json_stream import decoded
from kubespread.manifest.parts import ITEMS, Data, MalformedError

if TYPE_CHECKING:
    from kubespread.manifest.parts import FieldLines


class Head(msgspec.Struct, rename="camel"):
    """What tells one JSON object from another, everything else left undecoded."""

    api_version: Any = ""
    kind: Any = ""
    items: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()
    spec: msgspec.Raw = msgspec.Raw()
    status: msgspec.Raw = msgspec.Raw()


_TEMPLATE = "spec.template"
_heads = msgspec.json.Decoder(Head)


@dataclass(slots=True)
class KubernetesObject:
    """One object and its position in its text. A List comes after its items, and without them.

    Raises MalformedError for JSON text whose kind or apiVersion is a number too large for anything.
    """

    content: Data | bytes
    """Plain data, or JSON text, which is decoded only when ``data`` is asked for."""
    document: int = 0
    """The index of its document."""
    path: str = ""
    """Its path inside that: ``items[3]``."""
    line: int | None = field(default=None, compare=False)
    """The one it begins on, where that is known."""
    lines: FieldLines | None = field(default=None, compare=False, repr=False)
    """Those of its document, where that is not JSON text."""
    size: int | None = field(default=None, compare=False)
    """How many items a List had, None for everything else."""
    template_path: str = field(default="", compare=False)
    """Where the text has its pod template, if that was moved to spec.template."""
    api_version: str = field(init=False)
    kind: str = field(init=False)
    head: Head | None = field(init=False, compare=False, repr=False)
    """The parts of its JSON text, None where it is plain data."""
    _data: Data | None = field(init=False, compare=False, repr=False)
    _implied: Data = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        self._implied = {}
        if isinstance(self.content, bytes):
            self._data = None
            self.head = _head(self.content, self.line)
            api_version, kind = self.head.api_version, self.head.kind
        else:
            self._data, self.head = self.content, None
            api_version, kind = self.content.get("apiVersion"), self.content.get("kind")
        self.api_version = api_version if isinstance(api_version, str) else ""
        self.kind = kind if isinstance(kind, str) else ""

    @property
    def json(self) -> bytes:
        """Its JSON text, empty where it is plain data."""
        return self.content if isinstance(self.content, bytes) else b""

    @property
    def data(self) -> Data:
        """The object as plain data. Raises MalformedError for a number that no field of Kubernetes holds."""
        if self._data is None:
            self._data = {**decoded(self.json, self.line), **self._implied}
        return self._data

    @property
    def name(self) -> str:
        return self._metadata("name")

    @property
    def namespace(self) -> str:
        return self._metadata("namespace")

    @property
    def has_items(self) -> bool:
        """Whether its field ``items`` is an array, of plain data one that is not empty.

        Raises MalformedError for any other value except null, which Go writes for an empty list.
        """
        if self.head is not None and self._data is None:
            text = bytes(self.head.items)
            if text.startswith(b"["):
                return True
            items = decoded(text, self.line) if text else None
        else:
            items = self.data.get(ITEMS)
        if items is not None and not isinstance(items, list):
            raise MalformedError(f"{ITEMS}: expected a list, found {describe(items)}", self.line)
        return bool(items)

    def written_path(self, path: str) -> str:
        """The path in the object as it was written of its field at ``path``."""
        moved = self.template_path and path.startswith(_TEMPLATE)
        return f"{self.template_path}{path.removeprefix(_TEMPLATE)}" if moved else path

    def field(self, path: str) -> str:
        """The path in the document of the object's field at ``path``."""
        path = self.written_path(path)
        return f"{self.path}.{path}" if self.path else path

    def line_of(self, path: str) -> int | None:
        """The line of the object's field at ``path``, or of the nearest field above it."""
        if self.json and self.lines is None:
            from kubespread.manifest.parts import FieldLines

            inside = FieldLines(self.json).line(0, path)
            return self.line if self.line is None or inside is None else self.line - 1 + inside
        line = self.lines.line(self.document, self.field(path)) if self.lines is not None else None
        return line or self.line

    def belongs_to(self, owner: Mapping[str, Any]) -> None:
        """Take over what a typed list (``PodList``) says of its items, where the object does not say it itself."""
        kind, api_version = owner.get("kind"), owner.get("apiVersion")
        if (self.kind and self.api_version) or not isinstance(kind, str) or kind == "List":
            return
        self.kind = self.kind or kind.removesuffix("List")
        self.api_version = self.api_version or (api_version if isinstance(api_version, str) else "")
        self._implied = {"apiVersion": self.api_version, "kind": self.kind}
        if self._data is not None:
            self._data = {**self._data, **self._implied}

    def _metadata(self, field: str) -> str:
        metadata = self.data.get("metadata")
        value = metadata.get(field) if isinstance(metadata, dict) else None
        return value if isinstance(value, str) else ""


def _head(text: bytes, line: int | None) -> Head:
    try:
        return _heads.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedError(f"JSON syntax: {error}", line) from error


class NotAnObjectError(MalformedError):
    """Well-formed text that holds something else than Kubernetes objects."""

    def __init__(self, path: str, value: Any, line: int | None) -> None:
        where = f"{path}: " if path else ""
        super().__init__(f"{where}expected a Kubernetes object, found {describe(value)}", line)


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
