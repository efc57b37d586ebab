"""The Kubernetes objects in a text of any size, one at a time, in the order they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import msgspec

from kubespread.manifest.documents import KubernetesObject, elements, not_an_object, opened
from kubespread.manifest.events import MalformedError, yaml_documents
from kubespread.manifest.json_stream import JsonStream, decoded
from kubespread.manifest.lines import FieldLines

_MAX_BYTES_FOR_LINES = 32 * 2**20
_ITEMS = "items"


class Found(msgspec.Struct, kw_only=True, gc=False):
    """One object: JSON ``text``, or plain ``data`` that stood at ``path`` of a YAML ``text``; ``line`` is its first
    one.

    The text of a large YAML stream is not kept.
    A List comes after its items, without them: ``size`` says how many it had.
    """

    api_version: str
    kind: str
    line: int | None
    text: bytes
    data: dict[str, Any] | None = None
    document: int = 0
    path: str = ""
    size: int | None = None

    @property
    def plain(self) -> dict[str, Any]:
        """The object as plain data, with the kind and apiVersion its list implies. Raises MalformedError."""
        data = decoded(self.text, self.line) if self.data is None else self.data
        return {"apiVersion": self.api_version, "kind": self.kind, **data}

    def line_of(self, field: str) -> int | None:
        """The line a field of the object stands on, as near as it can be told."""
        if self.data is None:
            inside = FieldLines(self.text).line(0, field)
            return self.line if self.line is None or inside is None else self.line - 1 + inside
        if not self.text:
            return self.line
        return FieldLines(self.text).line(self.document, f"{self.path}.{field}" if self.path else field) or self.line


Receiver = Callable[[Found], None]


def read_objects(chunks: Iterator[bytes], receive: Receiver) -> None:
    """Give every object of a JSON or YAML text, Lists opened, to ``receive``. Raises MalformedError."""
    start = next((chunk for chunk in chunks if not chunk.isspace()), b"")
    if not start.lstrip().startswith((b"{", b"[")):
        _read_yaml(chain([start], chunks), receive)
    elif more := next(chunks, b""):
        _read_json(chain([start, more], chunks), receive)
    else:
        _read_json_or_yaml(start, receive)


def _read_json_or_yaml(text: bytes, receive: Receiver) -> None:
    """A YAML flow mapping also begins with a brace, though nobody writes a large one."""
    found: list[Found] = []
    try:
        _read_json(iter([text]), found.append)
    except MalformedError as json_error:
        found.clear()
        try:
            _read_yaml(iter([text]), found.append)
        except MalformedError:
            raise json_error from None
    for each in found:
        receive(each)


def _read_json(chunks: Iterator[bytes], receive: Receiver) -> None:
    """One document, JSON lines, or values one after another."""
    stream = JsonStream(chunks)
    while start := stream.peek():
        if start == b"[":
            for position, (text, line) in enumerate(stream.elements()):
                _json_object(f"[{position}]", text, line, receive)
            continue
        line = stream.line
        document = stream.value_in_window() if start == b"{" else stream.value()
        if document is None:
            _json_list(stream, 1, receive)
        else:
            _json_object("", document, line, receive)


class _Head(msgspec.Struct, rename="camel"):
    """What tells one object from another, everything else left undecoded."""

    api_version: Any = ""
    kind: Any = ""
    items: msgspec.Raw = msgspec.Raw()


_heads = msgspec.json.Decoder(_Head)


def _head(text: bytes, line: int) -> _Head:
    try:
        return _heads.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        # A kind that is a number too large for anything.
        raise MalformedError(f"JSON syntax: {error}", line) from error


def _json_object(path: str, text: bytes, line: int, receive: Receiver, implied: tuple[str, str] = ("", "")) -> None:
    if not text.startswith(b"{"):
        raise not_an_object(path, decoded(text, line), line)
    head = _head(text, line)
    kind = head.kind if isinstance(head.kind, str) and head.kind else implied[1]
    if kind.endswith("List") and bytes(head.items).startswith(b"["):
        _json_list(JsonStream(iter([text])), line, receive)
        return
    version = head.api_version if isinstance(head.api_version, str) and head.api_version else implied[0]
    receive(Found(api_version=version, kind=kind, line=line, text=text, size=0 if kind.endswith("List") else None))


def _json_list(stream: JsonStream, first_line: int, receive: Receiver) -> None:
    """An object whose items are too many to be held at once; ``first_line`` is the line where ``stream`` begins."""
    line = stream.line + first_line - 1
    head: dict[str, msgspec.Raw] = {}
    # Items without a kind of their own have to wait when their list says what it is after them.
    waiting: list[tuple[str, bytes, int]] = []
    size = None
    stream.take(b"{")
    end = stream.peek() == b"}" and bool(stream.take(b"}"))
    while not end:
        key = stream.key()
        if key == _ITEMS and stream.peek() == b"[":
            implied = _implied(head)
            size = 0
            for text, at in stream.elements():
                item = f"{_ITEMS}[{size}]", text, at + first_line - 1
                if "kind" in head or not text.startswith(b"{") or _head(text, at).kind:
                    _json_object(*item, receive, implied)
                else:
                    waiting.append(item)
                size += 1
        else:
            head[key] = msgspec.Raw(stream.value())
        end = stream.take(b",", b"}") == b"}"
    for item in waiting:
        _json_object(*item, receive, _implied(head))
    version, kind = _names(head)
    receive(Found(api_version=version, kind=kind, line=line, text=msgspec.json.encode(head), size=size))


def _implied(head: dict[str, msgspec.Raw]) -> tuple[str, str]:
    """The apiVersion and kind of a typed list's items."""
    version, kind = _names(head)
    return (version, kind.removesuffix("List")) if kind != "List" else ("", "")


def _names(head: dict[str, msgspec.Raw]) -> tuple[str, str]:
    version, kind = (decoded(bytes(head[key]), None) if key in head else "" for key in ("apiVersion", "kind"))
    return version if isinstance(version, str) else "", kind if isinstance(kind, str) else ""


def _read_yaml(chunks: Iterator[bytes], receive: Receiver) -> None:
    text = b""
    for chunk in chunks:
        text += chunk
        if len(text) > _MAX_BYTES_FOR_LINES:
            break
    # Beyond that no lines of fields are looked for, and the text need not be kept.
    more = next(chunks, b"")
    reader = _YamlReader(b"" if more else text, receive)
    for document in yaml_documents(_Chunks(chain([text, more], chunks)) if more else text, reader.item):
        reader.end_document(document)


class _Chunks:
    """Chunks as a file; the parser takes pieces of any size."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _size: int) -> bytes:
        return next(filter(None, self._chunks), b"")


class _YamlReader:
    """Where the reading of a YAML stream is: which document, how many of its items have come."""

    def __init__(self, text: bytes, receive: Receiver) -> None:
        self._text, self._receive = text, receive
        self._document = self._size = 0
        self._waiting: list[tuple[Any, str, int]] = []

    def item(self, owner: dict[str, Any], value: Any, line: int) -> None:
        """One of the items of the document ``owner``, which may not have said its kind yet."""
        path = f"{_ITEMS}[{self._size}]"
        self._size += 1
        if "kind" in owner or (isinstance(value, dict) and value.get("kind")):
            self._item(owner, value, path, line)
        else:
            self._waiting.append((value, path, line))

    def end_document(self, document: Any) -> None:
        for value, path, line in self._waiting:
            self._item(document, value, path, line)
        for found in elements(document, self._document):
            if found.kind.endswith("List") and not found.data.get(_ITEMS):
                self._give(found, None, self._size)
            else:
                self._open(found, None)
        self._document, self._size, self._waiting = self._document + 1, 0, []

    def _item(self, owner: dict[str, Any], value: Any, path: str, line: int) -> None:
        if not isinstance(value, dict):
            if str(owner.get("kind")).endswith("List"):
                raise not_an_object(path, value, line)
            return
        self._open(KubernetesObject(value, self._document, path).in_list(owner), line)

    def _open(self, item: KubernetesObject, line: int | None) -> None:
        for found in opened(item):
            self._give(found, line, 0 if found.kind.endswith("List") else None)

    def _give(self, found: KubernetesObject, line: int | None, size: int | None) -> None:
        self._receive(
            Found(
                api_version=found.api_version,
                kind=found.kind,
                line=line,
                text=self._text,
                data=found.data,
                document=found.document,
                path=found.path,
                size=size,
            )
        )
