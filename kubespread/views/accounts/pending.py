"""Pods that wait, by what keeps them from a node."""

from __future__ import annotations

from kubespread.planner.reports.pending import PendingReport
from kubespread.views.accounts.rows import table_of, whose
from kubespread.views.pending.plain import HEADER, group_rows
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import View, beside, source
from kubespread.wording import count_of


def account(report: PendingReport) -> View:
    pods = [Row([pod, group.why, group.message]) for group in report.groups for pod in group.pods]
    tones = [Tone.WARN if group.freed else Tone.BAD for group in report.groups]
    about = " ".join(whose(report.namespace, report.selector))
    return View(
        title=f"{count_of(report.pending, 'pending pod')} in {about}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, report.manner),
        answer=report.answer,
        tone=Tone.BAD if report.groups else Tone.GOOD,
        tables=[
            table_of("Causes", HEADER, group_rows(report), tones),
            Table("Pods", ("Pod", "Why", "Message"), pods, is_detail=True),
        ],
        beside=beside([report]),
    )
