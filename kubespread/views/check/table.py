"""Findings for people: by file, or by workload of the cluster, each with what happens and what would mend it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kubespread.planner.reports.check import CheckReport, Finding, Severity
from kubespread.views.check.message import place
from kubespread.views.flow import HANGING, INDENT
from kubespread.views.layout import BAD, DIM, HEAD, Cell, Line, cell, wrapped
from kubespread.views.look import Look
from kubespread.views.screen import concluded, headline, screen
from kubespread.wording import count_of, workload_name

WARNED = "33"
"""Yellow."""
_STYLES = {Severity.ERROR: BAD, Severity.WARNING: WARNED, Severity.INFO: DIM}
_MOST_OF_A_RULE = 10


@screen
def write(report: CheckReport, look: Look) -> Iterator[Line]:
    """The whole answer, in lines that ``look.width`` bounds; ``look.in_full`` shows every finding."""
    yield from headline(_title(report), report, look)
    shown = list(report.findings if look.in_full else _first_of_each(report.findings))
    for where in dict.fromkeys(map(_where, shown)):
        yield [cell(where, HEAD)]
        for finding in shown:
            if _where(finding) == where:
                yield from _finding(finding, look)
    yield from _left_out(report.findings, shown)
    yield from concluded(report.answer, look, others=DIM)


def _title(report: CheckReport) -> str:
    files = f"{count_of(report.files, 'file')}, " if report.files else ""
    return f"Checking {files}{count_of(report.workloads, 'workload')}"


def _where(finding: Finding) -> str:
    return finding.file if finding.file is not None else workload_name(finding.workload or "")


def _finding(finding: Finding, look: Look) -> Iterator[Line]:
    at = place(None, finding.line, finding.column)
    name = "" if finding.workload is None or finding.file is None else workload_name(finding.workload)
    head = [cell(f"{at}  " if at else ""), cell(finding.severity, _STYLES[finding.severity])]
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
        yield from wrapped([Cell(" " * (HANGING + 2)), cell(command, DIM)], look.width, HANGING + 4)
    if remedy.outcome is not None:
        yield from wrapped([Cell(" " * (HANGING + 2)), cell(remedy.outcome, DIM)], look.width, HANGING + 2)


def _first_of_each(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Of each rule no more than a person reads."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.code] += 1
        if seen[finding.code] <= _MOST_OF_A_RULE:
            yield finding


def _left_out(findings: Sequence[Finding], shown: Sequence[Finding]) -> Iterator[Line]:
    left = Counter((finding.code, finding.rule) for finding in findings)
    left.subtract((finding.code, finding.rule) for finding in shown)
    for (code, rule), number in sorted(left.items()):
        if number:
            yield [cell(f"{code} {rule}: {number} more (-v shows all)", DIM)]
