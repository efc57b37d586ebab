"""Findings: by file, or by workload of the cluster, each with what happens and what would mend it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubespread.questions.check.report import CheckReport, Finding, Severity
from kubespread.views.layout import (
    BAD,
    DIM,
    HANGING,
    HEAD,
    INDENT,
    WARNED,
    Cell,
    Line,
    answered,
    cell,
    headline,
    remarks,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.sheet import Column, Readers, Sheet, Tone
from kubespread.views.view import Listed, Listing, Tile, View, about
from kubespread.wording import count_of

_STYLES = {Severity.ERROR: BAD, Severity.WARNING: WARNED, Severity.INFO: DIM}
_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.WARN, Severity.INFO: Tone.PLAIN}
_MOST_OF_A_RULE = 10
_COLUMNS: Sequence[Column[Finding]] = (
    Column(
        header="PLACE", value=lambda finding: finding.place, hides_empty=True, readers=Readers.COLUMNS | Readers.PAGES
    ),
    Column(header="FILE", value=lambda finding: finding.file, readers=Readers.SPREADSHEET),
    Column(header="LINE", value=lambda finding: finding.line, readers=Readers.SPREADSHEET),
    Column(header="COLUMN", value=lambda finding: finding.column, readers=Readers.SPREADSHEET),
    Column(header="FIELD", value=lambda finding: finding.field, readers=Readers.SPREADSHEET),
    Column(header="WORKLOAD", value=lambda finding: finding.workload),
    Column(header="SEVERITY", value=lambda finding: finding.severity),
    Column(header="CODE", value=lambda finding: finding.code, readers=Readers.PIPES),
    Column(header="RULE", value=lambda finding: finding.rule, readers=Readers.PIPES),
    Column(header="RULE", value=lambda finding: f"{finding.code} {finding.rule}", readers=Readers.PAGES),
    Column(header="MESSAGE", value=lambda finding: finding.message, title="What happens"),
    Column(header="REMEDY", value=lambda finding: finding.remedy.text, readers=Readers.PIPES),
    Column(header="REMEDY", value=lambda finding: finding.remedy.with_outcome, readers=Readers.PAGES),
    Column(header="OUTCOME", value=lambda finding: finding.remedy.outcome, readers=Readers.SPREADSHEET),
)


def view(report: CheckReport) -> View:
    """The findings; a warning counts where the verdict is yes."""
    facts = about(report)
    if report.verdict == "yes" and report.reaches(Severity.WARNING):
        facts["tone"] = Tone.WARN
    findings = Sheet(
        title="Findings", columns=_COLUMNS, rows=report.findings, is_answer=True, is_first=not report.excerpts,
        tone=lambda finding: _TONES[finding.severity],
    )  # fmt: skip
    return View(
        **facts,
        title=f"Check of {count_of(report.workloads, 'workload')}",
        sheets=[findings],
        lines=lambda look: _lines(report, look),
        tiles=[_tile(severity, report.count(severity)) for severity in Severity],
        listings=list(_listings(report)),
    )


def _tile(severity: Severity, number: int) -> Tile:
    name = str(severity) if severity is Severity.INFO or number == 1 else f"{severity}s"
    return Tile(name, f"{number:,}", _TONES[severity] if number else Tone.PLAIN, str(severity))


def _listings(report: CheckReport) -> Iterator[Listing]:
    """Each file with what is found below the line that it is about."""
    for excerpt in report.excerpts:
        found: dict[int, list[Finding]] = {}
        for finding in report.findings:
            if finding.file == excerpt.file and finding.line is not None:
                found.setdefault(finding.line, []).append(finding)
        lines = (Listed(line.number, line.text, [*map(_remark, found.get(line.number, ()))]) for line in excerpt.lines)
        yield Listing(excerpt.file, list(lines))


def _remark(finding: Finding) -> tuple[Tone, str]:
    return _TONES[finding.severity], f"{finding.severity} {finding.code} {finding.called}: {finding.in_full}"


def _lines(report: CheckReport, look: Look) -> Iterator[Line]:
    """In full it shows every finding."""
    yield from headline(_title(report), report, look)
    yield from answered(report.answer, look)
    shown = list(report.findings if look.in_full else _first_of_each(report.findings))
    for where in dict.fromkeys(map(_where, shown)):
        yield [cell(where, HEAD)]
        for finding in shown:
            if _where(finding) == where:
                yield from _finding(finding, look)
    yield from _left_out(report.findings, shown)
    yield from remarks(report.answer, look, DIM)


def _title(report: CheckReport) -> str:
    files = f"{count_of(report.files, 'file')}, " if report.files else ""
    return f"Checking {files}{count_of(report.workloads, 'workload')}"


def _where(finding: Finding) -> str:
    return finding.file if finding.file is not None else finding.called


def _finding(finding: Finding, look: Look) -> Iterator[Line]:
    name = "" if finding.file is None else finding.called
    head = [
        cell(f"{finding.position}  " if finding.position else ""),
        cell(finding.severity, _STYLES[finding.severity]),
    ]
    head.append(cell("  ".join(["", finding.code, finding.rule, name]).rstrip()))
    yield from wrapped([Cell(INDENT), *head], look.width, HANGING)
    remedy = finding.remedy
    texts = [Cell(" " * HANGING), cell(finding.message)]
    yield from wrapped(texts, look.width, HANGING)
    yield from wrapped([Cell(" " * HANGING), cell(f"→ {remedy.text}")], look.width, HANGING + 2)
    for setting in remedy.settings:
        yield from wrapped([Cell(" " * (HANGING + 2)), cell(f"--set {setting}", DIM)], look.width, HANGING + 2)
    for edit in remedy.edits:
        yield from wrapped([Cell(" " * (HANGING + 2)), cell(f"--{edit}", DIM)], look.width, HANGING + 2)
    for command in remedy.commands if look.in_full else ():
        yield [Cell(" " * (HANGING + 2)), cell(command, DIM)]
    if remedy.outcome is not None:
        yield from wrapped([Cell(" " * (HANGING + 2)), cell(remedy.outcome, DIM)], look.width, HANGING + 2)


def _first_of_each(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Of each rule only the first few findings."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if seen[finding.code] <= _MOST_OF_A_RULE:
            yield finding


def _left_out(findings: Sequence[Finding], shown: Sequence[Finding]) -> Iterator[Line]:
    by_rule = Counter((finding.code, finding.rule) for finding in findings)
    by_rule.subtract((finding.code, finding.rule) for finding in shown)
    for (code, rule), number in sorted(by_rule.items()):
        if number:
            yield [cell(f"{code} {rule}: {number} more (-v shows all)", DIM)]
