"""The scenario that does what is planned, for `play`."""

from __future__ import annotations

from kubespread.questions.plan.report import PlanReport
from kubespread.views.look import Look


def write(report: PlanReport, _look: Look) -> str:
    return report.scenario
