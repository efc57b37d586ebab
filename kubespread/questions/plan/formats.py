"""The scenario that does what is planned."""

from __future__ import annotations

from kubespread.errors import UsageError
from kubespread.questions.plan.report import PlanReport
from kubespread.views.look import Look


def scenario(report: PlanReport, _look: Look) -> str:
    """Raises UsageError where there is none."""
    if not report.scenario:
        raise UsageError("no scenario for this: a release is no step, and manifests have to be in files (-f FILE)")
    return report.scenario
