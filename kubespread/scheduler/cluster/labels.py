"""One label key over all nodes, as codes of its distinct values.

What is counted over the domains of one topology key, and moves with every pod that comes or goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Node
from kubespread.kube.selector import Requirement


class DomainCounts:
    """Counts by the code of a domain, read back per node; a node without a domain adds nothing and is counted 0."""

    def __init__(self, domain: Codes, domains: int) -> None:
        """``domain`` is the code of every node's domain or ABSENT, ``domains`` how many codes there are."""
        self.counts: Counts = np.zeros(domains, dtype=np.int64)
        self._domain = domain
        self._is_everywhere = bool((domain != ABSENT).all())
        self._pods = 0

    @property
    def is_empty(self) -> bool:
        """Whether no pod counts, as opposed to pods whose weights cancel out."""
        return self._pods == 0

    def add(self, nodes: Codes, by: Codes, weight: int = 1) -> None:
        """Pods that came to ``nodes`` (``by`` 1) or left them (-1), each of a weight."""
        codes = self._domain[nodes]
        has_domain = codes != ABSENT
        came = by[has_domain]
        np.add.at(self.counts, codes[has_domain], weight * came)
        self._pods += int(came.sum())

    def add_one(self, node: int, by: int, weight: int = 1) -> None:
        """The same for one pod."""
        code = self._domain.item(node)
        if code != ABSENT:
            self.counts[code] += by * weight
            self._pods += by

    def around(self, nodes: Positions | None = None) -> Counts:
        """The count of the domain of each of ``nodes`` (None: all)."""
        codes = self._domain if nodes is None else self._domain[nodes]
        if self._is_everywhere:
            return self.counts.take(codes)
        if not len(self.counts):
            return np.zeros(len(codes), dtype=np.int64)
        return np.where(codes != ABSENT, self.counts[codes], 0)

    def fork(self) -> Self:
        """The same counts, to be moved apart from these."""
        fork = copy(self)
        fork.counts = self.counts.copy()
        return fork


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
