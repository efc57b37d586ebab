"""Every kind of change that is tried, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from kubespread.questions.remedies.change import Ladder
from kubespread.questions.remedies.families.constraints import max_skews, min_domains, policies, relaxed
from kubespread.questions.remedies.families.cordons import uncordons
from kubespread.questions.remedies.families.evictions import evictions, waits
from kubespread.questions.remedies.families.labels import node_labels
from kubespread.questions.remedies.families.new_nodes import new_nodes
from kubespread.questions.remedies.families.requests import smaller_requests
from kubespread.questions.remedies.families.selectors import dropped_requirements
from kubespread.questions.remedies.families.taints import tolerations, untaints
from kubespread.questions.remedies.stuck import Stuck


class Family(Struct, frozen=True):
    """Changes of one kind."""

    least_cost: int
    """The cost of the cheapest: lets a search for one change stop early."""
    changes: Callable[[Stuck], Iterator[Ladder]]
    """The changes available for a pod, the most promising first."""


OF_CONSTRAINTS: Sequence[Family] = (
    Family(9, min_domains),
    Family(10, max_skews),
    Family(15, policies),
    Family(50, relaxed),
)
"""The families of the pod's own constraints, each change settled by one evaluation."""
FAMILIES: Sequence[Family] = (
    Family(5, waits),
    *OF_CONSTRAINTS[:3],
    Family(20, uncordons),
    Family(22, node_labels),
    Family(25, untaints),
    Family(25, tolerations),
    Family(30, smaller_requests),
    Family(35, dropped_requirements),
    Family(35, evictions),
    Family(40, new_nodes),
    *OF_CONSTRAINTS[3:],
)
