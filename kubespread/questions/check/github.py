"""Workflow commands that GitHub Actions turns into annotations.

Source of the escapes: actions/toolkit, command.ts (escapeData and escapeProperty).
"""

from __future__ import annotations

from kubespread.escaping import escaped
from kubespread.questions.check.report import CheckReport, Finding, Severity
from kubespread.views.look import Look

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def write(report: CheckReport, _look: Look) -> str:
    """One line per finding."""
    return "".join(map(_command, report.findings))


def _command(finding: Finding) -> str:
    properties = {
        "file": finding.file,
        "line": finding.line,
        "col": finding.column,
        "title": f"{finding.code} {finding.rule}",
    }
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value is not None)
    message = finding.in_full if finding.workload is None else f"{finding.workload}: {finding.in_full}"
    return f"::{_COMMANDS[finding.severity]} {listed}::{escaped(message.translate(_DATA))}\n"


def _property(value: object) -> str:
    return escaped(str(value).translate(_PROPERTY))
