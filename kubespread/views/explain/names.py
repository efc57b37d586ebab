"""The nodes that fit, one a line."""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.planner.reports.explain import ExplainReport
from kubespread.views.look import Look


def write(report: ExplainReport, _look: Look) -> str:
    """Best first."""
    shown = {node.name for node in report.nodes}
    return "".join(f"{escaped(name)}\n" for name in report.feasible if name in shown)
