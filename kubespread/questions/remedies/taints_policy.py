"""The remedy for a closed domain that still sets the minimum of a hard constraint: nodeTaintsPolicy Honor."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec
import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.versions import KubeVersion
from kubespread.kube.well_known import DO_NOT_SCHEDULE
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.columns import Mask
from kubespread.scheduler.evaluation import Evaluation, evaluate
from kubespread.scheduler.framework import Framework
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import HardConstraint, PodTopologySpread, SpreadState

_HONOR = "Honor"
_GATE = "NodeInclusionPolicyInPodTopologySpread"
_BARRING_PLUGINS = ("TaintToleration", "NodeUnschedulable")

Closed = Mapping[str, list[str]]
"""Per topology key of a hard constraint, the domains that set its minimum though no pod can go there."""


def closed_minimums(evaluation: Evaluation) -> Closed:
    """For a pod that fits nowhere, the domains with the fewest matching pods whose nodes are all tainted or cordoned
    for it.

    Only the pod's own constraints count, and only those that do not honor taints already.
    """
    state = evaluation.states.get(PodTopologySpread.name)
    if not isinstance(state, SpreadState) or evaluation.feasible.any():
        return {}
    barred = np.zeros(len(evaluation.cluster), dtype=np.bool_)
    for name in _BARRING_PLUGINS:
        if name in evaluation.verdicts:
            barred |= ~evaluation.verdicts[name].passes
    own = [
        counted for counted in state.hard if counted.constraint.source == "pod" and not counted.constraint.honors_taints
    ]
    closed = {counted.constraint.topology_key: _closed(counted, barred) for counted in own}
    return {key: domains for key, domains in closed.items() if domains}


def _closed(counted: HardConstraint, barred: Mask) -> list[str]:
    if not counted.is_domain.any():
        return []
    is_open = np.zeros(len(counted.is_domain), dtype=np.bool_)
    is_open[counted.column.codes[counted.eligible & ~barred]] = True
    emptiest = counted.is_domain & (counted.counts == counted.counts[counted.is_domain].min())
    return sorted(counted.column.values[code] for code in np.flatnonzero(emptiest & ~is_open))


def taints_policy_hints(
    plugins: Framework, cluster: Cluster, pod: Pod, closed: Closed, version: KubeVersion
) -> Iterator[str]:
    """A hint for each constraint with `closed_minimums` that would let ``pod`` on some node of ``cluster`` if it
    honored taints.

    Found by asking again: about each constraint alone, and about all together if none helps alone.
    """
    if not version.has(_GATE):
        return
    alone = [((key,), fitting) for key in closed if (fitting := _fitting(plugins, cluster, _honoring(pod, [key])))]
    together = () if alone or len(closed) < 2 else [(tuple(closed), _fitting(plugins, cluster, _honoring(pod, closed)))]
    for keys, fitting in (*alone, *together):
        if fitting:
            minimums = " and that ".join(f"over {key} is set by {', '.join(closed[key])}" for key in keys)
            where = "that constraint" if len(keys) == 1 else "these constraints"
            yield (
                f"the minimum {minimums}, where every node is tainted or cordoned: "
                f"with nodeTaintsPolicy: {_HONOR} on {where} {fitting} of {len(cluster)} nodes would fit"
            )


def _honoring(pod: Pod, keys: Collection[str]) -> Pod:
    """The pod with the policy set on its hard constraints over ``keys``; at most one per key."""
    constraints = [
        msgspec.structs.replace(constraint, node_taints_policy=_HONOR)
        if constraint.topology_key in keys and constraint.when_unsatisfiable == DO_NOT_SCHEDULE
        else constraint
        for constraint in pod.spec.topology_spread_constraints
    ]
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, topology_spread_constraints=constraints))


def _fitting(plugins: Framework, cluster: Cluster, pod: Pod) -> int:
    """How many nodes fit."""
    try:
        return int(np.count_nonzero(evaluate(plugins, cluster, pod).feasible))
    except SchedulingError:
        return 0
