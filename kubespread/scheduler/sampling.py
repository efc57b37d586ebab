"""percentageOfNodesToScore: in a large cluster kube-scheduler looks for nodes only until it has found enough of them.

Source: pkg/scheduler/schedule_one.go, numFeasibleNodesToFind, findNodesThatFitPod, findNodesThatPassFilters
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from kubespread.scheduler.cluster.labels import Mask
from kubespread.scheduler.cluster.nodes import Nodes

MIN_FEASIBLE_NODES = 100
_MIN_PERCENTAGE, _MAX_ADAPTIVE_PERCENTAGE, _NODES_PER_PERCENT = 5, 50, 125


def nodes_to_find(nodes: int, percentage: int = 0) -> int | None:
    """How many feasible nodes end the search among ``nodes``; None when all are looked at. 0 percent means adaptive."""
    if nodes < MIN_FEASIBLE_NODES:
        return None
    if percentage == 0:
        percentage = max(_MIN_PERCENTAGE, _MAX_ADAPTIVE_PERCENTAGE - nodes // _NODES_PER_PERCENT)
    enough = max(nodes * percentage // 100, MIN_FEASIBLE_NODES)
    return enough if enough < nodes else None


class SearchRules(Struct, frozen=True):
    """When a profile has found enough nodes."""

    percentage: int = 0
    """percentageOfNodesToScore; 0 derives it from the size of the cluster."""
    takes_first: bool = False
    """A profile that scores nothing, without extenders, takes the first node that fits."""

    def enough(self, nodes: int) -> int | None:
        """How many feasible ones of ``nodes`` end the search; None when all are looked at."""
        return 1 if self.takes_first else nodes_to_find(nodes, self.percentage)


class SearchResult(Struct, frozen=True):
    """The feasible nodes that a search found before it ended."""

    feasible: Mask
    first: int = 0
    """Where in kube-scheduler's list of nodes the search began."""


class Search:
    """kube-scheduler's search for nodes that fit: one cycle begins where the last one ended, across profiles.

    Its workers are taken to go through the list one node after another. Like kube-scheduler's, the search only ends at
    a node more than it needs, and that one is the first of the next cycle: rejected nodes before it were looked at.
    """

    def __init__(self, start: int = 0, *, samples: bool = True) -> None:
        """``start`` is nextStartNodeIndex, 0 in a kube-scheduler that was just started. Without ``samples`` all nodes
        are looked at, except for a profile that takes the first.
        """
        self._start, self._samples = start, samples

    def limits(self, rules: SearchRules) -> bool:
        """Whether a profile may leave nodes out."""
        return self._samples or rules.takes_first

    def move_on(self, looked_at: int, nodes: int) -> None:
        """Note how many of ``nodes`` a cycle looked at."""
        self._start = (self._start + looked_at) % nodes

    def run(self, nodes: Nodes, feasible: Mask, listed: Mask | None, rules: SearchRules) -> SearchResult:
        """Which of the ``feasible`` nodes a cycle finds among those that PreFilter plugins have ``listed``, None for
        all.
        """
        order = nodes.visiting if listed is None else nodes.visiting[listed[nodes.visiting]]
        if not len(order):
            return SearchResult(feasible)
        start, length = self._start % len(order), len(order)
        enough = rules.enough(length)
        fitting = feasible[order].cumsum()
        before = int(fitting[start - 1]) if start else 0
        total = int(fitting[-1])
        first = int(nodes.visiting_rank[order[start]])
        if enough is None or total <= enough:
            self.move_on(length, len(nodes))
            return SearchResult(feasible, first)
        # The places in the list of the last node that is found, and of the one after it that ends the search.
        last, beyond = (
            int(fitting.searchsorted((before + count - 1) % total + 1)) for count in (enough, enough + 1)
        )  # fmt: skip
        self.move_on((beyond - start) % length, len(nodes))
        seen = np.zeros_like(feasible)
        if last >= start:
            seen[order[start : last + 1]] = True
        else:
            seen[order[start:]] = True
            seen[order[: last + 1]] = True
        return SearchResult(feasible & seen, first)
