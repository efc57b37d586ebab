"""Promises, the broken ones first: what became of each, and the command that shows why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kubespread.kube.quantity import NANO, Quantity, parse, rounded
from kubespread.questions.verify.report import WORST_FIRST, Kept, VerifiedClause, VerifyReport
from kubespread.views.look import Cell, Line, Look, Tone
from kubespread.views.sheet import Column, Readers, Sheet
from kubespread.views.terminal import HANGING, folded
from kubespread.views.view import Chart, ChartRow, Tile, View, about
from kubespread.wording import count_of

_MAX_ROWS = 20
_TONES: dict[Kept, Tone] = {"broken": Tone.BAD, "unknown": Tone.WARN, "accepted": Tone.WARN, "held": Tone.GOOD}
_WIDTH = max(map(len, WORST_FIRST)) + 1
_COLUMNS: Sequence[Column[VerifiedClause]] = (
    Column("STATE", lambda row: row.state, tone=lambda row: _TONES[row.state]),
    Column("LINE", lambda row: row.line, is_number=True),
    Column("WHOSE", lambda row: row.called),
    Column("CLAUSE", lambda row: row.clause),
    Column("PROMISED", lambda row: row.promised),
    Column("MARGIN", lambda row: None if row.margin is None else f"{row.margin:.12g}", text=lambda row: _margin(row)),
    Column("SAYS", lambda row: row.says),
    Column("STEP", lambda row: row.step, Readers.SPREADSHEET),
    Column("UNTIL", lambda row: row.until, hides_empty=True),
    Column("REASON", lambda row: row.reason, hides_empty=True),
    Column("COMMAND", lambda row: row.command, is_command=True),
)


def _amount(row: VerifiedClause, number: float) -> str:
    """``3 pods``, ``48.8 %``, ``29Gi``: in the unit of what is promised."""
    if row.unit in ("pods", "replicas", "skew", "%"):
        return f"{number:,g} {row.unit}"
    promised = parse(row.promised.rpartition(" ")[2])
    return rounded(str(Quantity(round(number * NANO), promised.format)))


def _margin(row: VerifiedClause) -> str:
    """With its sign: how much more there is than is promised."""
    if row.margin is None:
        return ""
    if row.needed is None:
        return f"{row.margin:+.12g}"
    return f"{'-' if row.margin < 0 else '+'}{_amount(row, abs(row.margin))}"


def _chart(rows: Sequence[VerifiedClause]) -> Chart:
    """What there is of each thing that is promised beside the promise; of what is no number only whether it holds."""
    return Chart(
        "Promised and held",
        [*map(_bar, rows)],
        {Tone.GOOD: "held", Tone.WARN: "accepted, or not known", Tone.BAD: "broken"},
        "promised: at least so much, of a skew at most",
    )


def _bar(row: VerifiedClause) -> ChartRow:
    whose = row.called if row.workload is None else row.workload.without_kind
    name = f"{whose} · {row.clause} {row.promised}"
    if row.needed is None or row.margin is None:
        return ChartRow(name, [(_TONES[row.state], 1)], row.state, of=1)
    is_most = row.unit == "skew"
    held = max(0, row.needed + (-row.margin if is_most else row.margin))
    says = f"{_amount(row, held)}, promised {'at most ' if is_most else ''}{_amount(row, row.needed)}: {_margin(row)}"
    return ChartRow(name, [(_TONES[row.state], held)], says, row.needed, 1.1 * max(held, row.needed) or 1)


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
                most=_MAX_ROWS,
                noun="promise",
                drawn=_line,
            )
        ],
        remarks="among",
        charts=[_chart(rows)],
        tiles=[
            Tile(f"clauses {state}", f"{number:,}", _TONES[state] if number else Tone.PLAIN, state)
            for state in WORST_FIRST
            for number in [len(report.of(state))]
        ],
    )


def _line(row: VerifiedClause, _look: Look) -> Iterator[Line]:
    """What became of it; below it, where it does not hold, the command that shows more."""
    place, hanging = "" if row.line is None else f"line {row.line}: ", HANGING + _WIDTH
    state = Cell(f"{row.state:{_WIDTH}}", _TONES[row.state])
    yield folded(state, f" {place}{row.sentence}", hanging=hanging)
    if row.state != "held" and row.command:
        # Folded it could not be copied.
        yield [Cell(" " * (hanging + 1) + row.command, Tone.FAINT)]
