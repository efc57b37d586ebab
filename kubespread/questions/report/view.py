"""The lines of a report, the worst first, each with the command that shows more; the scores of its areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from msgspec.structs import replace

from kubespread.questions.report.areas import AREAS, Area
from kubespread.questions.report.report import LEVELS, AreaLines, AreaScore, Badness, ReportLine, Scorecard
from kubespread.reports.columns import Fit, Readers
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Sheet
from kubespread.views.terminal import HANGING, changed_rows, changes_sheet, folded
from kubespread.views.view import Chart, ChartRow, Metric, Tile, View, about, whose
from kubespread.wording import count_of

_MAX_LINES, _MAX_WORST = 20, 3
_TONES: dict[Badness, Tone] = {"critical": Tone.BAD, "warning": Tone.WARN, "notice": Tone.PLAIN}
_FROM_BEST = (Tone.PLAIN, Tone.GOOD, Tone.WARN, Tone.BAD)
_GOOD, _FAIR = 90, 60
_INSIDE = HANGING + 7


def _score_tone(row: AreaScore) -> Tone:
    if row.score is None:
        return Tone.PLAIN
    return Tone.GOOD if row.score >= _GOOD else Tone.WARN if row.score >= _FAIR else Tone.BAD


_AREAS: Sequence[Column[AreaScore]] = (
    Column("AREA", lambda row: row.area),
    Column("SCORE", lambda row: row.score, is_number=True, nothing="-", tone=_score_tone),
    Column("POINTS", lambda row: f"{row.points:,g} of {row.of:,}", fit=Fit.END),
    Column("COUNTED", lambda row: row.counted, fit=Fit.END, least=20),
)


_LINE: Sequence[Column[ReportLine]] = (
    Column("LEVEL", lambda row: row.level),
    Column("AREA", lambda row: row.area),
    Column("WHAT", lambda row: row.what),
    Column("EXTENT", lambda row: row.extent, is_number=True),
    Column("WHOM", lambda row: [*row.workloads, *row.nodes], Readers.PIPES),
    Column("SINCE", lambda row: row.since),
    Column("REMEDY", lambda row: row.remedy),
    Column("COMMAND", lambda row: row.command, is_command=True),
    Column("KEY", lambda row: row.key, Readers.SPREADSHEET),
)


def _tile_tone(row: AreaScore, lines: AreaLines | None) -> Tone:
    """No better than the worst of its lines: a full score beside a sentence that names one would say two things."""
    return max(_score_tone(row), Tone.PLAIN if lines is None else _TONES[lines.worst], key=_FROM_BEST.index)


def view(report: Scorecard) -> View:
    """Lines first: they are the answer."""
    lines_of = {row.area: row for row in report.by_area}
    lines = Sheet(
        title="Lines",
        columns=_LINE,
        rows=report.lines,
        tone=lambda row: _TONES[row.level],
        is_answer=True,
        is_first=True,
        most=_MAX_LINES,
        noun="finding",
        drawn=_line,
    )
    return View(
        **about(report),
        metrics=partial(_metrics, report),
        title=f"Report on {whose(report, report.workloads)}, {count_of(report.nodes, 'node')}",
        sheets=[
            lines,
            Sheet(title="Scores", columns=_AREAS, rows=report.areas, tone=_score_tone, readers=Readers.PAGES),
            *([] if report.since is None else [changes_sheet("Since then", report.since.changes)]),
        ],
        parts=lambda look: _parts(report, lines, look),
        remarks="among",
        tiles=[
            Tile(
                row.area,
                "–" if row.score is None else f"{row.score}",
                _tile_tone(row, lines),
                row.area,
                says="" if lines is None else lines.counts,
            )
            for row in report.areas
            for lines in [lines_of.get(row.area)]
        ],
        charts=[
            Chart(
                "Scores of 100",
                [
                    ChartRow(
                        row.area,
                        [(_tile_tone(row, lines_of.get(row.area)), row.score)],
                        f"{row.score}: {row.what}",
                        of=100,
                    )
                    for row in report.areas
                    if row.score is not None
                ],
                {Tone.GOOD: "good", Tone.WARN: "with warnings", Tone.BAD: "critical, or a low score"},
            )
        ],
        names=[*dict.fromkeys(name for line in report.lines for name in line.workloads)],
    )


def _parts(report: Scorecard, lines: Sheet[ReportLine], look: Look) -> Iterator[Sheet[Any] | Line]:
    """The areas with their scores, and the worst lines; every line of what was asked for, or in full. What differs
    from an earlier report comes last.
    """
    scores = {area.area: area for area in report.areas}
    summed = {area.area: area for area in report.by_area}
    for area in report.opened or AREAS:
        if report.opened or area in scores or area in summed:
            yield _of_area(area, scores.get(area), summed.get(area))
    is_open = look.in_full or report.opened or report.asked
    shown = report.lines if is_open else report.lines[:_MAX_WORST]
    yield replace(lines, rows=shown)
    if more := len(report.lines) - len(shown):
        yield [Cell(f"  {count_of(more, 'more line')}: name an area or a workload, or -v for all", Tone.FAINT)]
    if report.since is not None:
        yield changed_rows(report.since.changes)


def _of_area(area: Area, score: AreaScore | None, summed: AreaLines | None) -> Line:
    """``running   83  36 of 43 desired pods are ready; 2 critical: pods pending: shop/Deployment/web``."""
    number = "-" if score is None or score.score is None else f"{score.score}"
    tone = Tone.PLAIN if score is None else _score_tone(score)
    cells = [] if score is None else [score.what]
    if score is None and summed is None:
        cells.append("nothing is wrong")
    if summed is not None:
        cells.append(f"{'; ' if cells else ''}{summed.counts}: {summed.what}")
    return folded(f"{area:8}", Cell(f"{number:>4}", tone), "  ", *cells, hanging=HANGING + 12)


def _line(line: ReportLine, _look: Look) -> Iterator[Line]:
    """What it is; below it the remedy that was tried, and the command that shows more."""
    since = f" (since {line.since})" if line.since else ""
    level = Cell(f"{line.level:8}", _TONES[line.level])
    yield folded(level, f" {line.what}{since}", hanging=_INSIDE)
    if line.remedy is not None:
        yield folded(f"tried: {line.remedy}", indent=" " * _INSIDE, hanging=_INSIDE + 2)
    # Folded it could not be copied.
    if line.command:
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
        "How many pods or nodes a line concerns, by how much a skew exceeds maxSkew, or percent of what is free.",
        [({"area": line.area, "level": line.level, "key": line.key}, line.extent) for line in report.lines],
    )
    yield (
        "report_score",
        "Out of 100, by what pods do and not by what manifests ask for.",
        [({"area": area.area}, area.score) for area in report.areas if area.score is not None],
    )
