"""A stream of JSON text, value by value: only a window of it is in memory, no matter how long a list is.

msgspec decodes only whole texts, but if something follows a value its error names the byte: the end of the value, found
at the speed of C. Another release may word that error differently: then Python's own, slower decoder is used.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from os.path import commonprefix
from typing import Any, TypeVar

import msgspec

from kubespread.errors import Fault, ManifestError
from kubespread.manifest.text import (
    ARRAY,
    ITEMS,
    MAX_DEPTH,
    Data,
    MalformedError,
    Part,
    display_name,
    may_be_list,
    read_file,
)
from kubespread.regex import regex

T = TypeVar("T")
_WINDOW = 2**20
_MAX_VALUE_BYTES = 64 * 2**20
_SPACES = b" \t\r\n"
_COMMA = ord(",")
_SEPARATOR = b"---"
_SPACE = regex(rb"[ \t\r\n]*")
_BETWEEN = regex(rb"[ \t\r\n]*,?[ \t\r\n]*")
_OPENING = 40
"""Bytes at the start of an element that others of its list may share: blanks, apiVersion and kind."""
_GUESSES = 4
"""Number of places in a window to try as the beginning of an element."""
_MOST_DOUBLED = 8
"""Maximum number of times that wrong guesses double the number of elements that are read one by one."""
_SHORT_LINE = 64
"""Bytes."""
_ERROR = regex(r"(?:JSON is malformed: )?(?P<reason>.*?)(?: \(byte (?P<offset>\d+)\))?", re.DOTALL)
_FOLLOWED = "JSON is malformed: trailing characters (byte "
_CUT = "Input data was truncated"
_TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"


class JsonStream:
    """A cursor in a stream of JSON values that begins on ``line``.

    Raises MalformedError with the line where the text is not JSON.
    """

    def __init__(self, chunks: Iterator[bytes], line: int = 1) -> None:
        self._chunks = chunks
        self._ended = False
        self._text = b""
        self._cursor = 0
        self._counted = (0, line)
        self._decoder = msgspec.json.Decoder(msgspec.Raw)
        self._many = msgspec.json.Decoder(list[msgspec.Raw])
        while len(self._text) < _WINDOW and self._refill():
            pass

    @property
    def line(self) -> int:
        """The line the cursor is on, from 1."""
        counted, line = self._counted
        line += _line_breaks(self._text, counted, self._cursor)
        self._counted = (self._cursor, line)
        return line

    def peek(self) -> bytes:
        """Next byte that is not space; empty at the end."""
        byte = self._text[self._cursor : self._cursor + 1]
        while not byte or byte in _SPACES:
            match = _SPACE.match(self._text, self._cursor)
            assert match is not None
            self._cursor = match.end()
            byte = self._text[self._cursor : self._cursor + 1]
            if not byte and not self._refill():
                break
        return byte

    def next_document(self) -> bytes:
        """First byte of the next document, after the ``---`` before it; empty at the end."""
        while self.peek() == b"-":
            while len(self._text) - self._cursor < len(_SEPARATOR) and self._refill():
                pass
            if not self._text.startswith(_SEPARATOR, self._cursor):
                break
            self._cursor += len(_SEPARATOR)
        return self.peek()

    def take(self, *expected: bytes) -> bytes:
        """Take the next byte that is not space, one of ``expected``."""
        byte = self.peek()
        if byte not in expected:
            raise self._error(f"expected {' or '.join(repr(token.decode()) for token in expected)}", self._cursor)
        self._cursor += 1
        return byte

    def elements(self) -> Iterator[tuple[bytes, int]]:
        """Yield texts of the array at the cursor, each with its first line."""
        self.take(b"[")
        end = self.peek() == b"]" and bool(self.take(b"]"))
        last, wrong, waiting = b"", 0, 0
        while not end:
            self.peek()
            line = self.line
            text = self.value()
            yield text, line
            # Of the last two alone: a list may go on with objects of another kind.
            opening = commonprefix([last or text, text[:_OPENING]])
            last, waiting = text, max(0, waiting - 1)
            if opening and not waiting:
                following = self._similar_elements(opening)
                if following:
                    yield from self._with_lines(following)
                    last, wrong = following[-1], 0
                elif following is None:
                    wrong += 1
                    waiting = 2 ** min(wrong, _MOST_DOUBLED)
            end = self.take(b",", b"]") == b"]"

    def _with_lines(self, texts: Sequence[bytes]) -> Iterator[tuple[bytes, int]]:
        """The elements after the cursor, and the line each begins on; moves behind the last."""
        window, line, cursor, between = self._text, self.line, self._cursor, b""
        for text in texts:
            # Mostly the same stands between any two.
            if not window.startswith(between, cursor) or window[cursor + len(between)] != text[0]:
                between = _BETWEEN.match(window, cursor)[0]  # type: ignore[index]  # it always matches
            line += between.count(b"\n")
            yield text, line
            cursor += len(between) + len(text)
            line += _line_breaks(text, 0, len(text))
        self._counted, self._cursor = (cursor, line), cursor

    def _similar_elements(self, opening: bytes) -> list[bytes] | None:
        """Elements after the cursor, which is behind one, that end in the window; None if the guesses were wrong.

        The last text that begins like the elements before is assumed to be an element, or else one before it. If all
        text before it decodes as an array without brackets, that is the only way to read it; else the guess was wrong.
        """
        text, last, start = self._text, len(self._text), _BETWEEN.match(self._text, self._cursor)
        assert start is not None
        for _ in range(_GUESSES):
            last = text.rfind(opening, start.end() + 1, last)
            if last < 0:
                return []
            end = last
            while text[end - 1] in _SPACES:
                end -= 1
            if text[end - 1] == _COMMA:
                before = memoryview(text)[start.end() : end - 1]
                with suppress(msgspec.DecodeError, RecursionError):
                    return list(map(bytes, self._many.decode(b"".join((b"[", before, b"]")))))
        return None

    def key(self) -> str:
        """Take the next key of the object at the cursor, and the colon after it."""
        if self.peek() != b'"':
            raise self._error("expected '\"'", self._cursor)
        line = self.line
        key = decode_json(self.value(), line)
        self.take(b":")
        return str(key)

    def value(self) -> bytes:
        """Take the text of the next value."""
        text = self.value_in_window(_MAX_VALUE_BYTES)
        if text is None:
            raise self._error(f"a value of more than {_MAX_VALUE_BYTES // 2**20} MiB", self._cursor)
        return text

    def value_in_window(self, limit: int = _WINDOW) -> bytes | None:
        """Take the text of the next value; None, without moving, if it is longer than ``limit`` bytes."""
        self.peek()
        while True:
            end = self._end_of_value()
            if end is not None:
                text = self._text[self._cursor : end]
                self._cursor = end
                return text
            size = len(self._text) - self._cursor
            if size >= limit:
                return None
            # Twice as much each time, or a long value would be scanned again for every chunk.
            while len(self._text) - self._cursor < min(2 * size, limit) and self._refill():
                pass

    def _end_of_value(self) -> int | None:
        """Find the end of the value at the cursor, None when that is not in the window yet."""
        try:
            self._decoder.decode(memoryview(self._text)[self._cursor :])
        except RecursionError:
            raise self._error(_TOO_DEEP, self._cursor) from None
        except msgspec.DecodeError as error:
            message = str(error)
            if message.startswith(_FOLLOWED):
                # The byte named is the one after the first that follows.
                return self._cursor + int(message[len(_FOLLOWED) : -1]) - 1
            reason, offset = error_parts(error)
            # What looks wrong at the very end may go on in the next chunk.
            cut = reason == _CUT or (offset is not None and self._cursor + offset >= len(self._text) - 1)
            if cut and not self._ended:
                return None
            if reason != _CUT:
                end, cut = _end_without_msgspec(memoryview(self._text)[self._cursor :])
                if end is not None:
                    return self._cursor + end
                if cut and not self._ended:
                    return None
            raise self._error(reason, len(self._text) if offset is None else self._cursor + offset) from error
        return len(self._text) if self._ended else None

    def _refill(self) -> bool:
        """Drop the text before the cursor and append the next chunk; False at the end of the stream."""
        chunk = next(self._chunks, None)
        if chunk is None:
            self._ended = True
            return False
        self._counted = (0, self.line)
        self._text, self._cursor = self._text[self._cursor :] + chunk, 0
        return True

    def _error(self, reason: str, offset: int) -> MalformedError:
        return MalformedError(f"JSON syntax: {reason}", self.line + self._text.count(b"\n", self._cursor, offset))


def _line_breaks(text: bytes, start: int, end: int) -> int:
    """Count line breaks like ``count``, which takes a nanosecond for each byte: in long lines, finding the next one
    takes less.
    """
    number = 0
    while (line_break := text.find(b"\n", start, end)) >= 0:
        if line_break - start < _SHORT_LINE:
            return number + text.count(b"\n", start, end)
        number, start = number + 1, line_break + 1
    return number


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


# Only the end of a value matters: its numbers need not be read, and constants that JSON does not have are refused.
_PYTHONS = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_refuse_constant)
_FIRST_TRY = 2**16
"""Bytes, about the size of a value."""
_CUT_WITHIN = 8
"""Characters at the end of a text in which an escape or a word may be cut."""


def _end_without_msgspec(window: memoryview) -> tuple[int | None, bool]:
    """The byte after the value that ``window`` begins with, None where none ends in it; and whether one is cut."""
    size, cut = _FIRST_TRY, True
    while cut:
        text = bytes(window[:size]).decode(errors="surrogateescape")
        try:
            _, end = _PYTHONS.raw_decode(text)
        except json.JSONDecodeError as error:
            cut = error.msg.startswith("Unterminated") or error.pos >= len(text) - _CUT_WITHIN
        except (ValueError, RecursionError):
            cut = False
        else:
            # A number at the end may have more digits.
            if end < len(text):
                return len(text[:end].encode(errors="surrogateescape")), False
        if size >= len(window):
            break
        size *= 8
    return None, cut


def json_documents(chunks: Iterator[bytes]) -> Iterator[Any]:
    """Yield one document, JSON lines, or consecutive values as plain data. Raises MalformedError."""
    stream = JsonStream(chunks)
    while stream.next_document():
        line = stream.line
        yield decode_json(stream.value(), line)


def json_parts(chunks: Iterator[bytes]) -> Iterator[Part]:
    """Yield documents undecoded, arrays and documents longer than the window item by item. Raises MalformedError."""
    stream = JsonStream(chunks)
    while start := stream.next_document():
        line = stream.line
        if start == b"[":
            for position, (text, line) in enumerate(stream.elements()):
                yield Part(text, line, f"[{position}]", ARRAY)
            yield Part(None)
        elif (document := stream.value_in_window() if start == b"{" else stream.value()) is not None:
            yield Part(document, line)
        else:
            yield from json_list_parts(stream, {})


def json_list_parts(stream: JsonStream, owner: Data) -> Iterator[Part]:
    """Yield the items of the object at the cursor, then the object without them. ``owner`` has its apiVersion and kind
    as soon as they are known.
    """
    line = stream.line
    rest: dict[str, msgspec.Raw] = {}
    stream.take(b"{")
    end = stream.peek() == b"}" and bool(stream.take(b"}"))
    while not end:
        key = stream.key()
        if key == ITEMS and stream.peek() == b"[" and may_be_list(owner):
            for position, (text, item_line) in enumerate(stream.elements()):
                yield Part(text, item_line, f"{ITEMS}[{position}]", owner)
        else:
            text = stream.value()
            rest[key] = msgspec.Raw(text)
            if key in ("apiVersion", "kind"):
                owner[key] = decode_json(text, stream.line)
        end = stream.take(b",", b"}") == b"}"
    yield Part(msgspec.json.encode(rest), line)


def decode_json(text: bytes, line: int | None) -> Any:
    """Plain value of a well-formed text.

    Raises MalformedError for a number that no field of Kubernetes holds, for a key that an object has twice, which
    kubectl refuses, and for more than `MAX_DEPTH` containers in containers, of which msgspec takes as many as the stack
    holds: tens of thousands since Python 3.14.
    """
    try:
        value = msgspec.json.decode(text)
    except RecursionError as error:
        raise MalformedError(f"JSON syntax: {_TOO_DEEP}", line) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedError(f"JSON syntax: {error}", line) from error
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and _is_too_deep(value):
        raise MalformedError(f"JSON syntax: {_TOO_DEEP}", line)
    json.loads(text, object_pairs_hook=partial(_check_keys, line), parse_int=str, parse_float=str)
    return value


def _check_keys(line: int | None, pairs: list[tuple[str, Any]]) -> None:
    keys = set[str]()
    for key, _ in pairs:
        if key in keys:
            raise MalformedError(f"key {key!r} is given twice in one object", line)
        keys.add(key)


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        containers = (container.values() if isinstance(container, dict) else container for container in level)
        level = [child for container in containers for child in container if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def read_json(path: str, form: type[T], expected: str) -> T:
    """Read the file at ``path``, described by ``expected``. Raises ManifestError."""
    text = read_file(path)
    try:
        return msgspec.json.decode(text, type=form)
    except RecursionError:
        reason = _TOO_DEEP
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = str(error)
    raise ManifestError(display_name(path), [Fault(f"not {expected}: {reason}")])


def error_parts(error: Exception) -> tuple[str, int | None]:
    """msgspec's reason without its preamble, and the byte it names."""
    match = _ERROR.fullmatch(str(error))
    assert match is not None
    return match["reason"], int(match["offset"]) if match["offset"] else None
