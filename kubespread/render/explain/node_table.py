"""A row a node, as wide as the terminal lets it be: verdict, arithmetic and reasons are the last to suffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
_WHY = "WHY NOT"


@dataclass(frozen=True, slots=True)
class Form:
    """What a row gives up for a narrower terminal."""

    gap: int = 2
    name: int | None = None
    """The most columns a node's name or a domain's takes."""
    domains: bool = True
    score: bool = True
    spelling: Spelling = PRETTY
    full_reasons: bool = False


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

    With the columns of the score plugins, which are asked for, nothing is shortened.
    """
    width = None if look.wide else look.width
    columns, form = list[Column](), _FORMS[0]
    for form in _FORMS:
        columns = _columns(rows, suffix, form, wide=look.wide)
        if width is None or _taken(columns, form) + _least_reasons(columns[-1], form, width) <= width:
            break
    if width is not None:
        columns[-1] = _within(columns[-1], max(_LEAST_REASONS // 2, width - _taken(columns, form)))
    yield from tabulated(columns, form.gap, headers=look.headers)


def _taken(columns: Sequence[Column], form: Form) -> int:
    """The width of all columns but the last, the indent and the gaps included."""
    return 2 + sum(column.width + form.gap for column in columns[:-1])


def _least_reasons(reasons: Column, form: Form, width: int) -> int:
    return reasons.width if form.full_reasons else min(reasons.width, max(_LEAST_REASONS, width // 3))


def _columns(rows: Rows, suffix: str, form: Form, *, wide: bool) -> list[Column]:
    columns = [Column("NODE", [_name(row.node.name.removesuffix(suffix), form) for row in rows.rows])]
    if form.domains:
        columns += [
            Column(cell(short_key(key).upper()).text, [domain_cell(row.domains[place], form.name) for row in rows.rows])
            for place, key in enumerate(rows.domains)
        ]
    columns.append(Column("FITS", [_FITS if row.node.feasible else _FAILS for row in rows.rows]))
    columns += [
        Column(
            constraint_header(place, constraint.topology_key, form.spelling),
            [
                Cell(row.arithmetic[place].text(form.spelling), BAD if row.arithmetic[place].rejects else "")
                for row in rows.rows
            ],
        )
        for place, constraint in enumerate(rows.arithmetic)
    ]
    if wide:
        columns += [
            Column(plugin, [Cell(score_steps(detail) if detail else "") for detail in details], is_number=True)
            for plugin, details in zip(rows.scores, zip(*(row.scores for row in rows.rows), strict=True), strict=True)
        ]
    if form.score:
        totals = [Cell("" if row.node.total is None else str(row.node.total)) for row in rows.rows]
        columns.append(Column("SCORE", totals, is_number=True))
    reasons = [row.why_not if form.full_reasons else SEPARATOR.join(row.short_reasons) for row in rows.rows]
    columns.append(Column(_WHY, [cell(text) for text in reasons]))
    return columns


_FITS, _FAILS = Cell("yes", GOOD), Cell("no", BAD)


def _name(name: str, form: Form) -> Cell:
    safe = cell(name)
    return safe if form.name is None else Cell(cut_middle(safe.text, form.name))


def domain_cell(domain: str | None, width: int | None) -> Cell:
    safe = cell("" if domain is None else domain or EMPTY)
    return safe if width is None else Cell(cut_middle(safe.text, width))


def constraint_header(position: int, topology_key: str, spelling: Spelling) -> str:
    """``A zone``; the letter alone where there is no room, and never more than the formula below it needs."""
    if spelling.skew_only:
        return letter(position)
    return cut_end(cell(f"{letter(position)} {short_key(topology_key)}").text, 14)


def _within(reasons: Column, width: int) -> Column:
    """Whole reasons as far as they go, and how many more there are."""
    return Column(
        cut_end(reasons.header, width), [Cell(cut_items(each.text, width), each.style) for each in reasons.cells]
    )


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
