"""The rows of a simulation as data, from which every format with rows is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kubespread.planner.reports.simulate import DomainChange, Range, SimulateReport

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
