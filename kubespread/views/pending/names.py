"""The pods that are stuck, one a line."""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.planner.reports.pending import PendingReport
from kubespread.views.look import Look


def write(report: PendingReport, _look: Look) -> str:
    """By group, the largest first."""
    return "".join(f"{escaped(pod)}\n" for group in report.groups for pod in group.pods)
