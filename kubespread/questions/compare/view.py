"""A comparison: how the two questions differ, and the rows that do."""

from __future__ import annotations

from kubespread.questions.compare.report import CompareReport, is_worse
from kubespread.reports.changes import CellChange
from kubespread.views.look import Tone
from kubespread.views.terminal import changed_rows, changes_sheet
from kubespread.views.view import TONES, View, beside, cluster_phrase


def _tone(change: CellChange) -> Tone:
    return Tone.BAD if is_worse(change) else Tone.PLAIN


def view(report: CompareReport) -> View:
    sides = report.before, report.after
    clusters = dict.fromkeys(phrase for side in sides if (phrase := cluster_phrase(side.cluster)))
    return View(
        title="Before → after",
        provenance=" · ".join(filter(None, (" → ".join(clusters), report.manner))),
        answer=report.said,
        tone=TONES[report.verdict],
        sheets=[changes_sheet("Changes", report.changes, _tone)],
        names=[*dict.fromkeys(change.key for change in report.changes)],
        parts=lambda _: [changed_rows(report.changes, _tone)],
        beside=beside(sides),
    )
