"""How many pods are stuck, and how many of them changes free."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.pending import PendingReport
from kubespread.render.phrases import count_of


def conclusion(report: PendingReport) -> Iterator[str]:
    """One line."""
    if not report.groups:
        yield "no pod is pending"
        return
    changes = [group for group in report.groups if group.freed]
    freed = sum(group.freed for group in changes)
    causes = f"{len(report.groups):,} cause{'' if len(report.groups) == 1 else 's'}"
    said = f"{count_of(report.pending, 'pod')} pending for {causes}"
    if not changes:
        yield f"{said}; no change was found that frees any"
    else:
        yield f"{said}; {count_of(len(changes), 'change')} free{'s' if len(changes) == 1 else ''} {freed:,} of them"
