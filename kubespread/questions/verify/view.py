"""Promises, the broken ones first: what became of each, and the command that shows why."""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.questions.verify import WORST_FIRST, Kept, VerifiedClause, VerifyReport
from kubespread.views.look import Cell, Look, Text, Tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.terminal import HANGING, fold
from kubespread.views.view import View, frame_of
from kubespread.wording import count_of

_TONES: dict[Kept, Tone] = {"broken": Tone.BAD, "unknown": Tone.WARN, "accepted": Tone.WARN, "held": Tone.GOOD}
_WIDTH = max(map(len, WORST_FIRST)) + 1


def view(report: VerifyReport) -> View:
    """The broken ones first: they are the answer."""
    sheet = Sheet(
        title="Promises",
        columns=columns_of(
            VerifiedClause, "state", "line", "called", "clause", "promised", "margin", "says", "command"
        ),
        rows=report.in_states(*WORST_FIRST),
        tone=lambda row: _TONES[row.state],
        noun="promise",
        drawn=_line,
    )
    title = f"Verifying {count_of(len(report.clauses), 'promise')}{f' of {report.file}' if report.file else ''}"
    facts = frame_of(report)
    facts["answer"] = report.statements[:1]
    return View(**facts, title=title, sheets=[sheet])


def _line(row: VerifiedClause, _look: Look) -> Iterator[Text]:
    """Show the outcome; below it, where it does not hold, the command that shows more."""
    place, hanging = "" if row.line is None else f"line {row.line}: ", HANGING + _WIDTH
    state = Cell(f"{row.state:{_WIDTH}}", _TONES[row.state])
    yield fold(state, f" {place}{row.sentence}", hanging=hanging)
    if row.state != "held" and row.command:
        # Folded it could not be copied.
        yield [Cell(" " * (hanging + 1) + row.command, Tone.FAINT)]
