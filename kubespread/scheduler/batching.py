"""OpportunisticBatching: a pod that is like the previous one but no longer fits on its node takes the next best node of
the previous cycle instead of being scored again.

All cycles of a queue are taken to run within the half second for which results are kept.

Source: pkg/scheduler/framework/runtime/batch.go, GetNodeHint, StoreScheduleResults, batchStateCompatible
Source: pkg/scheduler/schedule_one.go, sortedNodeScores
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kubespread.scheduler.cluster.labels import Counts, Mask
from kubespread.scheduler.sampling import SearchResult

if TYPE_CHECKING:
    from kubespread.scheduler.framework import Framework, Prepared


class _Results:
    """What the last cycle of one profile that scored nodes found."""

    def __init__(self, prepared: Prepared, result: SearchResult, totals: Counts) -> None:
        self.prepared = prepared
        self._result, self._totals = result, totals
        self._heap: list[tuple[int, int]] | None = None
        """Total and node, in the order of Go's container/heap. Few cycles are followed by one that asks for it."""

    def next_best(self) -> int | None:
        """Take the best node that is left; None where none is."""
        if self._heap is None:
            order = np.roll(self.prepared.cluster.nodes.visiting, -self._result.first)
            nodes = order[self._result.feasible[order]]
            self._heap = list(zip(self._totals[nodes].tolist(), nodes.tolist(), strict=True))
            for place in reversed(range(len(self._heap) // 2)):
                _sift_down(self._heap, place)
            self._pop()  # the one that was chosen
        return self._pop()

    def _pop(self) -> int | None:
        heap = self._heap
        if not heap:
            return None
        last = heap.pop()
        if not heap:
            return last[1]
        best, heap[0] = heap[0], last
        _sift_down(heap, 0)
        return best[1]


class Batch:
    """What the scheduling cycles of one queue leave for each other."""

    def __init__(self) -> None:
        self._cycle = 0
        self._results: dict[int, _Results] = {}
        self._chosen: dict[int, tuple[int, int]] = {}
        """Per profile the last cycle that found a node, and that node."""

    def begin(self) -> None:
        """Another cycle begins."""
        self._cycle += 1

    def hint(self, prepared: Prepared, feasible: Mask) -> int | None:
        """The node to try first, None for no such node: ``feasible`` says that the last one does not take the pod."""
        profile = id(prepared.framework)
        results, (cycle, node) = self._results.get(profile), self._chosen.get(profile, (-1, -1))
        if results is None or cycle != self._cycle - 1 or feasible[node] or not _is_alike(prepared, results.prepared):
            return None
        return results.next_best()

    def store(self, prepared: Prepared, node: int, result: SearchResult, totals: Counts) -> None:
        """``node`` was chosen among those that were found."""
        profile = id(prepared.framework)
        self._chosen[profile] = self._cycle, node
        if prepared.is_signed:
            self._results[profile] = _Results(prepared, result, totals)
        else:
            self._results.pop(profile, None)

    def take_hint(self, framework: Framework, node: int) -> None:
        """The hint was taken, and the other results go on to be used."""
        self._chosen[id(framework)] = self._cycle, node


def _is_alike(one: Prepared, other: Prepared) -> bool:
    """Whether both pods have one signature: all that plugins read of a pod is its labels and its spec."""
    if one is other or one.pod is other.pod:
        return True
    return one.is_signed and one.pod.metadata.labels == other.pod.metadata.labels and one.pod.spec == other.pod.spec


def _sift_down(heap: list[tuple[int, int]], place: int) -> None:
    """container/heap's ``down``, where a greater total comes first: equal ones stay as they are."""
    size = len(heap)
    while (child := 2 * place + 1) < size:
        if child + 1 < size and heap[child + 1][0] > heap[child][0]:
            child += 1
        if heap[child][0] <= heap[place][0]:
            return
        heap[place], heap[child] = heap[child], heap[place]
        place = child
