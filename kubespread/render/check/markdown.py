"""A table for a merge request or a job summary."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.escaping import escaped
from kubespread.planner.reports.check import CheckReport, Finding
from kubespread.render.check.conclusion import conclusion, place
from kubespread.render.look import Look

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\|`*_<>[]#"})


def write(report: CheckReport, look: Look) -> str:
    lines = list(_table(report, look)) if report.findings else []
    *said, last = conclusion(report)
    return "\n".join([*lines, *(["", *said] if said else []), "", f"**{last}**"]).lstrip("\n") + "\n"


def _table(report: CheckReport, look: Look) -> Iterator[str]:
    if look.headers:
        yield "| Place | Workload | Severity | Rule | What happens | Remedy |"
        yield "| --- | --- | --- | --- | --- | --- |"
    for finding in report.findings:
        yield f"| {' | '.join(_cells(finding))} |"


def _cells(finding: Finding) -> Iterator[str]:
    remedy = finding.remedy
    outcome = f" ({remedy.outcome})" if remedy.outcome is not None else ""
    yield _text(place(finding.file, finding.line, finding.column))
    yield _text(finding.workload or "")
    yield finding.severity
    yield f"{finding.code} {finding.rule}"
    yield _text(finding.message)
    yield _text(f"{remedy.text}{outcome}")


def _text(text: str) -> str:
    return escaped(text).translate(_SPECIAL)
