"""percentageOfNodesToScore: large clusters are not scored in full by kube-scheduler, though they are here.

Source of the rules: kube-scheduler 1.36, schedule_one.go (numFeasibleNodesToFind).
"""

from __future__ import annotations

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
