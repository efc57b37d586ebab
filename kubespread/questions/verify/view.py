"""Promises, the broken ones first, each with its outcome and the command that shows why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec.structs import replace

from kubespread.questions.verify import WORST_FIRST, ClauseState, VerifiedClause, VerifyReport
from kubespread.views.look import Cell, Look, Rows, Text, Tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.terminal import HANGING, fold, height_of, of_sheet, whole
from kubespread.views.view import View, shared_fields
from kubespread.wording import count_of

_TONES: dict[ClauseState, Tone] = {"broken": Tone.BAD, "unknown": Tone.WARN, "accepted": Tone.WARN, "held": Tone.GOOD}
_WIDTH = max(map(len, WORST_FIRST)) + 1
_BESIDE = 5
"""Number of lines for all but the broken promises: the answer, its subject, the next command and omissions."""


def view(report: VerifyReport) -> View:
    sheet = Sheet(
        title="Promises",
        columns=columns_of(
            VerifiedClause, "state", "line", "called", "clause", "promised", "margin", "says", "command"
        ),
        rows=report.in_states(*WORST_FIRST),
        tone=lambda row: _TONES[row.state],
        noun="promise",
    )
    title = f"Verifying {count_of(len(report.clauses), 'promise')}{f' of {report.file}' if report.file else ''}"
    facts = shared_fields(report)
    facts["answer"] = report.statements[:1]
    return View(**facts, title=title, sheets=[sheet], parts=partial(_parts, report, sheet))


def _parts(report: VerifyReport, sheet: Sheet[VerifiedClause], look: Look) -> Iterator[Rows]:
    """The broken ones, with as many of their outcomes as leave room for all of them, then the others."""
    if broken := report.in_states("broken"):
        most = min(len(broken), look.rows or 0)
        for in_full, commands in (broken, broken), *((broken[:number], []) for number in range(most, -1, -1)):
            drawn = partial(_line, in_full, commands)
            part = of_sheet(replace(sheet, rows=broken, noun="broken promise", drawn=drawn), look)
            room = None if look.rows is None else look.rows - _BESIDE
            if look.width is None or room is None or height_of(whole([part], look.width), look.width) <= room:
                break
        yield part
    if others := report.in_states(*WORST_FIRST[1:]):
        yield of_sheet(replace(sheet, rows=others, drawn=partial(_line, others, others)), look)


def _line(
    in_full: Sequence[VerifiedClause], commands: Sequence[VerifiedClause], row: VerifiedClause, _look: Look
) -> Iterator[Text]:
    """Show the promise, with its outcome if ``in_full``; below it, if it does not hold, the command that shows more."""
    place, hanging = "" if row.line is None else f"line {row.line}: ", HANGING + _WIDTH
    state = Cell(f"{row.state:{_WIDTH}}", _TONES[row.state])
    text = row.sentence if row in in_full else row.promise
    yield fold(state, f" {place}{text}", hanging=hanging)
    if row.state != "held" and row.command and row in commands:
        # Folded it could not be copied.
        yield [Cell(" " * (hanging + 1) + row.command, Tone.FAINT)]
