"""The file of promises that hold."""

from __future__ import annotations

from kubespread.questions.verify.report import VerifyReport
from kubespread.views.look import Look


def write(report: VerifyReport, _look: Look) -> str:
    return report.suggested or ""
