"""One row per node, as wide as the terminal allows: verdict, arithmetic and reasons are shortened last.

What rows give up on narrower terminals: blanks, names, columns, and finally the formula's spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from msgspec import Struct

from kubespread.escaping import escaped
from kubespread.questions.explain.rows import Rows
from kubespread.reports.parts import letter
from kubespread.views.constraints import PRETTY, SKEW, TIGHT, Spelling, score_steps
from kubespread.views.layout import Cell, Laid, Line, cut_end, cut_middle, tabulated, told_apart, width_of
from kubespread.views.look import Look, Tone
from kubespread.wording import EMPTY, short_key

SEPARATOR = " · "
"""Between the reasons of a row."""
_LEAST_REASONS = 20
_LONGEST_HEADER = 14


class Form(Struct, frozen=True):
    gap: int = 2
    name: int | None = None
    """The most columns a node's name or a domain's takes."""
    domains: bool = True
    score: bool = True
    pods: bool = True
    spelling: Spelling = PRETTY
    full_reasons: bool = False


def fullest(
    forms: Sequence[Form], width: int | None, columns_of: Callable[[Form], list[Laid]]
) -> tuple[list[Laid], int, int | None]:
    """The columns of the first of ``forms`` that fits, the gap between them, and the width of the last one, the
    reasons.

    Reasons may take up to two fifths of the terminal if the formula keeps its room.
    """
    if width is None:
        return columns_of(forms[0]), forms[0].gap, None
    columns, gap, room = list[Laid](), 1, 0
    for form, least in _attempts(forms, width):
        columns, gap = columns_of(form), form.gap
        room = width - 2 - sum(column.width + gap for column in columns[:-1])
        if (columns[-1].width if form.full_reasons else min(columns[-1].width, least)) <= room:
            break
    return columns, gap, max(1, room)


def _attempts(forms: Sequence[Form], width: int) -> Iterator[tuple[Form, int]]:
    spelled_out = [form for form in forms if not form.spelling.skew_only]
    ample = max(_LEAST_REASONS, 2 * width // 5)
    yield from ((form, ample) for form in spelled_out)
    yield from ((form, _LEAST_REASONS) for form in spelled_out)
    yield from ((form, _LEAST_REASONS) for form in forms if form.spelling.skew_only)


def domain_cell(domain: str | None, width: int | None) -> Cell:
    safe = Cell("" if domain is None else domain or EMPTY)
    return safe if width is None else Cell(cut_middle(safe.text, width))


def constraint_header(position: int, topology_key: str, spelling: Spelling) -> str:
    """``A zone``, not much longer than the formula below it; just the letter where there is no room."""
    if spelling.skew_only:
        return letter(position)
    return cut_end(Cell(f"{letter(position)} {short_key(topology_key)}").text, _LONGEST_HEADER)


def cut_items(items: Sequence[str], width: int) -> str:
    """As many of ``items`` as fit, at least one, and the number of the others."""
    items = [escaped(item) for item in items]
    if width_of(whole := SEPARATOR.join(items)) <= width:
        return whole
    for kept in range(len(items) - 1, 0, -1):
        shorter = f"{SEPARATOR.join(items[:kept])} +{len(items) - kept}"
        if width_of(shorter) <= width:
            return shorter
    more = f" +{len(items) - 1}" if len(items) > 1 else ""
    return f"{cut_end(items[0], max(1, width - len(more)))}{more}"


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
        self._fits = Laid("FITS", [_FITS if row.node.feasible else _FAILS for row in rows.rows])
        totals = ["" if row.node.total is None else str(row.node.total) for row in rows.rows]
        self._score = Laid("SCORE", list(map(Cell, totals)), is_number=True)
        self._is_scored = any(totals)

    def of(self, form: Form, *, wide: bool) -> list[Laid]:
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


def _names(rows: Rows, suffix: str, width: int | None) -> Laid:
    safe = [escaped(row.node.name.removesuffix(suffix)) for row in rows.rows]
    return Laid("NODE", list(map(Cell, safe if width is None else told_apart(safe, width))))


def _domains(rows: Rows, width: int | None) -> list[Laid]:
    return [
        Laid(escaped(short_key(key).upper()), [domain_cell(row.domains[place], width) for row in rows.rows])
        for place, key in enumerate(rows.domains)
    ]


def _arithmetic(rows: Rows, spelling: Spelling) -> list[Laid]:
    return [
        Laid(
            constraint_header(place, constraint.topology_key, spelling),
            [
                Cell(term.text(spelling), Tone.BAD if term.rejects else Tone.PLAIN)
                for term in (row.arithmetic[place] for row in rows.rows)
            ],
        )
        for place, constraint in enumerate(rows.arithmetic)
    ]


def _plugin_scores(rows: Rows) -> list[Laid]:
    return [
        Laid(plugin, [Cell(score_steps(detail) if detail else "") for detail in details], is_number=True)
        for plugin, details in zip(rows.scores, zip(*(row.scores for row in rows.rows), strict=True), strict=True)
    ]


def _reasons(rows: Rows, full: bool) -> Laid:
    texts = (row.with_numbers if full else SEPARATOR.join(row.short_reasons) for row in rows.rows)
    return Laid("WHY NOT", texts)


_FITS, _FAILS = Cell("yes", Tone.GOOD), Cell("no", Tone.BAD)


def _within(rows: Rows, reasons: Laid, width: int) -> Laid:
    """The reasons; one word each where there is no room for numbers."""
    cells = [
        reason if width_of(reason.text) <= width else Cell(cut_items(row.short_names, width))
        for row, reason in zip(rows.rows, reasons.cells, strict=True)
    ]
    return Laid(cut_end(reasons.header, width), cells)
