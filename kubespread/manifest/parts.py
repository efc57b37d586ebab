"""The parts that both JSON and YAML are read into, and the error for a text that is neither.

Where in a text a field stands. Only asked when there is something to complain about, so it may take its time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from kubespread.errors import Fault

_STEP = re.compile(r"\[(?P<index>\d+)\]|\[(?P<key>[^\]]*)\]|(?P<name>[^.\[\]]+)")


class Position(NamedTuple):
    """A place in a text, both counted from 1, columns in characters."""

    line: int
    column: int


class FieldLines:
    """One text, asked for positions by field path (``spec.containers[0].image``)."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @cached_property
    def _documents(self) -> list[Any]:
        """The composed documents. For positions JSON counts as YAML; what YAML cannot compose simply has no lines."""
        # JSON without faults is read without it.
        import yaml

        loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        try:
            # YAML indents with blanks only. Replacing each tab by one blank keeps the columns.
            return list(yaml.compose_all(self._text.decode().replace("\t", " "), Loader=loader))
        except (yaml.YAMLError, RecursionError, UnicodeDecodeError):
            return []

    def line(self, document: int, path: str) -> int | None:
        """The line of `position`."""
        position = self.position(document, path)
        return position.line if position is not None else None

    def position(self, document: int, path: str) -> Position | None:
        """Where ``path`` stands, or the nearest field above it that exists; None where nothing is known."""
        if document >= len(self._documents):
            return None
        node = self._documents[document]
        position = _start(node) if node is not None else None
        for step in _STEP.finditer(path):
            child = _child(node, step)
            if child is None:
                break
            position, node = child
        return position


def _start(node: Any) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)


def _child(node: Any, step: re.Match[str]) -> tuple[Position, Any] | None:
    from yaml import MappingNode, SequenceNode

    if isinstance(node, SequenceNode) and step["index"] is not None:
        index = int(step["index"])
        if index < len(node.value):
            return _start(node.value[index]), node.value[index]
    if isinstance(node, MappingNode):
        name = step["name"] or step["key"] or step["index"]
        for key, value in node.value:
            if getattr(key, "value", None) == name:
                return _start(key), value
    return None


Data = dict[str, Any]

MAX_DEPTH = 200
"""Limit on nested containers, since later code walks the data by recursion."""
ITEMS = "items"
ARRAY: Data = {"kind": "List"}
"""The owner of the elements of an array, which is read as a List would be."""


class MalformedError(Exception):
    """The text is not a document this program reads; carries the fault."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(message, line=line)


class Part(NamedTuple):
    """A document, or before it one of its items, which the document is then without: a list may be very long.

    ``value`` is JSON text as bytes, or plain data; None is an empty document. ``path`` is where it stands in its
    document, ``line`` the one it begins on where that is known. ``owner`` is an item's document as far as it has been
    read: what kind it is may come after the items.
    """

    value: Any
    line: int | None = None
    path: str = ""
    owner: Data | None = None


def is_list(kind: object) -> bool:
    """Whether ``kind`` is ``List`` or that of a typed list."""
    return isinstance(kind, str) and kind.endswith("List")


def may_be_list(owner: Mapping[str, Any]) -> bool:
    """Whether to take ``items`` from ``owner``, whose kind may not have been read yet."""
    return owner.get("kind") is None or is_list(owner["kind"])
