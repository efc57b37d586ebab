"""A finding in one sentence and where it is, for formats that have room for no more."""

from __future__ import annotations

from kubespread.planner.reports.check import Finding


def full_message(finding: Finding) -> str:
    """What happens, and what would mend it with what comes of that."""
    remedy = finding.remedy
    outcome = f" ({remedy.outcome})" if remedy.outcome is not None else ""
    return f"{finding.message}. Remedy: {remedy.text}{outcome}"


def place(report_file: str | None, line: int | None, column: int | None) -> str:
    """``web.yaml:15:9``, as far as it is known."""
    return ":".join(str(part) for part in (report_file, line, column) if part is not None)
