"""The remedies as a patch of the manifests."""

from __future__ import annotations

from kubespread.questions.check.report import CheckReport
from kubespread.views.look import Look


def write(report: CheckReport, _look: Look) -> str:
    return report.patch or ""
