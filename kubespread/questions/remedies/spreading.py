"""Topology spread constraint that a workload lacks, where one zone or node holds most of its replicas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from kubespread.kube.api.core import TopologySpreadConstraint
from kubespread.kube.owners import WorkloadName
from kubespread.kube.well_known import DO_NOT_SCHEDULE, HOSTNAME, SCHEDULE_ANYWAY, ZONE
from kubespread.questions.remedies.change import Change
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.snapshot.edits.pods import Spread
from kubespread.snapshot.topology_keys import SOFT
from kubespread.wording import short_key

SPREAD, _COST = "spread", 10
"""The family of these changes, and what each costs."""


def by_domain(cluster: Cluster, nodes: Iterable[int], topology_key: str) -> Mapping[str, int]:
    """Number of replicas on ``nodes`` in each domain that nodes are in, by name."""
    column = cluster.nodes.label(topology_key)
    counted = Counter(column.values[column.codes[node]] for node in nodes if column.present[node])
    return {value: counted[value] for value in column.sorted_values}


def is_gathered(counts: Mapping[str, int]) -> bool:
    """True if one domain holds more than half of the replicas, and one more could be elsewhere."""
    return 2 * max(counts.values(), default=0) > sum(counts.values()) + 1


def lacking(
    counted: Callable[[str], Mapping[str, int]], constraints: Iterable[TopologySpreadConstraint]
) -> Iterator[TopologySpreadConstraint]:
    """Yield constraints to try, the widest and softest first, for keys with most replicas in one domain and no
    constraint of the pod's own that spreads them.
    """
    present = {(constraint.topology_key, constraint.when_unsatisfiable): constraint for constraint in constraints}
    for key in (ZONE, HOSTNAME):
        if (key, DO_NOT_SCHEDULE) in present or not is_gathered(counted(key)):
            continue
        for action in (SCHEDULE_ANYWAY, DO_NOT_SCHEDULE):
            earlier = present.get((key, action))
            if earlier is None or earlier.max_skew > 1:
                yield TopologySpreadConstraint(1, key, action)


def spreading(constraint: TopologySpreadConstraint, edited: WorkloadName | None = None) -> Change:
    """Change that adds the constraint: to the pod, or by an edit to the workload in the cluster."""
    key, skew, action = constraint.topology_key, constraint.max_skew, constraint.when_unsatisfiable
    text = f"{key}:{skew}{SOFT if action == SCHEDULE_ANYWAY else ''}"
    what = f"a constraint of its own over {short_key(key)}: maxSkew {skew} {action}"
    settings = () if edited is not None else (f"topologySpreadConstraints={text}",)
    edits = () if edited is None else (Spread(text, edited.kind, edited.name, edited.namespace),)
    return Change(SPREAD, what, _COST, settings, edits, brief=f"constraint over {short_key(key)}")
