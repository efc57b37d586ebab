"""Every kind of change that is tried, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from kubespread.planner.advise.change import Ladder
from kubespread.planner.advise.families.constraints import max_skews, min_domains, policies, relaxed
from kubespread.planner.advise.families.cordons import uncordons
from kubespread.planner.advise.families.evictions import evictions
from kubespread.planner.advise.families.new_nodes import new_nodes
from kubespread.planner.advise.families.requests import smaller_requests
from kubespread.planner.advise.families.taints import tolerations, untaints
from kubespread.planner.advise.stuck import Stuck

Family = Callable[[Stuck], Iterator[Ladder]]

OF_CONSTRAINTS: Sequence[Family] = (max_skews, policies, min_domains, relaxed)
"""Those of the pod's own constraints alone, which one evaluation each settles."""
FAMILIES: Sequence[Family] = (
    *OF_CONSTRAINTS, uncordons, untaints, tolerations, smaller_requests, evictions, new_nodes,
)  # fmt: skip

BY_LEAST_COST: Sequence[tuple[int, Family]] = (
    (10, max_skews),
    (15, policies),
    (20, min_domains),
    (20, uncordons),
    (25, untaints),
    (25, tolerations),
    (30, smaller_requests),
    (40, new_nodes),
    (50, relaxed),
)
"""What is tried for groups of pods, beside what the least change of each costs: who looks for one change can stop."""

_FEWEST, _CELLS = 24, 20_000
_FEWEST_OF_MANY, _COPIES = 4, 4_000


def most_tried(nodes: int, copies: int = 1) -> int:
    """How many changes of one family are tried with so many nodes, where each is tried by placing so many copies: of
    small clusters and few copies practically all.
    """
    return min(max(_FEWEST, _CELLS // max(nodes, 1)), max(_FEWEST_OF_MANY, _COPIES // max(copies, 1)))
