"""A row for all nodes of a domain, in the fullest form that the terminal's width lets it have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from kubespread.views.arithmetic import SKEW, TIGHT, Spelling
from kubespread.views.explain.domain_rows import DomainRow, DomainRows, SharedArithmetic
from kubespread.views.explain.forms import SEPARATOR, Form, constraint_header, cut_items, domain_cell, fullest
from kubespread.views.layout import BAD, DIM, GOOD, Cell, Column, Line, cell, cut_end, tabulated
from kubespread.views.look import Look
from kubespread.wording import short_key

_MAX_ROWS = 25
_LONGEST_BAR = 8


_FORMS = (
    Form(gap=3),
    Form(),
    Form(pods=False),
    Form(pods=False, name=32),
    Form(pods=False, name=24, spelling=TIGHT),
    Form(pods=False, name=16, spelling=TIGHT),
    Form(pods=False, name=16, spelling=SKEW),
    Form(pods=False, name=10, spelling=SKEW, gap=1),
)


def domain_table(rows: DomainRows, look: Look) -> Iterator[Line]:
    """The first rows, and what the others come to."""
    shown, others = rows.rows[:_MAX_ROWS], rows.rows[_MAX_ROWS:]
    columns, gap, room = fullest(_FORMS, look.width, partial(_columns, rows, shown))
    if room is not None:
        causes = columns[-1]
        columns[-1] = Column(cut_end(causes.header, room), [Cell(cut_items(each.text, room)) for each in causes.cells])
    if not any(row.also for row in shown):
        columns.pop()
    yield from tabulated(columns, gap, headers=look.headers)
    if others:
        nodes, fitting = sum(row.nodes for row in others), sum(row.fitting for row in others)
        yield [Cell(f"  {len(others):,} more rows with {nodes:,} nodes, of which {fitting:,} fit", DIM)]


def _columns(rows: DomainRows, shown: Sequence[DomainRow], form: Form) -> list[Column]:
    columns = [
        Column(
            cell(short_key(key).upper()).text,
            [
                Cell("(no label)") if row.domains[place] is None else domain_cell(row.domains[place], form.name)
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
