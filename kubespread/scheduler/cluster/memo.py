"""Results computed once per subject that stays the same: the nodes and objects of a cluster, or one pod."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Results:
    """Cached results about one subject, shared by all clusters for which they are the same."""

    def __init__(self) -> None:
        self._of: dict[Memo[Any, Any], dict[Any, Any]] = {}

    def section(self, memo: Memo[K, V]) -> dict[K, V]:
        section: dict[K, V] = self._of.get(memo) or self._of.setdefault(memo, {})
        return section


class Memo(Generic[K, V]):
    """Cache of one computation; its keys hold everything that it depends on besides the subject."""

    def get_or_make(self, results: Results, key: K, make: Callable[[], V]) -> V:
        section = results.section(self)
        if key not in section:
            section[key] = make()
        return section[key]


class Recent(dict[K, Any]):
    """Most recently used results."""

    def get_or_make(self, key: K, make: Callable[[], V], *, most: int) -> V:
        """Result of ``make``, cached while it is among the ``most`` last used."""
        cached: V | None = self.pop(key, None)
        while self and len(self) >= most:
            del self[next(iter(self))]
        self[key] = value = make() if cached is None else cached
        return value
