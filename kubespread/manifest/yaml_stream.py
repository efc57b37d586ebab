"""Plain data from PyYAML's event stream, and the items of a large list as JSON text, several times as fast as a parser
gives them.

PyYAML's own constructors are ten times slower on a large list and give scalars meanings kubectl does not share
(``12:30`` becomes 750), so the tree is built here from the parser's events.

The text of a large list is cut at its indentation, and what was seen before is not read again. A line that is indented
as far as the key before it begins the next key, as long as that one's own text is whole: no quote or bracket is open at
its end. So each key with what belongs to it is read alone, by a pattern where it is one line of plain characters, by
the cut of what is indented further, else by the parser, which must find one key in it and no anchor. Where any of this
fails, the parser reads on from the item it failed in: it decides what is wrong, and where.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache, partial
from itertools import chain
from typing import Any, Protocol, TypeVar

import msgspec
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
# The same words come over and over, in one text and in a hundred thousand of them: those that are plain strings.
_PLAIN: set[str] = set()
_MERGE = object()
_INCOMPLETE = object()
_STANDARD_TAG = "tag:yaml.org,2002:"


class Readable(Protocol):
    """A text that is read on demand."""

    def read(self, size: int) -> bytes: ...


def yaml_documents(text: bytes | Readable) -> Iterator[Any]:
    """Every document of a YAML stream as dicts, lists and scalars; an empty document is None. Raises MalformedError."""
    return _read(text, _Builder.documents)


def yaml_parts(text: bytes | Readable) -> Iterator[Part]:
    """Every document, its items one by one: the tree of a large list would be many times its text. Raises
    MalformedError.
    """
    return _read(text, _Builder.parts)


def lone_value(text: bytes, depth: int) -> Any:
    """The value of a text that is one document, inside ``depth`` containers.

    Raises MalformedError, also for anchors and aliases.
    """
    values = list(_read(text, partial(_Builder.lone_values, depth=depth)))
    if len(values) != 1:
        raise MalformedError("expected one document")
    return values[0]


def _read(text: bytes | Readable, read: Callable[[_Builder], Iterator[T]]) -> Iterator[T]:
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
    """One stream's state: the anchors seen in the current document, and how many values there have been."""

    def __init__(self, loader: Any) -> None:
        self._next_event = loader.get_event
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._values = 0
        self._aliased = 0

    def documents(self) -> Iterator[Any]:
        for event in self._roots():
            yield self._value(event, 0)

    def lone_values(self, depth: int) -> Iterator[Any]:
        for event in self._roots():
            yield self._value(event, depth)
            if self._anchors:
                raise _at(event, "an anchor")

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
        """The event that each document begins with."""
        while type(event := self._next_event()) is not StreamEndEvent:
            if type(event) is ScalarEvent or type(event) is MappingStartEvent or type(event) is SequenceStartEvent:
                yield event
                self._anchors.clear()

    def _mapping_parts(self) -> Iterator[Part]:
        """A document's items as they come, then the document, whose list of them is empty."""
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
        """What begins with ``event``, inside ``depth`` containers."""
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
            raise _at(event, f"nested deeper than {MAX_DEPTH} levels")
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
        """The key that ``event`` is, _MERGE for one that merges. kubectl silently lets the last of two equal keys
        win; here it is an error, as the intended one cannot be known.
        """
        kind = type(event)
        if kind is not ScalarEvent and kind is not AliasEvent:
            raise _at(event, "a mapping key must be a scalar")
        value = self._value(event, 0)
        if isinstance(value, dict | list):
            raise _at(event, "a mapping key must be a scalar")
        if value == "<<" and not getattr(event, "style", None):
            return _MERGE
        try:
            key = key_text(value)
        except TypeError as error:
            raise _at(event, str(error)) from error
        if key in mapping:
            if key not in merged:
                raise _at(event, f"key {key!r} is given twice in one mapping")
            merged.discard(key)
        return key

    def _alias(self, event: Any) -> Any:
        if event.anchor not in self._anchors:
            raise _at(event, f"unknown anchor '{event.anchor}' referenced")
        value, size = self._anchors[event.anchor]
        if value is _INCOMPLETE:
            raise _at(event, f"anchor '{event.anchor}' value contains itself")
        self._aliased += size
        # Any container counts it as one item.
        self._values += size - 1
        if self._aliased > MAX_ALIASED_VALUES:
            raise _at(event, f"aliases expand to more than {MAX_ALIASED_VALUES} values")
        return value


def _merge(event: Any, container: dict[str, Any], value: Any, inherited: set[str]) -> None:
    """Merge as kubectl does: values written before the ``<<`` are overwritten, in a list the first mapping wins."""
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise _at(event, "a merge key '<<' takes a mapping or a list of mappings")
    for source in reversed(sources):
        container.update(source)
        inherited.update(source)


def _scalar(event: Any) -> Any:
    tag = event.tag
    text: str = event.value
    if tag is not None:
        return _tagged(event, tag.removeprefix(_STANDARD_TAG), text) if tag.startswith(_STANDARD_TAG) else text
    if event.style or text in _PLAIN:
        return text
    value = resolve_plain(text)
    if type(value) is str and value != "<<":
        if len(_PLAIN) >= _MAX_REMEMBERED:
            _PLAIN.clear()
        _PLAIN.add(text)
    elif type(value) is float and not math.isfinite(value):
        raise _at(event, f"{text} is not a JSON value")
    return value


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


_OF_INDENTATION = frozenset({"did not find expected key", "mapping values are not allowed in this context"})
"""What libyaml finds where a line stands too far to the left or to the right."""


def _syntax_error(error: yaml.YAMLError) -> MalformedError:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        parts = [part for part in (error.context, error.problem) if part]
        hint = "; check the indentation" if error.problem in _OF_INDENTATION else ""
        return MalformedError(f"YAML syntax: {', '.join(parts)}{hint}", mark.line + 1 if mark else None)
    return MalformedError(f"YAML syntax: {' '.join(str(error).split())}")


_HEAD = re.compile(rb"(?P<head>(?:[A-Za-z]+: [A-Za-z0-9./]+\n)*)items:\n(?P<indent> {0,8})(?=- )")
_PLAIN_TEXT = rb"(?P<plain>[A-Za-z0-9_./](?:[A-Za-z0-9_./:@%+=,-]*[A-Za-z0-9_./-])?)"
_QUOTED = rb"'(?P<single>[^'\x00-\x1f\x7f-\xff]*)'|\"(?P<double>[^\"\\\x00-\x1f\x7f-\xff]*)\""
_KEY = rb"(?P<key>[A-Za-z][A-Za-z0-9_./-]{0,200}):"
_SCALAR = re.compile(rb"(?:%b|%b)" % (_PLAIN_TEXT, _QUOTED))
_FIELD = re.compile(rb"%b (?:%b|%b)" % (_KEY, _PLAIN_TEXT, _QUOTED))
_PARENT = re.compile(rb"%b\n(?P<indent> *)(?P<dash>- )?(?=[^ \n\r#])" % _KEY)
_BEGINS_MAPPING = re.compile(rb"%b[ \n]" % _KEY)
_NEXT_FIELD = re.compile(rb"[A-Za-z]{1,60}:[ \n]")
_ODD_BREAK = re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""What else ends a line in YAML."""
_MAX_INDENT = 60
_DEPTH = 2 * _MAX_INDENT + 10
"""More containers than there can be around anything at that indentation: a key and a list in each column."""
_MAX_ITEM = 8 * 2**20
_MAX_REMEMBERED_BYTES = 8 * 2**20
"""Bytes of text."""
_LOOKAHEAD = 100
_POSITION = re.compile(r"(?<=, position )\d+$")
_encode = msgspec.json.encode


class _UnsureError(Exception):
    """Only the parser knows what a text means."""


class _File:
    """Chunks as a file; the parser takes pieces of any size."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _size: int) -> bytes:
        return next(filter(None, self._chunks), b"")


def yaml_list_parts(text: bytes, chunks: Iterator[bytes] | None) -> Iterator[Part]:
    """As `yaml_parts`, but for items that are JSON text. ``chunks`` follow ``text``, None where that is all.

    Raises MalformedError.
    """
    head = _HEAD.match(text)
    owner = None if head is None else _fields(head["head"])
    if head is None or owner is None or not may_be_list(owner):
        yield from yaml_parts(text if chunks is None else _File(chain([text], chunks)))
        return
    indent = len(head["indent"])
    marker = head["indent"] + b"- "
    border = re.compile(rb"\n(?= {0,%d}[^ \n\r#])" % indent)
    blocks = _Blocks()
    at = head.start("indent")
    # Where the item at the cursor stands in the whole text.
    position, line, passed = 0, text.count(b"\n", 0, at) + 1, 0
    while text.startswith(marker, at):
        end = border.search(text, at)
        while end is None or len(text) - end.end() < _LOOKAHEAD:
            chunk = next(chunks, None) if chunks is not None and len(text) - at < _MAX_ITEM else None
            if chunk is None:
                break
            passed += at
            text, at = text[at:] + chunk, 0
            end = border.search(text, at)
        # Whether a block's last line ends matters.
        stop = end.start() if end is not None else len(text) - text.endswith(b"\n")
        try:
            # What follows may be wrong in words that depend on what it follows.
            if stop == len(text) or not (end is None or _follows(text, end.end(), marker)):
                break
            value = blocks.item(text[at + len(marker) : stop], indent + 2)
        except _UnsureError:
            break
        yield Part(value, line, f"{ITEMS}[{position}]", owner)
        position, line, at = position + 1, line + text.count(b"\n", at, stop) + 1, stop + 1
    # The parser takes over: at an item, or behind the last one.
    start = head["head"] + (b"items:\n" if text.startswith(marker, at) else b"items: []\n")
    rest = start + text[at:]
    lines = line - 1 - start.count(b"\n")
    try:
        for part in yaml_parts(rest if chunks is None else _File(chain([rest], chunks))):
            path = f"{ITEMS}[{position + int(part.path[6:-1])}]" if position and part.path else part.path
            if part.owner is None:
                position = 0
            yield part._replace(path=path, line=None if part.line is None else part.line + lines)
    except MalformedError as error:
        fault = error.fault
        # libyaml counts the bytes before a character that no text may hold.
        before = passed + at - len(start)
        message = _POSITION.sub(lambda match: str(int(match[0]) + before), fault.message)
        raise MalformedError(message, None if fault.line is None else fault.line + lines) from None


def _follows(text: bytes, at: int, marker: bytes) -> bool:
    """Whether the next item or the next field of the list is there."""
    return text.startswith(marker, at) or _NEXT_FIELD.match(text, at) is not None


def _fields(head: bytes) -> Data | None:
    """The fields before the items; None where the parser has something against them."""
    try:
        (fields,) = yaml_documents(head or b"{}")
    except MalformedError:
        return None
    return fields  # type: ignore[no-any-return]  # lines of keys and values are a mapping


class _Blocks:
    """Turns blocks into JSON text. What was read is remembered, and forgotten when that grows too large."""

    def __init__(self) -> None:
        self._fields: dict[int, dict[bytes, tuple[bytes, bytes]]] = {}
        self._elements: dict[int, dict[bytes, bytes]] = {}
        self._remembered = 0

    def item(self, text: bytes, indent: int) -> bytes:
        """The JSON text of a mapping whose keys stand in column ``indent``; ``text`` begins with the first of them.

        Raises _UnsureError.
        """
        is_odd = (b"\r" in text or not text.isascii()) and _ODD_BREAK.search(text) is not None
        if is_odd or _BEGINS_MAPPING.match(text) is None:
            raise _UnsureError
        return self._mapping(text, indent)

    def _mapping(self, text: bytes, indent: int) -> bytes:
        if indent > _MAX_INDENT:
            raise _UnsureError
        known = self._fields.setdefault(indent, {})
        fields: dict[bytes, bytes] = {}
        sections = _next_key(indent).split(text)
        for section in sections:
            field = known.get(section)
            if field is None:
                field = self._field(section, indent)
                self._remember(section)
                known[section] = field
            fields[field[0]] = field[1]
        if len(fields) != len(sections):
            raise _UnsureError
        return b"{%b}" % b",".join(fields.values())

    def _field(self, text: bytes, indent: int) -> tuple[bytes, bytes]:
        """The key that ``text`` begins with, and it with its value as JSON."""
        parent = None
        match = _FIELD.fullmatch(text)
        if match is not None:
            value = _scalar_json(match)
        elif (parent := _PARENT.match(text)) is not None:
            match, column = parent, len(parent["indent"])
            if parent["dash"] and column >= indent:
                value = self._sequence(text[parent.end("indent") :], column)
            elif not parent["dash"] and column > indent:
                value = self._mapping(text[parent.end("indent") :], column)
            else:
                raise _UnsureError
        if match is not None and _is_text(match["key"]):
            key = b'"%b"' % match["key"]
            return key, b"%b:%b" % (key, value)
        alone = _alone(b" " * indent + text + b"\n")
        if not isinstance(alone, dict) or len(alone) != 1:
            raise _UnsureError
        (name,) = alone
        return _json(name), _json(alone)[1:-1]

    def _sequence(self, text: bytes, indent: int) -> bytes:
        """``text`` begins with the first dash, which stands in column ``indent``."""
        known = self._elements.setdefault(indent, {})
        elements = []
        for section in _next_dash(indent).split(text[1:]):
            element = known.get(section)
            if element is None:
                element = self._element(section, indent)
                self._remember(section)
                known[section] = element
            elements.append(element)
        return b"[%b]" % b",".join(elements)

    def _element(self, text: bytes, indent: int) -> bytes:
        """``text`` follows the dash."""
        if _BEGINS_MAPPING.match(text, 1) is not None:
            return self._mapping(text[1:], indent + 2)
        match = _SCALAR.fullmatch(text, 1)
        if match is not None:
            return _scalar_json(match)
        alone = _alone(b" " * indent + b"-" + text + b"\n")
        if not isinstance(alone, list) or len(alone) != 1:
            raise _UnsureError
        return _json(alone[0])

    def _remember(self, text: bytes) -> None:
        self._remembered += len(text)
        if self._remembered > _MAX_REMEMBERED_BYTES:
            self._remembered = 0
            for fields in self._fields.values():
                fields.clear()
            for elements in self._elements.values():
                elements.clear()


@cache
def _next_key(indent: int) -> re.Pattern[bytes]:
    """What stands before a key, and before anything else in its column but a list that belongs to the key before."""
    return re.compile(rb"\n {%d}(?=[^ \n\r#-])" % indent)


@cache
def _next_dash(indent: int) -> re.Pattern[bytes]:
    return re.compile(rb"\n {%d}-(?=[ \n\r])" % indent)


@lru_cache(maxsize=4096)
def _is_text(key: bytes) -> bool:
    """Whether a key without quotes is what it looks like."""
    return isinstance(resolve_plain(key.decode()), str)


def _scalar_json(match: re.Match[bytes]) -> bytes:
    plain = match["plain"]
    if plain is None:
        return _encode((match["single"] if match["single"] is not None else match["double"]).decode())
    return _json(resolve_plain(plain.decode()))


def _alone(text: bytes) -> object:
    try:
        return lone_value(text, _DEPTH)
    except MalformedError as error:
        raise _UnsureError from error


def _json(value: object) -> bytes:
    try:
        return _encode(value)
    except (OverflowError, ValueError) as error:
        # A number that JSON text could hold, and msgspec does not write.
        raise _UnsureError from error
