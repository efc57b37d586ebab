"""The functions of texts.

Source: vendor/github.com/google/cel-go/ext/strings.go, Strings
Source: vendor/github.com/google/cel-go/ext/formatting.go
Source: vendor/github.com/google/cel-go/common/types/string.go
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from kubespread.scheduler.plugins.dynamicresources.cel.declaring import declare
from kubespread.scheduler.plugins.dynamicresources.cel.patterns import pattern
from kubespread.scheduler.plugins.dynamicresources.cel.standard import string
from kubespread.scheduler.plugins.dynamicresources.cel.values import (
    LONGEST,
    NO_OVERLOAD,
    TOO_MUCH,
    EvaluationError,
    List,
    Value,
    quote,
)


def _matches(text: Value, regex: Value) -> bool:
    if not isinstance(regex, str):
        raise EvaluationError(NO_OVERLOAD)
    return pattern(regex).search(text) is not None


def _illegal(regex: str) -> Any:
    try:
        return pattern(regex)
    except EvaluationError as error:
        raise EvaluationError(f"Illegal regex: {error}") from error


def _find(text: str, regex: str) -> str:
    match = _illegal(regex).search(text)
    return "" if match is None else match[0]


def _find_all(text: str, regex: str, limit: int = -1) -> List:
    return List(match[0] for number, match in enumerate(_matches_of(text, regex)) if not 0 <= limit <= number)


def _matches_of(text: str, regex: str) -> Iterator[Any]:
    """Find matches as Go does: an empty one right behind the previous match is skipped."""
    end = -1
    for match in _illegal(regex).finditer(text):
        if match.start() == match.end() == end:
            continue
        end = match.end()
        yield match


def _of_texts(judge: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    def judged(text: Value, part: Value) -> bool:
        if not isinstance(text, str) or not isinstance(part, str):
            raise EvaluationError(NO_OVERLOAD)
        return judge(text, part)

    return judged


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.find(part, offset)


def _last_index_of(text: str, part: str, offset: int | None = None) -> int:
    if not part:
        return len(text) if offset is None else offset
    if offset is None:
        return text.rfind(part)
    if offset < 0:
        raise _out_of_range(offset)
    return -1 if offset >= len(text) else text.rfind(part, 0, min(offset, len(text) - len(part)) + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    stop = len(text) if end is None else end
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, stop):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:stop]


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old) if limit < 0 else min(limit, text.count(old))
    if len(text) + count * len(new) > LONGEST:
        raise EvaluationError(TOO_MUCH)
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> List:
    if limit == 0:
        return List()
    if not separator:
        whole = len(text) if limit < 0 else min(limit - 1, len(text))
        return List([*text[:whole], *([text[whole:]] if whole < len(text) else [])])
    return List(text.split(separator, -1 if limit < 0 else limit - 1))


def _join(parts: List, separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError(f"join: invalid input: {string(part)}")
    if sum(map(len, parts)) + len(parts) * len(separator) > LONGEST:
        raise EvaluationError(TOO_MUCH)
    return separator.join(parts)


_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


FUNCTIONS = [
    declare("contains", {"string | string -> bool": _of_texts(str.__contains__)}, is_guarded=False),
    declare("startsWith", {"string | string -> bool": _of_texts(str.startswith)}, is_guarded=False),
    declare("endsWith", {"string | string -> bool": _of_texts(str.endswith)}, is_guarded=False),
    declare("matches", {"string, string -> bool": None, "string | string -> bool": None}, _matches, (str,)),
    declare("find", {"string | string -> string": _find}),
    declare(
        "findAll", {"string | string -> list(string)": _find_all, "string | string, int -> list(string)": _find_all}
    ),
    declare("charAt", {"string | int -> string": _char_at}),
    declare("lowerAscii", {"string | -> string": lambda text: re.sub("[A-Z]+", lambda match: match[0].lower(), text)}),
    declare("upperAscii", {"string | -> string": lambda text: re.sub("[a-z]+", lambda match: match[0].upper(), text)}),
    declare("trim", {"string | -> string": lambda text: text.strip(_BLANKS)}),
    declare("substring", {"string | int -> string": _substring, "string | int, int -> string": _substring}),
    declare(
        "replace", {"string | string, string -> string": _replace, "string | string, string, int -> string": _replace}
    ),
    declare("split", {"string | string -> list(string)": _split, "string | string, int -> list(string)": _split}),
    declare("join", {"list(string) | -> string": _join, "list(string) | string -> string": _join}),
    declare("strings.quote", {"string -> string": quote}),
]
INDEX_OF = {"string | string -> int": _index_of, "string | string, int -> int": _index_of}
LAST_INDEX_OF = {"string | string -> int": _last_index_of, "string | string, int -> int": _last_index_of}
"""Lists have the same methods."""
