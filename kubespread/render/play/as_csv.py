"""One row a step, for a spreadsheet."""

from __future__ import annotations

from kubespread.planner.reports.play import PlayReport, StepReport
from kubespread.render.comma_separated import separated_by_commas
from kubespread.render.look import Look
from kubespread.render.play.rows import pending_count, worst_skew

_HEADER = [
    "step", "name", "text", "failed", "placed", "gone", "blocked", "pending", "workload", "topologyKey", "maxSkew",
    "skewBefore", "skewAfter",
]  # fmt: skip


def write(report: PlayReport, look: Look) -> str:
    rows = [_row(step) for step in report.steps]
    return separated_by_commas([_HEADER, *rows] if look.headers else rows)


def _row(step: StepReport) -> list[object]:
    happened, worst = step.happened, worst_skew(step)
    change = worst.change if worst is not None else None
    figures = [len(happened.placed), len(happened.gone), len(happened.blocked), pending_count(step)]
    skew: list[object] = ["", "", "", "", ""]
    if worst is not None and change is not None:
        skew = [worst.workload, change.topology_key, change.max_skew, change.before, change.after]
    return [step.number, step.name, step.text, step.failed, *figures, *skew]
