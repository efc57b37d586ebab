"""Metrics of the room on nodes: by resource, and how many pods of the size in question fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kubespread.kube.quantity import parse
from kubespread.questions.capacity.report import CapacityReport, ResourceCapacity
from kubespread.views.view import Metric

_THOUSANDTHS = 1000


def metrics(report: CapacityReport) -> Iterator[Metric]:
    amounts: dict[str, tuple[str, Callable[[ResourceCapacity], str]]] = {
        "allocatable": ("What nodes have for pods.", lambda row: row.allocatable),
        "requested": ("What pods on nodes request.", lambda row: row.requested),
        "free": ("What is left on nodes that have any left.", lambda row: row.free),
        "usable": ("What is free and not stranded.", lambda row: row.usable),
    }
    yield "capacity_nodes", "Nodes of the cluster.", [({}, report.nodes)]
    for name, (text, amount) in amounts.items():
        yield f"capacity_{name}", text, [(_unit(row.resource), _number(amount(row))) for row in report.resources]
    stranded: dict[tuple[str, str], float] = {}
    for row in report.resources:
        for part in row.stranded:
            key = row.resource, part.cause
            stranded[key] = stranded.get(key, 0.0) + _number(part.amount)
    yield (
        "capacity_stranded",
        "What is free where pods cannot use it, by cause.",
        [({**_unit(resource), "cause": cause}, amount) for (resource, cause), amount in stranded.items()],
    )
    if report.fits is None:
        return
    yield "capacity_fitting_pods", "Pods of the size in question that fit together.", [({}, report.fits)]
    yield (
        "capacity_domain_fitting_pods",
        "The same by domain of the topology key, empty for nodes in none.",
        [
            ({"topology_key": report.topology_key or "", "domain": row.domain or ""}, row.fits)
            for row in report.domains
            if row.fits is not None
        ],
    )
    if report.quota is not None:
        yield (
            "capacity_quota_allowed_pods",
            "Further ones that the quotas of their namespace allow.",
            [({"namespace": report.quota.namespace}, report.quota.copies)],
        )


def _unit(resource: str) -> dict[str, str]:
    of_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    return {"resource": resource, "unit": "core" if resource == "cpu" else "byte" if of_bytes else "integer"}


def _number(quantity: str) -> float:
    return parse(quantity).milli_value / _THOUSANDTHS
