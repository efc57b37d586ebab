"""Findings as columns for pipes, one line each."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.check import CheckReport
from kubespread.views.aligned import NONE, columns
from kubespread.views.check.message import place
from kubespread.views.look import Look

HEADER = ["PLACE", "WORKLOAD", "SEVERITY", "CODE", "RULE", "MESSAGE", "REMEDY"]


def write(report: CheckReport, look: Look) -> str:
    return columns(HEADER, rows_of(report), headers=look.headers)


def rows_of(report: CheckReport) -> Iterator[list[str]]:
    """A row a finding."""
    for each in report.findings:
        at = place(each.file, each.line, each.column) or NONE
        yield [at, each.workload or NONE, each.severity, each.code, each.rule, each.message, each.remedy.text]
