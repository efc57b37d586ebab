"""Promises, the broken ones first: what became of each, and the command that shows why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.escaping import escaped
from kubespread.questions.verify.report import WORST_FIRST, Kept, VerifiedClause, VerifyReport
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
from kubespread.views.sheet import Column, Readers, Sheet, Tone
from kubespread.views.view import Tile, View, about
from kubespread.wording import count_of

_MAX_HELD = 20
_TONES: dict[Kept, Tone] = {
    "broken": Tone.BAD, "unknown": Tone.WARN, "accepted": Tone.WARN, "held": Tone.GOOD,
}  # fmt: skip
_STYLES: dict[Kept, str] = {"broken": BAD, "unknown": WARNED, "accepted": WARNED, "held": GOOD}
_WIDTH = max(map(len, WORST_FIRST)) + 1
_COLUMNS: Sequence[Column[VerifiedClause]] = (
    Column(header="STATE", value=lambda row: row.state, tone=lambda row: _TONES[row.state]),
    Column(header="LINE", value=lambda row: row.line, is_number=True),
    Column(header="WHOSE", value=lambda row: row.called),
    Column(header="CLAUSE", value=lambda row: row.clause),
    Column(header="PROMISED", value=lambda row: row.promised),
    Column(header="MARGIN", value=lambda row: None if row.margin is None else f"{row.margin:.12g}"),
    Column(header="SAYS", value=lambda row: row.says),
    Column(header="STEP", value=lambda row: row.step, readers=Readers.SPREADSHEET),
    Column(header="UNTIL", value=lambda row: row.until, hides_empty=True),
    Column(header="REASON", value=lambda row: row.reason, hides_empty=True),
    Column(header="COMMAND", value=lambda row: row.command, is_command=True),
)


def view(report: VerifyReport) -> View:
    """The broken ones first: they are the answer."""
    rows = report.of(*WORST_FIRST)
    return View(
        **about(report),
        title=f"Verifying {count_of(report.promises, 'promise')}{f' of {report.file}' if report.file else ''}",
        sheets=[
            Sheet(
                title="Promises",
                columns=_COLUMNS,
                rows=rows,
                tone=lambda row: _TONES[row.state],
                is_answer=True,
                is_first=True,
            )
        ],
        tiles=[
            Tile(
                f"clauses {state}",
                f"{len(report.of(state)):,}",
                _TONES[state] if report.of(state) else Tone.PLAIN,
                state,
            )
            for state in WORST_FIRST
        ],
        lines=lambda look: _lines(report, rows, look),
    )


def _lines(report: VerifyReport, rows: Sequence[VerifiedClause], look: Look) -> Iterator[Line]:
    yield from headline(view(report).title, report, look)
    yield from answered(report.answer, look)
    held = [row for row in rows if row.state == "held"]
    hidden = 0 if look.in_full else max(0, len(held) - _MAX_HELD)
    for row in rows[: len(rows) - hidden]:
        yield from _line(row, look)
    yield from left_out(hidden, "line", ": held")


def _line(row: VerifiedClause, look: Look) -> Iterator[Line]:
    """What became of it; below it, where it does not hold, the command that shows more."""
    place = "" if row.line is None else f"line {row.line}: "
    text = Cell(f" {place}{escaped(row.sentence)}")
    indent = HANGING + _WIDTH
    yield from wrapped([Cell(f"{INDENT}{row.state:{_WIDTH}}", _STYLES[row.state]), text], look.width, indent)
    if row.state != "held":
        # Folded it could not be copied.
        yield [Cell(" " * (indent + 1)), cell(row.command, DIM)]
