"""Which topology domain a gang goes to: the sum of two scores, both of weight 1.

Source of the rules: kube-scheduler 1.36, plugins/podgrouppodscount (how many pods of the group are there, those that
run included, as a percentage of the most) and NodeResourcesFit's score of a placement.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kubespread.planner.entries import Entry
from kubespread.planner.gangs.domains import DomainTrial
from kubespread.planner.gangs.gang import Gang
from kubespread.planner.reports.gang import GangDomain
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.cluster.labels import Counts
from kubespread.scheduler.plugin import MAX_NODE_SCORE
from kubespread.scheduler.plugins.noderesources.fit import NodeResourcesFit
from kubespread.scheduler.plugins.noderesources.placement_scoring import allocation_of_domains


def scored(
    cluster: Cluster, entries: Sequence[Entry], gang: Gang, tried: Sequence[DomainTrial]
) -> tuple[GangDomain, ...]:
    """The best first, equals by name; then those where the gang does not fit, by how many members do."""
    fitting = {trial.value for trial in tried if trial.members and trial.members >= gang.needed}
    most = max((trial.members + gang.scheduled for trial in tried if trial.value in fitting), default=0)
    allocated = _allocated(cluster, entries, gang, tried) if fitting else {}
    domains = []
    for trial in tried:
        fits = trial.value in fitting
        pods = (trial.members + gang.scheduled) * MAX_NODE_SCORE // most if fits else None
        resources = allocated.get(trial.value) if fits else None
        domains.append(
            GangDomain(
                value=trial.value,
                nodes=trial.nodes,
                members=trial.members,
                fits=fits,
                stopped=trial.stopped,
                pods_score=pods,
                resources_score=resources,
                total=None if pods is None else pods + (resources or 0),
            )
        )
    return tuple(sorted(domains, key=lambda domain: (-(domain.total or -1), -domain.members, domain.value)))


def _allocated(cluster: Cluster, entries: Sequence[Entry], gang: Gang, tried: Sequence[DomainTrial]) -> dict[str, int]:
    """By domain; empty where the profile does not run NodeResourcesFit."""
    plugin = next((plugin for plugin in entries[0].plugins.running if isinstance(plugin, NodeResourcesFit)), None)
    if plugin is None:
        return {}
    column = cluster.nodes.label(gang.topology_key)
    requested: dict[str, Counts] = {}
    for position, entry in enumerate(entries):
        placed = np.zeros(len(column.values), dtype=np.int64)
        for trial in tried:
            placed[column.index[trial.value]] = trial.placed[position]
        kinds = cluster.kinds
        for name, amount in kinds[kinds.number_of(entry.pod)].requests[1].items():
            requested[name] = requested.get(name, np.zeros(len(placed), dtype=np.int64)) + placed * amount
    points = allocation_of_domains(plugin.scoring, cluster, column, requested)
    return {trial.value: int(points[column.index[trial.value]]) for trial in tried}
