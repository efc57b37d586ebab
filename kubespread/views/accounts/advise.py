"""Advice: the changes that suffice, each with how to make it."""

from __future__ import annotations

from kubespread.planner.reports.advise import AdviseReport
from kubespread.views.accounts.rows import table_of
from kubespread.views.accounts.spread import asked_bars
from kubespread.views.advise.plain import HEADER, suggestion_rows
from kubespread.views.phrases import cluster_phrase
from kubespread.views.sheet import Row, Table, Tone
from kubespread.views.view import View, beside, source


def account(report: AdviseReport) -> View:
    subject = report.workload or f"Pod/{report.pod.name}"
    commands = [
        Row([each.change, command])
        for each in (report.advice.enough if report.advice is not None else ())
        for command in each.commands
    ]
    return View(
        title=f"Advice for {subject} in {report.pod.namespace}",
        provenance=source(cluster_phrase(report.cluster), report.kube_version, f"profile {report.scheduler_name}"),
        answer=[*report.answer, *([report.message] if report.message is not None else ())],
        tone=Tone.GOOD if report.fits else Tone.WARN if report.succeeds else Tone.BAD,
        bars=[asked_bars(each, place) for place, each in enumerate(report.constraints)],
        tables=[
            table_of("Changes that suffice", HEADER, suggestion_rows(report)),
            Table("Commands", ("Change", "Command"), commands, is_detail=True),
        ],
        beside=beside([report]),
    )
