"""The effect of set fields on an object: as a JSON Patch, and as a unified diff of its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import unified_diff
from typing import Any

from msgspec import Struct

from kubespread.candidate.settings import parse_settings, settled
from kubespread.kube.api.kinds import Kind
from kubespread.manifest.editing import with_field
from kubespread.manifest.objects import KubernetesObject

_CONTEXT_LINES = 2
_STEP = re.compile(r"\[(?P<index>\d+)\]|(?P<name>[^.\[\]]+)")
_TEMPLATE = ("spec", "template")


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
    return list(differences(data, settled(data, row, parse_settings(settings)).data))


def differences(old: Any, new: Any, path: tuple[str | int, ...] = ()) -> Iterator[Operation]:
    """What makes ``new`` of ``old``, both plain data."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if key not in new:
                yield Operation((*path, key), None, removes=True)
            elif key not in old:
                yield Operation((*path, key), new[key])
            else:
                yield from differences(old[key], new[key], (*path, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) <= len(new):
        for place, item in enumerate(new):
            if place < len(old):
                yield from differences(old[place], item, (*path, place))
            else:
                yield Operation((*path, place), item)
    elif old != new:
        yield Operation(path, new)


def text_diff(file: str, text: bytes, item: KubernetesObject, changed: Sequence[Operation]) -> str | None:
    """A unified diff of a manifest; None for text that is written in a way that is not changed line by line."""
    try:
        before = text.decode()
    except UnicodeDecodeError:
        return None
    after = with_operations(before, item, changed)
    return None if after is None else diff_of(file, file, before, after)


def with_operations(text: str, item: KubernetesObject, changed: Sequence[Operation]) -> str | None:
    """The text in which an object stands, with its fields changed; None where `with_field` gives up."""
    for operation in changed:
        path = (*path_of(item.path), *_written(item, operation.path))
        edited = with_field(text, item.document, path, operation.value, removes=operation.removes)
        if edited is None:
            return None
        text = edited
    return text


def path_of(dotted: str) -> tuple[str | int, ...]:
    """``items[3].spec`` in steps."""
    return tuple(int(step["index"]) if step["index"] is not None else step["name"] for step in _STEP.finditer(dotted))


def diff_of(old_file: str, new_file: str, before: str, after: str) -> str:
    """The lines that differ, as `git apply` and `patch` read them; empty where none do."""
    old, new = (f"{name}\t" if " " in name else name for name in (old_file, new_file))
    lines = unified_diff(_lines(before), _lines(after), old, new, n=_CONTEXT_LINES)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _lines(text: str) -> list[str]:
    return [f"{line}\n" for line in text.split("\n")[:-1]] + ([last] if (last := text.rpartition("\n")[2]) else [])


def _written(item: KubernetesObject, path: Sequence[str | int]) -> Sequence[str | int]:
    moved = bool(item.template_path) and tuple(path[: len(_TEMPLATE)]) == _TEMPLATE
    return (*path_of(item.template_path), *path[len(_TEMPLATE) :]) if moved else path
