"""One line a group, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.pending import PendingReport
from kubespread.views.aligned import NONE, columns
from kubespread.views.look import Look

HEADER = ["PODS", "FREES", "CAUSE", "WORKLOADS", "OPTIONS", "WHY"]


def write(report: PendingReport, look: Look) -> str:
    """Largest first; why last, since it holds blanks."""
    return columns(HEADER, group_rows(report), headers=look.headers)


def group_rows(report: PendingReport) -> Iterator[list[str | int]]:
    """A row a group."""
    for group in report.groups:
        options = " ".join(group.change.options) if group.change is not None else NONE
        yield [len(group.pods), group.freed, group.cause, ",".join(group.workloads), options, group.why]
