"""What the topology spread constraints of a pod count in a world, now or at any moment of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.reports.constraint_counts import constraint_reports
from kubespread.reports.parts import ConstraintReport
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import ABSENT
from kubespread.scheduler.plugin import SchedulingError
from kubespread.scheduler.plugins.podtopologyspread.plugin import PodTopologySpread
from kubespread.world.store.waiting import SchedulerOf


def constraints_on(cluster: Cluster, pod: Pod, scheduler_of: SchedulerOf) -> list[ConstraintReport]:
    """The constraints in force for ``pod``, with what they count on ``cluster``; only their plugin is run."""
    scheduled = scheduler_of(pod)
    plugins = scheduled[1].running if scheduled is not None else []
    plugin = next((candidate for candidate in plugins if isinstance(candidate, PodTopologySpread)), None)
    if plugin is None:
        return []
    try:
        state = plugin.prepare(cluster, pod)
    except SchedulingError:
        return []
    everywhere = np.ones(len(cluster), dtype=np.bool_)
    return constraint_reports({plugin.name: state}, everywhere)


def per_domain(cluster: Cluster, key: str, pods: Iterable[Pod]) -> Mapping[str, int]:
    """How many of ``pods`` are in each domain of ``key``; those on no node, or on one without the label, nowhere."""
    column = cluster.nodes.label(key)
    positions = (cluster.nodes.index.get(pod.spec.node_name) for pod in pods)
    codes = (int(column.codes[position]) for position in positions if position is not None)
    counts = Counter(code for code in codes if code != ABSENT)
    return {column.values[code]: count for code, count in counts.items()}
