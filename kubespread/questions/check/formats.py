"""Findings as CI systems read them and as a patch for ``git apply``, and the rules themselves."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec import Struct, field

from kubespread.candidate.manifest import Manifest, kind_of, manifest_from_text
from kubespread.candidate.settings import Operation, diff_of, differences, operations, path_of, with_operations
from kubespread.errors import KubespreadError
from kubespread.escaping import escaped, json_escaped
from kubespread.manifest.objects import KubernetesObject
from kubespread.questions.check.report import CheckReport, Finding, Remedy, RuleReport, Severity
from kubespread.questions.check.rule import LastRule
from kubespread.questions.check.rules import rule_called
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
"""Site that shows the documents of the repository, ``docs/codes.md`` as ``docs/codes.html``."""


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


_CHANGED = "it changes what a remedy above changes: apply that, and check again"
_ALONE = "it was searched for without the remedies above: apply these, and check again"
_ENVIRONMENT = "what is changed stands on a line with the environment of a container, or before one"
_INFO = "only worth knowing: left as it is"


class _Patch(Struct):
    """A file and what became of it."""

    before: str
    after: str
    changed: dict[str, list[tuple[str | int, ...]]] = field(default_factory=dict)
    """Paths that remedies have changed, by workload."""


def patch(findings: Iterable[Finding], written: Mapping[tuple[str | None, str], Manifest]) -> str:
    """A unified diff of the files, the remedies of the worst findings first, and last those for what the others leave;
    those that it lacks are comments above it.

    An info is no reason to change anything.
    """
    files, left = dict[str, _Patch](), list[str]()
    for finding in sorted(findings, key=lambda finding: (_is_last(finding), finding.severity.rank)):
        why = _not_applied(finding, written, files)
        if why:
            head = " ".join(filter(None, (finding.place, finding.severity, finding.code, finding.rule, finding.called)))
            left.append(f"# {escaped(head)}: {escaped(finding.remedy.text)} ({escaped(why)})\n")
    diffs = {name: diff_of(f"a/{name}", f"b/{name}", file.before, file.after) for name, file in sorted(files.items())}
    left += (f"# {escaped(name)}: not patched: {_ENVIRONMENT}\n" for name, diff in diffs.items() if diff is None)
    return "".join((*left, *filter(None, diffs.values())))


def _not_applied(finding: Finding, written: Mapping[tuple[str | None, str], Manifest], files: dict[str, _Patch]) -> str:
    """Reason the remedy is not in ``files``; empty where it is, as far as it is about the manifest."""
    remedy, workload = finding.remedy, str(finding.workload)
    manifest = written.get((finding.file, workload))
    if finding.file is None:
        return "not in a file"
    if not (remedy.settings or remedy.fields) or manifest is None:
        return _edits(remedy) or "no single change of this object"
    if finding.severity is Severity.INFO:
        return _INFO
    name = os.path.relpath(finding.file)
    file = files.get(name) or _read(name, finding.file, manifest)
    if isinstance(file, str):
        return file
    earlier = file.changed.setdefault(workload, [])
    if earlier and _is_last(finding):
        return _ALONE
    # The object that is chosen, as the text has it by now.
    place = next(place for place, item in enumerate(manifest.items) if item is manifest.chosen)
    item = manifest_from_text(manifest.file, file.after.encode()).items[place]
    try:
        changed = _operations(item, remedy)
    except KubespreadError as error:
        return _CHANGED if earlier else str(error)
    # Of a list where an item comes or is another one, all of it.
    paths = [each.path[:-1] if isinstance(each.path[-1], int) else each.path for each in changed]
    if not changed:
        return "a remedy above does that too" if earlier else "the object says so already"
    if any(path[: len(other)] == other[: len(path)] for path in paths for other in earlier):
        return _CHANGED
    after = with_operations(file.after, item, changed)
    if after is None:
        return "the text is written in a way that is not changed line by line"
    file.after = after
    earlier += paths
    files[name] = file
    return _edits(remedy)


def _is_last(finding: Finding) -> bool:
    return isinstance(rule_called(finding.code), LastRule)


def _edits(remedy: Remedy) -> str:
    """The part of the remedy beside the manifest."""
    return f"in the cluster: {', '.join(remedy.edits)}" if remedy.edits else ""


def _read(name: str, path: str, manifest: Manifest) -> _Patch | str:
    """The file as it is read, or why no patch reaches it."""
    if name.startswith(os.pardir):
        return "outside of the working directory, where no patch reaches"
    text = manifest.text or b""
    try:
        # Opening a named pipe once more may block.
        is_same = manifest.text is not None and Path(path).is_file() and Path(path).read_bytes() == text
    except OSError:
        is_same = False
    shown = text.decode(errors="replace").replace("\n", "").replace("\t", "")
    if not is_same or not shown.isprintable() or not name.isprintable() or '"' in name or "\\" in name:
        return "not a file of plain text with lines that end with LF"
    return _Patch(text.decode(), text.decode())


def _operations(item: KubernetesObject, remedy: Remedy) -> Sequence[Operation]:
    """Raises KubespreadError."""
    if remedy.settings:
        return operations(item.data, kind_of(item), remedy.settings)
    changed = deepcopy(item.data)
    for path, value in remedy.fields.items():
        moved = item.template_path and path.startswith(item.template_path)
        _set(changed, path_of(f"spec.template{path.removeprefix(item.template_path)}" if moved else path), value)
    return list(differences(item.data, changed))


def _set(data: Any, path: Sequence[str | int], value: Any) -> None:
    """Objects above the field are made where they are not there."""
    for step in path[:-1]:
        if isinstance(data, dict) and data.get(step) is None:
            data[step] = {}
        data = data[step]
    if value is None:
        data.pop(path[-1], None)
    else:
        data[path[-1]] = value


def in_full(rule: RuleReport) -> str:
    """One rule as ``docs/codes.md`` has it."""
    needs = "needs a cluster" if rule.needs_cluster else "needs no cluster"
    return f"## {rule.code} {rule.name}\n\n*{rule.severity}, {needs}*\n\n{rule.documentation}\n"


def anchor(rule: RuleReport) -> str:
    """Link to its heading, as `in_full` writes it."""
    return f"{rule.code.lower()}-{rule.name}"
