"""Metrics of what is lost with each domain."""

from __future__ import annotations

from kubespread.questions.survive.report import SurviveReport
from kubespread.views.look import Look
from kubespread.views.outcomes import metrics
from kubespread.views.plain import exposed


def prometheus(report: SurviveReport, _look: Look) -> str:
    return exposed(metrics("survive", report.losses, {"topology_key": "topology_key", "domain": "domain"}))
