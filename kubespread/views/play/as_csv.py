"""One row a step, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.views.comma_separated import separated_by_commas
from kubespread.views.look import Look
from kubespread.views.play.rows import worst_skew

_HEADER = [
    "step", "name", "text", "failed", "placed", "gone", "blocked", "pending", "workload", "topologyKey", "maxSkew",
    "skewBefore", "skewAfter", "notCreated", "notMadeYet",
]  # fmt: skip


def write(report: PlayReport, look: Look) -> str:
    rows = [_row(report, step) for step in report.steps]
    return separated_by_commas([_HEADER, *rows] if look.headers else rows)


def _row(report: PlayReport, step: StepReport) -> list[object]:
    happened, worst = step.happened, worst_skew(report, step)
    change = worst.change if worst is not None else None
    figures = [len(happened.placed), len(happened.gone), len(happened.blocked), step.pending]
    skew: list[object] = ["", "", "", "", ""]
    if worst is not None and change is not None:
        skew = [worst.workload, change.topology_key, change.max_skew, change.before, change.after]
    return [step.number, step.name, step.text, step.failed, *figures, *skew, step.not_created, step.not_made_yet]
