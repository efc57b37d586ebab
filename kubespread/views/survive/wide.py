"""The columns of a pipe, and the order in which the nodes of each domain lose their pods."""

from __future__ import annotations

from kubespread.planner.reports.survive import SurviveReport
from kubespread.views.aligned import blocks
from kubespread.views.look import Look
from kubespread.views.survive.plain import parts, place

_ORDER = ["KEY", "DOMAIN", "NODE", "SECONDS", "PODS"]


def write(report: SurviveReport, look: Look) -> str:
    """A third block, with a row for each node and time."""
    order = ([*place(loss), each.node, each.seconds, each.pods] for loss in report.losses for each in loss.evictions)
    return blocks(*parts(report), (_ORDER, order), headers=look.headers)
