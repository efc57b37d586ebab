"""The pods to evict, in order, one a line."""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.planner.reports.rebalance import RebalanceReport
from kubespread.views.look import Look


def write(report: RebalanceReport, _look: Look) -> str:
    """``namespace/pod`` lines."""
    return "".join(f"{escaped(step.pod)}\n" for step in report.steps)
