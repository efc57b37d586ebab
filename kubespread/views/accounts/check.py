"""Findings, with what happens and what to do about it."""

from __future__ import annotations

from kubespread.planner.reports.check import CheckReport, Severity
from kubespread.views.check.message import place
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import View, beside, source
from kubespread.wording import count_of

_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.WARN}
_HEADER = ("Place", "Workload", "Severity", "Rule", "What happens", "Remedy")


def account(report: CheckReport) -> View:
    rows = []
    for each in report.findings:
        outcome = f" ({each.remedy.outcome})" if each.remedy.outcome is not None else ""
        cells = [
            place(each.file, each.line, each.column),
            each.workload or "",
            str(each.severity),
            f"{each.code} {each.rule}",
            each.message,
            f"{each.remedy.text}{outcome}",
        ]
        rows.append(Row(cells, _TONES.get(each.severity, Tone.PLAIN)))
    warned = Tone.WARN if report.reaches(Severity.WARNING) else Tone.GOOD
    return View(
        title=f"Check of {count_of(report.workloads, 'workload')}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version),
        answer=report.answer,
        tone=Tone.BAD if report.verdict == "no" else warned,
        tables=[Table("Findings", _HEADER, rows)],
        beside=beside([report]),
    )
