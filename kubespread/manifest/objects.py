"""The Kubernetes objects in a text of any size, JSON or YAML, one at a time, in the order they stand.

Of each its kind, its position, and its fields, decoded on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec import Struct

from kubespread.manifest.json_stream import JsonStream, decode_json, json_documents, json_list_parts, json_parts
from kubespread.manifest.text import ITEMS, Data, MalformedError, Part, is_list, mistaken_text
from kubespread.wording import describe

if TYPE_CHECKING:
    from kubespread.manifest.text import FieldLines


class Head(msgspec.Struct, rename="camel"):
    """Fields that identify a JSON object, everything else left undecoded."""

    api_version: Any = ""
    kind: Any = ""
    items: msgspec.Raw = msgspec.Raw()
    metadata: msgspec.Raw = msgspec.Raw()
    spec: msgspec.Raw = msgspec.Raw()
    status: msgspec.Raw = msgspec.Raw()


_TEMPLATE = "spec.template"
_heads = msgspec.json.Decoder(Head)


class KubernetesObject(Struct):
    """One object and its position in its text. A List follows its items, without them.

    Raises MalformedError for JSON text with a number as kind or apiVersion that is too large to read.
    """

    content: Data | bytes
    """Plain data, or JSON text, decoded on first use of ``data``."""
    document: int = 0
    """Index of its document."""
    path: str = ""
    """Path in that document: ``items[3]``."""
    line: int | None = None
    """First line, if known."""
    lines: FieldLines | None = None
    """Lines of its document's fields; None for JSON text."""
    size: int | None = None
    """Number of a List's items; None for other objects."""
    template_path: str = ""
    """Path of its pod template in the text, if it was moved to spec.template."""
    api_version: str = ""
    kind: str = ""
    head: Head | None = None
    """Parts of its JSON text; None for plain data."""
    _data: Data | None = None
    _implied: Data | None = None

    def __post_init__(self) -> None:
        if isinstance(self.content, bytes):
            self.head = head = _head(self.content, self.line)
            api_version, kind = head.api_version, head.kind
        else:
            self._data, self.head = self.content, None
            api_version, kind = self.content.get("apiVersion"), self.content.get("kind")
        self.api_version = api_version if isinstance(api_version, str) else ""
        self.kind = kind if isinstance(kind, str) else ""

    @property
    def json(self) -> bytes:
        """JSON text; empty for plain data."""
        return self.content if isinstance(self.content, bytes) else b""

    @property
    def data(self) -> Data:
        """The object as plain data. Raises MalformedError for a number that no field of Kubernetes holds."""
        if self._data is None:
            self._data = {**decode_json(self.json, self.line), **(self._implied or {})}
        return self._data

    @property
    def name(self) -> str:
        return self._metadata("name")

    @property
    def namespace(self) -> str:
        return self._metadata("namespace")

    @property
    def has_items(self) -> bool:
        """True if its field ``items`` is an array; once decoded, one that is not empty.

        Raises MalformedError for any other value except null, which Go writes for an empty list.
        """
        if self.head is not None and self._data is None:
            text = bytes(self.head.items)
            if text.startswith(b"["):
                return True
            items = decode_json(text, self.line) if text else None
        else:
            items = self.data.get(ITEMS)
        if items is not None and not isinstance(items, list):
            raise MalformedError(f"{ITEMS}: expected a list, found {describe(items)}", self.line)
        return bool(items)

    def written_path(self, path: str) -> str:
        """Original path of the field at ``path``."""
        moved = self.template_path and path.startswith(_TEMPLATE)
        return f"{self.template_path}{path.removeprefix(_TEMPLATE)}" if moved else path

    def field(self, path: str) -> str:
        """Path, in the document, of the object's field at ``path``."""
        path = self.written_path(path)
        return f"{self.path}.{path}" if self.path else path

    def line_of(self, path: str) -> int | None:
        """Line of the object's field at ``path``, or of the nearest field above it."""
        if self.json and self.lines is None:
            from kubespread.manifest.text import FieldLines

            inside = FieldLines(self.json).line(0, path)
            return self.line if self.line is None or inside is None else self.line - 1 + inside
        line = self.lines.line(self.document, self.field(path)) if self.lines is not None else None
        return line or self.line

    def inherit_kind(self, owner: Mapping[str, Any]) -> None:
        """Inherit kind and apiVersion from a typed list (``PodList``), unless set."""
        if self.kind and self.api_version:
            return
        kind, api_version = owner.get("kind"), owner.get("apiVersion")
        if not isinstance(kind, str) or kind == "List":
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
    """Well-formed text without Kubernetes objects."""

    def __init__(self, path: str, value: Any, line: int | None) -> None:
        where = f"{path}: " if path else ""
        super().__init__(f"{where}expected a Kubernetes object, found {describe(value)}", line)


T = TypeVar("T")
Chunks = Iterator[bytes]

_MAX_BYTES_FOR_LINES = 32 * 2**20
_YAML_RETRY_BYTES = 2**20
_MAX_LISTS_IN_LISTS = 50
_JSON_START = (b"{", b"[")


def read_objects(chunks: Chunks) -> Iterator[KubernetesObject]:
    """Yield the objects of a text. Raises MalformedError.

    A List yields its items, and then itself without them: an empty list is information too.
    """
    return _in_its_format(chunks, lambda chunks: _Reader().objects(json_parts(chunks)), _yaml_objects)


def read_documents(text: bytes) -> list[Any]:
    """Documents of a text as plain data, without empty ones. Raises MalformedError."""
    documents = _in_its_format(iter([text]), json_documents, _yaml_documents)
    return [document for document in documents if document is not None]


def objects_in(data: Mapping[str, Any]) -> Iterator[KubernetesObject]:
    """Yield the objects in a parsed value, as `read_objects` does."""
    return _open(KubernetesObject(dict(data)))


def _in_its_format(
    chunks: Chunks, read_json: Callable[[Chunks], Iterator[T]], read_yaml: Callable[[Chunks], Iterator[T]]
) -> Iterator[T]:
    start = next((chunk for chunk in chunks if not chunk.isspace()), b"")
    try:
        if start.lstrip().startswith(_JSON_START):
            yield from _json_or_yaml(start, chunks, read_json, read_yaml)
        else:
            yield from read_yaml(chain([start], chunks))
    except MalformedError as error:
        error.fault = mistaken_text(start, error.fault)
        raise


def _json_or_yaml(
    start: bytes, chunks: Chunks, read_json: Callable[[Chunks], Iterator[T]], read_yaml: Callable[[Chunks], Iterator[T]]
) -> Iterator[T]:
    pieces, size = [start], len(start)
    while size <= _YAML_RETRY_BYTES and (chunk := next(chunks, b"")):
        pieces.append(chunk)
        size += len(chunk)
    if size > _YAML_RETRY_BYTES:
        return read_json(chain(pieces, chunks))
    # A YAML flow mapping also begins with a brace, but large ones do not occur.
    try:
        return iter(list(read_json(iter(pieces))))
    except MalformedError as json_error:
        try:
            return iter(list(read_yaml(iter(pieces))))
        except MalformedError:
            raise json_error from None


def _yaml_documents(chunks: Chunks) -> Iterator[Any]:
    from kubespread.manifest.yaml_stream import yaml_documents

    return yaml_documents(b"".join(chunks))


def _yaml_objects(chunks: Chunks) -> Iterator[KubernetesObject]:
    # JSON is read without a parser of YAML.
    from kubespread.manifest.text import FieldLines
    from kubespread.manifest.yaml_stream import yaml_parts

    pieces, size = [], 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > _MAX_BYTES_FOR_LINES:
            # No lines of fields are looked for, and the text need not be kept.
            return _Reader().objects(yaml_parts(chain(pieces, chunks)))
    text = b"".join(pieces)
    return _Reader(lines=FieldLines(text)).objects(yaml_parts(text))


class _Reader:
    """Builder of objects from parts; the first part belongs to ``document``, below ``path``."""

    def __init__(self, document: int = 0, path: str = "", lines: FieldLines | None = None) -> None:
        self._document, self._path, self._lines = document, path, lines

    def objects(self, parts: Iterable[Part]) -> Iterator[KubernetesObject]:
        size = 0
        # Items without a kind wait if their list states its kind only after them.
        waiting: list[Part] = []
        for part in parts:
            if part.owner is None:
                yield from self._document_objects(part, waiting, size)
                self._document, size, waiting = self._document + 1, 0, []
                continue
            size += 1
            if "kind" in part.owner:
                item = self._item(part)
            elif not _is_object(part.value) or not (item := self._object(part)).kind:
                waiting.append(part)
                continue
            # As `_open`, which is a generator more for each of very many items.
            if is_list(item.kind):
                yield from _open(item)
            else:
                yield item

    def _document_objects(self, part: Part, waiting: Sequence[Part], size: int) -> Iterator[KubernetesObject]:
        """Yield the items ``waiting`` for the document's kind, then the document; ``size`` items came before it."""
        if part.value is None:
            return
        document = self._object(part)
        if not size or not is_list(document.kind):
            if waiting:
                # No items of a list, but a field like any other.
                document.data[ITEMS] = [_plain(item) for item in waiting]
            yield from _open(document)
            return
        for item in waiting:
            yield from _open(self._item(item))
        document.size = size
        yield document

    def _item(self, part: Part) -> KubernetesObject:
        item = self._object(part)
        if not (item.kind and item.api_version):
            item.inherit_kind(part.owner or {})
        return item

    def _object(self, part: Part) -> KubernetesObject:
        path, value = part.path, part.value
        if self._path:
            path = f"{self._path}.{path}" if path else self._path
        if not _is_object(value):
            line = part.line if self._lines is None else self._lines.line(self._document, path)
            raise NotAnObjectError(path, _plain(part), line)
        return KubernetesObject(value, self._document, path, part.line, self._lines)


def _open(item: KubernetesObject) -> Iterator[KubernetesObject]:
    """The items of a List and the List itself; any other object unchanged."""
    if not is_list(item.kind):
        yield item
    elif not item.has_items:
        item.size = 0
        yield item
    elif item.path.count(ITEMS) > _MAX_LISTS_IN_LISTS:
        raise MalformedError(f"Lists nested deeper than {_MAX_LISTS_IN_LISTS} levels", item.line)
    else:
        yield from _Reader(item.document, item.path, item.lines).objects(_parts(item))


def _parts(item: KubernetesObject) -> Iterator[Part]:
    if item.json:
        owner = {"apiVersion": item.api_version, "kind": item.kind}
        yield from json_list_parts(JsonStream(iter([item.json]), item.line or 1), owner)
    else:
        for position, value in enumerate(item.data[ITEMS]):
            yield Part(value, item.line, f"{ITEMS}[{position}]", item.data)
        yield Part({**item.data, ITEMS: []}, item.line)


def _is_object(value: Any) -> bool:
    return value.startswith(b"{") if isinstance(value, bytes) else isinstance(value, dict)


def _plain(part: Part) -> Any:
    return decode_json(part.value, part.line) if isinstance(part.value, bytes) else part.value
