"""SARIF 2.1.0, as code scanning reads it. Source of the shape: OASIS SARIF 2.1.0."""

from __future__ import annotations

import json
import os
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from kubespread.escaping import json_escaped
from kubespread.questions.check.report import CheckReport, Finding, RuleReport, Severity
from kubespread.views.look import Look

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def write(report: CheckReport, _look: Look) -> str:
    driver = {"name": "kubespread", "rules": [_rule(rule) for rule in report.rules]}
    places = {rule.code: place for place, rule in enumerate(report.rules)}
    results = [_result(finding, places[finding.code]) for finding in report.findings]
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if report.unfinished is not None:
        missing = {"level": "error", "message": {"text": report.unfinished.sentence}}
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": [missing]}]
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_escaped(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _rule(rule: RuleReport) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": {"text": finding.in_full},
        "locations": [_location(finding)],
        "partialFingerprints": {"kubespread/v1": finding.fingerprint},
    }


def _location(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if finding.file is not None:
        physical: dict[str, Any] = {"artifactLocation": {"uri": file_uri(finding.file)}}
        if finding.line is not None:
            column = {"startColumn": finding.column} if finding.column is not None else {}
            physical["region"] = {"startLine": finding.line, **column}
        location["physicalLocation"] = physical
    if finding.workload is not None:
        named = f"{finding.workload}:{finding.field}" if finding.field else finding.workload
        location["logicalLocations"] = [{"fullyQualifiedName": named, "kind": "resource"}]
    return location


def file_uri(path: str) -> str:
    """A URI reference, which is what code scanning matches with a repository's files: relative to the working directory
    as it was given, absolute as ``file://``; blanks and the like escaped.
    """
    name = PurePath(os.path.normpath(path)).as_posix()
    escaped = quote(name, safe="/")
    return f"file://{escaped}" if name.startswith("/") else escaped
