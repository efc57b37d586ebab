"""What comes of an audit, in a sentence."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.audit import AuditReport
from kubespread.render.phrases import count_of


def conclusion(report: AuditReport) -> Iterator[str]:
    """How many workloads are of each level."""
    counts = {
        "violated": report.count("violated"),
        "uneven": report.count("uneven"),
        "at risk": report.count("risk"),
        "not judged": report.count("unjudged"),
    }
    said = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    workloads = count_of(len(report.workloads), "workload")
    yield f"{workloads}: {said}, {report.count('ok'):,} fine" if said else f"{workloads}, nothing found"
