"""Findings by file, or by workload of the cluster, each with its consequence and its remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from kubespread.questions.check import CheckFinding, CheckReport, Severity
from kubespread.questions.commands import option_of
from kubespread.reports.columns import Readers
from kubespread.views.look import Cell, Look, Part, Rows, Text, Tone
from kubespread.views.sheet import Column, Sheet
from kubespread.views.terminal import HANGING, fold
from kubespread.views.view import View, shared_fields
from kubespread.wording import count_of

_TONES = {Severity.ERROR: Tone.BAD, Severity.WARNING: Tone.WARN, Severity.INFO: Tone.PLAIN}
_LEVELS = {**_TONES, Severity.INFO: Tone.FAINT}
_MOST_OF_A_RULE = 10
_COLUMNS: Sequence[Column[CheckFinding]] = (
    Column("PLACE", lambda finding: finding.place, hides_empty=True, readers=Readers.COLUMNS | Readers.PAGES),
    Column("FILE", lambda finding: finding.file, Readers.SPREADSHEET),
    Column("LINE", lambda finding: finding.line, Readers.SPREADSHEET),
    Column("COLUMN", lambda finding: finding.column, Readers.SPREADSHEET),
    Column("FIELD", lambda finding: finding.field, Readers.SPREADSHEET),
    Column("WORKLOAD", lambda finding: finding.subject),
    Column("SEVERITY", lambda finding: finding.level),
    Column("CODE", lambda finding: finding.code, Readers.PIPES),
    Column("RULE", lambda finding: finding.rule, text=lambda finding: f"{finding.code} {finding.rule}"),
    Column("MESSAGE", lambda finding: finding.text, title="What happens"),
    Column("REMEDY", lambda finding: finding.remedy.text, text=lambda finding: finding.remedy.with_outcome),
    Column("OUTCOME", lambda finding: finding.remedy.outcome, Readers.SPREADSHEET),
)


def view(report: CheckReport) -> View:
    """The findings; a warning counts where the verdict is yes."""
    facts = shared_fields(report)
    if report.verdict == "yes" and report.reaches(Severity.WARNING):
        facts["tone"] = Tone.WARN
    findings = Sheet(
        title="Findings", columns=_COLUMNS, rows=report.findings, tone=lambda finding: _TONES[finding.level]
    )
    return View(**facts, title=_title(report), sheets=[findings], parts=lambda look: _parts(report, look))


def _parts(report: CheckReport, look: Look) -> Iterator[Part]:
    """Findings by file or workload, the worst first; in full every finding."""
    shown = list(report.findings if look.in_full else _first_per_rule(report.findings))
    for where in dict.fromkeys(map(_place, sorted(shown, key=lambda finding: finding.level.rank))):
        rows = [[*_finding(finding, look)] for finding in shown if _place(finding) == where]
        yield Rows([[Cell(where, Tone.STRONG)]], rows, "finding")
    hidden = Counter(f"{finding.code} {finding.rule}" for finding in report.findings)
    hidden.subtract(f"{finding.code} {finding.rule}" for finding in shown)
    yield from ([Cell(f"{rule}: {number} more (-v)", Tone.FAINT)] for rule, number in sorted(hidden.items()) if number)


def _title(report: CheckReport) -> str:
    files = f"{count_of(report.files, 'file')}, " if report.files else ""
    return f"Checking {files}{count_of(report.workloads, 'workload')}"


def _place(finding: CheckFinding) -> str:
    return finding.file if finding.file is not None else finding.short_name


def _finding(finding: CheckFinding, look: Look) -> Iterator[Text]:
    name, remedy = "" if finding.file is None else finding.short_name, finding.remedy
    severity = Cell(finding.level, _LEVELS[finding.level])
    place = f"{finding.position}  " if finding.position else ""
    yield fold(place, severity, "  ".join(["", finding.code, finding.rule, name]).rstrip())
    inside = partial(fold, indent=" " * HANGING)
    yield inside(finding.text)
    yield inside(f"→ {remedy.text}", hanging=HANGING + 2)
    options = [*(f"set {setting}" for setting in remedy.settings), *map(option_of, remedy.edits)]
    deeper = " " * (HANGING + 2)
    for option in options:
        yield fold(Cell(option, Tone.FAINT), indent=deeper, hanging=HANGING + 2)
    yield from ([Cell(deeper + command, Tone.FAINT)] for command in (remedy.commands if look.in_full else ()))
    if remedy.outcome is not None:
        yield fold(Cell(remedy.outcome, Tone.FAINT), indent=deeper, hanging=HANGING + 2)


def _first_per_rule(findings: Sequence[CheckFinding]) -> Iterator[CheckFinding]:
    counts: Counter[str] = Counter()
    for finding in findings:
        counts[finding.code] += 1
        if counts[finding.code] <= _MOST_OF_A_RULE:
            yield finding
