"""The lines of a report, the worst first, each with the command that shows more; the scores of its areas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.questions.report.report import AreaScore, Badness, ReportLine, Scorecard
from kubespread.views.layout import (
    BAD,
    DIM,
    GOOD,
    HANGING,
    INDENT,
    WARNED,
    Cell,
    Line,
    answered,
    cell,
    headline,
    left_out,
    wrapped,
)
from kubespread.views.look import Look
from kubespread.views.phrases import whose
from kubespread.views.sheet import Column, Fit, Readers, Sheet, Tone
from kubespread.views.view import Tile, View, about
from kubespread.wording import count_of

_MAX_LINES, _MAX_NAMED = 20, 3
_TONES: dict[Badness, Tone] = {"critical": Tone.BAD, "warning": Tone.WARN, "notice": Tone.PLAIN}
_GOOD, _FAIR = 90, 60


def _score_tone(row: AreaScore) -> Tone:
    if row.score is None:
        return Tone.PLAIN
    return Tone.GOOD if row.score >= _GOOD else Tone.WARN if row.score >= _FAIR else Tone.BAD


_AREAS: Sequence[Column[AreaScore]] = (
    Column(header="AREA", value=lambda row: row.area),
    Column(header="SCORE", value=lambda row: row.score, is_number=True, nothing="-", tone=_score_tone),
    Column(header="POINTS", value=lambda row: f"{row.points:,g} of {row.of:,}", fit=Fit.END),
    Column(header="COUNTED", value=lambda row: row.counted, fit=Fit.END, least=20),
)


def _change(line: ReportLine) -> str:
    """``worse: 3, was 2``."""
    if line.change in (None, "new", "same"):
        return line.change or ""
    if line.level_before != line.level:
        return f"{line.change}: was {line.level_before}"
    return f"{line.change}: {line.extent:,}, was {line.extent_before:,}"


_LINE: Sequence[Column[ReportLine]] = (
    Column(header="LEVEL", value=lambda row: row.level),
    Column(header="AREA", value=lambda row: row.area),
    Column(header="WHAT", value=lambda row: row.what),
    Column(header="CHANGE", value=_change, hides_empty=True),
    Column(header="EXTENT", value=lambda row: row.extent, is_number=True),
    Column(header="WHOM", value=lambda row: [*row.workloads, *row.nodes], readers=Readers.PIPES),
    Column(header="SINCE", value=lambda row: row.since),
    Column(header="REMEDY", value=lambda row: row.remedy),
    Column(header="COMMAND", value=lambda row: row.command, is_command=True),
    Column(header="KEY", value=lambda row: row.key, readers=Readers.SPREADSHEET),
)


def view(report: Scorecard) -> View:
    """Lines first: they are the answer."""
    return View(
        **about(report),
        title=f"Report on {whose(report, report.workloads)}, {count_of(report.nodes, 'node')}",
        sheets=[
            Sheet(
                title="Lines", columns=_LINE, rows=report.lines, tone=lambda row: _TONES[row.level], is_answer=True,
                is_first=True,
            ),
            Sheet(title="Scores", columns=_AREAS, rows=report.areas, tone=_score_tone, readers=Readers.PAGES),
        ],
        lines=lambda look: _lines(report, look),
        tiles=[
            Tile(
                row.area, "–" if row.score is None else f"{row.score}", _score_tone(row), row.area,
                says=f"{row.points:,g} of {row.of:,} {row.counted}",
            )
            for row in report.areas
        ],
        names=[*dict.fromkeys(name for line in report.lines for name in line.workloads)],
    )  # fmt: skip


def _lines(report: Scorecard, look: Look) -> Iterator[Line]:
    yield from headline(view(report).title, report, look)
    yield from answered(report.answer, look)
    for summed in report.by_area:
        counts = Cell(f" {summed.counts}:", _STYLES[summed.worst])
        what = Cell(f" {escaped(summed.what)}")
        yield from wrapped([Cell(f"{INDENT}{summed.area:8}"), counts, what], look.width, HANGING + 7)
    shown = report.lines if look.in_full else report.lines[:_MAX_LINES]
    for line in shown:
        yield from _line(line, look)
    yield from left_out(len(report.lines) - len(shown), "line")
    for gone in () if report.since is None else report.since.gone:
        yield from wrapped(
            [Cell(f"{INDENT}{'gone':8}", DIM), Cell(f" {escaped(gone.what)}", DIM)], look.width, HANGING + 7
        )
    for area in report.areas:
        yield from _scored(area, look)


def _scored(area: AreaScore, look: Look) -> Iterator[Line]:
    """``running   83  36 of 43 desired pods are ready``."""
    score = "-" if area.score is None else f"{area.score}"
    was = "" if area.score_before in (None, area.score) else f" (was {area.score_before})"
    style = {Tone.GOOD: GOOD, Tone.WARN: WARNED, Tone.BAD: BAD}.get(_score_tone(area), "")
    said = Cell(f"  {area.points:,g} of {area.of:,} {area.counted}{was}")
    yield from wrapped([Cell(f"{INDENT}{area.area:8}"), Cell(f"{score:>4}", style), said], look.width, HANGING + 12)


_STYLES: dict[Badness, str] = {"critical": BAD, "warning": WARNED, "notice": ""}


def _line(line: ReportLine, look: Look) -> Iterator[Line]:
    """What it is; below it the remedy that was tried, and the command that shows more."""
    since = f" (since {line.since})" if line.since else ""
    change = "" if line.change in (None, "same") else f" [{_change(line)}]"
    text = Cell(f"{change} {escaped(line.what)}{since}")
    yield from wrapped([Cell(f"{INDENT}{line.level:8}", _STYLES[line.level]), text], look.width, HANGING + 7)
    indent = " " * (HANGING + 7)
    if line.remedy is not None:
        yield from wrapped([Cell(f"{indent}tried: {escaped(line.remedy)}")], look.width, HANGING + 9)
    # Folded it could not be copied.
    yield [Cell(indent), cell(line.command, DIM)]
