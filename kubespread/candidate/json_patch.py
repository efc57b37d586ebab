"""The effect of set fields on an object: as a JSON Patch, and as a unified diff of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any

from msgspec import Struct

from kubespread.candidate.settings import parse_settings, settled
from kubespread.kube.api.kinds import Kind
from kubespread.manifest.lines import FieldLines
from kubespread.manifest.objects import KubernetesObject
from kubespread.manifest.writer import to_yaml

_CONTEXT_LINES = 2
_SCALAR = re.compile(r"(?P<before>\s*(?:- +)*[\w./-]+:\s+)(?P<value>[^\s#{\[&*!|>][^#]*?)(?P<after>\s*(?:#.*)?)")
_KEY = re.compile(r"(?P<indent>\s*(?:- +)*)(?P<key>[\w./-]+):")


class Operation(Struct, frozen=True):
    """One field that is set, or removed."""

    path: tuple[str | int, ...]
    value: Any
    removes: bool = False

    @property
    def pointer(self) -> str:
        """RFC 6901."""
        return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in self.path)


def operations(data: Any, row: Kind, settings: Sequence[str]) -> list[Operation]:
    """What ``settings`` change in ``data``, an object of the kind of ``row``. Raises UsageError."""
    return list(_differences(data, settled(data, row, parse_settings(settings)).data, ()))


def _differences(old: Any, new: Any, path: tuple[str | int, ...]) -> Iterator[Operation]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if key not in new:
                yield Operation((*path, key), None, removes=True)
            elif key not in old:
                yield Operation((*path, key), new[key])
            else:
                yield from _differences(old[key], new[key], (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) <= len(new):
        for place, item in enumerate(new):
            if place < len(old):
                yield from _differences(old[place], item, (*path, place))
            else:
                yield Operation((*path, place), item)
    elif old != new:
        yield Operation(path, new)


def text_diff(file: str, text: bytes, item: KubernetesObject, changed: Sequence[Operation]) -> str | None:
    """A unified diff of a manifest in YAML's block style; None for text that is written in another way."""
    try:
        lines = text.decode().splitlines(keepends=True)
    except UnicodeDecodeError:
        return None
    before, field_lines = list(lines), FieldLines(text)
    edits: list[tuple[int, int, list[str]]] = []
    for operation in changed:
        edit = _edit(operation, item, before, field_lines)
        if edit is None:
            return None
        edits.append(edit)
    # From the end on, so that lines keep their numbers.
    for start, removed, added in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[start : start + removed] = added
    return "".join(unified_diff(before, lines, file, file, n=_CONTEXT_LINES))


def _edit(
    operation: Operation, item: KubernetesObject, lines: Sequence[str], field_lines: FieldLines
) -> tuple[int, int, list[str]] | None:
    """The line where something changes, how many lines go there and which come."""
    parent, name = operation.path[:-1], operation.path[-1]
    place = _place(field_lines, item, operation.path)
    if isinstance(name, int):
        # One more item of an existing list: the end of its last item is not known.
        return None
    has_key = place is not None and (match := _KEY.match(lines[place])) is not None and match["key"] == name
    if has_key and place is not None:
        scalar = _SCALAR.fullmatch(lines[place].rstrip("\n"))
        if scalar is None or lines[place].lstrip().startswith("- "):
            return None if scalar is None or operation.removes else (place, 1, [_replaced(scalar, operation)])
        return place, 1, [] if operation.removes else [_replaced(scalar, operation)]
    sibling = _place(field_lines, item, parent)
    if sibling is None:
        return None
    return _insertion(operation, sibling, lines)


def _replaced(scalar: re.Match[str], operation: Operation) -> str:
    return f"{scalar['before']}{to_yaml(operation.value).removesuffix('...' + chr(10)).strip()}{scalar['after']}\n"


def _insertion(operation: Operation, parent_line: int, lines: Sequence[str]) -> tuple[int, int, list[str]] | None:
    """Insert a new field before the parent's first one, or behind that one if a dash precedes it."""
    first = parent_line if isinstance(operation.path[-2], int) else parent_line + 1
    while first < len(lines) and not lines[first].strip():
        first += 1
    match = _KEY.match(lines[first]) if first < len(lines) else None
    if match is None:
        return None
    indent = " " * len(match["indent"])
    is_dashed = match["indent"].strip() != ""
    if is_dashed and _SCALAR.fullmatch(lines[first].rstrip("\n")) is None:
        return None
    text = to_yaml({operation.path[-1]: operation.value})
    added = [f"{indent}{line}\n" for line in text.splitlines()]
    return first + is_dashed, 0, added


def _place(field_lines: FieldLines, item: KubernetesObject, path: tuple[str | int, ...]) -> int | None:
    """The line of a field, from 0."""
    text = item.field("".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip("."))
    line = field_lines.line(item.document, text)
    return None if line is None else line - 1
