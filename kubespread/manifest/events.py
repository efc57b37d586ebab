"""Plain data from PyYAML's event stream.

PyYAML's own constructors are ten times slower on a large list and give scalars meanings kubectl does not share
(``12:30`` becomes 750), so the tree is built here from the parser's events.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from kubespread.errors import Fault
from kubespread.manifest.scalars import key_text, resolve_plain

MAX_DEPTH = 200
# Aliases are shared, not copied, so they cost nothing here; whoever walks the tree later pays for every visit.
MAX_ALIASED_VALUES = 1_000_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_REMEMBERED = 65536
# The same words come over and over, in one text and in a hundred thousand of them: those that are plain strings.
_PLAIN: dict[str, str] = {}
_MERGE = object()
_NO_KEY = object()
_STANDARD_TAG = "tag:yaml.org,2002:"


class MalformedError(Exception):
    """The text is not a document this program reads; carries the fault."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(message, line=line)


ItemReceiver = Callable[[dict[str, Any], Any, int], None]
"""Takes a document as far as it is known, one of its items, and the line where that begins."""


class Readable(Protocol):
    """A text that is read as it is needed."""

    def read(self, size: int) -> bytes: ...


def yaml_documents(text: bytes | Readable, on_item: ItemReceiver | None = None) -> Iterator[Any]:
    """Every document of a YAML stream as dicts, lists and scalars; an empty document is None. Raises MalformedError.

    With ``on_item`` the elements of a document's ``items`` are given away as they come and its list stays empty: the
    tree of a large list would be many times its text.
    """
    try:
        loader = _Loader(text)
    except yaml.YAMLError as error:
        raise _syntax_error(error) from error
    try:
        yield from _Builder(loader, on_item).documents()
    except yaml.YAMLError as error:
        raise _syntax_error(error) from error
    finally:
        loader.dispose()


class _Builder:
    """One stream's state: the containers that are open, and the anchors seen in the current document."""

    def __init__(self, loader: Any, on_item: ItemReceiver | None) -> None:
        self._next_event = loader.get_event
        self._on_item = on_item
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0
        self._aliased = 0

    def documents(self) -> Iterator[Any]:
        while True:
            event = self._next_event()
            if isinstance(event, StreamEndEvent):
                return
            if isinstance(event, DocumentEndEvent):
                continue
            if isinstance(event, ScalarEvent | MappingStartEvent | SequenceStartEvent):
                yield self._node(event)
                self._anchors.clear()

    def _node(self, first: Any) -> Any:
        """Build one document. A loop with its own stack: recursion would cost twice the time and bound the depth."""
        root: list[Any] = []
        container: Any = root
        key: Any = _NO_KEY
        stack: list[tuple[Any, Any, str | None, int]] = []
        merged: dict[int, set[str]] = {}
        items: Any = None
        owner: dict[str, Any] = {}
        line = 0
        next_event, plain = self._next_event, _PLAIN
        event = first
        while True:
            kind = type(event)
            if kind is ScalarEvent:
                value = event.value
                if event.tag is not None or not event.style:
                    value = plain.get(value, _NO_KEY) if event.tag is None else _NO_KEY
                    if value is _NO_KEY:
                        value = self._scalar(event)
                self._values += 1
                if event.anchor is not None:
                    self._anchors[event.anchor] = (value, 1)
                if key is _NO_KEY and type(container) is dict:
                    key = (
                        value
                        if value in plain and value not in container
                        else _mapping_key(event, value, container, merged)
                    )
                    event = next_event()
                    continue
            elif kind is MappingStartEvent or kind is SequenceStartEvent:
                if key is _NO_KEY and type(container) is dict:
                    raise _at(event, "a mapping key must be a scalar")
                if len(stack) >= MAX_DEPTH:
                    raise _at(event, f"nested deeper than {MAX_DEPTH} levels")
                opened: Any = {} if kind is MappingStartEvent else []
                if event.anchor is not None:
                    self._anchors[event.anchor] = (_NO_KEY, 0)
                elif key == "items" and len(stack) == 1 and type(opened) is list and self._on_item is not None:
                    items, owner = opened, container
                if container is items:
                    line = event.start_mark.line + 1
                stack.append((container, key, event.anchor, self._values))
                container, key = opened, _NO_KEY
                event = next_event()
                continue
            elif kind is MappingEndEvent or kind is SequenceEndEvent:
                value = container
                merged.pop(id(container), None)
                container, key, anchor, values_before = stack.pop()
                self._values += 1
                if anchor is not None:
                    self._anchors[anchor] = (value, self._values - values_before)
            elif kind is AliasEvent:
                value = self._alias(event)
                if key is _NO_KEY and type(container) is dict:
                    key = _mapping_key(event, value, container, merged)
                    event = next_event()
                    continue
            else:
                raise _at(event, f"unexpected {kind.__name__}")

            if container is items and self._on_item is not None:
                if kind is ScalarEvent or kind is AliasEvent:
                    line = event.start_mark.line + 1
                self._on_item(owner, value, line)
                self._aliased = 0
            elif type(container) is list:
                container.append(value)
            elif key is _MERGE:
                _merge(event, container, value, merged.setdefault(id(container), set()))
                key = _NO_KEY
            else:
                container[key] = value
                key = _NO_KEY
            if container is root:
                return root[0]
            event = next_event()

    def _scalar(self, event: Any) -> Any:
        value = _scalar(event)
        if event.tag is None and type(value) is str and value != "<<":
            if len(_PLAIN) >= _MAX_REMEMBERED:
                _PLAIN.clear()
            _PLAIN[value] = value
        return value

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _at(event, f"unknown anchor '{event.anchor}' referenced")
        value, size = self._anchors[event.anchor]
        if value is _NO_KEY:
            raise _at(event, f"anchor '{event.anchor}' value contains itself")
        self._aliased += size
        self._values += size
        if self._aliased > MAX_ALIASED_VALUES:
            raise _at(event, f"aliases expand to more than {MAX_ALIASED_VALUES} values")
        return value


def _mapping_key(event: Any, value: Any, container: dict[str, Any], merged: dict[int, set[str]]) -> Any:
    if value == "<<" and not getattr(event, "style", None):
        return _MERGE
    try:
        key = key_text(value)
    except TypeError as error:
        raise _at(event, str(error)) from error
    if key in container:
        inherited = merged.get(id(container), set())
        if key not in inherited:
            # kubectl lets the last one win without a word; which of the two the author means is not ours to guess.
            raise _at(event, f"key {key!r} is given twice in one mapping")
        inherited.discard(key)
    return key


def _merge(event: Any, container: dict[str, Any], value: Any, inherited: set[str]) -> None:
    """Merge keys as kubectl does: values written before the ``<<`` are overwritten, in a list the first
    mapping wins.
    """
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise _at(event, "a merge key '<<' takes a mapping or a list of mappings")
    for source in reversed(sources):
        container.update(source)
        inherited.update(source)


def _scalar(event: Any) -> Any:
    tag = event.tag
    text: str = event.value
    if tag is None or not tag.startswith(_STANDARD_TAG):
        if tag is not None or event.style:
            return text
        value = resolve_plain(text)
        if isinstance(value, float) and not math.isfinite(value):
            raise _at(event, f"{text} is not a JSON value")
        return value
    return _tagged(event, tag.removeprefix(_STANDARD_TAG), text)


def _tagged(event: Any, tag: str, text: str) -> Any:
    if tag in ("str", "timestamp"):
        return text
    if tag == "binary":
        try:
            return base64.b64decode(text, validate=False).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise _at(event, "!!binary value is not base64 of UTF-8 text") from error
    value = resolve_plain(text)
    expected = {"bool": (bool,), "int": (int,), "float": (int, float), "null": (type(None),)}.get(tag, ())
    if type(value) not in expected:
        raise _at(event, f"cannot decode {text!r} as a !!{tag}")
    return value


def _at(event: Any, message: str) -> MalformedError:
    return MalformedError(message, event.start_mark.line + 1)


def _syntax_error(error: yaml.YAMLError) -> MalformedError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        return MalformedError(f"YAML syntax: {', '.join(parts)}", mark.line + 1 if mark else None)
    return MalformedError(f"YAML syntax: {' '.join(str(error).split())}")
