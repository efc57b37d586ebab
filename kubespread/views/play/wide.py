"""The columns of a pipe, and the order in which nodes that fail lose their pods."""

from __future__ import annotations

from kubespread.planner.reports.play import PlayReport
from kubespread.views.aligned import blocks
from kubespread.views.look import Look
from kubespread.views.play.plain import parts

_ORDER = ["STEP", "NODE", "SECONDS", "PODS"]


def write(report: PlayReport, look: Look) -> str:
    """A third block, with a row for each node and time."""
    rows = (
        [str(step.number), each.node, str(each.seconds), str(each.pods)]
        for step in report.steps
        for each in step.happened.evictions
    )
    return blocks(*parts(report), (_ORDER, rows), headers=look.headers)
