"""The lines of a report, the worst first, each with the command that shows more."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec.structs import replace

from kubespread.questions.audit import Audit
from kubespread.questions.report import LEVELS, Badness, ReportLine, Scorecard
from kubespread.regex import regex
from kubespread.reports.findings import AREAS
from kubespread.views.look import Cell, Look, Text, Tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.terminal import HANGING, fold, screen
from kubespread.views.view import Metric, Tile, View, shared_fields, workloads_phrase
from kubespread.wording import count_of

_TONES: dict[Badness, Tone] = {"critical": Tone.BAD, "warning": Tone.WARN, "notice": Tone.PLAIN}
_INSIDE = HANGING + 7
_ROWS_OF_ONE = 5
"""Most rows that a finding usually takes."""
_ASIDES = regex(r" \([^()]*[A-Z]\w*/[^()]*\)|: \d+/\d+ nodes are available.*")
"""Workloads named in parentheses, and kube-scheduler's message."""


def view(report: Scorecard) -> View:
    lines = Sheet(
        title="Lines",
        columns=columns_of(ReportLine, "level", "area", "text", "extent", "since", "remedy", "command", "whom"),
        rows=report.lines,
        tone=lambda row: _TONES[row.level],
        noun="finding",
        drawn=partial(_line, report),
    )
    whole = View(
        **shared_fields(report),
        metrics=partial(_metrics, report),
        title=f"Report on {workloads_phrase(report, report.workloads)}, {count_of(report.nodes, 'node')}",
        sheets=[lines],
        tiles=[Tile(row.area, row.counts, _TONES[row.worst], row.area) for row in report.by_area],
        names=[*dict.fromkeys(name for line in report.lines for name in line.workloads)],
    )
    areas = [area.sentence for area in report.by_area]
    short = replace(whole, answer=[sentence for sentence in whole.answer if sentence not in areas])
    return replace(whole, picture=lambda look: screen(short if _is_short(report, look) else whole, look))


def _is_short(report: Scorecard, look: Look) -> bool:
    """True if a terminal has too few rows for all findings in full."""
    return look.rows is not None and look.rows < _ROWS_OF_ONE * len(report.lines)


def _line(report: Scorecard, line: ReportLine, look: Look) -> Iterator[Text]:
    """Show the line; below it the remedy that was tried, and the command that shows more."""
    is_short = _is_short(report, look)
    text = _ASIDES.sub("", line.text) if is_short else line.text
    since = f" (since {line.since})" if line.since else ""
    level = Cell(f"{line.level:8}", _TONES[line.level])
    yield fold(level, f" {text}{since}", hanging=_INSIDE)
    # The sentence of an audit contains its trial.
    if line.remedy is not None and not (is_short and line.question == Audit.name):
        yield fold(f"tried: {line.remedy}", indent=" " * _INSIDE, hanging=_INSIDE + 2)
    # Folded it could not be copied.
    if line.command and not is_short:
        yield [Cell(" " * _INSIDE + line.command, Tone.FAINT)]


def _metrics(report: Scorecard) -> Iterator[Metric]:
    number = {(area, level): 0 for area in report.opened or AREAS for level in LEVELS}
    for line in report.lines:
        number[line.area, line.level] += 1
    yield (
        "report_lines",
        "What is wrong or would be, by area and level.",
        [({"area": area, "level": level}, lines) for (area, level), lines in number.items()],
    )
    yield (
        "report_line_extent",
        "How many pods or nodes a line concerns, or by how much a skew exceeds maxSkew.",
        [({"area": line.area, "level": line.level, "key": line.key}, line.extent) for line in report.lines],
    )
