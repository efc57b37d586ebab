"""The pods behind a constraint's numbers, by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from kubespread.kube.api.core import Pod
from kubespread.kube.owners import controller_of
from kubespread.planner.reports.parts import ConstraintReport, CountedPod
from kubespread.scheduler.cluster.cluster import Cluster
from kubespread.scheduler.plugins.podtopologyspread.constraints import pretended_kinds
from kubespread.scheduler.plugins.podtopologyspread.filtering import HardConstraint
from kubespread.scheduler.plugins.podtopologyspread.scoring import SoftConstraint


def with_pods(
    report: ConstraintReport, counted: HardConstraint | SoftConstraint, cluster: Cluster, namespace: str
) -> ConstraintReport:
    """``report`` with the pods that each of its domains counts for a pod of ``namespace``."""
    pods = _by_domain(counted, cluster, namespace)
    domains = (msgspec.structs.replace(domain, pods=tuple(pods.get(domain.value, ()))) for domain in report.domains)
    return msgspec.structs.replace(report, domains=tuple(domains))


def _by_domain(
    counted: HardConstraint | SoftConstraint, cluster: Cluster, namespace: str
) -> Mapping[str, Sequence[CountedPod]]:
    by_domain: dict[str, list[CountedPod]] = {}
    if not counted.constraint.counts_pods:
        return by_domain
    running, column = cluster.running, counted.column
    selected = pretended_kinds(cluster, counted.constraint, namespace).of(running.kind)
    places = np.flatnonzero(selected & counted.counts_on[running.node] & column.present[running.node])
    for place in places.tolist():
        node = int(running.node[place])
        by_domain.setdefault(column.values[column.codes[node]], []).append(
            _counted_pod(running.pods[place], cluster.nodes.names[node])
        )
    for pods in by_domain.values():
        pods.sort(key=lambda pod: (pod.node, pod.name))
    return by_domain


def _counted_pod(pod: Pod, node: str) -> CountedPod:
    owner, meta = controller_of(pod), pod.metadata
    return CountedPod(
        namespace=meta.namespace,
        name=meta.name,
        owner=None if owner is None else f"{owner.kind}/{owner.name}",
        node=node,
        terminating=meta.deletion_timestamp is not None,
    )
