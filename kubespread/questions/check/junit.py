"""JUnit XML as CI systems read it: one suite per file, one case per finding; a file without findings is a passing case.

Source of the shape: the schema of the Jenkins xUnit plugin (junit-10.xsd).
"""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from kubespread.escaping import escaped
from kubespread.questions.check.report import CheckReport, Finding, Severity
from kubespread.reports.parts import Unfinished
from kubespread.views.look import Look

_NOTHING = "nothing found"


def write(report: CheckReport, _look: Look) -> str:
    """What is less severe than the bar does not fail: a job that passes has no failures."""
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
