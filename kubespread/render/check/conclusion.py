"""What a check comes to."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.planner.reports.check import CheckReport, Severity
from kubespread.render.phrases import count_of


def conclusion(report: CheckReport) -> Iterator[str]:
    """What was not looked at, and last what was found."""
    if report.not_asked:
        rules = count_of(len(report.not_asked), "rule")
        yield f"{rules} not asked: {'it needs' if len(report.not_asked) == 1 else 'they need'} a cluster (-S FILE)"
    left = [
        f"{number} {what}"
        for number, what in ((report.ignored, "silenced by annotations"), (report.in_baseline, "in the baseline"))
        if number
    ]
    checked = count_of(report.workloads, "workload")
    found = [count_of(number, str(each)) for each in Severity if (number := report.count(each)) and each != "info"]
    if infos := report.count(Severity.INFO):
        found.append(f"{infos} info")
    yield ", ".join([f"{', '.join(found) or 'nothing found'} in {checked}", *left])


def place(report_file: str | None, line: int | None, column: int | None) -> str:
    """``web.yaml:15:9``, as far as it is known."""
    return ":".join(str(each) for each in (report_file, line, column) if each is not None)
