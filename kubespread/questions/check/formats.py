"""Findings as CI systems read them, and the rules themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from kubespread.errors import UsageError
from kubespread.escaping import escaped, json_escaped
from kubespread.manifest.writer import to_yaml
from kubespread.questions.check.report import CheckReport, Finding, RuleReport, Severity
from kubespread.reports.parts import API_VERSION, Unfinished
from kubespread.views.look import Look


def _json(data: Any) -> str:
    return json_escaped(json.dumps(data, indent=2, ensure_ascii=False)) + "\n"


_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
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
    return f"::{_COMMANDS[finding.severity]} {listed}::{escaped(message.translate(_DATA))}\n"


def _property(value: object) -> str:
    return escaped(str(value).translate(_PROPERTY))


_NOTHING = "nothing found"


def junit(report: CheckReport, _look: Look) -> str:
    """XML with a suite a file and a case a finding; a file without findings is a passing case.

    What is less severe than the bar does not fail: a job that passes has no failures.

    Source of the shape: the schema of the Jenkins xUnit plugin (junit-10.xsd).
    """
    suites: dict[str, list[Finding]] = {}
    for finding in report.findings:
        suites.setdefault(finding.file or finding.workload or "", []).append(finding)
    errors = int(report.unfinished is not None)
    totals = _totals(report.findings, report.fail_on, errors)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{totals}>"]
    for name, findings in suites.items():
        lines += _suite(name, findings, report.fail_on)
    if report.unfinished is not None:
        lines += _unfinished(report.unfinished, report.fail_on)
    elif not suites:
        lines += _suite("kubespread check", [], report.fail_on)
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _suite(name: str, findings: list[Finding], bar: Severity) -> Iterator[str]:
    yield f"  <testsuite name={_attribute(name)}{_totals(findings, bar)}>"
    if not findings:
        yield f'    <testcase name="{_NOTHING}" classname="kubespread"/>'
    for finding in findings:
        yield from _case(finding, bar)
    yield "  </testsuite>"


def _unfinished(unfinished: Unfinished, bar: Severity) -> Iterator[str]:
    """A case that could not be decided, so that nobody takes what is there for everything."""
    yield f'  <testsuite name="kubespread check"{_totals([], bar, 1)}>'
    yield '    <testcase name="unfinished" classname="kubespread">'
    yield f"      <error message={_attribute(unfinished.sentence)}/>"
    yield "    </testcase>"
    yield "  </testsuite>"


def _totals(findings: list[Finding] | tuple[Finding, ...], bar: Severity, errors: int = 0) -> str:
    failures = sum(finding.severity.rank <= bar.rank for finding in findings)
    return f' tests="{max(len(findings) + errors, 1)}" failures="{failures}" errors="{errors}"'


def _case(finding: Finding, bar: Severity) -> Iterator[str]:
    where = finding.place
    name = " ".join(part for part in (finding.code, finding.rule, finding.workload, finding.field) if part)
    head = f"    <testcase name={_attribute(name)} classname={_attribute(finding.workload or finding.file or '')}"
    text = escape(escaped(f"{where}: {finding.in_full}" if where else finding.in_full))
    yield f"{head}>"
    if finding.severity.rank > bar.rank:
        yield f"      <system-out>{finding.severity}: {text}</system-out>"
    else:
        message, kind = _attribute(finding.message), _attribute(str(finding.severity))
        yield f"      <failure message={message} type={kind}>{text}</failure>"
    yield "    </testcase>"


def _attribute(text: str) -> str:
    return quoteattr(escaped(text))


_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
SITE = "https://kubespread.dev/"
"""Shows the documents of the repository, ``docs/codes.md`` as ``docs/codes.html``."""
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def sarif(report: CheckReport, _look: Look) -> str:
    """SARIF 2.1.0, as code scanning reads it. Source of the shape: OASIS SARIF 2.1.0."""
    rules = [{**_rule(rule), "helpUri": f"{SITE}docs/codes.html#{_anchor(rule)}"} for rule in report.rules]
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
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    return {
        "ruleId": finding.code,
        "ruleIndex": rule_index,
        "level": _SARIF_LEVELS[finding.severity],
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


def _anchor(rule: RuleReport) -> str:
    """Of its heading, as `in_full` writes it."""
    return f"{rule.code.lower()}-{rule.name}"


def document(rules: Sequence[RuleReport]) -> str:
    """All of ``docs/codes.md``."""
    head = "# What kubespread check finds\n\nWritten from the rules' docstrings by `make docs`.\n"
    table = [
        "| Code | Name | Severity | Needs | What it finds |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| [{rule.code}](#{_anchor(rule)}) | {rule.name} | {rule.severity} "
            f"| {'a cluster' if rule.needs_cluster else 'nothing'} | {rule.summary} |"
            for rule in rules
        ),
    ]
    return "\n".join([head, *table, "", *map(in_full, rules)])
