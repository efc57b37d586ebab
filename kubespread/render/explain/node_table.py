"""A row a node, as wide as the terminal lets it be: verdict, arithmetic and reasons are the last to suffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from kubespread.escaping import escaped
from kubespread.render.aligned import EMPTY
from kubespread.render.arithmetic import PRETTY, SKEW, TIGHT, Spelling, letter, score_steps, short_key
from kubespread.render.explain.rows import Rows
from kubespread.render.layout import (
    BAD,
    GOOD,
    Cell,
    Column,
    Line,
    cell,
    cut_end,
    cut_middle,
    tabulated,
    width_of,
)
from kubespread.render.look import Look

SEPARATOR = " · "
_LEAST_REASONS = 24


@dataclass(frozen=True, slots=True)
class _Form:
    """What a row gives up for a narrower terminal."""

    gap: int = 2
    name: int | None = None
    """The most columns a node's name or a domain's takes."""
    domains: bool = True
    score: bool = True
    spelling: Spelling = PRETTY
    full_reasons: bool = False


_FORMS = (
    _Form(gap=3, full_reasons=True),
    _Form(gap=3),
    _Form(),
    _Form(name=32),
    _Form(name=32, domains=False),
    _Form(name=24, domains=False),
    _Form(name=24, domains=False, score=False),
    _Form(name=20, domains=False, score=False, spelling=TIGHT),
    _Form(name=16, domains=False, score=False, spelling=TIGHT),
    _Form(name=16, domains=False, score=False, spelling=SKEW),
    _Form(name=12, domains=False, score=False, spelling=SKEW),
    _Form(gap=1, name=8, domains=False, score=False, spelling=SKEW),
)


def node_table(rows: Rows, suffix: str, look: Look) -> Iterator[Line]:
    """The rows in the fullest form that fits; ``suffix`` is what all names end in and the title says.

    With the columns of the score plugins, which are asked for, nothing is shortened.
    """
    width = None if look.wide else look.width
    made = _Columns(rows, suffix)
    columns, form = list[Column](), _FORMS[0]
    for form in _FORMS:
        columns = made.of(form, wide=look.wide)
        if width is None or _taken(columns, form) + _least_reasons(columns[-1], form, width) <= width:
            break
    if width is not None:
        columns[-1] = _within(rows, columns[-1], max(_LEAST_REASONS // 2, width - _taken(columns, form)))
    yield from tabulated(columns, form.gap, headers=look.headers)


def _taken(columns: Sequence[Column], form: _Form) -> int:
    """The width of all columns but the last, the indent and the gaps included."""
    return 2 + sum(column.width + form.gap for column in columns[:-1])


def _least_reasons(reasons: Column, form: _Form, width: int) -> int:
    return reasons.width if form.full_reasons else min(reasons.width, max(_LEAST_REASONS, width // 3))


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

    def of(self, form: _Form, *, wide: bool) -> list[Column]:
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
    safe = (escaped(row.node.name.removesuffix(suffix)) for row in rows.rows)
    return Column("NODE", [Cell(name if width is None else cut_middle(name, width)) for name in safe])


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
                Cell(each.text(spelling), BAD if each.rejects else "")
                for each in (row.arithmetic[place] for row in rows.rows)
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


def domain_cell(domain: str | None, width: int | None) -> Cell:
    safe = cell("" if domain is None else domain or EMPTY)
    return safe if width is None else Cell(cut_middle(safe.text, width))


def constraint_header(position: int, topology_key: str, spelling: Spelling) -> str:
    """``A zone``; the letter alone where there is no room, and never more than the formula below it needs."""
    if spelling.skew_only:
        return letter(position)
    return cut_end(cell(f"{letter(position)} {short_key(topology_key)}").text, 14)


def _within(rows: Rows, reasons: Column, width: int) -> Column:
    """The reasons, in a word each where there is no room for their numbers."""
    cells = [
        each if width_of(each.text) <= width else Cell(cut_items(cell(SEPARATOR.join(row.short_names)).text, width))
        for row, each in zip(rows.rows, reasons.cells, strict=True)
    ]
    return Column(cut_end(reasons.header, width), cells)


def cut_items(text: str, width: int) -> str:
    """As many of the items of ``text`` as fit, and the number of the others; the first one at any rate."""
    if width_of(text) <= width:
        return text
    items = text.split(SEPARATOR)
    for kept in range(len(items) - 1, 0, -1):
        shorter = f"{SEPARATOR.join(items[:kept])} +{len(items) - kept}"
        if width_of(shorter) <= width:
            return shorter
    more = f" +{len(items) - 1}" if len(items) > 1 else ""
    return f"{cut_end(items[0], width - len(more))}{more}"
