"""Findings as CI systems read them: annotations of GitHub Actions, JUnit XML and SARIF."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from kubespread.escaping import escape, json_escaped
from kubespread.reports.findings import SEVERITIES, Severity
from kubespread.reports.parts import Finding, QuestionReport, RuleReport
from kubespread.views.look import Look

Answer = QuestionReport | Sequence[QuestionReport]
_WORST_FIRST: Sequence[Severity] = list(dict.fromkeys(SEVERITIES.values()))
_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"})


def _reports(answer: Answer) -> Sequence[QuestionReport]:
    return [answer] if isinstance(answer, QuestionReport) else answer


def _findings(answer: Answer) -> Iterator[Finding]:
    return (finding for report in _reports(answer) for finding in report.all_findings())


def github(answer: Answer, _look: Look) -> str:
    """Workflow commands that GitHub Actions turns into annotations, one line per finding.

    Source of the escapes: actions/toolkit, command.ts (escapeData and escapeProperty).
    """
    return "".join(map(_command, _findings(answer)))


def _command(finding: Finding) -> str:
    place = finding.source_position
    properties = {"file": place.file, "line": place.line, "col": place.column, "title": finding.title}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value is not None)
    message = f"{finding.subject}: {finding.in_full}" if finding.subject else finding.in_full
    return f"::{finding.severity} {listed}::{escape(message.translate(_DATA))}\n"


def _property(value: object) -> str:
    return escape(str(value).translate(_PROPERTY))


def junit(answer: Answer, _look: Look) -> str:
    """XML with one suite per file or other subject, and one case per finding; without findings, one passing case.

    A finding below the bar is no failure: a job that passes has none. An unfinished answer is an error, so that it is
    not mistaken for a complete one.

    Source of the shape: the schema of the Jenkins xUnit plugin (junit-10.xsd).
    """
    findings, suites, reports = list(_findings(answer)), dict[str, list[Finding]](), _reports(answer)
    for finding in findings:
        suites.setdefault(finding.source_position.file or finding.subject, []).append(finding)
    bar = reports[0].bar
    unfinished = [report.unfinished.sentence for report in reports if report.unfinished is not None]
    root = Element("testsuites", _totals(findings, bar, errors=len(unfinished)))
    for name, own in suites.items():
        suite = SubElement(root, "testsuite", {"name": escape(name), **_totals(own, bar)})
        for finding in own:
            _add_case(suite, finding, bar)
    if unfinished or not suites:
        suite = SubElement(root, "testsuite", {"name": "kubespread", **_totals([], bar, len(unfinished))})
        if not unfinished:
            SubElement(suite, "testcase", name="nothing found", classname="kubespread")
        for sentence in unfinished:
            case = SubElement(suite, "testcase", name="unfinished", classname="kubespread")
            SubElement(case, "error", message=escape(sentence))
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, "unicode")}\n'


def _fails(finding: Finding, bar: Severity) -> bool:
    return _WORST_FIRST.index(finding.severity) <= _WORST_FIRST.index(bar)


def _totals(findings: Sequence[Finding], bar: Severity, errors: int = 0) -> dict[str, str]:
    failures = sum(_fails(finding, bar) for finding in findings)
    return {"tests": str(max(len(findings) + errors, 1)), "failures": str(failures), "errors": str(errors)}


def _add_case(suite: Element, finding: Finding, bar: Severity) -> None:
    place = finding.source_position
    name = " ".join(part for part in (finding.title, finding.subject, place.field) if part)
    case = SubElement(suite, "testcase", name=escape(name), classname=escape(finding.subject or place.file or ""))
    position = ":".join(str(part) for part in (place.file, place.line, place.column) if part is not None)
    text = escape(f"{position}: {finding.in_full}" if position else finding.in_full)
    if _fails(finding, bar):
        SubElement(case, "failure", message=escape(finding.text), type=finding.level).text = text
    else:
        SubElement(case, "system-out").text = f"{finding.level}: {text}"


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SITE = "https://kubespread.dev/"
"""Site with the repository's documents, ``docs/codes.md`` as ``docs/codes.html``."""


def sarif(answer: Answer, _look: Look) -> str:
    """SARIF 2.1.0 for code scanning.

    Source of the shape: OASIS SARIF 2.1.0.
    """
    findings, reports = list(_findings(answer)), _reports(answer)
    rules = {code: {"id": code} for code in dict.fromkeys(finding.code for finding in findings)}
    rules |= {rule.code: _rule(rule) for report in reports for rule in report.pages}
    driver = {"name": "kubespread", "informationUri": SITE, "rules": list(rules.values())}
    places = {code: place for place, code in enumerate(rules)}
    results = [_result(finding, places[finding.code]) for finding in findings]
    run: dict[str, Any] = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    unfinished = [report.unfinished.sentence for report in reports if report.unfinished is not None]
    if unfinished:
        missing = [{"level": "error", "message": {"text": sentence}} for sentence in unfinished]
        run["invocations"] = [{"executionSuccessful": False, "toolExecutionNotifications": missing}]
    document = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json_escaped(json.dumps(document, indent=2, ensure_ascii=False)) + "\n"


def _rule(rule: RuleReport) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": rule.documentation, "markdown": rule.documentation},
        "defaultConfiguration": {"level": _level(SEVERITIES[rule.severity])},
        "helpUri": f"{SITE}docs/codes.html#{rule.anchor}",
    }


def _level(severity: Severity) -> str:
    return "note" if severity == "notice" else severity


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _level(finding.severity),
        "message": {"text": finding.in_full},
        "locations": [_location(finding)],
        **({"partialFingerprints": {"kubespread/v1": finding.fingerprint}} if finding.fingerprint else {}),
    }


def _location(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {}
    place = finding.source_position
    if place.file is not None:
        physical: dict[str, Any] = {"artifactLocation": {"uri": file_uri(place.file)}}
        if place.line is not None:
            column = {"startColumn": place.column} if place.column is not None else {}
            physical["region"] = {"startLine": place.line, **column}
        location["physicalLocation"] = physical
    if finding.subject:
        named = f"{finding.subject}:{place.field}" if place.field else finding.subject
        location["logicalLocations"] = [{"fullyQualifiedName": named, "kind": "resource"}]
    return location


def file_uri(path: str) -> str:
    """URI reference, which code scanning matches with a repository's files: relative as given, absolute as ``file://``,
    escaped.
    """
    name = PurePath(os.path.normpath(path)).as_posix()
    uri = quote(name, safe="/")
    return f"file://{uri}" if name.startswith("/") else uri
