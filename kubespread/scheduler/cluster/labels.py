"""One label key over all nodes, as codes of its distinct values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Node
from kubespread.kube.selector import Requirement

Mask = NDArray[np.bool_]
Counts = NDArray[np.int64]
Codes = NDArray[np.int32]
Positions = NDArray[np.intp]

ABSENT = -1


def distinct(codes: Codes) -> list[int]:
    """Each of ``codes`` once, in order; none may be negative. numpy's own `unique` imports masked arrays for that."""
    return np.flatnonzero(np.bincount(codes)).tolist()


class LabelColumn:
    """One label key over all nodes: ``codes[node]`` indexes ``values``, or is ABSENT."""

    def __init__(self, key: str, nodes: Sequence[Node]) -> None:
        index: dict[str, int] = {}
        codes = np.full(len(nodes), ABSENT, dtype=np.int32)
        for position, node in enumerate(nodes):
            value = node.metadata.labels.get(key)
            if value is not None:
                codes[position] = index.setdefault(value, len(index))
        self.codes: Codes = codes
        self.index: Mapping[str, int] = index
        self.values: tuple[str, ...] = tuple(index)
        self.present: Mask = codes != ABSENT
        self.absent: Mask = ~self.present
        self.is_everywhere = bool(self.present.all())
        """Whether every node has the label."""

    @cached_property
    def sorted_codes(self) -> Codes:
        """The codes in the order of their values."""
        order = sorted(range(len(self.values)), key=self.values.__getitem__)
        return np.array(order, dtype=np.int32)

    @cached_property
    def sorted_values(self) -> Sequence[str]:
        return [self.values[code] for code in self.sorted_codes.tolist()]

    @cached_property
    def absent_as_empty(self) -> Codes:
        """The codes with the value ``""`` for nodes without the label, a new code if no node has that value."""
        empty = self.index.get("", len(self.values))
        return np.where(self.absent, np.int32(empty), self.codes)

    def admits(self, requirement: Requirement) -> Mask:
        """Which nodes satisfy ``requirement``, judged once per distinct value."""
        # The last entry answers for nodes without the label, which ABSENT = -1 indexes.
        answers = [requirement.admits(value) for value in self.values] + [requirement.admits(None)]
        return np.array(answers, dtype=np.bool_)[self.codes]

    def one_of(self, values: frozenset[str]) -> Mask:
        """Which nodes have one of ``values``."""
        return self.admits(Requirement("", "In", tuple(values)))
