"""Plain data from PyYAML's event stream.

PyYAML's own constructors are ten times slower on a large list and give scalars meanings kubectl does not share
(``12:30`` becomes 750), so the tree is built here from the parser's events.
"""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import yaml
from yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from kubespread.manifest.text import ARRAY, ITEMS, MAX_DEPTH, Data, MalformedError, Part, may_be_list
from kubespread.manifest.writer import key_text, resolve_plain

T = TypeVar("T")

# Aliases are shared, not copied, so they cost nothing here; code that walks the tree later pays for every visit.
MAX_ALIASED_VALUES = 1_000_000

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_REMEMBERED = 65536
# Words that are plain strings: the same ones recur in every text.
_PLAIN: set[str] = set()
_MERGE = object()
_INCOMPLETE = object()
_STANDARD_TAG = "tag:yaml.org,2002:"


class _File:
    """Chunks as a file; the parser takes pieces of any size."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _size: int) -> bytes:
        return next(filter(None, self._chunks), b"")


def yaml_documents(text: bytes) -> Iterator[Any]:
    """Yield documents of a YAML stream as dicts, lists and scalars; None for an empty one. Raises MalformedError."""
    return _read(text, _Builder.documents)


def yaml_parts(text: bytes | Iterator[bytes]) -> Iterator[Part]:
    """Yield documents, item by item: the tree of a large list would be many times its text. Raises MalformedError."""
    return _read(text if isinstance(text, bytes) else _File(text), _Builder.parts)


def _read(text: bytes | _File, read: Callable[[_Builder], Iterator[T]]) -> Iterator[T]:
    try:
        loader = _Loader(text)
    except yaml.YAMLError as error:
        raise _syntax_error(error) from error
    try:
        yield from read(_Builder(loader))
    except yaml.YAMLError as error:
        raise _syntax_error(error) from error
    finally:
        loader.dispose()


class _Builder:
    """Builder of one stream's values, with the anchors of the current document and the number of values so far."""

    def __init__(self, loader: Any) -> None:
        self._next_event = loader.get_event
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0
        self._aliased = 0

    def documents(self) -> Iterator[Any]:
        for event in self._roots():
            yield self._value(event, 0)

    def parts(self) -> Iterator[Part]:
        for event in self._roots():
            kind = type(event)
            if kind is MappingStartEvent and event.anchor is None:
                yield from self._mapping_parts()
            elif kind is SequenceStartEvent and event.anchor is None:
                yield from self._elements(ARRAY, "", 1)
                yield Part(None)
            else:
                yield Part(self._value(event, 0))

    def _roots(self) -> Iterator[Any]:
        """Yield the first event of each document."""
        while type(event := self._next_event()) is not StreamEndEvent:
            if type(event) is ScalarEvent or type(event) is MappingStartEvent or type(event) is SequenceStartEvent:
                yield event
                self._anchors.clear()

    def _mapping_parts(self) -> Iterator[Part]:
        """Yield a document's items one by one, then the document with an empty list of items."""
        mapping: Data = {}
        merged: set[str] = set()
        while type(event := self._next_event()) is not MappingEndEvent:
            key = self._key(event, mapping, merged)
            event = self._next_event()
            if key == ITEMS and type(event) is SequenceStartEvent and event.anchor is None and may_be_list(mapping):
                mapping[ITEMS] = []
                yield from self._elements(mapping, ITEMS, 2)
            elif key is _MERGE:
                _merge(event, mapping, self._value(event, 1), merged)
            else:
                mapping[key] = self._value(event, 1)
        yield Part(mapping)

    def _elements(self, owner: Data, path: str, depth: int) -> Iterator[Part]:
        position = 0
        while type(event := self._next_event()) is not SequenceEndEvent:
            # An array is a document itself, and messages name no line for documents.
            line = event.start_mark.line + 1 if owner is not ARRAY else None
            yield Part(self._value(event, depth), line, f"{path}[{position}]", owner)
            position += 1
            self._aliased = 0

    def _value(self, event: Any, depth: int) -> Any:
        """Read the value that begins with ``event``, inside ``depth`` containers."""
        kind = type(event)
        if kind is ScalarEvent:
            value = event.value
            if event.tag is not None or not (event.style or value in _PLAIN):
                value = _scalar(event)
            if event.anchor is not None:
                self._anchors[event.anchor] = (value, 1)
            return value
        if kind is AliasEvent:
            return self._alias(event)
        if depth >= MAX_DEPTH:
            raise _error(event, f"nested deeper than {MAX_DEPTH} levels")
        build = self._mapping if kind is MappingStartEvent else self._sequence
        if event.anchor is None:
            return build(depth + 1)
        # No alias may refer to it until it is complete.
        self._anchors[event.anchor] = (_INCOMPLETE, 0)
        values_before = self._values
        value = build(depth + 1)
        self._anchors[event.anchor] = (value, self._values - values_before + 1)
        return value

    def _mapping(self, depth: int) -> Data:
        mapping: Data = {}
        merged: set[str] = set()
        next_event, value_of, plain = self._next_event, self._value, _PLAIN
        while type(event := next_event()) is not MappingEndEvent:
            # Nearly every key is a word that was seen before; the rest takes the long way.
            key = getattr(event, "value", None)
            if key not in plain or key in mapping or event.tag is not None or event.anchor is not None:
                key = self._key(event, mapping, merged)
            if key is _MERGE:
                _merge(event, mapping, value_of(next_event(), depth), merged)
            else:
                mapping[key] = value_of(next_event(), depth)
        self._values += 2 * len(mapping)
        return mapping

    def _sequence(self, depth: int) -> list[Any]:
        sequence = []
        while type(event := self._next_event()) is not SequenceEndEvent:
            sequence.append(self._value(event, depth))
        self._values += len(sequence)
        return sequence

    def _key(self, event: Any, mapping: Data, merged: set[str]) -> Any:
        """The key of a mapping; _MERGE for a merge key.

        kubectl silently uses the last of two equal keys; here they are an error, as the intended one is unknown.
        """
        kind = type(event)
        if kind is not ScalarEvent and kind is not AliasEvent:
            raise _error(event, "a mapping key must be a scalar")
        value = self._value(event, 0)
        if isinstance(value, dict | list):
            raise _error(event, "a mapping key must be a scalar")
        if value == "<<" and not getattr(event, "style", None):
            return _MERGE
        try:
            key = key_text(value)
        except TypeError as error:
            raise _error(event, str(error)) from error
        if key in mapping:
            if key not in merged:
                raise _error(event, f"key {key!r} is given twice in one mapping")
            merged.discard(key)
        return key

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _error(event, f"unknown anchor '{event.anchor}' referenced")
        value, size = self._anchors[event.anchor]
        if value is _INCOMPLETE:
            raise _error(event, f"anchor '{event.anchor}' value contains itself")
        self._aliased += size
        # Any container counts it as one item.
        self._values += size - 1
        if self._aliased > MAX_ALIASED_VALUES:
            raise _error(event, f"aliases expand to more than {MAX_ALIASED_VALUES} values")
        return value


def _merge(event: Any, container: dict[str, Any], value: Any, inherited: set[str]) -> None:
    """Merge as kubectl does: values written before the ``<<`` are overwritten, in a list the first mapping wins."""
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise _error(event, "a merge key '<<' takes a mapping or a list of mappings")
    for source in reversed(sources):
        container.update(source)
        inherited.update(source)


def _scalar(event: Any) -> Any:
    tag = event.tag
    text: str = event.value
    if tag is not None:
        return _apply_tag(event, tag.removeprefix(_STANDARD_TAG), text) if tag.startswith(_STANDARD_TAG) else text
    if event.style or text in _PLAIN:
        return text
    value = resolve_plain(text)
    if type(value) is str and value != "<<":
        if len(_PLAIN) >= _MAX_REMEMBERED:
            _PLAIN.clear()
        _PLAIN.add(text)
    elif type(value) is float and not math.isfinite(value):
        raise _error(event, f"{text} is not a JSON value")
    return value


def _apply_tag(event: Any, tag: str, text: str) -> Any:
    if tag in ("str", "timestamp"):
        return text
    if tag == "binary":
        try:
            return base64.b64decode(text, validate=False).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise _error(event, "!!binary value is not base64 of UTF-8 text") from error
    value = resolve_plain(text)
    expected = {"bool": (bool,), "int": (int,), "float": (int, float), "null": (type(None),)}.get(tag, ())
    if type(value) not in expected:
        raise _error(event, f"cannot decode {text!r} as a !!{tag}")
    return value


def _error(event: Any, message: str) -> MalformedError:
    return MalformedError(message, event.start_mark.line + 1)


_OF_INDENTATION = frozenset({"did not find expected key", "mapping values are not allowed in this context"})
"""Errors that libyaml finds where a line stands too far to the left or to the right."""


def _syntax_error(error: yaml.YAMLError) -> MalformedError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        hint = "; check the indentation" if error.problem in _OF_INDENTATION else ""
        return MalformedError(f"YAML syntax: {', '.join(parts)}{hint}", mark.line + 1 if mark else None)
    return MalformedError(f"YAML syntax: {' '.join(str(error).split())}")
