"""Chance, seeded: the same seed draws the same case on every machine."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

Data = dict[str, Any]
T = TypeVar("T")


class Draw:
    """Everything of one case that chance decides."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def one(self, *choices: T) -> T:
        return self._random.choice(choices)

    def number(self, low: int, high: int) -> int:
        """Both included."""
        return self._random.randint(low, high)

    def some(self, among: Iterable[T], low: int, high: int) -> list[T]:
        """Between ``low`` and ``high`` of them, each at most once, in any order."""
        pool = list(among)
        return self._random.sample(pool, min(len(pool), self.number(low, high)))

    def many(self, low: int, high: int, make: Callable[[], T]) -> list[T]:
        return [make() for _ in range(self.number(low, high))]

    def fields(self, table: Mapping[str, tuple[float, Any]]) -> Data:
        """An object that has each field with its probability: one of a list, what a function makes, or the value."""
        return {name: self._made(value) for name, (probability, value) in table.items() if self.chance(probability)}

    def _made(self, value: Any) -> Any:
        if callable(value):
            return value()
        return copy.deepcopy(self.one(*value) if isinstance(value, list) else value)
