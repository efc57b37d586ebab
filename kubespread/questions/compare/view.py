"""A comparison: how the two questions differ, and the rows that do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import groupby

from kubespread.questions.compare import CellChange, CompareReport
from kubespread.reports.columns import Readers
from kubespread.views.look import Cell, Look, Sentence, Tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.terminal import fold
from kubespread.views.view import TONES, View, cluster_phrase, side_notes
from kubespread.wording import count_of

_MAX_CELLS = 5


def view(report: CompareReport) -> View:
    sides = report.before, report.after
    clusters = dict.fromkeys(phrase for side in sides if (phrase := cluster_phrase(side.cluster)))
    worse = frozenset(report.worse)

    def tone(change: CellChange) -> Tone:
        return Tone.BAD if change in worse else Tone.PLAIN

    rows = [tuple(row) for _, row in groupby(report.changes, lambda change: change.key)]
    return View(
        title="Before → after",
        provenance=" · ".join(filter(None, (" → ".join(clusters), report.manner))),
        answer=report.statements,
        tone=TONES[report.verdict],
        sheets=[
            Sheet(
                title="Changes",
                columns=columns_of(CellChange, "key", "column", "values", "before", "after"),
                rows=report.changes,
                tone=tone,
                readers=Readers.RECORDS,
            )
        ],
        names=[*dict.fromkeys(change.key for change in report.changes)],
        parts=lambda _: [Sheet(title="", columns=(), rows=rows, drawn=partial(_line, tone))],
        beside=side_notes(sides),
    )


def _line(tone: Callable[[CellChange], Tone], row: Sequence[CellChange], look: Look) -> Iterator[Sentence]:
    """``shop/Deployment/api  placed 3 → 2 · pending 0 → 1``."""
    shown = row if look.in_full else row[:_MAX_CELLS]
    cells = (Cell(f"{'  ' if change is row[0] else ' · '}{change.cell}", tone(change)) for change in shown)
    more = f" · {count_of(len(row) - len(shown), 'more change')}" if len(row) > len(shown) else ""
    yield fold(Cell(row[0].key, Tone.STRONG), *cells, more)
