"""One row a replica, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.comma_separated import separated_by_commas
from kubespread.views.look import Look

_HEADER = ["namespace", "workload", "replica", "pod", "node", "total", "ties"]


def write(reports: Sequence[SimulateReport], look: Look) -> str:
    """All workloads below one another, under one header."""
    rows = [
        [report.pod.namespace, report.subject, each.replica, each.pod, each.node, each.total, each.ties]
        for report in reports
        for each in report.placements
    ]
    return separated_by_commas([_HEADER, *rows] if look.headers else rows)
