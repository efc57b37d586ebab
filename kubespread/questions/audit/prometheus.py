"""Metrics for node_exporter's textfile collector, in Prometheus' text exposition format.

Source of the format: the Prometheus documentation, "Exposition formats": in label values backslash, double quote and
line feed are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kubespread.escaping import escaped
from kubespread.kube.well_known import ZONE
from kubespread.questions.audit.report import LEVELS, AuditedWorkload, AuditReport
from kubespread.views.look import Look

_Sample = tuple[Mapping[str, str], int]
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def write(report: AuditReport, _look: Look) -> str:
    """Every metric with its help and type, then a line a sample."""
    return "".join(
        f"# HELP kubespread_{name} {text}\n# TYPE kubespread_{name} gauge\n"
        + "".join(_line(name, labels, value) for labels, value in samples)
        for name, text, samples in _metrics(report)
    )


def _line(name: str, labels: Mapping[str, str], value: int) -> str:
    inside = ",".join(f'{key}="{_value(text)}"' for key, text in labels.items())
    return f"kubespread_{name}{{{inside}}} {value}\n" if inside else f"kubespread_{name} {value}\n"


def _value(text: str) -> str:
    """Unprintable characters are spelled out, and their backslash escaped like any other: the format has no such
    escapes.
    """
    escapes = text.translate(_ESCAPES)
    if escapes.isprintable():
        return escapes
    return "".join(char if char.isprintable() else escaped(char).translate(_ESCAPES) for char in escapes)


def _metrics(report: AuditReport) -> Iterator[tuple[str, str, Iterable[_Sample]]]:
    rows = report.workloads
    yield (
        "workloads",
        "Workloads by their worst finding.",
        [({"level": level}, report.count(level)) for level in LEVELS],
    )
    yield "workload_replicas", "Desired pods of the workload.", [(_whose(row), row.replicas) for row in rows]
    yield "workload_placed", "Pods that are on nodes.", [(_whose(row), row.placed) for row in rows]
    yield "workload_ready", "Pods that are on nodes and ready.", [(_whose(row), row.ready) for row in rows]
    yield "workload_pending", "Pods without a node.", [(_whose(row), row.pending) for row in rows]
    yield (
        "workload_left_without_fullest_zone",
        "Pods left without the zone that has most of them.",
        [(_whose(row), row.worst_loss[ZONE].remaining) for row in rows if ZONE in row.worst_loss],
    )
    if report.topology_key != ZONE:
        yield (
            "workload_left_without_fullest_domain",
            "Pods left without the domain of the topology key that has most of them.",
            [({**_whose(row), "topology_key": report.topology_key}, row.left) for row in rows if row.left is not None],
        )
    yield (
        "workload_next_pod_fits",
        "Whether one more pod would find a node.",
        [(_whose(row), int(row.next_fits)) for row in rows if row.next_fits is not None],
    )
    yield "constraint_skew", "Most minus least matching pods of the domains that count.", _constraints(rows, "skew")
    yield "constraint_max_skew", "The constraint's maxSkew.", _constraints(rows, "max_skew")
    yield "finding", "Findings about a workload, by level and cause.", [(labels, 1) for labels in _findings(rows)]


def _whose(row: AuditedWorkload) -> dict[str, str]:
    named = row.workload
    return {"namespace": named.namespace, "kind": named.kind, "name": named.name}


def _constraints(rows: Iterable[AuditedWorkload], field: str) -> Iterator[_Sample]:
    """``constraint`` is the place in the list, since a pod may have several over one key."""
    for row in rows:
        for place, constraint in enumerate(row.constraints):
            labels = {
                **_whose(row),
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
            yield {**_whose(row), "level": level, "cause": cause, "topology_key": key}
