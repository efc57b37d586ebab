"""Annotations of GitHub Actions, as `kubespread.questions.check.github` writes them: on the line of each promise that
does not hold.
"""

from __future__ import annotations

from kubespread.questions.check import github
from kubespread.questions.verify.findings import findings_of
from kubespread.questions.verify.report import VerifyReport
from kubespread.views.look import Look


def write(report: VerifyReport, look: Look) -> str:
    return github.write(findings_of(report), look)
