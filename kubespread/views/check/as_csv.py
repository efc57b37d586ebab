"""One row a finding, for a spreadsheet."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.check import CheckReport
from kubespread.views.comma_separated import separated_by_commas
from kubespread.views.look import Look

_HEADER = ["file", "line", "column", "field", "workload", "severity", "code", "rule", "message", "remedy", "outcome"]


def write(report: CheckReport, look: Look) -> str:
    rows = list(_rows(report))
    return separated_by_commas([_HEADER, *rows] if look.headers else rows)


def _rows(report: CheckReport) -> Iterator[list[object]]:
    for each in report.findings:
        yield [
            each.file or "",
            each.line or "",
            each.column or "",
            each.field,
            each.workload or "",
            str(each.severity),
            each.code,
            each.rule,
            each.message,
            each.remedy.text,
            each.remedy.outcome or "",
        ]
