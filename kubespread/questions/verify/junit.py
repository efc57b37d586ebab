"""JUnit XML, as `kubespread.questions.check.junit` writes it: a case for each promise, which passes where it holds
or is accepted.
"""

from __future__ import annotations

from kubespread.questions.check import junit
from kubespread.questions.verify.findings import findings_of
from kubespread.questions.verify.report import WORST_FIRST, VerifyReport
from kubespread.views.look import Look


def write(report: VerifyReport, look: Look) -> str:
    return junit.write(findings_of(report, WORST_FIRST), look)
