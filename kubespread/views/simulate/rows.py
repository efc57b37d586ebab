"""The rows of a simulation as data, from which every format with rows is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kubespread.planner.reports.parts import DomainChange
from kubespread.planner.reports.runs import Range
from kubespread.planner.reports.simulate import NodeReplicas, SimulateReport

MAX_REPLICAS = "max"
"""As many as fit, where a number is asked for or shown."""


@dataclass(frozen=True, slots=True)
class DomainRow:
    """One domain of one constraint; ``after_runs`` only where there were several runs."""

    change: DomainChange
    after_runs: Range | None


def domain_rows(report: SimulateReport, position: int) -> Sequence[DomainRow]:
    """The domains of the constraint at ``position``."""
    changes = report.distribution[position]
    if report.runs is None:
        return [DomainRow(change, None) for change in changes]
    ranges = report.runs.distribution[position]
    return [DomainRow(change, domain.after) for change, domain in zip(changes, ranges, strict=True)]


def rows_of_key(report: SimulateReport, key: str) -> Sequence[DomainRow]:
    """The domains of ``key``: of the first constraint over it, else of the workload's own replicas."""
    for position, constraint in enumerate(report.constraints):
        if constraint.topology_key == key:
            return domain_rows(report, position)
    return [
        DomainRow(
            DomainChange(
                value=value,
                before=sum(node.present for node in nodes),
                after=sum(node.present + node.placed for node in nodes),
            ),
            None,
        )
        for value, nodes in sorted(nodes_by_domain(report, key).items())
    ]


def nodes_by_domain(report: SimulateReport, key: str) -> Mapping[str, Sequence[NodeReplicas]]:
    """The nodes that hold replicas, by their value of ``key``; those without the label are left out."""
    by_domain: dict[str, list[NodeReplicas]] = {}
    for node in report.nodes:
        if key in node.domains:
            by_domain.setdefault(node.domains[key], []).append(node)
    return by_domain
