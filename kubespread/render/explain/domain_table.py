"""A row for all nodes of a domain, in the fullest form that the terminal's width lets it have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kubespread.render.arithmetic import PRETTY, SKEW, TIGHT, Spelling, short_key
from kubespread.render.explain.domain_rows import DomainRow, DomainRows, SharedArithmetic
from kubespread.render.explain.node_table import SEPARATOR, constraint_header, cut_items, domain_cell
from kubespread.render.layout import BAD, DIM, GOOD, Cell, Column, Line, cell, tabulated
from kubespread.render.look import Look

_MAX_ROWS = 25
_LEAST_CAUSES = 16
_LONGEST_BAR = 8


@dataclass(frozen=True, slots=True)
class _Form:
    gap: int = 2
    domain: int | None = None
    """The most columns a domain's name takes."""
    pods: bool = True
    spelling: Spelling = PRETTY


_FORMS = (
    _Form(gap=3),
    _Form(),
    _Form(pods=False),
    _Form(pods=False, domain=32),
    _Form(pods=False, domain=24, spelling=TIGHT),
    _Form(pods=False, domain=16, spelling=TIGHT),
    _Form(pods=False, domain=16, spelling=SKEW),
    _Form(pods=False, domain=10, spelling=SKEW, gap=1),
)


def domain_table(rows: DomainRows, look: Look) -> Iterator[Line]:
    """The first rows, and what the others come to."""
    shown, others = rows.rows[:_MAX_ROWS], rows.rows[_MAX_ROWS:]
    columns, form = list[Column](), _FORMS[0]
    for form in _FORMS:
        columns = _columns(rows, shown, form)
        least = min(columns[-1].width, max(_LEAST_CAUSES, (look.width or 0) // 3))
        if look.width is None or _taken(columns, form) + least <= look.width:
            break
    if look.width is not None:
        width = max(_LEAST_CAUSES // 2, look.width - _taken(columns, form))
        causes = columns[-1]
        columns[-1] = Column(causes.header, [Cell(cut_items(each.text, width)) for each in causes.cells])
    yield from tabulated(columns, form.gap, headers=look.headers)
    if others:
        nodes, fitting = sum(row.nodes for row in others), sum(row.fitting for row in others)
        yield [Cell(f"  {len(others)} more rows with {nodes} nodes, of which {fitting} fit", DIM)]


def _taken(columns: Sequence[Column], form: _Form) -> int:
    return 2 + sum(column.width + form.gap for column in columns[:-1])


def _columns(rows: DomainRows, shown: Sequence[DomainRow], form: _Form) -> list[Column]:
    columns = [
        Column(
            cell(short_key(key).upper()).text,
            [
                Cell("(no label)") if row.domains[place] is None else domain_cell(row.domains[place], form.domain)
                for row in shown
            ],
        )
        for place, key in enumerate(rows.domains)
    ]
    columns += [
        Column("NODES", [Cell(str(row.nodes)) for row in shown], is_number=True),
        Column("FIT", [Cell(str(row.fitting), GOOD if row.fitting else BAD) for row in shown], is_number=True),
    ]
    if rows.domains and form.pods:
        columns.append(Column("PODS", _pods(shown)))
    columns += [
        Column(
            constraint_header(place, constraint.topology_key, form.spelling),
            [_arithmetic(row.arithmetic[place], form.spelling) for row in shown],
        )
        for place, constraint in enumerate(rows.arithmetic)
    ]
    columns.append(Column("ALSO", [cell(SEPARATOR.join(row.also)) for row in shown]))
    return columns


def _arithmetic(shared: SharedArithmetic, spelling: Spelling) -> Cell:
    return Cell(shared.text(spelling), BAD if shared.over else "")


def _pods(rows: Sequence[DomainRow]) -> list[Cell]:
    """Matching pods as numbers, and as bars of which the longest is the most."""
    most = max((row.matching or 0 for row in rows), default=0)
    unit = max(1, -(-most // _LONGEST_BAR))
    lengths = [-(-(row.matching or 0) // unit) for row in rows]
    return [
        Cell(f"{'█' * length} {'' if row.matching is None else row.matching}".strip())
        for length, row in zip(lengths, rows, strict=True)
    ]
