"""The items of a large YAML list as JSON text, several times as fast as a parser gives them: the text is cut at its
indentation, and what was seen before is not read again.

A line that is indented as far as the key before it begins the next key, as long as that one's own text is whole: no
quote or bracket is open at its end. So each key with what belongs to it is read alone, by a pattern where it is one
line of plain characters, by the cut of what is indented further, else by the parser, which must find one key in it and
no anchor. Where any of this fails, the parser reads on from the item it failed in: it decides what is wrong, and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import chain

import msgspec

from kubespread.manifest.parts import ITEMS, Data, MalformedError, Part, may_be_list
from kubespread.manifest.writer import resolve_plain
from kubespread.manifest.yaml_stream import lone_value, yaml_documents, yaml_parts

_HEAD = re.compile(rb"(?P<head>(?:[A-Za-z]+: [A-Za-z0-9./]+\n)*)items:\n(?P<indent> {0,8})(?=- )")
_PLAIN = rb"(?P<plain>[A-Za-z0-9_./](?:[A-Za-z0-9_./:@%+=,-]*[A-Za-z0-9_./-])?)"
_QUOTED = rb"'(?P<single>[^'\x00-\x1f\x7f-\xff]*)'|\"(?P<double>[^\"\\\x00-\x1f\x7f-\xff]*)\""
_KEY = rb"(?P<key>[A-Za-z][A-Za-z0-9_./-]{0,200}):"
_SCALAR = re.compile(rb"(?:%b|%b)" % (_PLAIN, _QUOTED))
_FIELD = re.compile(rb"%b (?:%b|%b)" % (_KEY, _PLAIN, _QUOTED))
_PARENT = re.compile(rb"%b\n(?P<indent> *)(?P<dash>- )?(?=[^ \n\r#])" % _KEY)
_BEGINS_MAPPING = re.compile(rb"%b[ \n]" % _KEY)
_NEXT_FIELD = re.compile(rb"[A-Za-z]{1,60}:[ \n]")
_ODD_BREAK = re.compile(rb"\r(?!\n)|\xc2\x85|\xe2\x80[\xa8\xa9]")
"""What else ends a line in YAML."""
_MAX_INDENT = 60
_DEPTH = 2 * _MAX_INDENT + 10
"""More containers than there can be around anything at that indentation: a key and a list in each column."""
_MAX_ITEM = 8 * 2**20
_MAX_REMEMBERED = 8 * 2**20
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
            value = _scalar(match)
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
            return _scalar(match)
        alone = _alone(b" " * indent + b"-" + text + b"\n")
        if not isinstance(alone, list) or len(alone) != 1:
            raise _UnsureError
        return _json(alone[0])

    def _remember(self, text: bytes) -> None:
        self._remembered += len(text)
        if self._remembered > _MAX_REMEMBERED:
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


def _scalar(match: re.Match[bytes]) -> bytes:
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
