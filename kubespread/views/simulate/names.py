"""``namespace/pod<TAB>node``, one replica a line."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.escaping import escaped
from kubespread.planner.reports.simulate import SimulateReport
from kubespread.views.look import Look


def write(reports: Sequence[SimulateReport], _look: Look) -> str:
    """In the order in which each workload's replicas are placed."""
    return "".join(
        f"{escaped(report.pod.namespace)}/{escaped(placement.pod)}\t{escaped(placement.node)}\n"
        for report in reports
        for placement in report.placements
    )
