"""The parts that both JSON and YAML are read into, and the error for a text that is neither."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kubespread.errors import Fault

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
