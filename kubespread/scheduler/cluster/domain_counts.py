"""What is counted over the domains of one topology key, and moves with every pod that comes or goes."""

from __future__ import annotations

from copy import copy
from typing import Self

import numpy as np

from kubespread.scheduler.cluster.labels import ABSENT, Codes, Counts, Positions


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
