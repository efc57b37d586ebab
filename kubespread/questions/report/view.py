"""The lines of a report, the worst first, each with the command that shows more; the scores of its areas."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from kubespread.questions.report.areas import AREAS
from kubespread.questions.report.report import LEVELS, AreaLines, AreaScore, Badness, ReportLine, Scorecard
from kubespread.reports.columns import Readers
from kubespread.views.look import Cell, Look, Text, Tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.terminal import HANGING, folded
from kubespread.views.view import Metric, Tile, View, about, figures, whose
from kubespread.wording import count_of

_TONES: dict[Badness, Tone] = {"critical": Tone.BAD, "warning": Tone.WARN, "notice": Tone.PLAIN}
_FROM_BEST = (Tone.PLAIN, Tone.GOOD, Tone.WARN, Tone.BAD)
_GOOD, _FAIR = 90, 60
_INSIDE = HANGING + 7


def _score_tone(row: AreaScore) -> Tone:
    if row.score is None:
        return Tone.PLAIN
    return Tone.GOOD if row.score >= _GOOD else Tone.WARN if row.score >= _FAIR else Tone.BAD


def _tile_tone(row: AreaScore, lines: AreaLines | None) -> Tone:
    """No better than the worst of its lines: a full score beside a sentence that names one would say two things."""
    return max(_score_tone(row), Tone.PLAIN if lines is None else _TONES[lines.worst], key=_FROM_BEST.index)


def view(report: Scorecard) -> View:
    """Lines first: they are the answer."""
    lines_of = {row.area: row for row in report.by_area}
    lines = Sheet(
        title="Lines",
        columns=columns_of(ReportLine, "level", "area", "what", "extent", "whom", "since", "remedy", "command"),
        rows=report.lines,
        tone=lambda row: _TONES[row.level],
        noun="finding",
        drawn=_line,
    )
    return View(
        **about(report),
        metrics=partial(_metrics, report),
        title=f"Report on {whose(report, report.workloads)}, {count_of(report.nodes, 'node')}",
        sheets=[
            lines,
            Sheet(
                title="Scores",
                columns=columns_of(AreaScore),
                rows=report.areas,
                tone=_score_tone,
                readers=Readers.TERMINAL | Readers.PAGES,
                noun="area",
            ),
        ],
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
        names=[*dict.fromkeys(name for line in report.lines for name in line.workloads)],
    )


def _line(line: ReportLine, _look: Look) -> Iterator[Text]:
    """Show the line; below it the remedy that was tried, and the command that shows more."""
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
    yield from figures("report", AreaScore, [area for area in report.areas if area.score is not None])
