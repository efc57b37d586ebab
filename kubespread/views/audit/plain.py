"""Workloads and findings, as columns for pipes."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.audit import AuditReport, counts_text, sentence
from kubespread.planner.reports.audited import AuditedWorkload
from kubespread.views.aligned import NONE, blocks
from kubespread.views.audit.words import trial_text, worst
from kubespread.views.look import Look
from kubespread.wording import short_key

HEADER = [
    "WORKLOAD", "LEVEL", "REPLICAS", "PLACED", "PENDING", "ZONES", "LEFT", "CONSTRAINT", "SOURCE", "SKEW", "MAX-SKEW",
    "NEXT-FITS", "CAUSES",
]  # fmt: skip
_FINDINGS_HEADER = ["WORKLOAD", "LEVEL", "CAUSE", "FINDING"]


def write(report: AuditReport, look: Look) -> str:
    """Two blocks: workloads, and what is found of them; with ``look.in_full`` what was tried to find causes, too."""
    return blocks((HEADER, rows(report)), (_FINDINGS_HEADER, _findings(report, look)), headers=look.headers)


def rows(report: AuditReport) -> Iterator[list[str]]:
    """A row a workload, with the constraint that speaks for it."""
    for row in report.workloads:
        fits = NONE if row.next_fits is None else "yes" if row.next_fits else "no"
        causes = ",".join(dict.fromkeys(each.cause for each in row.findings)) or NONE
        left = NONE if row.left is None else str(row.left)
        yield [
            row.workload, row.level, str(row.replicas), str(row.placed), str(row.pending), counts_text(row.zones), left,
            *_constraint(row), fits, causes,
        ]  # fmt: skip


def _constraint(row: AuditedWorkload) -> list[str]:
    found = worst(row)
    if found is None:
        return [NONE] * 4
    key = f"{short_key(found.topology_key)}:{found.when_unsatisfiable}"
    return [key, found.source, str(found.skew), str(found.max_skew)]


def _findings(report: AuditReport, look: Look) -> Iterator[list[str]]:
    for row in report.workloads:
        for each in row.findings:
            tried = [trial_text(trial, each, row.placed) for trial in each.trials] if look.in_full else []
            said = "; ".join((sentence(row, each), *tried))
            yield [row.workload, each.level, each.cause, said]
