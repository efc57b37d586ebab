"""The order in which kube-scheduler visits nodes, and how it breaks ties.

Source of the rules: kube-scheduler 1.36, backend/cache/node_tree.go and schedule_one.go (sortedNodeScores). Its heap of
scores breaks ties by a field that stays 0 without extenders, so nothing is random: the first of the best in the heap's
pre-order is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from kubespread.kube.api.core import Node
from kubespread.kube.well_known import zone_key

Order = NDArray[np.intp]


def visiting_order(nodes: Sequence[Node]) -> Order:
    """Positions of ``nodes`` as the scheduler lists them: one of each zone, round and round.

    Nodes arrive by name, as a listing gives them; a zone comes where its first node does.
    """
    zones: dict[tuple[str, str], list[int]] = {}
    for position in sorted(range(len(nodes)), key=lambda at: nodes[at].metadata.name):
        zones.setdefault(zone_key(nodes[position].metadata.labels), []).append(position)
    rounds = (
        (turn, zone, position) for zone, found in enumerate(zones.values()) for turn, position in enumerate(found)
    )
    return np.array([position for _, _, position in sorted(rounds)], dtype=np.intp)


@lru_cache(maxsize=8)
def heap_preorder(size: int) -> NDArray[np.int64]:
    """A key per position of a heap of ``size`` entries that sorts them as they are met from the root: left before
    right.

    The path to a position is the binary notation of its number from 1 on, without the leading one: pre-order is the
    order of those texts, a prefix first.
    """
    number = np.arange(1, size + 1, dtype=np.int64)
    length = np.floor(np.log2(number)).astype(np.int64)
    depth = int(length[-1]) if size else 0
    return ((number << (depth - length)) << 6) | length
