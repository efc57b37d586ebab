"""Metrics of workloads: their pods, their constraints and what is found of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kubespread.kube.well_known import ZONE
from kubespread.questions.audit.report import LEVELS, AuditedWorkload, AuditReport
from kubespread.views.view import Metric, Sample


def metrics(report: AuditReport) -> Iterator[Metric]:
    rows = report.workloads
    yield (
        "workloads",
        "Workloads by their worst finding.",
        [({"level": level}, report.count(level)) for level in LEVELS],
    )
    yield "workload_replicas", "Desired pods of the workload.", [(row.workload.labels, row.replicas) for row in rows]
    yield "workload_placed", "Pods that are on nodes.", [(row.workload.labels, row.placed) for row in rows]
    yield "workload_ready", "Pods that are on nodes and ready.", [(row.workload.labels, row.ready) for row in rows]
    yield "workload_pending", "Pods without a node.", [(row.workload.labels, row.pending) for row in rows]
    yield (
        "workload_left_without_fullest_zone",
        "Pods left without the zone that has most of them.",
        [(row.workload.labels, row.worst_loss[ZONE].remaining) for row in rows if ZONE in row.worst_loss],
    )
    if report.topology_key != ZONE:
        yield (
            "workload_left_without_fullest_domain",
            "Pods left without the domain of the topology key that has most of them.",
            [
                ({**row.workload.labels, "topology_key": report.topology_key}, row.left)
                for row in rows
                if row.left is not None
            ],
        )
    yield (
        "workload_next_pod_fits",
        "Whether one more pod would find a node.",
        [(row.workload.labels, int(row.next_fits)) for row in rows if row.next_fits is not None],
    )
    yield "constraint_skew", "Most minus least matching pods of the domains that count.", _constraints(rows, "skew")
    yield "constraint_max_skew", "The constraint's maxSkew.", _constraints(rows, "max_skew")
    yield "finding", "Findings about a workload, by level and cause.", [(labels, 1) for labels in _findings(rows)]


def _constraints(rows: Iterable[AuditedWorkload], field: str) -> Iterator[Sample]:
    """``constraint`` is the place in the list, since a pod may have several over one key."""
    for row in rows:
        for place, constraint in enumerate(row.constraints):
            labels = {
                **row.workload.labels,
                "constraint": str(place),
                "topology_key": constraint.topology_key,
                "when_unsatisfiable": constraint.when_unsatisfiable,
                "source": constraint.source,
            }
            yield labels, getattr(constraint, field)


def _findings(rows: Iterable[AuditedWorkload]) -> Iterator[dict[str, str]]:
    """Each once: a series must not come twice."""
    for row in rows:
        for level, cause, key in dict.fromkeys(
            (finding.level, finding.cause, finding.topology_key or "") for finding in row.findings
        ):
            yield {**row.workload.labels, "level": level, "cause": cause, "topology_key": key}
