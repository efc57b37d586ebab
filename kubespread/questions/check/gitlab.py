"""GitLab's Code Quality report: an array of issues, each with a fingerprint and a place in a file."""

from __future__ import annotations

import json
from typing import Any

from kubespread.escaping import json_escaped
from kubespread.questions.check.report import CheckReport, Finding, Severity
from kubespread.views.look import Look

_SEVERITIES = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.INFO: "info"}


def write(report: CheckReport, _look: Look) -> str:
    issues = [_issue(finding) for finding in report.findings]
    return json_escaped(json.dumps(issues, indent=2, ensure_ascii=False)) + "\n"


def _issue(finding: Finding) -> dict[str, Any]:
    return {
        "description": finding.in_full,
        "check_name": finding.code,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES[finding.severity],
        # GitLab asks for both; a workload of the cluster stands in no file.
        "location": {"path": finding.file or finding.workload or "", "lines": {"begin": finding.line or 1}},
    }
