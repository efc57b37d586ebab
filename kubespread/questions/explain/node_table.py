"""One row per node, as wide as the terminal allows: verdict, arithmetic and reasons are shortened last."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial

from kubespread.escaping import escaped
from kubespread.questions.explain.forms import SEPARATOR, Form, constraint_header, cut_items, domain_cell, fullest
from kubespread.questions.explain.rows import Rows
from kubespread.views.arithmetic import SKEW, TIGHT, Spelling, score_steps
from kubespread.views.layout import BAD, GOOD, Cell, Column, Line, cell, cut_end, tabulated, width_of
from kubespread.views.look import Look
from kubespread.views.names import told_apart
from kubespread.wording import short_key

_FORMS = (
    Form(gap=3, full_reasons=True),
    Form(gap=3),
    Form(),
    Form(name=32),
    Form(name=32, domains=False),
    Form(name=24, domains=False),
    Form(name=24, domains=False, score=False),
    Form(name=20, domains=False, score=False, spelling=TIGHT),
    Form(name=16, domains=False, score=False, spelling=TIGHT),
    Form(name=16, domains=False, score=False, spelling=SKEW),
    Form(name=12, domains=False, score=False, spelling=SKEW),
    Form(gap=1, name=8, domains=False, score=False, spelling=SKEW),
)


def node_table(rows: Rows, suffix: str, look: Look) -> Iterator[Line]:
    """The rows in the fullest form that fits; ``suffix`` is what all names end in and the title says.

    Nothing is shortened where the columns of the score plugins are requested.
    """
    made = _Columns(rows, suffix)
    width = None if look.wide else look.width
    columns, gap, room = fullest(_FORMS, width, partial(made.of, wide=look.wide))
    if room is not None:
        columns[-1] = _within(rows, columns[-1], room)
    if all(row.node.feasible for row in rows.rows):
        # Reasons are left out.
        columns.pop()
    yield from tabulated(columns, gap, headers=look.headers)


class _Columns:
    """The columns of some rows, each made once for all forms that share it."""

    def __init__(self, rows: Rows, suffix: str) -> None:
        self._rows = rows
        self._names = cache(partial(_names, rows, suffix))
        self._domains = cache(partial(_domains, rows))
        self._arithmetic = cache(partial(_arithmetic, rows))
        self._reasons = cache(partial(_reasons, rows))
        self._fits = Column("FITS", [_FITS if row.node.feasible else _FAILS for row in rows.rows])
        totals = ["" if row.node.total is None else str(row.node.total) for row in rows.rows]
        self._score = Column("SCORE", list(map(Cell, totals)), is_number=True)
        self._is_scored = any(totals)

    def of(self, form: Form, *, wide: bool) -> list[Column]:
        """Name, domains, verdict, arithmetic, plugins' scores if ``wide``, score, and the reasons last."""
        return [
            self._names(form.name),
            *(self._domains(form.name) if form.domains else ()),
            self._fits,
            *self._arithmetic(form.spelling),
            *(_plugin_scores(self._rows) if wide else ()),
            *([self._score] if form.full_reasons or (form.score and self._is_scored) else ()),
            self._reasons(form.full_reasons),
        ]


def _names(rows: Rows, suffix: str, width: int | None) -> Column:
    safe = [escaped(row.node.name.removesuffix(suffix)) for row in rows.rows]
    return Column("NODE", list(map(Cell, safe if width is None else told_apart(safe, width))))


def _domains(rows: Rows, width: int | None) -> list[Column]:
    return [
        Column(escaped(short_key(key).upper()), [domain_cell(row.domains[place], width) for row in rows.rows])
        for place, key in enumerate(rows.domains)
    ]


def _arithmetic(rows: Rows, spelling: Spelling) -> list[Column]:
    return [
        Column(
            constraint_header(place, constraint.topology_key, spelling),
            [
                Cell(term.text(spelling), BAD if term.rejects else "")
                for term in (row.arithmetic[place] for row in rows.rows)
            ],
        )
        for place, constraint in enumerate(rows.arithmetic)
    ]


def _plugin_scores(rows: Rows) -> list[Column]:
    return [
        Column(plugin, [Cell(score_steps(detail) if detail else "") for detail in details], is_number=True)
        for plugin, details in zip(rows.scores, zip(*(row.scores for row in rows.rows), strict=True), strict=True)
    ]


def _reasons(rows: Rows, full: bool) -> Column:
    texts = (row.with_numbers if full else SEPARATOR.join(row.short_reasons) for row in rows.rows)
    return Column("WHY NOT", list(map(cell, texts)))


_FITS, _FAILS = Cell("yes", GOOD), Cell("no", BAD)


def _within(rows: Rows, reasons: Column, width: int) -> Column:
    """The reasons; one word each where there is no room for numbers."""
    cells = [
        reason if width_of(reason.text) <= width else Cell(cut_items(row.short_names, width))
        for row, reason in zip(rows.rows, reasons.cells, strict=True)
    ]
    return Column(cut_end(reasons.header, width), cells)
