"""Findings as CI systems read them, and the rules themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kubespread.errors import UsageError
from kubespread.escaping import escaped, json_escaped
from kubespread.manifest.writer import to_yaml
from kubespread.questions.check.report import CheckReport, Finding, RuleReport, Severity
from kubespread.reports.parts import API_VERSION
from kubespread.views.look import Look


def _json(data: Any) -> str:
    return json_escaped(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


_LEVELS = {
    Severity.ERROR: ("error", "error"),
    Severity.WARNING: ("warning", "warning"),
    Severity.INFO: ("notice", "note"),
}
"""The severities in GitHub's words and in SARIF's."""
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def github(report: CheckReport, _look: Look) -> str:
    """Workflow commands that GitHub Actions turns into annotations, a line a finding.

    Source of the escapes: actions/toolkit, command.ts (escapeData and escapeProperty).
    """
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
    return f"::{_LEVELS[finding.severity][0]} {listed}::{escaped(message.translate(_DATA))}\n"


def _property(value: object) -> str:
    return escaped(str(value).translate(_PROPERTY))


def junit(report: CheckReport, _look: Look) -> str:
    """XML with a suite a file and a case a finding; a file without findings is a passing case.

    What is less severe than the bar does not fail: a job that passes has no failures. An unfinished check is an error,
    so that nobody takes what is there for everything.

    Source of the shape: the schema of the Jenkins xUnit plugin (junit-10.xsd).
    """
    suites: dict[str, list[Finding]] = {}
    for finding in report.findings:
        suites.setdefault(finding.file or finding.workload or "", []).append(finding)
    unfinished = report.unfinished
    root = Element("testsuites", _totals(report.findings, report.fail_on, errors=int(unfinished is not None)))
    for name, findings in suites.items():
        suite = SubElement(root, "testsuite", {"name": escaped(name), **_totals(findings, report.fail_on)})
        for finding in findings:
            _add_case(suite, finding, report.fail_on)
    if unfinished is not None or not suites:
        errors = int(unfinished is not None)
        suite = SubElement(root, "testsuite", {"name": "kubespread check", **_totals([], report.fail_on, errors)})
        case = SubElement(suite, "testcase", name="nothing found", classname="kubespread")
        if unfinished is not None:
            case.set("name", "unfinished")
            SubElement(case, "error", message=escaped(unfinished.sentence))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


def _totals(findings: Sequence[Finding], bar: Severity, errors: int = 0) -> dict[str, str]:
    failures = sum(finding.severity.rank <= bar.rank for finding in findings)
    return {"tests": str(max(len(findings) + errors, 1)), "failures": str(failures), "errors": str(errors)}


def _add_case(suite: Element, finding: Finding, bar: Severity) -> None:
    name = " ".join(part for part in (finding.code, finding.rule, finding.workload, finding.field) if part)
    case = SubElement(suite, "testcase", name=escaped(name), classname=escaped(finding.workload or finding.file or ""))
    text = escaped(f"{finding.place}: {finding.in_full}" if finding.place else finding.in_full)
    if finding.severity.rank > bar.rank:
        SubElement(case, "system-out").text = f"{finding.severity}: {text}"
    else:
        SubElement(case, "failure", message=escaped(finding.message), type=finding.severity).text = text


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SITE = "https://kubespread.dev/"
"""Shows the documents of the repository, ``docs/codes.md`` as ``docs/codes.html``."""


def sarif(report: CheckReport, _look: Look) -> str:
    """SARIF 2.1.0, as code scanning reads it. Source of the shape: OASIS SARIF 2.1.0."""
    rules = [{**_rule(rule), "helpUri": f"{SITE}docs/codes.html#{anchor(rule)}"} for rule in report.rules]
    driver = {"name": "kubespread", "informationUri": SITE, "rules": rules}
    places = {rule.code: place for place, rule in enumerate(report.rules)}
    results = [_result(finding, places[finding.code]) for finding in report.findings]
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if report.unfinished is not None:
        missing = {"level": "error", "message": {"text": report.unfinished.sentence}}
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": [missing]}]
    return _json({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: RuleReport) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": _LEVELS[rule.severity][1]},
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity][1],
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


def described(rule: RuleReport, output: str | None) -> str:
    """The rule in the format -o asks for: text, json or yaml. Raises UsageError for any other."""
    if output in (None, "table"):
        return in_full(rule)
    data = {"apiVersion": API_VERSION, "kind": "Rule", **rule.to_dict()}
    if output in ("json", "yaml"):
        return to_yaml(data) if output == "yaml" else _json(data)
    raise UsageError(f"rules are written as table, json or yaml, not as {output}")


def in_full(rule: RuleReport) -> str:
    """One rule as ``docs/codes.md`` has it."""
    needs = "needs a cluster" if rule.needs_cluster else "needs no cluster"
    return f"## {rule.code} {rule.name}\n\n*{rule.severity}, {needs}*\n\n{rule.documentation}\n"


def anchor(rule: RuleReport) -> str:
    """Of its heading, as `in_full` writes it."""
    return f"{rule.code.lower()}-{rule.name}"
