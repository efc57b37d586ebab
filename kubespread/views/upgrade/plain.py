"""The steps of an upgrade and what blocks it, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.upgrade import UpgradeReport
from kubespread.views.aligned import NONE, columns
from kubespread.views.look import Look

STEP_HEADER = ["STEP", "NODES", "JOINED", "EVICTED", "PREEMPTED", "PLACED", "DAEMONS", "PENDING", "STATE"]
_BLOCKED_HEADER = ["POD", "NODE", "BUDGET", "WHY"]


def write(report: UpgradeReport, look: Look) -> str:
    """Two blocks: the steps, and the pods that cannot be evicted."""
    texts = [columns(STEP_HEADER, step_rows(report), headers=look.headers)]
    blocked = list(_blocked_rows(report))
    if blocked:
        texts.append(columns(_BLOCKED_HEADER, blocked, headers=look.headers))
    return "\n".join(texts)


def step_rows(report: UpgradeReport) -> Iterator[list[object]]:
    """A row a batch."""
    for number, step in enumerate(report.steps, start=1):
        names = [",".join(nodes) or NONE for nodes in (step.nodes, step.added)]
        figures = step.evicted, len(step.preempted), step.placed, step.daemons, step.pending
        yield [number, *names, *figures, step.state]


def _blocked_rows(report: UpgradeReport) -> Iterator[list[str]]:
    for each in report.blocked.pods if report.blocked is not None else ():
        yield [each.pod, each.node, each.budget or NONE, f"{each.message} {each.cause}".strip()]
