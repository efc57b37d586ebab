"""The Kubernetes objects in a text of any size, JSON or YAML, one at a time, in the order they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from kubespread.manifest.json_stream import JsonStream, decoded, json_documents, json_list_parts, json_parts
from kubespread.manifest.objects import KubernetesObject, NotAnObjectError
from kubespread.manifest.parts import ITEMS, MalformedError, Part, is_list

if TYPE_CHECKING:
    from kubespread.manifest.parts import FieldLines

T = TypeVar("T")
Chunks = Iterator[bytes]

_MAX_BYTES_FOR_LINES = 32 * 2**20
_YAML_RETRY_BYTES = 2**20
_LARGE_YAML = 2**17
"""Bytes from which on it is worth looking for what stands in a text again and again."""
_MAX_LISTS_IN_LISTS = 50
_JSON_START = (b"{", b"[")


def read_objects(chunks: Chunks) -> Iterator[KubernetesObject]:
    """Every object of a text, empty documents skipped. Raises MalformedError.

    A List yields its items, and then itself without them: an empty list is information too.
    """
    return _in_its_format(chunks, _json_objects, _yaml_objects)


def read_documents(text: bytes) -> list[Any]:
    """Every document of a text as plain data, empty ones left out. Raises MalformedError."""
    documents = _in_its_format(iter([text]), json_documents, _yaml_documents)
    return [document for document in documents if document is not None]


def objects_in(data: Mapping[str, Any]) -> Iterator[KubernetesObject]:
    """The objects in a parsed value, as `read_objects` yields them."""
    return _opened(KubernetesObject(dict(data)))


def _in_its_format(
    chunks: Chunks, read_json: Callable[[Chunks], Iterator[T]], read_yaml: Callable[[Chunks], Iterator[T]]
) -> Iterator[T]:
    start = next((chunk for chunk in chunks if not chunk.isspace()), b"")
    if not start.lstrip().startswith(_JSON_START):
        yield from read_yaml(chain([start], chunks))
        return
    more = next(chunks, b"")
    if more or len(start) > _YAML_RETRY_BYTES:
        yield from read_json(chain([start, more], chunks))
        return
    # A YAML flow mapping also begins with a brace, but large ones do not occur.
    try:
        objects = list(read_json(iter([start])))
    except MalformedError as json_error:
        try:
            objects = list(read_yaml(iter([start])))
        except MalformedError:
            raise json_error from None
    yield from objects


def _json_objects(chunks: Chunks) -> Iterator[KubernetesObject]:
    return _Reader().objects(json_parts(chunks))


def _yaml_documents(chunks: Chunks) -> Iterator[Any]:
    from kubespread.manifest.yaml_stream import yaml_documents

    return yaml_documents(b"".join(chunks))


def _yaml_objects(chunks: Chunks) -> Iterator[KubernetesObject]:
    # JSON is read without a parser of YAML.
    from kubespread.manifest.parts import FieldLines
    from kubespread.manifest.yaml_blocks import yaml_list_parts
    from kubespread.manifest.yaml_stream import yaml_parts

    pieces, size = [], 0
    for chunk in chunks:
        pieces.append(chunk)
        size += len(chunk)
        if size > _MAX_BYTES_FOR_LINES:
            # No lines of fields are looked for, and the text need not be kept.
            return _Reader().objects(yaml_list_parts(b"".join(pieces), chunks))
    text = b"".join(pieces)
    parts = yaml_list_parts(text, None) if len(text) >= _LARGE_YAML else yaml_parts(text)
    return _Reader(lines=FieldLines(text)).objects(parts)


class _Reader:
    """Makes objects from parts, the first of which belongs to ``document``, below ``path``."""

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
                yield from self._item_objects(part)
            elif _is_object(part.value) and (item := self._object(part)).kind:
                yield from _opened(item)
            else:
                waiting.append(part)

    def _document_objects(self, part: Part, waiting: Sequence[Part], size: int) -> Iterator[KubernetesObject]:
        """A document whose first ``size`` items have already been yielded, except those that wait for it."""
        if part.value is None:
            return
        document = self._object(part)
        if not size or not is_list(document.kind):
            if waiting:
                # No items of a list, but a field like any other.
                document.data[ITEMS] = [_plain(item) for item in waiting]
            yield from _opened(document)
            return
        for item in waiting:
            yield from self._item_objects(item)
        document.size = size
        yield document

    def _item_objects(self, part: Part) -> Iterator[KubernetesObject]:
        item = self._object(part)
        item.belongs_to(part.owner or {})
        return _opened(item)

    def _object(self, part: Part) -> KubernetesObject:
        path = f"{self._path}.{part.path}" if self._path and part.path else self._path or part.path
        if not _is_object(part.value):
            raise NotAnObjectError(path, _plain(part), part.line)
        return KubernetesObject(part.value, self._document, path, line=part.line, lines=self._lines)


def _opened(item: KubernetesObject) -> Iterator[KubernetesObject]:
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
    return decoded(part.value, part.line) if isinstance(part.value, bytes) else part.value
