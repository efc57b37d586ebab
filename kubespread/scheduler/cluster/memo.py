"""Results that are worked out once for what stays as it is: the nodes and objects of a cluster, or one pod."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Results:
    """Cached results about one object, shared with whatever has the same of all that they depend on."""

    def __init__(self) -> None:
        self._of: dict[Memo[Any, Any], dict[Any, Any]] = {}

    def section(self, memo: Memo[K, V]) -> dict[K, V]:
        kept: dict[K, V] = self._of.get(memo) or self._of.setdefault(memo, {})
        return kept


class Memo(Generic[K, V]):
    """One sort of cached results, by what else they depend on."""

    def get_or_make(self, results: Results, key: K, make: Callable[[], V]) -> V:
        kept = results.section(self)
        if key not in kept:
            kept[key] = make()
        return kept[key]


class Recent(dict[K, Any]):
    """Most recently used results."""

    def get_or_make(self, key: K, make: Callable[[], V], *, most: int) -> V:
        """Cached result of ``make``, kept while it is among the ``most`` last used."""
        kept: V | None = self.pop(key, None)
        while self and len(self) >= most:
            del self[next(iter(self))]
        self[key] = value = make() if kept is None else kept
        return value
