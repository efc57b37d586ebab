"""Plugins that neither filter nor score: a profile may name them, and they decide nothing here."""

from __future__ import annotations

from kubespread.scheduler.specification import (
    BIND,
    PERMIT,
    PLACEMENT_GENERATE,
    PLACEMENT_SCORE,
    PRE_ENQUEUE,
    QUEUE_SORT,
    Specification,
)

SCHEDULING_GATES = Specification(name="SchedulingGates", points=frozenset({PRE_ENQUEUE}))
PRIORITY_SORT = Specification(name="PrioritySort", points=frozenset({QUEUE_SORT}))
DEFAULT_BINDER = Specification(name="DefaultBinder", points=frozenset({BIND}))
GANG_SCHEDULING = Specification(
    name="GangScheduling", points=frozenset({PERMIT, PRE_ENQUEUE}), is_default=False, since=35
)
TOPOLOGY_PLACEMENT_GENERATOR = Specification(
    name="TopologyPlacementGenerator", points=frozenset({PLACEMENT_GENERATE}), is_default=False, since=35
)
POD_GROUP_PODS_COUNT = Specification(
    name="PodGroupPodsCount", points=frozenset({PLACEMENT_SCORE}), is_default=False, since=35
)
