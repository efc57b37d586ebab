"""The names in one file of a cluster."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

import msgspec

T = TypeVar("T")

NamesInNamespaces = dict[str, list[str]]
"""The names of one kind by namespace."""


class Names(msgspec.Struct, rename="camel"):
    """The names in one file, each list sorted."""

    namespace: str = ""
    """The namespace that was current when the snapshot was saved."""
    nodes: list[str] = []
    labels: dict[str, msgspec.Raw] = {}
    """The values of nodes' labels by key, undecoded: of some every node has its own."""
    namespaces: list[str] = []
    by_kind: dict[str, msgspec.Raw] = {}
    """`NamesInNamespaces` by kubectl's short name of the kind, of what only pods know the whole kind; undecoded: of
    pods there may be very many.
    """

    def values_of(self, label: str) -> list[str]:
        """The values that nodes have for one label."""
        raw = self.labels.get(label)
        return [] if raw is None else _decoded(raw, list[str]) or []

    def of_kind(self, short: str, namespace: str) -> list[str]:
        """The names of one kind in one namespace."""
        raw = self.by_kind.get(short)
        return [] if raw is None else (_decoded(raw, NamesInNamespaces) or {}).get(namespace, [])


def _decoded(raw: msgspec.Raw, form: type[T]) -> T | None:
    """None for what a damaged memory holds in its place."""
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.json.decode(raw, type=form)
    return None
