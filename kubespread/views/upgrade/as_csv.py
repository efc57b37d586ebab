"""One row a batch, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.upgrade import UpgradeReport
from kubespread.views.comma_separated import as_in_a_pipe
from kubespread.views.look import Look
from kubespread.views.upgrade.plain import STEP_HEADER, step_rows


def write(report: UpgradeReport, look: Look) -> str:
    """The same rows as in a pipe."""
    return as_in_a_pipe(STEP_HEADER, step_rows(report), look)
