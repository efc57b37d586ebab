"""What the first screen of every answer has: all that a terminal of so many rows shows without being asked for more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rich.cells import cell_len

from kubespread.reports.outcome import TROUBLES, badness
from kubespread.views import terminal
from kubespread.views.look import Look
from kubespread.views.view import view_of

SIZES = ((80, 24), (120, 40))
COMMAND = "kubespread report -A -S cluster.json.gz"
VERDICTS: Mapping[str, Callable[[Any], str]] = {
    "explain": lambda report: f"{len(report.feasible):,} of {len(report.nodes):,} nodes",
    "simulate": lambda report: report.subject,
}
"""Where that is drawn by hand."""


def _held(report: Any) -> str:
    held = next((row for row in report.rows if not row.alone), None)
    return "" if held is None else TROUBLES[held.troubles[0].kind].word


WORST: Mapping[str, Callable[[Any], str]] = {
    "audit": lambda report: report.workloads[0].workload.name,
    "capacity": lambda report: report.domains[0].domain,
    "check": lambda report: min(report.findings, key=lambda each: each.level.rank).code if report.findings else "",
    "compare": lambda report: report.changes[0].column if report.changes else "",
    "explain": lambda report: f"{report.constraints[0].max_skew}",
    "fleet": lambda report: report.clusters[0].name,
    "pending": lambda report: report.groups[0].workloads[0].name if report.groups else "",
    "plan": lambda report: next((step.name for step in report.steps if not step.is_done), ""),
    "rebalance": lambda report: report.constraints[0].workloads[0].name if report.steps else "",
    "removable": _held,
    "report": lambda report: report.lines[0].text[:30] if report.lines else "",
    "simulate": lambda report: report.worst_loss[report.grouping].domain if report.running else "",
    "survive": lambda report: min(report.losses, key=badness).domain,
    "upgrade": lambda report: f"{len(report.steps)}",
    "verify": lambda report: report.in_states("broken")[0].workload.name,
}
"""Something of the row that matters most, where there is one."""


def shown(report: Any, columns: int, rows: int, command: str = COMMAND) -> str:
    return terminal.table(report, Look(width=columns, rows=rows - 2, next_command=command))


def height(text: str, columns: int) -> int:
    """In rows of a terminal."""
    return sum(max(1, -(-cell_len(line) // columns)) for line in text.splitlines())


def lacking(question: str, report: Any) -> Iterator[str]:
    """What the first screens lack."""
    view = view_of(report)
    verdict = VERDICTS.get(question, lambda _: view.answer[0])(report)
    for columns, rows in SIZES:
        text = shown(report, columns, rows)
        flat, size = " ".join(text.split()), f"{columns}x{rows}"
        if height(text, columns) > rows - 2:
            yield f"{question} {size}: {height(text, columns)} rows"
        for what, part in {
            "verdict": verdict[:60],
            "worst row": WORST.get(question, lambda _: "")(report),
            "command": COMMAND,
        }.items():
            if " ".join(part.split()) not in flat:
                yield f"{question} {size}: no {what}: {part}"
