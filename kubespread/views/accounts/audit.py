"""An audit: every workload with how it is spread, and what was found."""

from __future__ import annotations

from kubespread.planner.reports.audit import AuditReport, sentence
from kubespread.views.accounts.rows import table_of, whose
from kubespread.views.audit.plain import HEADER, rows
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import View, beside, source
from kubespread.wording import count_of

_TONES = {"violated": Tone.BAD, "uneven": Tone.WARN, "risk": Tone.WARN, "unjudged": Tone.PLAIN, "ok": Tone.GOOD}


def account(report: AuditReport) -> View:
    found = [
        Row([row.workload, each.level, each.cause, sentence(row, each)], _TONES[each.level])
        for row in report.workloads
        for each in row.findings
    ]
    worst = report.workloads[0].level if report.workloads else "ok"
    about = " ".join(whose(report.namespace, report.selector))
    return View(
        title=f"Audit of {count_of(len(report.workloads), 'workload')} of {about}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, report.manner),
        answer=report.answer,
        tone=_TONES[worst],
        tables=[
            Table("Findings", ("Workload", "Level", "Cause", "Finding"), found),
            table_of("Workloads", HEADER, rows(report), [_TONES[row.level] for row in report.workloads]),
        ],
        beside=beside([report]),
    )
