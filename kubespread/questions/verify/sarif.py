"""SARIF 2.1.0, as `kubespread.questions.check.sarif` writes it: a result for each promise that does not hold."""

from __future__ import annotations

from kubespread.questions.check import sarif
from kubespread.questions.verify.findings import findings_of
from kubespread.questions.verify.report import VerifyReport
from kubespread.views.look import Look


def write(report: VerifyReport, look: Look) -> str:
    return sarif.write(findings_of(report), look)
