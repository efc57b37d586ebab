"""Pods per domain: how often a term is met around each node."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kubespread.scheduler.cluster.labels import Codes, Counts, Positions
from kubespread.scheduler.cluster.nodes import Nodes


class Domains:
    """Counts that add up per (topology key, value), read back per node."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._totals: dict[str, Counts] = {}
        self._entries: dict[str, int] = {}

    def add(self, topology_key: str, nodes: Codes, by: Codes, weight: int = 1) -> None:
        """Pods that came to ``nodes`` (``by`` 1) or left (-1), each of a weight; without the key there is no domain."""
        codes = self._nodes.label(topology_key).codes[nodes]
        there = codes >= 0
        if not there.any():
            return
        if topology_key not in self._totals:
            self._totals[topology_key] = np.zeros(len(self._nodes.label(topology_key).values), dtype=np.int64)
        np.add.at(self._totals[topology_key], codes[there], weight * by[there])
        self._entries[topology_key] = self._entries.get(topology_key, 0) + int(by[there].sum())

    def add_one(self, topology_key: str, node: int, by: int, weight: int) -> None:
        """The same for one pod."""
        code = self._nodes.label(topology_key).codes.item(node)
        if code < 0:
            return
        if topology_key not in self._totals:
            self._totals[topology_key] = np.zeros(len(self._nodes.label(topology_key).values), dtype=np.int64)
        self._totals[topology_key][code] += by * weight
        self._entries[topology_key] = self._entries.get(topology_key, 0) + by

    def fork(self) -> Domains:
        """The same totals, to be added to apart from these."""
        fork = Domains(self._nodes)
        fork._totals = {key: totals.copy() for key, totals in self._totals.items()}
        fork._entries = dict(self._entries)
        return fork

    @property
    def is_empty(self) -> bool:
        """Whether no pod counts, as opposed to pods whose weights cancel out."""
        return not any(self._entries.values())

    def around(self, topology_key: str, nodes: Positions | None = None) -> Counts:
        """The total of the domain of each of ``nodes`` (None: all); 0 where there is none."""
        column = self._nodes.label(topology_key)
        codes = column.codes if nodes is None else column.codes[nodes]
        if topology_key not in self._totals:
            return np.zeros(len(codes), dtype=np.int64)
        return np.where(codes >= 0, self._totals[topology_key][codes], 0)

    @property
    def keys(self) -> Iterable[str]:
        return self._totals.keys()
