"""Everything besides nodes and pods that scheduling reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar, cast

from kubespread.kube.api.meta import ApiObject

T = TypeVar("T", bound=ApiObject)


@dataclass(frozen=True, slots=True)
class ClusterObjects:
    """The objects of one cluster by type, those of a type in the order they were listed."""

    by_type: Mapping[type[ApiObject], tuple[ApiObject, ...]] = field(default_factory=dict)
    """Only types that have objects."""
    listed: frozenset[str] = frozenset()
    """The kinds that are here completely, even if there are no objects."""
    partly_known: frozenset[str] = frozenset()
    """The kinds of which only those objects are here that came with the question; the cluster's own were not read."""
    unread: Mapping[str, str] = field(default_factory=dict)
    """The kinds that were asked for and not given, and what was said instead."""
    _by_name: dict[type[ApiObject], dict[str, list[ApiObject]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Of the types that were looked through by name."""

    def of(self, cls: type[T]) -> tuple[T, ...]:
        """All objects of a type."""
        return cast("tuple[T, ...]", self.by_type.get(cls, ()))

    def named(self, cls: type[T], name: str, namespace: str | None = None) -> T | None:
        """The first of a type with a name; of a type that is in namespaces, the one in ``namespace``."""
        by_name = self._by_name.get(cls)
        if by_name is None:
            by_name = self._by_name[cls] = {}
            for obj in self.of(cls):
                by_name.setdefault(obj.metadata.name, []).append(obj)
        alike = cast("list[T]", by_name.get(name, ()))
        return next((obj for obj in alike if namespace in (None, obj.metadata.namespace)), None)

    def with_all(self, cls: type[T], objects: Iterable[T]) -> ClusterObjects:
        """A copy in which ``objects`` are all of their type."""
        by_type: dict[type[ApiObject], tuple[ApiObject, ...]] = {**self.by_type, cls: tuple(objects)}
        return replace(self, by_type={kind: kept for kind, kept in by_type.items() if kept})

    def knows(self, kind: type[ApiObject]) -> bool:
        """Whether something can be said about objects of ``kind``: some are here, or there are known to be none."""
        if kind.__name__ in self.partly_known:
            return False
        return kind.__name__ in self.listed or kind in self.by_type

    def gap(self, kind: type[ApiObject], consequence: str) -> Iterator[str]:
        """What an answer that needs ``kind`` has to say where nothing is known of it, in the words of its source."""
        if not self.knows(kind):
            yield f"{self.unread.get(kind.__name__) or f'no {kind.__name__} objects'}: {consequence}"
